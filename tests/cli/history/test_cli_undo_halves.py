"""`syncd undo` of a page that moved between two spaces of a repository: both halves are taken back, or none."""

import json
import re

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, text_of

pytestmark = pytest.mark.story

Story = tuple[Writer, Web, Web]


def files(home: str, *titles: str) -> dict[str, str]:
    """Return the files of a space."""
    listed = "".join(f"* [{title}]({title.lower()}.md)\n" for title in titles)
    return {
        "README.md": text_of(home),
        "SUMMARY.md": f"# Table of contents\n\n* [{home}](README.md)\n{listed}",
        **{f"{title.lower()}.md": text_of(title) for title in titles},
    }


@pytest.fixture
def story(team: Team) -> Story:
    """A clone of two spaces that has pushed a page's move from the first to the second."""
    one, two = team.space("one", files("One", "P1", "P2")), team.space("two", files("Two", "Q1"))
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    docs.git("mv", "one/p1.md", "two/p1.md")
    docs.replace("one/SUMMARY.md", "* [P1](p1.md)\n", "")
    docs.replace("two/SUMMARY.md", "* [Q1](q1.md)\n", "* [Q1](q1.md)\n* [P1](p1.md)\n")
    docs.commit("Move P1")
    docs.run("push")
    return docs, one, two


def merge_both(docs: Writer, one: Web, two: Web) -> None:
    for web in (one, two):
        web.merge()
    docs.settle()


def titles(one: Web, two: Web) -> tuple[list[str], list[str]]:
    return list(one.texts()), list(two.texts())


@pytest.mark.parametrize("words", [(), ("1", "--space", "one"), ("1", "--space", "two")])
def test_a_merged_move_is_taken_back_in_both_spaces(story: Story, words: tuple[str, ...]) -> None:
    docs, one, two = story
    merge_both(*story)
    assert titles(one, two) == (["One", "P2"], ["Two", "Q1", "P1"])
    said = docs.run("undo", *words, "--yes")
    assert said.index("#1 two") < said.index("#1 one"), "the last merge first"
    assert docs.has("one/p1.md")
    assert not docs.has("two/p1.md")
    merge_both(*story)
    assert titles(one, two) == (["One", "P1", "P2"], ["Two", "Q1"])
    assert "already" in docs.run("undo", "1", "--space", "two", "--yes")
    docs.run("undo", "--yes")
    merge_both(*story)
    assert titles(one, two) == (["One", "P2"], ["Two", "Q1", "P1"]), "what took it back is taken back in both, too"


def test_json_names_every_merge_that_is_taken_back(story: Story) -> None:
    docs, one, two = story
    merge_both(*story)
    document = json.loads(docs.run("undo", "1", "--space", "one", "--yes", "--json"))
    assert document["number"] == 1
    assert document["merges"] == [
        {"space": two.space, "name": "two", "numbers": [1]},
        {"space": one.space, "name": "one", "numbers": [1]},
    ]


def test_a_reset_that_would_drop_more_names_both_spaces(story: Story) -> None:
    docs, *_ = story
    docs.write("else.txt", "Of no space.\n")
    docs.commit()
    said = docs.run("undo", "1", "--space", "one", "--reset", "--yes", code=5)
    assert "changes outside of #1 of one, #1 of two" in said


def test_what_one_space_alone_got_is_taken_back_alone(story: Story) -> None:
    docs, one, two = story
    merge_both(*story)
    docs.replace("one/p2.md", "P2 one.", "P2 one, says B.")
    docs.edit("two/q1.md", "Q1 one.", "Q1 one, says B.")
    docs.run("push")
    merge_both(*story)
    docs.run("undo", "2", "--space", "one", "--yes")
    assert "says B." not in docs.read("one/p2.md")
    assert "says B." in docs.read("two/q1.md")
    assert (len(one.requests()), len(two.requests())) == (1, 0)


@pytest.mark.parametrize("name", ["one", "two"])
def test_an_open_move_is_taken_back_in_both_spaces(story: Story, name: str) -> None:
    docs, one, two = story
    said = docs.run("undo", "1", "--space", name, "--reset", "--yes")
    other = "two" if name == "one" else "one"
    assert f"#1 of {name}, #1 of {other} are archived" in said
    for space in (name, other):
        assert f"  syncd cr reopen 1 --space {space}\n" in said
    assert (one.requests(), two.requests()) == ([], [])
    assert docs.has("one/p1.md")


@pytest.mark.parametrize(("merged", "left"), [("one", "two"), ("two", "one")])
def test_half_of_a_move_is_not_taken_back(story: Story, merged: str, left: str) -> None:
    docs, one, two = story
    (one if merged == "one" else two).merge()
    docs.settle()
    tip = docs.tip()
    for words in (("1", "--space", merged), ("1", "--space", left), ()):
        said = " ".join(docs.run("undo", *words, "--yes", code=5).split())
        assert f"one/p1.md moved to two/p1.md with #1 of {merged}, which is merged, and #1 of {left}" in said
        assert f"syncd cr merge 1 --space {left}" in said
        assert docs.tip() == tip
    assert len(one.requests()) + len(two.requests()) == 1


@pytest.mark.parametrize(("merged", "left"), [("one", "two"), ("two", "one")])
def test_half_of_a_move_is_not_taken_back_where_the_other_one_is_closed(story: Story, merged: str, left: str) -> None:
    docs, one, two = story
    (one if merged == "one" else two).merge()
    docs.settle()
    docs.run("cr", "close", "1", "--space", left)
    said = docs.run("undo", "1", "--space", merged, "--yes", code=5)
    revert = re.search(r"git (revert \w+), then syncd push", said)
    assert revert is not None
    docs.git(*revert[1].split(), "--no-edit")
    docs.run("push")
    for web in (one, two):
        for request in web.requests():
            web.merge(request.number)
    docs.settle()
    assert titles(one, two) == (["One", "P1", "P2"], ["Two", "Q1"])
    assert docs.has("one/p1.md")
    assert not docs.has("two/p1.md")


def test_half_of_a_move_is_not_taken_back_before_the_other_merge_is_here(story: Story) -> None:
    docs, one, two = story
    one.merge()
    docs.settle()
    two.merge()
    assert "syncd pull" in docs.run("undo", "1", "--space", "one", "--yes", code=5)
    docs.settle()
    docs.run("undo", "1", "--space", "one", "--yes")
    assert docs.has("one/p1.md")
    assert not docs.has("two/p1.md")


@pytest.mark.parametrize("number", [0, 1])
def test_a_clone_that_began_after_a_merge_takes_nothing_back(team: Team, number: int) -> None:
    webs = [team.space("one", files("One", "P2")), team.space("two", files("Two", "Q1"))]
    spaces = [f"{web.space}={name}" for web, name in zip(webs, ("one", "two"), strict=True)]
    docs = team.clone(*spaces)
    docs.edit("one/p2.md", "P2 one.", "P2 one, says B.")
    docs.edit("two/q1.md", "Q1 one.", "Q1 one, says B.")
    docs.run("sync")
    space, merged = webs[number].space, [web.merge() for web in webs][number]
    late = team.clone(*spaces, name="late")
    before = late.tip()
    said = late.run("undo", merged, "--space", space, "--yes", code=5)
    assert f"Git does not know here what #{merged} changed: this clone began after it was merged" in said
    assert late.tip() == before
    assert "syncd pull, then undo again" in docs.run("undo", merged, "--space", space, "--yes", code=5)
    docs.run("pull")
    docs.run("undo", merged, "--space", space, "--yes")
    assert ("says B." in docs.read("one/p2.md"), "says B." in docs.read("two/q1.md")) == (bool(number), not number)


def test_a_page_that_was_edited_where_it_went_is_left_to_a_person(story: Story) -> None:
    docs, _, two = story
    merge_both(*story)
    two.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.settle()
    tip = docs.tip()
    said = docs.run("undo", "1", "--space", "one", "--yes", code=6)
    assert "two/p1.md moved to another space and was edited there since; nothing was reverted" in said
    assert docs.tip() == tip
