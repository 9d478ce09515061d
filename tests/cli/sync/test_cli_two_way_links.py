"""A link that one side adds still leads to its page when the other side moves that page.

Run these stories: .venv/bin/python -m pytest -n 2 -m story tests/cli/sync/test_cli_two_way_links.py
"""

import pytest

from syncd.layout.page.links import find_targets
from tests.cli.sync.two_way import HOME, Team, Web, Writer, text_of

pytestmark = pytest.mark.story

LINK = "See [it](p4.md)."


def links(text: str) -> list[str]:
    return [target.text for target in find_targets(text)]


def publish(docs: Writer, web: Web) -> None:
    """Send what the writer has, merge it, and see that both sides then have the same."""
    docs.settle()
    if web.requests():
        web.merge()
        docs.settle()
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_a_link_added_here_leads_to_the_page_that_was_renamed_there(docs: Writer, web: Web) -> None:
    web.rename("p4", "s7")
    docs.edit("p1.md", "P1 one.", LINK)
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["s7.md"]
    assert "broken" not in web.text("p1")


def test_a_link_added_there_leads_to_the_page_that_was_moved_here(docs: Writer, web: Web) -> None:
    web.edit("p1", "P1 one.", LINK)
    docs.rename("p4.md", "guide/s7.md")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["guide/s7.md"]
    assert "broken" not in web.text("p1")


def test_a_link_added_to_a_page_that_both_edit_follows(docs: Writer, web: Web) -> None:
    web.rename("p4", "s7")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    docs.edit("p1.md", "P1 one.", LINK)
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["s7.md"]
    assert "P1 three, says the web." in docs.read("p1.md")


def test_a_link_in_a_new_page_follows(docs: Writer, web: Web) -> None:
    web.rename("p4", "s7")
    docs.add("new.md", "New")
    docs.edit("new.md", "New one.", LINK)
    publish(docs, web)
    assert links(docs.read("new.md")) == ["s7.md"]
    assert len(web.pages()) == 6


def test_links_follow_two_pages_that_exchange_names_there(docs: Writer, web: Web) -> None:
    web.exchange("p3", "p4")
    docs.edit("p1.md", "P1 one.", "See [the third](p3.md) and [the fourth](p4.md).")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["p4.md", "p3.md"]
    assert web.titles()["p3"] == "P4"


def test_a_link_to_a_new_page_in_the_former_place_of_another_stays(docs: Writer, web: Web) -> None:
    docs.rename("p4.md", "old.md")
    docs.add("p4.md", "Newer")
    docs.edit("p1.md", "P1 one.", LINK)
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["p4.md"]
    assert web.titles()["p4"] == "Newer"


def test_the_links_of_a_page_in_conflict_follow_in_the_branch(docs: Writer, web: Web) -> None:
    web.rename("p4", "s7")
    docs.edit("p1.md", "P1 one.", "Ours, see [it](p4.md).")
    web.edit("p1", "P1 one.", "Theirs.")
    docs.run("sync", code=6)
    assert links(docs.read("p1.md")) == ["s7.md"]
    tip = docs.tip()
    docs.run("sync", code=6)
    assert docs.tip() == tip
    docs.run("resolve", "p1.md", "--ours")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["s7.md"]
    assert "Ours" in web.text("p1")


@pytest.mark.parametrize("flow", ["sync", "pull"])
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_link_added_here_to_a_page_in_conflict_leads_to_it_on_each_side(
    docs: Writer, web: Web, side: str, flow: str
) -> None:
    web.edit("p3", "P3 one.", "Theirs.")
    web.rename("p3", "s7")
    docs.edit("p3.md", "P3 one.", "Ours.")
    docs.edit("p4.md", "P4 one.", "See [it](p3.md).")
    docs.run(flow, code=6)
    docs.run("sync", code=6)
    assert links(docs.read("p4.md")) == ["p3.md"]
    assert "broken" not in web.text("p4", request=web.requests()[0].number)
    docs.run("resolve", "p3.md", f"--{side}")
    publish(docs, web)
    assert links(docs.read("p4.md")) == ["p3.md" if side == "ours" else "s7.md"]
    assert "broken" not in web.text("p4")


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_links_to_a_page_in_conflict_lead_to_its_place_in_the_branch(docs: Writer, web: Web, side: str) -> None:
    docs.edit("p4.md", "P4 one.", "See [it](p3.md).")
    publish(docs, web)
    web.edit("p3", "P3 one.", "Theirs.")
    web.rename("p3", "s7")
    web.edit("p4", "P4 three.", "P4 three, says the web.")
    docs.edit("p3.md", "P3 one.", "Ours.")
    docs.edit("p4.md", "P4 two.", "P4 two, here.")
    docs.run("sync", code=6)
    assert links(docs.read("p4.md")) == ["p3.md"]
    tip = docs.tip()
    docs.run("sync", code=6)
    assert docs.tip() == tip
    docs.run("resolve", "p3.md", f"--{side}")
    publish(docs, web)
    assert links(docs.read("p4.md")) == ["p3.md" if side == "ours" else "s7.md"]
    assert "says the web" in docs.read("p4.md")
    assert "P4 two, here." in web.text("p4")


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_link_added_there_leads_to_a_page_in_conflict_that_was_renamed_here(
    docs: Writer, web: Web, side: str
) -> None:
    web.edit("p3", "P3 one.", "Theirs.")
    web.edit("p4", "P4 one.", "See [it](p3.md).")
    docs.edit("p3.md", "P3 one.", "Ours.")
    docs.rename("p3.md", "s7.md")
    docs.run("sync", code=6)
    assert links(docs.read("p4.md")) == ["s7.md"]
    docs.run("resolve", "s7.md", f"--{side}")
    publish(docs, web)
    assert links(docs.read("p4.md")) == ["s7.md" if side == "ours" else "p3.md"]
    assert "broken" not in web.text("p4")


def test_the_links_of_a_chosen_text_follow(docs: Writer, web: Web) -> None:
    web.edit("p1", "P1 one.", "Theirs, see [it](p3.md).")
    docs.rename("p3.md", "t8.md")
    docs.edit("p1.md", "P1 one.", "Ours.")
    docs.run("pull", code=6)
    docs.run("resolve", "p1.md", "--theirs")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["t8.md"]
    assert "Theirs" in web.text("p1")


def test_the_links_of_a_page_whose_titles_are_in_conflict_follow(docs: Writer, web: Web) -> None:
    web.rename("p4", "s7")
    web.retitle("p1", "Theirs")
    docs.edit("p1.md", "P1 one.", LINK)
    docs.retitle("P1", "Ours")
    docs.run("pull", code=6)
    docs.run("resolve", "p1.md", "--ours")
    publish(docs, web)
    assert links(docs.read("p1.md")) == ["s7.md"]
    assert web.titles()["p1"] == "Ours"


def test_a_link_to_a_folder_page_follows_with_its_anchor(team: Team) -> None:
    files = {f"{name}.md": text_of(name) for name in ("README", "guide/README", "guide/sub")}
    table = "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Sub](guide/sub.md)\n"
    web = team.space(files={**files, "SUMMARY.md": table})
    docs = team.clone(web.space)
    web.rename("guide", "manual")
    docs.edit("README.md", "README one.", "See [all](guide/) and [two](guide/sub.md#two).")
    publish(docs, web)
    assert links(docs.read("README.md")) == ["manual/README.md", "manual/sub.md#two"]


def test_a_page_deleted_here_stays_deleted_when_only_a_link_in_it_followed_a_rename_there(
    docs: Writer, web: Web
) -> None:
    docs.edit("p1.md", "P1 one.", LINK)
    publish(docs, web)
    docs.delete("p1.md")
    web.rename("p4", "s7")
    publish(docs, web)
    assert web.slugs() == [HOME, "p2", "p3", "s7"]
    assert not docs.has("p1.md")


def test_a_new_clone_has_links_to_where_pages_are_now(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.edit("p1.md", "P1 one.", LINK)
    publish(docs, web)
    web.rename("p4", "s7")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    publish(docs, web)
    for clone in (docs, team.clone(web.space, name="new")):
        assert links(clone.read("p1.md")) == ["s7.md"]
        assert "P1 three, says the web." in clone.read("p1.md")


def test_a_page_that_is_renamed_in_git_alone_is_followed_by_the_links_to_it(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", LINK)
    publish(docs, web)
    docs.rename("p4.md", "guide/s7.md")
    docs.settle()
    assert links(docs.read("p1.md")) == ["guide/s7.md"]
    publish(docs, web)
    assert links(web.text("p1")) == ["s7.md"], "there, the page stands where SUMMARY.md has it"


def nest(docs: Writer, page: str, above: str) -> None:
    """Let a page stand below another one in SUMMARY.md; its file stays."""
    table = docs.read("SUMMARY.md")
    (line,) = [line for line in table.splitlines(keepends=True) if f"({page})" in line]
    (upper,) = [line for line in table.splitlines(keepends=True) if f"({above})" in line]
    docs.write("SUMMARY.md", table.replace(line, "").replace(upper, f"{upper}  {line}"))
    docs.commit("Nest")


def test_a_link_to_a_page_that_gets_its_first_page_below_leads_to_it(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", LINK)
    docs.edit("p4.md", "P4 one.", LINK)
    nest(docs, "p2.md", "p4.md")
    publish(docs, web)
    assert [links(web.text(name)) for name in ("p1", "p4")] == [["p4/README.md"], ["README.md"]]


def test_a_link_in_a_page_that_is_moved_with_it_leads_to_its_page(docs: Writer, web: Web) -> None:
    docs.edit("p2.md", "P2 one.", "See [it](p3.md).")
    nest(docs, "p2.md", "p4.md")
    publish(docs, web)
    assert links(web.text("p2")) == ["../p3.md"]


def test_reusable_content_is_included_wherever_a_page_lies_in_git(team: Team) -> None:
    files = {f"{name}.md": text_of(name) for name in ("README", "p1", "p2")}
    table = "# Table of contents\n\n* [Home](README.md)\n* [P1](p1.md)\n* [P2](p2.md)\n"
    web = team.space(
        files={**files, "SUMMARY.md": table, ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nA note.\n"}
    )
    docs = team.clone(web.space)
    docs.edit("p1.md", "p1 one.", '{% include ".gitbook/includes/note.md" %}')
    docs.rename("p1.md", "guide/deep/p1.md")
    docs.add("guide/new.md", "New")
    docs.edit("guide/new.md", "New one.", '{% include "../.gitbook/includes/note.md" %}')
    docs.edit("guide/deep/p1.md", 'include "', 'include "../../')
    publish(docs, web)
    assert links(web.text("p1")) == links(web.text("new")) == [".gitbook/includes/note.md"]
    assert links(docs.read("guide/new.md")) == ["../.gitbook/includes/note.md"]
