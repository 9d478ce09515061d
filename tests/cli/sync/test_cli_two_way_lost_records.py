"""Refs of syncd that are lost while its database is not, which then names objects that Git has no more.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_lost_records.py
"""

import shutil

import pytest

from tests.cli.sync.two_way import Team, Web, Writer

pytestmark = pytest.mark.story


def test_refs_that_are_lost_and_pruned_lock_nobody_out(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.edit("p2", "P2 one.", "P2 one, says R.", request=web.proposed())
    docs.run("pull")
    docs.git("reset", "--quiet", "--hard", "HEAD~1")
    for ref in docs.git("for-each-ref", "--format=%(refname)", "refs/syncd", "refs/remotes/platform/changes").split():
        docs.git("update-ref", "-d", ref)
    docs.git("reflog", "expire", "--expire=now", "--all")
    docs.git("gc", "--quiet", "--prune=now")
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    docs.run("sync")
    assert "P2 one, says R." in web.text("p2", request=web.proposed())
    docs.settle()
    for words in ("P1 one, says B.", "P2 one, says R.", "P3 one, says B."):
        assert words in docs.everything()


def test_a_repository_that_is_older_than_its_database_is_read_anew(docs: Writer, web: Web, team: Team) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    git, backup = docs.path / ".git", team.root / "backup.git"
    shutil.copytree(git, backup)
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    shutil.rmtree(backup / "syncd")
    shutil.move(git / "syncd", backup / "syncd")
    shutil.rmtree(git)
    shutil.move(backup, git)
    docs.git("reset", "--quiet", "--hard")
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.run("sync")
    request = web.proposed()
    for page in ("p1", "p2", "p4"):
        assert "says B." in web.text(page, request=request)


def test_a_change_request_that_is_found_again_is_not_said_to_be_created(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    assert "create change request #1" in docs.run("push")
    docs.forget()
    said = docs.run("push")
    assert "update change request #1" in said
    assert "page p1.md" not in said
    docs.forget()
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    said = docs.run("push")
    assert "update change request #1" in said
    assert "update page p2.md" in said
    assert [request.number for request in web.requests()] == [1]
