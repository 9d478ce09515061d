"""Branches of one clone that have commits in common make one page of a page, in whichever order they are merged.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_stacked_branches.py
"""

import json
from collections.abc import Callable

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, conflicts, pages_of, text_of
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

PICTURE = b"\x89PNG\r\n\x1a\nnew"


@pytest.fixture
def stack(team: Team, web: Web) -> Writer:
    """A clone whose topic branches are tracked, on the first of them, which adds a page."""
    writer = team.clone(web.space, name="stack")
    file = writer.path / ".git/syncd.toml"
    file.write_text(file.read_text().replace('branches = ["main"]', 'branches = ["main", "docs/*"]'))
    writer.run("trust", "--yes")
    writer.git("switch", "--quiet", "--create", "docs/first")
    writer.add("new.md", "New")
    return writer


def begin(writer: Writer, branch: str) -> None:
    writer.git("switch", "--quiet", "--create", branch)


def find_number(web: Web, branch: str) -> int:
    return next(one.number for one in web.requests() if f"[{branch}#" in one.subject)


def merge_all(web: Web, writer: Writer, *branches: str) -> None:
    """Let the change request of each branch be merged, one after the other, and each be brought to every other."""
    for branch in branches:
        web.merge(find_number(web, branch))
        writer.run("sync")
    while web.requests():
        web.merge(web.requests()[0].number)
        writer.run("sync")
    writer.git("switch", "--quiet", "main")
    writer.run("sync")


@pytest.mark.parametrize("order", [("docs/first", "docs/second"), ("docs/second", "docs/first")])
def test_a_page_of_the_branch_below_is_one_page(web: Web, stack: Writer, order: tuple[str, str]) -> None:
    stack.run("push")
    begin(stack, "docs/second")
    stack.edit("new.md", "New two.", "New two, says the second.")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    first = find_number(web, "docs/first")
    assert f"#{first} adds new.md already; sent from here once #{first} is merged or archived" in stack.run("push")
    assert "new" not in web.slugs(request=find_number(web, "docs/second"))
    merge_all(web, stack, *order)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4", "new"]
    assert "New two, says the second." in web.text("new")
    assert "P1 one, says the second." in web.text("p1")
    assert stack.read("new.md") == "# New\n\nNew one.\n\nNew two, says the second.\n\nNew three.\n"


def test_status_says_what_is_left_to_the_branch_below(web: Web, stack: Writer) -> None:
    stack.run("push")
    begin(stack, "docs/second")
    said = stack.run("status")
    assert "! not sent: SUMMARY.md, new.md wait for #1, which adds that already" in said
    assert "docs/second      1 ahead, 0 behind main content; 2 files sent later" in said
    assert "Next: syncd review" in said
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    assert "2 ahead, 0 behind main content; 2 files not pushed" in stack.run("status")
    stack.run("push")
    said = stack.run("status")
    assert "! not sent: SUMMARY.md, new.md wait for #1" in said
    assert "#2 of docs/second: open; lacks 2 files of docs/second, sent later; waits for a review" in said
    document = json.loads(stack.run("status", "--json"))["repositories"][0]
    (space,) = next(work for work in document["unsent"] if work["branch"] == "docs/second")["spaces"]
    assert space["awaited"] == [{"path": path, "change_request": 1} for path in ("SUMMARY.md", "new.md")]


def test_new_branches_are_proposed_from_the_one_below_up(web: Web, stack: Writer) -> None:
    begin(stack, "docs/a-second")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    begin(stack, "docs/a-third")
    stack.add("third.md", "Third")
    stack.run("sync")
    assert web.slugs(request=find_number(web, "docs/first"))[-1] == "new"
    assert "new" not in web.slugs(request=find_number(web, "docs/a-second"))
    assert web.slugs(request=find_number(web, "docs/a-third"))[-1] == "third"
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3", "p4", "third"]


def test_branches_that_part_after_a_new_page_share_it(web: Web, stack: Writer) -> None:
    begin(stack, "docs/second")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    stack.git("switch", "--quiet", "docs/first")
    stack.rename("new.md", "moved.md")
    stack.run("sync")
    assert "new" not in web.slugs(request=find_number(web, "docs/second"))
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "moved", "p1", "p2", "p3", "p4"]
    assert stack.has("moved.md")
    assert not stack.has("new.md")


def test_a_picked_commit_is_one_page(web: Web, stack: Writer) -> None:
    stack.run("push")
    stack.git("switch", "--quiet", "main")
    stack.edit("p2.md", "P2 one.", "P2 one, says main.")
    stack.git("cherry-pick", "docs/first")
    stack.run("push")
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3", "p4"]


def test_a_page_of_the_same_path_that_says_something_else_is_in_conflict(web: Web, stack: Writer) -> None:
    stack.run("push")
    stack.git("switch", "--quiet", "main")
    begin(stack, "docs/other")
    stack.add("new.md", "Other")
    first = find_number(web, "docs/first")
    assert f"#{first} adds new.md already" in stack.run("push")
    web.merge(first)
    assert conflicts(stack.run("sync", code=6)) == ["new.md"]
    stack.run("resolve", "new.md", "--theirs")
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3", "p4"]


def test_a_picture_of_the_branch_below_is_one_file(web: Web, stack: Writer) -> None:
    stack.write(".gitbook/assets/new.png", PICTURE)
    stack.replace("p1.md", "P1 two.", "P1 two.\n\n![new](.gitbook/assets/new.png)")
    stack.commit()
    stack.run("push")
    begin(stack, "docs/second")
    stack.edit("p1.md", "P1 three.", "P1 three, says the second.")
    stack.run("push")
    merge_all(web, stack)
    assert [file.name for file in web.client.content.list_files(web.space)] == ["new.png"]
    assert "P1 three, says the second." in web.text("p1")


@pytest.mark.parametrize("way", ["archived", "deleted"])
def test_the_page_is_sent_when_the_branch_below_is_given_up(web: Web, stack: Writer, way: str) -> None:
    stack.run("push")
    begin(stack, "docs/second")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    stack.run("push")
    if way == "archived":
        web.archive(find_number(web, "docs/first"))
    else:
        stack.git("branch", "--quiet", "-D", "docs/first")
    stack.run("sync")
    stack.run("sync")
    assert next(one.subject for one in web.requests()).partition(" [")[2].startswith("docs/second#")
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3", "p4"]


@pytest.mark.parametrize("order", [("docs/first", "docs/second"), ("docs/second", "docs/first")])
def test_a_page_that_a_reviewer_renames_while_main_content_moves_is_one_page(
    web: Web, stack: Writer, order: tuple[str, str]
) -> None:
    begin(stack, "docs/second")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    stack.run("sync")
    web.add("more", text_of("More"))
    web.rename("new", "other", request=find_number(web, "docs/first"))
    stack.run("sync")
    merge_all(web, stack, *order)
    assert sorted(web.slugs()) == ["", "more", "other", "p1", "p2", "p3", "p4"]
    assert "P1 one, says the second." in web.text("p1")


@pytest.mark.parametrize("order", [("docs/first", "docs/second"), ("docs/second", "docs/first")])
def test_a_page_that_an_edit_brings_back_is_one_page(web: Web, stack: Writer, order: tuple[str, str]) -> None:
    stack.edit("p4.md", "P4 one.", "P4 one, says the first.")
    web.delete("p4")
    stack.run("push")
    begin(stack, "docs/second")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    first = find_number(web, "docs/first")
    assert f"#{first} adds new.md, p4.md already" in stack.run("push")
    merge_all(web, stack, *order)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3", "p4"]
    assert "P4 one, says the first." in web.text("p4")
    assert "P1 one, says the second." in web.text("p1")


def test_a_page_that_main_content_deleted_waits_for_nobody(web: Web, stack: Writer) -> None:
    stack.run("push")
    stack.git("switch", "--quiet", "main")
    begin(stack, "docs/other")
    stack.edit("p1.md", "P1 one.", "P1 one, says the other.")
    web.delete("p4")
    said = stack.run("push")
    assert "adds p4.md" not in said
    merge_all(web, stack)
    assert sorted(web.slugs()) == ["", "new", "p1", "p2", "p3"]


def test_a_change_request_follows_main_content_that_has_all_of_its_branch(web: Web, stack: Writer) -> None:
    stack.git("switch", "--quiet", "main")
    stack.rename("p4.md", "moved.md")
    begin(stack, "docs/other")
    stack.run("sync")
    web.merge(find_number(web, "main"))
    web.delete("moved")
    stack.run("sync")
    merge_all(web, stack)
    assert "moved" not in web.slugs()
    assert not stack.has("moved.md")


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_page_that_the_branch_above_deletes_stays_deleted(web: Web, stack: Writer, is_moved: bool) -> None:
    begin(stack, "docs/second")
    stack.delete("new.md")
    stack.edit("p1.md", "P1 one.", "P1 one, says the second.")
    if is_moved:
        stack.git("switch", "--quiet", "docs/first")
        stack.rename("new.md", "moved.md")
    stack.run("sync")
    web.merge(find_number(web, "docs/first"))
    stack.run("sync")
    merge_all(web, stack)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4"]


def exchange(writer: Writer, *names: str) -> None:
    """Let each of some pages have the name of the next one, with its entry, and commit nothing."""
    table = writer.read("SUMMARY.md")
    for number, name in enumerate(names):
        writer.git("mv", name, f"{number}.tmp")
        table = table.replace(f"({name})", f"({number}.tmp)")
    for number, name in enumerate((*names[1:], names[0])):
        writer.git("mv", f"{number}.tmp", name)
        table = table.replace(f"({number}.tmp)", f"({name})")
    writer.write("SUMMARY.md", table)


def exchange_new(writer: Writer) -> None:
    exchange(writer, "new.md", "p1.md")
    writer.commit()


def exchange_in_a_ring(writer: Writer) -> None:
    exchange(writer, "new.md", "p1.md", "p2.md")
    writer.commit()


def exchange_with_own(writer: Writer) -> None:
    writer.add("own.md", "Own")
    if writer.git("for-each-ref", "refs/syncd/proposed"):
        writer.run("push")
    exchange(writer, "new.md", "own.md")
    writer.commit()


def exchange_words(writer: Writer) -> None:
    """The table of contents says nothing of it, and both pages are edited."""
    table = writer.read("SUMMARY.md")
    exchange(writer, "new.md", "p1.md")
    writer.write("SUMMARY.md", table)
    writer.commit()
    writer.edit("p1.md", "New two.", "New two, says the second.")
    writer.edit("new.md", "P1 two.", "P1 two, says the second.")


def take_name(writer: Writer) -> None:
    writer.rename("p1.md", "old.md")
    writer.rename("new.md", "p1.md")


def replace_new(writer: Writer) -> None:
    writer.rename("new.md", "renamed.md")
    writer.add("new.md", "Own")


@pytest.mark.parametrize(
    ("deed", "order", "is_pushed"),
    sample_cases(
        [
            (deed, order, is_pushed)
            for deed in (
                exchange_new,
                exchange_in_a_ring,
                exchange_with_own,
                exchange_words,
                take_name,
                replace_new,
            )
            for order in (("docs/first", "docs/second"), ("docs/second", "docs/first"))
            for is_pushed in (True, False)
        ],
        kept=(0, 3, 5, 10, 13, 18, 20),
    ),
)
def test_names_that_the_branch_above_exchanges_with_a_new_page_double_nothing(
    web: Web, stack: Writer, deed: Callable[[Writer], None], order: tuple[str, str], is_pushed: bool
) -> None:
    if is_pushed:
        stack.run("push")
    begin(stack, "docs/second")
    stack.edit("p4.md", "P4 one.", "P4 one, says the second.")
    deed(stack)
    stack.run("sync")
    merge_all(web, stack, *order)
    titles = ["New", *(["Own"] if deed in (exchange_with_own, replace_new) else []), "P1", "P2", "P3", "P4"]
    for title in titles:
        assert web.everything().count(f"{title} one") == 1
        assert stack.everything().count(f"{title} one") == 1
    assert sorted(web.titles().values()) == sorted(["Home", *titles])


def test_jobs_of_both_branches_make_one_page(team: Team, web: Web) -> None:
    origin = team.repository("origin")
    for path, text in pages_of("P1", "P2", "P3", "P4").items():
        origin.write(path, text)
    origin.commit()
    origin.git("switch", "--quiet", "--create", "docs/first")
    origin.add("new.md", "New")
    origin.git("switch", "--quiet", "--create", "docs/second")
    origin.edit("p1.md", "P1 one.", "P1 one, says the second.")
    for number, branch in enumerate(("docs/first", "docs/second", "docs/second")):
        job = Writer(team.root / f"job{number}")
        origin.git("clone", "--quiet", "--branch", branch, f"file://{origin.path}", str(job.path))
        service = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": branch}
        token = team.token.read_text().strip()
        done = job.syncd("push", "--ci", "--url", team.url, "--space", web.space, **service, SYNCD_TOKEN=token)
        assert done.returncode == 0, done.stderr
    for request in web.requests():
        web.merge(request.number)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4", "new"]
