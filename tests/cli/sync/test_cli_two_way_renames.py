"""A page that is renamed, moved or made a folder stays one page, on both sides.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_renames.py
"""

import pytest

from tests.cli.sync.two_way import FOUR, HOME, Team, Web, Writer, text_of

pytestmark = pytest.mark.story

AUTO = '\n[repository.change_requests]\nmerge = "auto"\n'


@pytest.mark.parametrize("merge", ["manual", "auto"])
@pytest.mark.parametrize("name", ["ren.md", "p1/README.md"])
def test_a_rename_in_one_of_two_spaces_is_final_when_both_were_sent(team: Team, name: str, merge: str) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    docs.rename("p1.md", name, within="one")
    if name == "p1/README.md":
        docs.write("one/p1/sub.md", "# Sub\n\nBelow.\n")
        docs.edit("one/SUMMARY.md", f"({name})\n", f"({name})\n  * [Sub](p1/sub.md)\n")
    docs.edit("two/p2.md", "P2 one.", "P2 one, says B.")
    if merge == "auto":
        with (docs.path / ".git" / "syncd.toml").open("a") as configuration:
            configuration.write(AUTO)
        docs.run("trust", "--yes")
        docs.run("sync")
    else:
        docs.run("push")
        one.merge()
        two.merge()
    docs.run("sync")
    assert [each.title for each in one.pages() if each.title != "Sub"] == ["Home", "P1", "P2", "P3", "P4"]
    for ref in ("HEAD", "platform/main"):
        names = docs.git("ls-tree", "-r", "--name-only", ref, "one").split()
        assert f"one/{name}" in names
        assert "one/p1.md" not in names
        assert f"]({name})" in docs.git("show", f"{ref}:one/SUMMARY.md")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_a_page_renamed_here_and_edited_there_is_both(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.rename("p1.md", "ren.md")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.settle()
    web.merge()
    docs.settle()
    assert "P1 one, says the web." in docs.read("ren.md")
    assert "P1 one, says the web." in web.text("ren")
    assert not docs.has("p1.md")


def test_a_page_renamed_there_and_edited_here_is_both(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    web.rename("p1", "ren")
    docs.settle()
    web.merge()
    docs.settle()
    assert "P1 one, says A." in docs.everything()
    assert "P1 one, says A." in web.text("ren")
    assert len(web.pages()) == 5
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def copy_below_renamed(team: Team) -> tuple[Web, Writer]:
    """One clone publishes a page that it copied from another, below P4, which was renamed in a browser meanwhile.

    Return the writer of the other clone, which has the page at its former path and has not synced yet.
    """
    web = team.space()
    first, second = (team.clone(web.space, name=name) for name in ("first", "second"))
    web.rename("p4", "s7")
    second.write("p4/new.md", text_of("New"))
    second.edit("SUMMARY.md", "(p4.md)\n", "(p4.md)\n  * [New](p4/new.md)\n")
    first.git("fetch", "--quiet", str(second.path), "main")
    first.git("cherry-pick", "FETCH_HEAD")
    first.settle()
    web.merge()
    return web, second


def test_a_page_copied_from_another_clone_below_a_page_renamed_there_is_one_page(team: Team) -> None:
    web, second = copy_below_renamed(team)
    second.settle()
    assert not web.requests()
    assert [page.title for page in web.pages()] == ["Home", "P1", "P2", "P3", "P4", "New"]
    assert not second.has("p4/new.md")
    assert second.tip("HEAD^{tree}") == second.tip("platform/main^{tree}")


def test_a_copied_page_that_was_continued_below_a_page_renamed_there_is_one_page(team: Team) -> None:
    web, second = copy_below_renamed(team)
    second.edit("p4/new.md", "New three.", "New three.\n\nNew four.")
    second.settle()
    web.merge()
    second.settle()
    assert [page.title for page in web.pages()] == ["Home", "P1", "P2", "P3", "P4", "New"]
    assert "New four." in web.text("new")
    assert second.tip("HEAD^{tree}") == second.tip("platform/main^{tree}")


@pytest.mark.parametrize(
    ("name", "old", "new"), [("p4/new.md", "New two.", "New 2."), ("SUMMARY.md", "[New]", "[Newer]")]
)
def test_a_copied_page_that_was_changed_below_a_page_renamed_there_is_another_page(
    team: Team, name: str, old: str, new: str
) -> None:
    web, second = copy_below_renamed(team)
    second.edit(name, old, new)
    second.settle()
    web.merge()
    second.settle()
    assert len(web.pages()) == 7
    assert "New two." in web.everything()
    assert new.strip("[]") in f"{web.titles()} {web.everything()}"
    assert second.tip("HEAD^{tree}") == second.tip("platform/main^{tree}")


def test_two_pages_that_exchange_names_in_git_exchange_them_on_the_platform(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    exchange(docs)
    docs.settle()
    web.merge()
    docs.settle()
    assert "P2 one." in web.text("p1")
    assert "P1 one." in web.text("p2")
    assert web.titles()["p1"] == "P2"
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_two_pages_that_exchange_names_while_both_are_edited_wait_with_their_titles(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    exchange(docs)
    docs.edit("p3.md", "P3 one.", "P3 one, says A.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.syncd("push")
    request = web.proposed()
    for slug in ("p1", "p2"):
        title, text = web.titles(request=request)[slug], web.text(slug, request=request)
        assert f"{title} one, says the web." in text
    assert "P3 one, says A." in web.text("p3", request=request)


def test_a_page_that_was_moved_here_and_deleted_there_is_gone_also_when_it_was_proposed(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    nest(docs)
    docs.run("push")
    web.delete("p4")
    docs.settle()
    assert web.titles(request=web.proposed()).keys() == {"", "p1", "p2", "p3"}
    web.merge()
    docs.settle()
    assert "P4" not in web.everything() + docs.everything()


def test_a_move_that_was_published_stays_when_it_is_reset_and_the_page_edited(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    nest(docs)
    docs.run("push")
    web.merge()
    docs.git("reset", "--quiet", "--hard", "HEAD~1")
    docs.edit("p4.md", "P4 one.", "P4 one, says A.")
    docs.settle()
    web.merge()
    docs.settle()
    assert not docs.has("p4.md")
    assert sorted(page.title for page in web.pages()) == ["Home", "P1", "P2", "P3", "P4"]
    assert "P4 one, says A." in docs.read("p1/p4.md")
    assert "P4 one, says A." in web.texts()["P4"]


def test_a_page_that_is_renamed_and_rewritten_beside_one_of_its_title_stays_one_page(docs: Writer, web: Web) -> None:
    web.add("twin", text_of("P2"))
    web.rename("p2", "second")
    web.edit("second", "P2 one.\n\nP2 two.", "P2 of the web.\n\nNew words.\n\nAnd more of them.")
    docs.edit("p2.md", "P2 three.", "P2 three, says A.")
    docs.run("sync")
    web.merge()
    docs.settle()
    assert sorted(web.slugs()) == sorted([HOME, "p1", "second", "p3", "p4", "twin"])
    for words in ("P2 of the web.", "P2 three, says A."):
        assert words in web.text("second")
    assert web.text("twin").strip() == text_of("P2").strip()


@pytest.mark.parametrize("name", ["assets/logo.png", "includes/logo.md"])
def test_a_file_renamed_here_and_deleted_there_stays_under_its_new_name(team: Team, name: str) -> None:
    former, later = f".gitbook/{name}", f".gitbook/{name.replace('logo', 'brand')}"
    web = team.space(files={**FOUR, former: "# Logo\n\nOurs.\n"})
    docs = team.clone(web.space)
    docs.git("mv", former, later)
    docs.commit()
    team.replace_content(web, FOUR)
    docs.run("sync")
    assert "Ours." in docs.read(later)
    assert not docs.has(former)


def nest(docs: Writer) -> None:
    """Commit p4 below p1."""
    (docs.path / "p1").mkdir()
    docs.git("mv", "p4.md", "p1/p4.md")
    docs.replace("SUMMARY.md", "* [P4](p4.md)\n", "")
    docs.edit("SUMMARY.md", "* [P1](p1.md)\n", "* [P1](p1.md)\n  * [P4](p1/p4.md)\n")


def exchange(docs: Writer) -> None:
    """Commit p1 under the name of p2, and p2 under that of p1, with their titles."""
    for old, new in (("p1.md", "p.md"), ("p2.md", "p1.md"), ("p.md", "p2.md")):
        docs.git("mv", old, new)
    summary = docs.read("SUMMARY.md")
    docs.write("SUMMARY.md", summary.replace("[P1](p1.md)\n* [P2](p2.md)", "[P2](p1.md)\n* [P1](p2.md)"))
    assert docs.read("SUMMARY.md") != summary
    docs.commit()


def test_a_page_below_one_that_exchanges_names_with_another_costs_no_page(docs: Writer, web: Web) -> None:
    (docs.path / "p3").mkdir()
    docs.git("mv", "p2.md", "p3/p2.md")
    docs.replace("SUMMARY.md", "* [P2](p2.md)\n", "")
    docs.edit("SUMMARY.md", "* [P3](p3.md)\n", "* [P3](p3.md)\n  * [P2](p3/p2.md)\n")
    docs.run("push")
    web.exchange("p3", "p4")
    docs.run("sync")
    web.merge()
    docs.settle()
    texts = web.texts()
    assert sorted(texts) == ["Home", "P1", "P2", "P3", "P4"]
    assert all(f"{title} two." in text for title, text in texts.items())
    assert all(f"P{number} two." in docs.everything() for number in range(1, 5))


def test_a_page_that_moves_to_another_space_takes_its_line_there_and_the_edit_of_the_other_side(team: Team) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    one.edit("p1", "P1 two.", "P1 two, says the web.")
    docs.git("mv", "one/p1.md", "two/moved.md")
    table = docs.read("one/SUMMARY.md").replace("* [P1](p1.md)\n", "")
    docs.write("one/SUMMARY.md", table)
    docs.write("two/SUMMARY.md", docs.read("two/SUMMARY.md") + "* [P1](moved.md)\n")
    docs.commit("Move")
    said = docs.run("sync")
    assert "leads out" not in said
    assert docs.read("one/SUMMARY.md") == table
    one.merge()
    two.merge()
    docs.settle()
    assert "p1" not in one.slugs()
    assert "says the web" in two.text("moved")
    assert docs.read("one/SUMMARY.md") == table


def test_a_rename_that_is_not_committed_takes_no_words_of_others_out(docs: Writer, web: Web) -> None:
    (docs.path / "p1.md").rename(docs.path / "ren.md")
    docs.replace("SUMMARY.md", "(p1.md)", "(ren.md)")
    web.edit("p1", "P1 one.", "P1 one, says W.")
    assert "uncommitted edits are in the way: p1.md" in docs.run("sync", code=5)
    assert not docs.has("p1.md")
    docs.commit("Rename")
    docs.run("sync")
    web.merge()
    docs.settle()
    assert "P1 one, says W." in docs.read("ren.md")
    assert "P1 one, says W." in web.text("ren")
