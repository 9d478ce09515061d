"""Pages that take each other's place on the platform stay who they are, whatever Git takes them for.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_places.py
"""

import pytest

from tests.cli.sync.two_way import FOUR, HOME, Team, Web, Writer, conflicts, text_of

pytestmark = pytest.mark.story


@pytest.mark.parametrize("number", [0, 1])
def test_two_pages_that_exchange_slugs_while_one_is_edited_here(team: Team, number: int) -> None:
    web = team.space()
    docs = team.clone(web.space)
    ours, theirs = in_order(web, number)
    web.exchange("p3", "p4")
    web.edit("p4" if theirs == "P3" else "p3", f"{theirs} one.", f"{theirs} one, says the web.")
    docs.edit(f"{ours.lower()}.md", f"{ours} two.", f"{ours} two, says A.")
    settle(docs, web)
    assert f"{ours} two, says A." in web.texts()[ours]
    assert f"{theirs} one, says the web." in web.texts()[theirs]


@pytest.mark.parametrize("number", [0, 1])
def test_the_same_while_another_page_is_in_conflict(team: Team, number: int) -> None:
    web = team.space()
    docs = team.clone(web.space)
    ours, theirs = in_order(web, number)
    web.exchange("p3", "p4")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit("p4" if theirs == "P3" else "p3", f"{theirs} one.", f"{theirs} one, says the web.")
    docs.run("push", code=6)
    docs.edit(f"{ours.lower()}.md", f"{ours} two.", f"{ours} two, says A.")
    assert conflicts(docs.run("sync", code=6)) == ["p1.md"]
    docs.run("resolve", "p1.md", "--ours")
    settle(docs, web)
    assert f"{ours} two, says A." in web.texts()[ours]
    assert f"{theirs} one, says the web." in web.texts()[theirs]
    assert "P1 one, says A." in web.texts()["P1"]


@pytest.mark.parametrize("number", [0, 1])
def test_two_pages_that_exchange_slugs_while_one_is_in_conflict(team: Team, number: int) -> None:
    web = team.space()
    docs = team.clone(web.space)
    ours, _ = in_order(web, number)
    web.exchange("p3", "p4")
    web.edit("p4" if ours == "P3" else "p3", f"{ours} one.", f"{ours} one, says the web.")
    docs.edit(f"{ours.lower()}.md", f"{ours} one.", f"{ours} one, says A.")
    docs.edit("p2.md", "P2 one.", "P2 one, says A.")
    (page,) = conflicts(docs.run("sync", code=6))
    docs.run("resolve", page, "--ours")
    settle(docs, web)
    assert "P2 one, says A." in web.texts()["P2"]
    assert f"{ours} one, says A." in web.texts()[ours]


def test_a_page_that_leaves_its_slug_to_a_new_one_takes_the_words_along(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    web.replace_page("p3", text_of("New"), away="old")
    docs.edit("p3.md", "P3 one.", "P3 one, says A.")
    docs.settle()
    assert "P3 one, says A." in web.texts(request=web.proposed())["P3"]
    web.merge()
    docs.settle()
    assert "says A." not in web.texts()["New"]
    assert len(web.pages()) == 6
    assert "P3 one, says A." in docs.read("old.md")


def test_pages_that_take_the_next_ones_place_and_a_page_that_is_gone(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    other = team.clone(web.space, name="other")
    docs.edit("p4.md", "P4 one.", "P4 one, says A.")
    web.delete("p3")
    web.rename("p4", "p3")
    web.rename("p2", "p4")
    other.settle()
    other.edit("p4.md", "P2 one.", "P2 one, says B.")
    settle(docs, web)
    settle(other, web)
    settle(docs, web)
    assert web.texts().keys() == {"Home", "P1", "P2", "P4"}
    assert "P4 one, says A." in web.texts()["P4"]
    assert "P2 one, says B." in web.texts()["P2"]


def test_two_pages_that_exchange_names_in_git_while_one_is_edited_there(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    for old, new in (("p3.md", "p.md"), ("p4.md", "p3.md"), ("p.md", "p4.md")):
        docs.git("mv", old, new)
    docs.replace("SUMMARY.md", "[P3](p3.md)\n* [P4](p4.md)", "[P3](p4.md)\n* [P4](p3.md)")
    docs.commit()
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    settle(docs, web)
    assert "P3 one, says the web." in web.texts()["P3"]
    assert "P3 one, says the web." in docs.read("p4.md")
    assert len(web.pages()) == 5


@pytest.mark.parametrize("way", ["ours", "theirs"])
def test_who_chooses_a_place_of_two_pages_keeps_what_both_sides_wrote_in_them(team: Team, way: str) -> None:
    files = {**FOUR, "guide/README.md": text_of("Guide"), "p4.md": f"{FOUR['p4.md']}\nSee [P1](p1.md).\n"}
    web = team.space(files={**files, "SUMMARY.md": f"{FOUR['SUMMARY.md']}* [Guide](guide/README.md)\n"})
    docs = team.clone(web.space)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("push")
    moved = docs.read("p4.md").replace("(p1.md)", "(../p1.md)")
    docs.delete("p4.md")
    docs.write("guide/README.md", moved.replace("P4 three.", "P4 three, says A."))
    docs.edit("SUMMARY.md", "[Guide]", "[P4]")
    web.edit("p4", "P4 one.", "P4 one, says R.", request=web.proposed())
    web.edit("guide", "Guide one.", "Guide one, says W.")
    assert conflicts(docs.run("sync", code=6)) == ["guide/README.md"]
    assert "two pages would come to lie at one path" in docs.run("resolve", code=6)
    docs.run("resolve", "guide/README.md", f"--{way}")
    docs.settle()
    name, link = ("guide/README.md", "../p1.md") if way == "ours" else ("p4.md", "p1.md")
    assert f"See [P1]({link})." in docs.read(name)
    for text in (docs.read(name), web.texts(request=web.proposed())["P4"]):
        assert "P4 one, says R." in text
        assert "P4 three, says A." in text
    assert ("Guide one, says W." in docs.everything()) is (way == "theirs")
    settle(docs, web)


def in_order(web: Web, number: int) -> tuple[str, str]:
    """Return the titles of p3 and p4: first the one whose id comes first or second."""
    pages = sorted((page.id, page.title) for page in web.pages() if page.title in ("P3", "P4"))
    return pages[number][1], pages[1 - number][1]


def settle(docs: Writer, web: Web) -> None:
    """Bring both sides in step, and see that no page stands twice."""
    docs.settle()
    if web.requests():
        web.merge()
    docs.settle()
    titles = [page.title for page in web.pages()]
    assert len(titles) == len(set(titles))
    for title, text in web.texts().items():
        assert text.startswith(f"# {title}")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


@pytest.mark.parametrize("number", [0, 1])
def test_a_page_that_takes_anothers_place_while_a_third_is_in_conflict_and_all_was_proposed(
    team: Team, number: int
) -> None:
    web = team.space()
    docs = team.clone(web.space)
    mine, other = in_order(web, number)
    docs.edit("README.md", "Home one.", "Home one, says A.")
    docs.edit(f"{mine.lower()}.md", f"{mine} one.", f"{mine} one, says A.")
    web.edit(mine.lower(), f"{mine} three.", f"{mine} three, says the web.")
    docs.run("push")
    web.edit(HOME, "Home one.", "Home one, says the web.")
    web.delete(other.lower())
    web.rename(mine.lower(), other.lower())
    assert conflicts(docs.run("sync", code=6)) == ["README.md"]
    docs.run("resolve", "README.md", "--theirs")
    settle(docs, web)
    assert web.texts().keys() == {"Home", "P1", "P2", mine}
    assert f"{mine} one, says A." in web.texts()[mine]
    assert f"{mine} three, says the web." in web.texts()[mine]
