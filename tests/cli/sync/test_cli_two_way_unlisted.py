"""A page that is taken out of SUMMARY.md is gone from the platform, and its file is the branch's own from then on.

Run these stories: .venv/bin/python -m pytest -n 2 -m story tests/cli/sync/test_cli_two_way_unlisted.py
"""

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, text_of

pytestmark = pytest.mark.story

DRAFT = text_of("P3").replace("P3 two.", "P3 two, says A.")


def unlist(docs: Writer, name: str) -> None:
    """Commit a table of contents without a page, and keep its file."""
    listed = [line for line in docs.read("SUMMARY.md").splitlines() if f"({name})" not in line]
    docs.write("SUMMARY.md", "\n".join(listed) + "\n")
    docs.commit()


@pytest.mark.parametrize("text", [text_of("P3"), DRAFT])
def test_its_file_stays_when_its_deletion_is_merged(docs: Writer, web: Web, text: str) -> None:
    docs.write("p3.md", text)
    unlist(docs, "p3.md")
    docs.settle()
    web.merge()
    docs.settle()
    assert web.slugs() == ["", "p1", "p2", "p4"]
    assert docs.read("p3.md") == text
    assert "p3.md" in docs.files()


def test_its_file_stays_when_the_change_request_is_updated(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    docs.write("p3.md", DRAFT)
    unlist(docs, "p3.md")
    docs.run("push")
    other.git("pull", "--quiet", str(docs.path), "main")
    other.run("push")
    web.merge()
    for each in (other, docs):
        each.settle()
        assert each.read("p3.md") == DRAFT
    assert web.slugs() == ["", "p1", "p2", "p4"]


def test_its_file_stays_when_the_platform_deletes_the_page_first(docs: Writer, web: Web) -> None:
    unlist(docs, "p3.md")
    web.delete("p3")
    docs.settle()
    assert docs.read("p3.md") == text_of("P3")
    assert not web.requests()


def test_its_file_stays_in_each_clone_that_has_the_commit(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    unlist(docs, "p3.md")
    docs.run("push")
    other.git("pull", "--quiet", str(docs.path), "main")
    web.merge()
    for each in (other, docs):
        each.settle()
        assert each.read("p3.md") == text_of("P3")
    assert web.slugs() == ["", "p1", "p2", "p4"]


def test_it_is_a_page_again_when_it_is_listed(docs: Writer, web: Web) -> None:
    unlist(docs, "p3.md")
    docs.settle()
    web.merge()
    docs.settle()
    docs.edit("SUMMARY.md", "* [P4](p4.md)\n", "* [P4](p4.md)\n* [P3](p3.md)\n")
    docs.settle()
    web.merge()
    docs.settle()
    assert web.slugs() == ["", "p1", "p2", "p4", "p3"]
    assert web.text("p3") == text_of("P3")


def test_it_stays_a_page_for_what_the_platform_wrote_in_it(docs: Writer, web: Web) -> None:
    unlist(docs, "p3.md")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.settle()
    assert "P3 one, says the web." in docs.read("p3.md")
    assert "P3 one, says the web." in web.text("p3")


def test_a_page_that_is_taken_out_with_its_file_is_gone(docs: Writer, web: Web) -> None:
    docs.delete("p3.md")
    docs.settle()
    web.merge()
    docs.settle()
    assert not docs.has("p3.md")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


@pytest.mark.parametrize("is_updated", [False, True])
def test_it_stays_a_page_with_the_title_that_another_one_gave_it(
    docs: Writer, web: Web, team: Team, is_updated: bool
) -> None:
    other = team.clone(web.space, name="other")
    other.retitle("P3", "Third")
    other.run("push")
    docs.write("p3.md", DRAFT)
    unlist(docs, "p3.md")
    docs.run("push")
    web.merge(1)
    if is_updated:
        web.update(2, expected="conflicts")
    docs.settle()
    assert docs.read("p3.md") == DRAFT
    web.merge(2)
    for each in (docs, other):
        each.settle()
        assert "[Third](p3.md)" in each.read("SUMMARY.md")
        assert each.read("p3.md") == DRAFT


def test_its_file_stays_where_main_content_moved_another_page(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    for old, new in (("p3.md", "swapping"), ("p4.md", "p3.md"), ("swapping", "p4.md")):
        (other.path / old).rename(other.path / new)
    table = other.read("SUMMARY.md")
    other.write(
        "SUMMARY.md", table.replace("(p3.md)", "(new)").replace("(p4.md)", "(p3.md)").replace("(new)", "(p4.md)")
    )
    other.commit()
    other.run("push")
    draft = text_of("P4").replace("P4 two.", "P4 two, says A.")
    docs.write("p4.md", draft)
    docs.write("p3/below.md", "# Below\n\nA page below P3.\n")
    docs.edit("SUMMARY.md", "* [P4](p4.md)\n", "  * [Below](p3/below.md)\n")
    docs.run("push")
    web.merge(1)
    docs.settle()
    web.merge(2)
    docs.settle()
    assert draft in [docs.read(name) for name in docs.files()]


def test_its_file_stays_where_another_page_was(docs: Writer, web: Web) -> None:
    for old, new in (("p3.md", "swapping"), ("p4.md", "p3.md"), ("swapping", "p4.md")):
        (docs.path / old).rename(docs.path / new)
    docs.write("SUMMARY.md", docs.read("SUMMARY.md").replace("[P4](p4.md)", "[P4](p3.md)"))
    unlist(docs, "p3.md")
    docs.write("SUMMARY.md", docs.read("SUMMARY.md") + "* [P4](p3.md)\n")
    docs.commit()
    docs.settle()
    web.merge()
    docs.settle()
    assert docs.read("p4.md") == text_of("P3")
    assert docs.read("p3.md") == text_of("P4")
    assert web.slugs() == ["", "p1", "p2", "p3"]


def test_a_page_that_comes_to_its_path_later_lies_beside_it(docs: Writer, web: Web) -> None:
    docs.write("p3.md", DRAFT)
    unlist(docs, "p3.md")
    docs.settle()
    web.merge()
    docs.settle()
    web.add("p3", "# P3\n\nAnother P3.\n")
    docs.settle()
    assert docs.read("p3.md") == DRAFT
    (beside,) = [name for name in docs.files() if name.startswith("p3-")]
    assert "Another P3." in docs.read(beside)
    assert "Another P3." in web.text("p3")
    assert not web.requests()


@pytest.mark.parametrize("text", [text_of("P3"), DRAFT])
def test_the_same_where_a_link_leads_to_a_part_of_it(team: Team, text: str) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.write("p3.md", text)
    docs.edit("SUMMARY.md", "* [P3](p3.md)\n", "* [Part](p3.md#part)\n")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    docs.run("sync")
    assert docs.read("p3.md") == text
    web.add("p3", "# P3\n\nAnother P3.\n")
    docs.run("sync")
    assert docs.read("p3.md") == text
    (beside,) = [name for name in docs.files() if name.startswith("p3-")]
    assert "Another P3." in docs.read(beside)
