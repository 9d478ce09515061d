"""A page gets another slug in a change request, or in main content while a change request is open.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_request_renames.py
"""

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, distinct_pages_of

pytestmark = pytest.mark.story


@pytest.mark.parametrize("page", ["p1", "p2", "new"])
@pytest.mark.parametrize("is_merged", [True, False])
def test_a_page_that_a_reviewer_renames_is_renamed_in_git(docs: Writer, web: Web, page: str, is_merged: bool) -> None:
    docs.add("new.md", "New")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web.rename(page, "other", request=web.proposed())
    docs.run("sync")
    if is_merged:
        web.merge()
        docs.run("sync")
    assert docs.has("other.md")
    assert not docs.has(f"{page}.md")


def test_two_clones_have_the_same_files_after_a_reviewer_renamed_a_page(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web.rename("p1", "other", request=web.proposed())
    docs.run("sync")
    web.merge()
    for clone in (docs, other):
        clone.run("sync")
    assert docs.files() == other.files()


def test_a_page_that_is_renamed_beside_a_copy_of_it_keeps_its_words_and_the_copy_is_one(team: Team) -> None:
    web = team.space("one", distinct_pages_of("one"))
    docs = team.clone(web.space)
    docs.delete("p1.md")
    docs.run("push")
    web.rename("p1", "ren")
    web.add("copy", web.text("ren").replace("# P1", "# Copy"))
    for number in ("one", "two"):
        web.edit("ren", f"P1 {number}.", f"P1 {number}, says W.")
    docs.run("sync")  # Git alone would say that the page became the copy, which is more like it
    request = web.proposed()
    assert "P1 one, says W." in web.text("ren", request=request)
    assert "copy" not in web.slugs(request=request)
    web.client.change_requests.merge(web.space, str(request))
    docs.settle()
    assert sorted(web.slugs()) == ["", "copy", "p2", "p3", "p4", "ren"]
    assert "P1 one, says W." in web.text("ren")
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_a_page_that_main_content_and_the_branch_rename_beside_an_open_change_request_has_the_branchs_name(
    docs: Writer, web: Web
) -> None:
    with (docs.path / ".git" / "syncd.toml").open("a") as configuration:
        configuration.write('\n[repository.change_requests]\nupdate = "never"\n')
    docs.run("trust", "--yes")
    docs.edit("p3.md", "P3 one.", "P3 one, says A.")
    docs.run("push")
    web.rename("p2", "theirs")
    docs.rename("p2.md", "mine.md")
    docs.run("sync")  # the change request has not taken in the other name
    assert "mine" in web.slugs(request=web.proposed())
    web.client.change_requests.merge(web.space, str(web.proposed()))
    docs.settle()
    assert web.titles()["mine"] == "P2"
    assert docs.has("mine.md")
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_a_page_that_main_content_moves_while_it_gets_a_page_below_it_stays_the_same(docs: Writer, web: Web) -> None:
    ids = {page.slug: page.id for page in web.pages()}
    (docs.path / "p2").mkdir()
    docs.git("mv", "p4.md", "p2/p4.md")
    table = docs.read("SUMMARY.md").replace("* [P4](p4.md)\n", "")
    docs.write("SUMMARY.md", table.replace("* [P2](p2.md)\n", "* [P2](p2.md)\n  * [P4](p2/p4.md)\n"))
    docs.commit()
    docs.run("push")
    docs.retitle("P2", "P2 anew")
    web.move("p2", below="p3", to="moved")
    docs.run("pull")
    docs.run("push")
    proposed = {page.title: page for page in web.pages(request=web.proposed())}
    assert proposed["P2 anew"].id == ids["p2"]
    assert [page.id for page in proposed["P3"].pages] == [ids["p2"]]
    web.merge()
    docs.settle()
    assert {page.id for page in web.pages()} == set(ids.values())
