"""Two clones that have each other's commits through Git and both run syncd make one page of a page, not two.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_shared_branch.py
"""

import pytest

from syncd.model.change_request import ChangeRequest
from tests.cli.sync.interposer import Interposer
from tests.cli.sync.two_way import Team, Web, Writer, conflicts, interpose

pytestmark = pytest.mark.story

PICTURE = b"\x89PNG\r\n\x1a\nnew"


@pytest.fixture
def ann(team: Team, web: Web) -> Writer:
    return team.clone(web.space, name="ann")


@pytest.fixture
def bob(team: Team, web: Web, ann: Writer) -> Writer:
    """A clone of Ann's, which runs syncd, too."""
    bob = Writer(team.root / "bob")
    ann.git("clone", "--quiet", str(ann.path), str(bob.path))
    bob.run("init", team.url, web.space, "--token-file", team.token)
    bob.run("sync")
    return bob


def pull(writer: Writer, other: Writer) -> None:
    """Take in what another clone has committed, as through a Git host."""
    writer.git("pull", "--quiet", "--no-rebase", "--no-edit", str(other.path), "main")


def share(ann: Writer, team: Team) -> Writer:
    """Give Ann's clone an upstream, and return a clone of that by somebody who has Git only."""
    ann.git("clone", "--quiet", "--bare", ".", str(team.root / "origin.git"))
    ann.git("remote", "add", "origin", str(team.root / "origin.git"))
    file = ann.path / ".git" / "syncd.toml"
    file.write_text(f'{file.read_text()}\n[repository.upstream]\nremote = "origin"\n')
    ann.run("trust", "--yes")
    ann.run("sync")
    cleo = Writer(team.root / "cleo")
    ann.git("clone", "--quiet", str(team.root / "origin.git"), str(cleo.path))
    return cleo


def settle_both(web: Web, ann: Writer, bob: Writer) -> None:
    """Let both sync and take in each other's commits, and merge all, until no change request is left."""
    for _ in range(4):
        for writer, other in ((ann, bob), (bob, ann)):
            pull(writer, other)
            writer.run("sync")
        for request in web.requests():
            web.client.change_requests.merge(web.space, str(request.number))
    assert web.requests() == []


def test_a_page_that_another_clone_proposes_is_not_proposed_twice(web: Web, ann: Writer, bob: Writer) -> None:
    ann.add("new.md", "New")
    ann.run("sync")
    first = web.proposed()
    pull(bob, ann)
    bob.edit("p2.md", "P2 two.", "P2 two, says Bob.")
    said = bob.run("sync")
    note = f"#{first} adds new.md already; sent from here once #{first} is merged or archived"
    assert note in said
    assert "main but for what is not sent" in bob.git("log", "--all", "--format=%s")
    second = web.proposed()
    assert second != first
    assert "new" not in web.slugs(request=second)
    assert "P2 two, says Bob." in web.text("p2", request=second)
    bob.edit("new.md", "New two.", "New two, says Bob.")
    assert note in bob.run("sync")
    settle_both(web, ann, bob)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4", "new"]
    assert "New two, says Bob." in web.text("new")
    assert ann.everything() == bob.everything()


def test_a_branch_with_nothing_else_opens_no_change_request(web: Web, ann: Writer, bob: Writer) -> None:
    ann.add("new.md", "New")
    ann.run("sync")
    pull(bob, ann)
    said = bob.run("sync")
    assert "adds new.md already" in said
    assert "! not sent" not in said
    assert "! not sent: SUMMARY.md, new.md wait for #1, which adds that already" in bob.run("status")
    assert len(web.requests()) == 1
    web.archive(web.proposed())
    assert "adds new.md already" not in bob.run("sync")
    assert "new" in web.slugs(request=web.proposed())


def test_a_page_waits_with_the_picture_that_it_shows(web: Web, ann: Writer, bob: Writer) -> None:
    ann.write(".gitbook/assets/new.png", PICTURE)
    ann.replace("p1.md", "P1 two.", "P1 two, see [the new page](new.md).\n\n![new](.gitbook/assets/new.png)")
    ann.add("new.md", "New")
    ann.run("sync")
    pull(bob, ann)
    bob.edit("p2.md", "P2 two.", "P2 two, says Bob.")
    bob.edit("p1.md", "P1 three.", "P1 three, says Bob.")
    bob.run("sync")
    assert "see [the new page]" not in web.text("p1", request=web.proposed())
    settle_both(web, ann, bob)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4", "new"]
    assert [file.name for file in web.client.content.get(web.space).files] == ["new.png"]
    for words in ("P1 three, says Bob.", "P1 two, see [the new page]"):
        assert words in web.text("p1")
    for writer in (ann, bob):
        assert "](.gitbook/assets/new.png)" in writer.read("p1.md")
        assert writer.has(".gitbook/assets/new.png")
        assert not writer.has(".gitbook/assets/new-1.png")


def test_a_page_that_another_clone_brought_keeps_its_file(web: Web, ann: Writer, bob: Writer) -> None:
    """The platform names a file by its page's place; who proposed it may have it elsewhere."""
    ann.write("p1/new.md", "# New\n\nNew one.\n")
    ann.edit("SUMMARY.md", "* [P1]", "* [New](p1/new.md)\n* [P1]")
    ann.run("sync")
    pull(bob, ann)
    web.merge()
    bob.run("sync")
    ann.run("sync")
    assert web.requests() == []
    assert web.slugs().count("new") == 1
    for writer in (ann, bob):
        assert writer.has("p1/new.md")
        assert not writer.has("new.md")


@pytest.mark.parametrize("deed", ["reset", "undo"])
def test_commits_of_others_that_a_reset_leaves_out_come_again_from_the_upstream(
    web: Web, ann: Writer, team: Team, deed: str
) -> None:
    cleo = share(ann, team)
    cleo.edit("p2.md", "P2 two.", "P2 two, says Cleo.")
    cleo.git("push", "--quiet")
    ann.run("sync")
    if deed == "undo":
        ann.run("undo", "--yes", "--reset")
    else:
        ann.git("reset", "--quiet", "--hard", "platform/main")
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    ann.edit("p1.md", "P1 two.", "P1 two, says Ann.")
    ann.run("sync")
    assert "P2 two, says Cleo." in ann.read("p2.md")
    assert "P1 two, says Ann." in ann.read("p1.md")
    cleo.git("pull", "--quiet", "--ff-only")
    assert "P2 two, says Cleo." in cleo.read("p2.md")
    assert "P2 two, says Cleo." in web.text("p2", request=web.proposed())


def test_a_page_that_the_other_clone_deletes_before_it_is_merged_stays_deleted(
    web: Web, ann: Writer, bob: Writer
) -> None:
    ann.add("new.md", "New")
    ann.run("sync")
    pull(bob, ann)
    bob.delete("new.md")
    bob.edit("p1.md", "P1 one.", "P1 one, says Bob.")
    bob.run("sync")
    web.merge(min(one.number for one in web.requests()))
    bob.run("sync")
    settle_both(web, ann, bob)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4"]
    assert not ann.has("new.md")


def test_what_was_sent_of_a_page_stays_when_it_waits_with_a_new_picture(web: Web, ann: Writer, bob: Writer) -> None:
    ann.write(".gitbook/assets/new.png", PICTURE)
    ann.replace("p1.md", "P1 three.", "P1 three.\n\n![new](.gitbook/assets/new.png)")
    ann.commit()
    bob.edit("p1.md", "P1 one.", "P1 one, says Bob.")
    bob.run("push")
    first = web.proposed()
    pull(ann, bob)
    web.delete("p4")
    ann.run("sync")
    pull(bob, ann)
    assert "adds .gitbook/assets/new.png already" in bob.run("sync")
    assert "P1 one, says Bob." in web.text("p1", request=first)
    web.merge(first)
    settle_both(web, ann, bob)
    for text in (web.text("p1"), ann.read("p1.md"), bob.read("p1.md")):
        assert "P1 one, says Bob." in text
        assert "new.png" in text


@pytest.mark.parametrize("is_fetched", [False, True])
def test_a_page_is_not_proposed_twice_after_its_commit_was_amended(
    web: Web, ann: Writer, bob: Writer, is_fetched: bool
) -> None:
    ann.add("new.md", "New")
    ann.run("sync")
    first = web.proposed()
    pull(bob, ann)
    ann.replace("new.md", "New one.", "New one, says Ann.")
    ann.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    ann.run("sync")
    if is_fetched:
        bob.git("fetch", "--quiet", str(ann.path), "main")
    bob.edit("p2.md", "P2 two.", "P2 two, says Bob.")
    assert f"#{first} adds new.md already" in bob.run("sync")
    assert "new" not in web.slugs(request=web.proposed())
    web.merge(first)
    web.merge()
    assert conflicts(bob.run("sync", code=6)) == ["new.md"]
    bob.run("resolve", "new.md", "--theirs")
    settle_both(web, ann, bob)
    assert web.slugs() == ["", "p1", "p2", "p3", "p4", "new"]
    assert "New one, says Ann." in web.text("new")


def test_a_page_with_a_title_that_another_clones_new_page_has_is_one_of_its_own(
    web: Web, ann: Writer, bob: Writer
) -> None:
    ann.add("intro.md", "Introduction")
    ann.run("sync")
    bob.write("p1/start.md", "# Introduction\n\nQuite another text.\n")
    bob.edit("SUMMARY.md", "* [P2]", "  * [Introduction](p1/start.md)\n* [P2]")
    assert "already" not in bob.run("sync")
    assert "start" in web.slugs(request=web.proposed())


def test_a_conflict_with_what_somebody_pushed_names_no_merge_that_does_not_settle_it(
    web: Web, ann: Writer, team: Team
) -> None:
    cleo = share(ann, team)
    cleo.edit("p2.md", "P2 two.", "P2 two, says Cleo.")
    cleo.git("push", "--quiet")
    ann.edit("p2.md", "P2 two.", "P2 two, says Ann.")
    said = ann.run("sync", code=6)
    assert conflicts(said) == ["p2.md"]
    assert "    syncd resolve p2.md, with --ours, --theirs or --edit\n" in said
    cleo.git("fetch", "--quiet")
    assert cleo.git("merge", "origin/syncd/platform") == "Already up to date.\n"
    ann.run("resolve", "p2.md", "--ours")
    ann.settle()
    assert "P2 two, says Ann." in web.text("p2", request=web.proposed())
    cleo.git("pull", "--quiet", "--ff-only")
    assert "P2 two, says Ann." in cleo.read("p2.md")


def list_read(between: Interposer, request: ChangeRequest) -> set[str]:
    """Which of a change request's changes and content was asked for."""
    parts = ("changes", "content")
    return {part for part in parts if any(f"/change-requests/{request.id}/{part}" in one for one in between.seen)}


def test_the_content_of_another_clones_change_request_that_adds_nothing_is_not_read(team: Team, web: Web) -> None:
    with interpose(team) as between:
        ann, bob = (team.clone(web.space, name=name) for name in ("ann", "bob"))
        ann.edit("p1.md", "P1 two.", "P1 two, says Ann.")
        ann.run("push")
        (request,) = web.requests()
        bob.add("new.md", "New")
        between.seen.clear()
        bob.run("push")
    assert list_read(between, request) == {"changes"}


def test_the_content_of_another_clones_change_request_that_adds_other_pages_is_not_read(team: Team, web: Web) -> None:
    with interpose(team) as between:
        ann, bob = (team.clone(web.space, name=name) for name in ("ann", "bob"))
        ann.add("setup.md", "Setup")
        ann.run("push")
        (request,) = web.requests()
        bob.add("guide.md", "Guide")
        between.seen.clear()
        bob.run("push")
        assert list_read(between, request) == {"changes"}
        bob.add("setup.md", "How to set up")
        assert f"#{request.number} adds setup.md already" in bob.run("push")
        said = bob.run("status")
    assert f"! not sent: SUMMARY.md, setup.md wait for #{request.number}, which adds that already" in said
    assert "syncd push" not in said
    bob.edit("p1.md", "P1 one.", "P1 one, says Bob.")
    assert "syncd push" in bob.run("status")
    assert "content" in list_read(between, request)
