"""Several spaces, branches and copies of pages: what is known of one says nothing of another.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_several.py
"""

from collections.abc import Callable

import pytest

from tests.cli.sync.two_way import FOUR, HOME, Team, Web, Writer, text_of

pytestmark = pytest.mark.story

Two = tuple[Writer, Web, Web]


def files_of(name: str) -> dict[str, str]:
    """Return pages of which none is like one of another space."""
    more = "".join(f"\nOnly in {name} {{path}}, {line}.\n" for line in "abcd")
    return {path: text + ("" if path == "SUMMARY.md" else more.format(path=path)) for path, text in FOUR.items()}


@pytest.fixture
def two(team: Team) -> Two:
    """A clone of two spaces, and the people in front of them."""
    one, other = team.space("one", files_of("one")), team.space("two", files_of("two"))
    return team.clone(f"{one.space}=one", f"{other.space}=two"), one, other


def list_page(docs: Writer, folder: str, title: str, name: str) -> None:
    docs.write(f"{folder}/SUMMARY.md", docs.read(f"{folder}/SUMMARY.md") + f"* [{title}]({name})\n")


def add_page(docs: Writer, folder: str) -> None:
    docs.write(f"{folder}/new.md", text_of("New"))
    list_page(docs, folder, "New", "new.md")


def rename_page(docs: Writer, folder: str) -> None:
    docs.git("mv", f"{folder}/new.md", f"{folder}/ren.md")
    docs.replace(f"{folder}/SUMMARY.md", "(new.md)", "(ren.md)")


def move_page(docs: Writer, source: str, target: str, title: str) -> None:
    """Move a page to another space."""
    docs.git("mv", source, target)
    (former, name), (folder, new) = source.split("/"), target.split("/")
    docs.replace(f"{former}/SUMMARY.md", f"* [{title}]({name})\n", "")
    list_page(docs, folder, title, new)


def amend(docs: Writer) -> None:
    docs.git("add", "--all")
    docs.git("commit", "--quiet", "--amend", "--no-edit")


def merge_all(docs: Writer, *webs: Web) -> None:
    """Sync and merge until nothing is open."""
    docs.settle()
    for _ in range(4):
        for web in webs:
            for request in web.requests():
                web.merge(request.number)
        docs.settle()
    assert docs.git("diff", "HEAD", "platform/main") == ""


def track(docs: Writer, *names: str) -> None:
    listed = ", ".join(f'"{name}"' for name in names)
    docs.write(".git/syncd.toml", docs.read(".git/syncd.toml").replace('branches = ["main"]', f"branches = [{listed}]"))
    docs.run("trust", "--yes")


# A page that is copied.


def test_words_go_to_the_page_and_not_to_its_copy_on_the_platform(docs: Writer, web: Web) -> None:
    web.add("p5", web.text("p1"))
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    merge_all(docs, web)
    assert "says B." in web.text("p1")
    assert "says B." not in web.text("p5")


@pytest.mark.parametrize("copy", ["p5.md", "p4.md"])
def test_words_go_to_the_page_and_not_to_its_copy_in_git(docs: Writer, web: Web, copy: str) -> None:
    docs.write(copy, docs.read("p1.md"))
    if copy == "p5.md":
        list_page(docs, ".", "P5", copy)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    merge_all(docs, web)
    assert "says the web." in web.text("p1")
    assert "says the web." not in web.text(copy.removesuffix(".md"))


def test_a_deletion_of_a_page_that_was_copied_is_one_of_that_page(docs: Writer, web: Web) -> None:
    docs.write("p5.md", docs.read("p1.md"))
    list_page(docs, ".", "P5", "p5.md")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.delete("p1")
    said = docs.run("sync")
    assert "p1.md: deleted on one side and changed on the other; it stays" in said
    assert "p5.md: deleted" not in said
