"""A page that one side moves to another space keeps what the other side gave it meanwhile: its words, and its title.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_transfers.py
"""

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, conflicts, pages_of

pytestmark = pytest.mark.story


@pytest.fixture
def spaces(team: Team) -> tuple[Web, Web]:
    """Two spaces that each clone of these stories has."""
    return team.space("one"), team.space("two", pages_of("Q1", "Q2"))


def clone(team: Team, spaces: tuple[Web, Web], name: str) -> Writer:
    one, two = spaces
    return team.clone(f"{one.space}=one", f"{two.space}=two", name=name)


def transfer(docs: Writer, *, title: str = "P1") -> None:
    """Commit that a page of the first space is one of the second."""
    docs.git("mv", "one/p1.md", "two/moved.md")
    docs.write("one/SUMMARY.md", docs.read("one/SUMMARY.md").replace("* [P1](p1.md)\n", ""))
    docs.write(
        "two/SUMMARY.md", docs.read("two/SUMMARY.md").replace("\n* [", "\n\n* [", 1) + f"* [{title}](moved.md)\n"
    )
    docs.commit("Move")


def settle(*writers: Writer) -> None:
    for _ in range(2):
        for each in writers:
            each.settle()


def test_a_title_that_the_platform_gave_comes_along(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), docs = spaces, clone(team, spaces, "docs")
    one.retitle("p1", "P1 anew")
    transfer(docs)
    table = docs.read("two/SUMMARY.md")
    docs.run("sync")
    one.merge()
    two.merge()
    docs.settle()
    assert "p1" not in one.slugs()
    assert two.titles()["moved"] == "P1 anew"
    assert docs.read("two/SUMMARY.md") == table.replace("[P1](moved.md)", "[P1 anew](moved.md)")


def test_a_title_that_a_branch_gave_comes_along(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), a, b = spaces, clone(team, spaces, "a"), clone(team, spaces, "b")
    b.edit("one/SUMMARY.md", "[P1](p1.md)", "[P1 anew](p1.md)")
    transfer(a)
    a.run("sync")
    one.merge()
    two.merge()
    b.run("sync")
    two.merge()
    settle(a, b)
    assert two.titles()["moved"] == "P1 anew"
    assert "[P1 anew](moved.md)" in a.read("two/SUMMARY.md")
    assert "p1" not in one.slugs()


def test_a_title_that_was_sent_before_the_page_moved_comes_along(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), a, b = spaces, clone(team, spaces, "a"), clone(team, spaces, "b")
    b.edit("one/SUMMARY.md", "[P1](p1.md)", "[P1 anew](p1.md)")
    transfer(a)
    a.run("sync")
    b.run("sync")
    one.merge(1)
    two.merge(1)
    settle(a, b)
    for web in spaces:
        for request in web.requests():
            web.merge(request.number)
    settle(a, b)
    titles = {**one.titles(), **two.titles()}
    assert "P1 anew" in titles.values()
    assert "P1 anew" in a.everything()


def test_two_titles_are_held(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), docs = spaces, clone(team, spaces, "docs")
    one.retitle("p1", "P1 of the web")
    transfer(docs, title="P1 of B")
    said = docs.run("sync", code=6)
    assert conflicts(said) == ["two/moved.md"]
    docs.run("resolve", "two/moved.md", code=6)
    docs.run("resolve", "two/moved.md", "--ours")
    docs.settle()
    one.merge()
    two.merge()
    docs.settle()
    assert two.titles()["moved"] == "P1 of B"
    assert "p1" not in one.slugs()


def test_a_title_stays_as_each_side_has_it_while_the_page_is_in_conflict(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, _), docs = spaces, clone(team, spaces, "docs")
    one.edit("p1", "P1 three.", "Platform says.")
    one.retitle("p1", "P1 anew")
    docs.edit("one/p1.md", "P1 three.", "Writer says.")
    transfer(docs)
    docs.run("sync", code=6)
    assert "[P1](moved.md)" in docs.read("two/SUMMARY.md")
    docs.run("resolve", "two/moved.md", "--ours")
    assert "[P1](moved.md)" in docs.read("two/SUMMARY.md")


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_a_title_that_comes_along_changes_its_line_alone(team: Team, spaces: tuple[Web, Web], end: str) -> None:
    (one, _), docs = spaces, clone(team, spaces, "docs")
    one.retitle("p1", "P1 ] anew")
    transfer(docs)
    table = docs.read("two/SUMMARY.md").replace("\n* [", "\n- [").replace("\n", end).encode()
    docs.write("two/SUMMARY.md", table)
    docs.commit("Another form")
    docs.run("sync")
    assert (docs.path / "two/SUMMARY.md").read_bytes() == table.replace(b"[P1]", rb"[P1 \] anew]")


def test_a_page_that_the_platform_deleted_meanwhile_leaves_no_entry(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, _), docs = spaces, clone(team, spaces, "docs")
    transfer(docs)
    one.delete("p1")
    assert "take the entry out" not in docs.run("sync")
    assert not docs.has("two/moved.md")
    assert "moved.md" not in docs.read("two/SUMMARY.md")


def test_a_page_shows_the_copy_of_its_picture_that_went_along(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), docs, picture = spaces, clone(team, spaces, "docs"), ".gitbook/assets/pic.png"
    text = docs.read("one/p1.md") + f"\n![Pic]({picture})\n"
    docs.write(f"one/{picture}", b"\x89PNG")
    docs.write("one/p1.md", text)
    docs.commit("Picture")
    docs.run("sync")
    one.merge()
    docs.settle()
    docs.write(f"two/{picture}", b"\x89PNG")
    transfer(docs)
    one.edit("p1", "P1 two.", "Platform says.")
    docs.run("sync")
    assert docs.read("two/moved.md") == text.replace("P1 two.", "Platform says.")
    one.merge()
    two.merge()
    docs.run("sync")
    assert f"![Pic]({picture})" in two.text("moved")


def test_a_link_within_the_former_space_leads_there_while_the_new_one_has_no_such_file(
    team: Team, spaces: tuple[Web, Web]
) -> None:
    (one, _), docs = spaces, clone(team, spaces, "docs")
    one.edit("p1", "P1 two.", "See [P2](p2.md).")
    transfer(docs)
    docs.run("sync")
    assert "See [P2](../one/p2.md)." in docs.read("two/moved.md")


def test_a_merged_branch_of_two_spaces_has_nothing_left_to_send(team: Team, spaces: tuple[Web, Web]) -> None:
    (one, two), docs = spaces, clone(team, spaces, "docs")
    docs.git("switch", "--quiet", "--create", "topic")
    for page in ("one/p1.md", "two/q1.md"):
        title = page[4:6].upper()
        docs.replace(page, f"{title} one.", f"{title} one, says the topic.")
    docs.commit()
    docs.run("push", "topic")
    one.merge()
    two.merge()
    one.rename("p1", "renamed")
    for command in ("sync", "push", "status"):
        assert "not sent" not in docs.run(command), command
    docs.replace("one/p2.md", "P2 one.", "P2 one, says the topic.")
    docs.commit()
    assert "! not sent: one/p2.md: topic is not one of the tracked branches" in docs.run("sync")
