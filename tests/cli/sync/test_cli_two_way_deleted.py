"""A page that a change request deletes, and that comes back before the merge, is still the page of main content.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_deleted.py
"""

import pytest

from tests.cli.sync.two_way import Interposer, Team, Web, Writer, text_of

pytestmark = pytest.mark.story

FOLDER = {
    "README.md": text_of("Home"),
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Dir](dir/README.md)\n  * [X](dir/x.md)\n"
    "  * [Y](dir/y.md)\n* [P1](p1.md)\n",
    "dir/README.md": text_of("Dir"),
    "dir/x.md": text_of("X"),
    "dir/y.md": text_of("Y"),
    "p1.md": text_of("P1"),
}


def ids_of(web: Web, *, request: int = 0) -> dict[str, str]:
    """Return the id of each page, by its title."""
    return {page.title: page.id for page in web.pages(request=request)}


def test_a_deletion_that_is_reverted_doubles_no_page_beside_an_edit_of_another_clone(team: Team) -> None:
    web = team.space()
    docs, other = (team.clone(web.space, name=name) for name in ("docs", "other"))
    before = ids_of(web)
    docs.delete("p2.md")
    docs.run("push")
    docs.git("revert", "--no-edit", "HEAD")
    docs.edit("p2.md", "P2 one.", "P2 one, says A.")
    docs.run("push")
    other.edit("p2.md", "P2 three.", "P2 three, says B.")
    other.run("push")
    for request in web.requests():
        web.merge(request.number)
    assert ids_of(web) == before
    assert len(web.pages()) == 5
    for words in ("P2 one, says A.", "P2 three, says B."):
        assert words in web.text("p2")
    for clone in (docs, other):
        clone.settle()
        assert clone.git("diff", "HEAD", "platform/main") == ""


def test_a_page_that_main_content_edits_beside_its_deletion_comes_back_as_itself(docs: Writer, web: Web) -> None:
    before = ids_of(web)
    docs.delete("p1.md")
    docs.run("push")
    web.edit("p1", "P1 one.", "P1 one, says W.")
    web.rename("p1", "ren")
    docs.run("sync")
    assert ids_of(web, request=web.proposed()) == before
    docs.settle()
    web.merge()
    assert "P1 one, says W." in web.text("ren")
    assert ids_of(web) == before


def test_a_folder_comes_back_with_the_pages_that_the_branch_has(team: Team) -> None:
    web = team.space(files=FOLDER)
    docs = team.clone(web.space)
    before = ids_of(web)
    docs.git("rm", "-r", "--quiet", "dir")
    docs.edit("SUMMARY.md", "* [Dir](dir/README.md)\n  * [X](dir/x.md)\n  * [Y](dir/y.md)\n", "")
    docs.run("push")
    docs.git("revert", "--no-edit", "HEAD")
    docs.edit("dir/y.md", "Y one.", "Y one, says A.")
    docs.retitle("X", "Ex")
    docs.run("push")
    request = web.proposed()
    assert web.slugs(request=request) == ["", "dir", "x", "y", "p1"]
    assert {title: id for title, id in ids_of(web, request=request).items() if title != "Ex"} == {
        title: id for title, id in before.items() if title != "X"
    }
    assert ids_of(web, request=request)["Ex"] == before["X"]
    docs.settle()
    web.merge()
    docs.settle()
    assert "Y one, says A." in web.text("y")
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_a_folder_of_which_a_page_stays_deleted_brings_that_one_not_back(team: Team) -> None:
    web = team.space(files=FOLDER)
    docs = team.clone(web.space)
    docs.git("rm", "-r", "--quiet", "dir")
    docs.edit("SUMMARY.md", "* [Dir](dir/README.md)\n  * [X](dir/x.md)\n  * [Y](dir/y.md)\n", "")
    docs.run("push")
    docs.git("revert", "--no-edit", "HEAD")
    docs.delete("dir/x.md")
    docs.run("push")
    assert web.slugs(request=web.proposed()) == ["", "dir", "y", "p1"]
    docs.settle()
    web.merge()
    docs.settle()
    assert web.slugs() == ["", "dir", "y", "p1"]
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_a_page_comes_back_as_a_folder(docs: Writer, web: Web) -> None:
    before = ids_of(web)
    docs.delete("p1.md")
    docs.run("push")
    docs.write("p1/README.md", text_of("P1").replace("P1 one.", "P1 one, says A."))
    docs.write("p1/new.md", text_of("New"))
    docs.edit("SUMMARY.md", "(p4.md)\n", "(p4.md)\n* [P1](p1/README.md)\n  * [New](p1/new.md)\n")
    web.edit("p1", "P1 three.", "P1 three, says W.")
    docs.settle()
    web.merge()
    docs.settle()
    assert {title: id for title, id in ids_of(web).items() if title != "New"} == before
    assert web.slugs()[-2:] == ["p1", "new"]
    for words in ("P1 one, says A.", "P1 three, says W."):
        assert words in web.text("p1")


def test_a_killed_push_that_brings_a_page_back_is_finished_by_the_next(team: Team, interposer: Interposer) -> None:
    web = team.space()
    docs = team.clone(web.space)
    before = ids_of(web)
    docs.delete("p1.md")
    docs.run("push")
    docs.git("revert", "--no-edit", "HEAD")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.killed(interposer, "push", at="/content$")
    web.edit("p1", "P1 three.", "P1 three, says R.", request=web.proposed())
    docs.settle()
    web.merge()
    docs.settle()
    assert ids_of(web) == before
    for words in ("P1 one, says A.", "P1 three, says R."):
        assert words in web.text("p1")
        assert words in docs.read("p1.md")
