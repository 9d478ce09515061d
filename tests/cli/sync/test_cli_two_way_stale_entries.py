"""A file that is renamed with Git alone, while its entry in SUMMARY.md names the former path, stays the same page.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_stale_entries.py
"""

import pytest

from syncd.model.page import walk_pages
from tests.cli.sync.two_way import Team, Web, Writer, conflicts, text_of

pytestmark = pytest.mark.story

SUMMARY = """\
# Table of contents

* [Home](README.md)

## Guides

* [P1](p1.md "The first")
    * [S1](s1.md)
        * [T1](below/t1.md)
    * [S2](s2.md)

* [P2](p2.md)
"""
FILES = {
    "SUMMARY.md": SUMMARY,
    **{name: text_of(title) for name, title in (("README.md", "Home"), ("p1.md", "P1"), ("p2.md", "P2"))},
    **{name: text_of(title) for name, title in (("s1.md", "S1"), ("s2.md", "S2"), ("below/t1.md", "T1"))},
}
TREE = [("Home", ""), ("Guides", ""), ("P1", "Guides"), ("S1", "P1"), ("T1", "S1"), ("S2", "P1"), ("P2", "Guides")]


@pytest.fixture
def web(team: Team) -> Web:
    """A space with pages below pages."""
    return team.space(files=FILES)


def move(docs: Writer, *names: tuple[str, str]) -> None:
    """Commit that files have other names, and nothing else."""
    for name, to in names:
        (docs.path / to).parent.mkdir(parents=True, exist_ok=True)
        docs.git("mv", name, to)
    docs.commit("Move")


def tree(web: Web) -> list[tuple[str, str]]:
    """Return the title of each page and group of main content, with that of what it hangs below."""
    pages = walk_pages(web.client.content.list_pages(web.space))
    return [(page.title, above.title if above is not None else "") for page, above in pages]


def ids(web: Web) -> dict[str, str]:
    return {page.title: page.id for page in web.pages()}


def test_a_renamed_page_keeps_its_place_with_what_is_below_it(docs: Writer, web: Web) -> None:
    before = ids(web)
    docs.write("SUMMARY.md", SUMMARY)
    docs.commit("Space it out")
    move(docs, ("p1.md", "new.md"), ("below/t1.md", "below/other.md"))
    said = docs.run("push")
    assert "not sent" not in said
    assert "delete page" not in said
    web.merge()
    docs.settle()
    assert tree(web) == TREE
    assert ids(web) == before
    assert web.slugs() == ["", "new", "s1", "other", "s2", "p2"]
    assert docs.read("SUMMARY.md") == SUMMARY.replace("(p1.md ", "(new.md ").replace("below/t1.md", "below/other.md")


def test_nothing_is_said_to_be_left_out(docs: Writer) -> None:
    move(docs, ("p1.md", "new.md"))
    for words in (("status",), ("sync",), ("status",), ("sync",)):
        assert "not sent" not in docs.run(*words)
    assert "unlisted" not in docs.run("status", "new.md", "--json")


def test_the_same_while_others_edit_the_table_and_the_page(docs: Writer, web: Web) -> None:
    before = ids(web)
    docs.replace("p1.md", "P1 one.", "P1 one, says B.")
    move(docs, ("p1.md", "x/new.md"))
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    web.add("p5", text_of("P5"), below="p1")
    web.retitle("s2", "S2 anew")
    docs.settle()
    web.merge()
    docs.settle()
    pages = [("P5", "P1") if each == ("S2", "P1") else each for each in TREE]
    assert tree(web) == [*pages[:5], ("S2 anew", "P1"), *pages[5:]]
    assert {title: ids(web)[title] for title in before if title != "S2"} == {
        title: id for title, id in before.items() if title != "S2"
    }
    assert "says B." in web.texts()["P1"]
    assert "says the web." in web.texts()["P1"]
    assert "(p1.md" not in docs.read("SUMMARY.md")


def test_the_same_while_the_page_is_in_conflict(docs: Writer, web: Web) -> None:
    docs.replace("p1.md", "P1 one.", "P1 one, says B.")
    move(docs, ("p1.md", "new.md"), ("s2.md", "s3.md"))
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    assert conflicts(docs.run("sync", code=6)) == ["new.md"]
    docs.run("sync", code=6)
    docs.run("resolve", "new.md", "--ours")
    docs.settle()
    web.merge()
    docs.settle()
    assert tree(web) == TREE
    assert web.slugs() == ["", "new", "s1", "t1", "s3", "p2"]
    assert "says B." in web.texts()["P1"]


def test_a_renamed_folder_keeps_its_pages(team: Team) -> None:
    listed = "* [Home](README.md)\n* [A](a/README.md)\n  * [B](a/b%20c.md)\n* [C](c.md)\n"
    web = team.space(
        files={
            "SUMMARY.md": listed,
            **{
                name: text_of(title)
                for name, title in (("README.md", "Home"), ("a/README.md", "A"), ("a/b c.md", "B"), ("c.md", "C"))
            },
        }
    )
    docs, before = team.clone(web.space), ids(web)
    listed = docs.read("SUMMARY.md")
    docs.git("mv", "a", "z")
    docs.commit()
    docs.run("push")
    web.merge()
    docs.settle()
    assert tree(web) == [("Home", ""), ("A", ""), ("B", "A"), ("C", "")]
    assert ids(web) == before
    assert docs.read("SUMMARY.md") == listed.replace("a/", "z/")


def test_an_entry_that_something_else_claims_stays_as_it_is(docs: Writer, web: Web) -> None:
    docs.replace("SUMMARY.md", "* [P2](p2.md)", "* [P2](p2.md)\n* [New](new.md)")
    move(docs, ("p1.md", "new.md"))
    assert "p1.md has no file any more; SUMMARY.md still lists it" in docs.run("push")
    web.merge()
    assert ("New", "Guides") in tree(web)
    assert "P1" not in web.texts()


def test_a_page_that_is_taken_out_of_the_table_is_gone(docs: Writer, web: Web) -> None:
    docs.write("SUMMARY.md", SUMMARY.replace('* [P1](p1.md "The first")\n', "").replace("    * [", "* ["))
    move(docs, ("p1.md", "drafts/p1.md"))
    docs.run("push")
    web.merge()
    assert "P1" not in web.texts()


def test_a_page_that_becomes_no_page_is_gone(docs: Writer, web: Web) -> None:
    move(docs, ("s2.md", ".drafts/s2.md"))
    docs.run("push")
    web.merge()
    docs.settle()
    assert "S2" not in web.texts()
    assert docs.has(".drafts/s2.md")


def test_a_listed_page_that_only_main_content_has_is_not_said_to_be_deleted(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.git("checkout", "--quiet", "-b", "topic")
    docs.write("SUMMARY.md", docs.read("SUMMARY.md") + "* [Later](later.md)\n")
    docs.edit("p2.md", "P2 three.", "Mine.")
    web.add("later", "# Later\n\nOf the web.\n")
    docs.run("pull")
    for said in (docs.run("status"), docs.run("push", "topic")):
        assert "! deleted" not in said
    assert "later" in web.slugs(request=web.proposed())
