"""`syncd undo`: a push, a merge and a plan are taken back, and a run that was cut off is finished by the next one."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequestUpdate
from tests.cli.command_runner import CommandRunner, make_runner

pytestmark = pytest.mark.story


@pytest.fixture
def docs(shell: Any) -> Path:
    """A clone with a branch feature/x of one commit, which changes a page and adds another."""
    docs: Path = shell.clone()
    shell.git("checkout", "--quiet", "-b", "feature/x", cwd=docs)
    (docs / "use.md").write_text("# Use\n\nLike that.\n")
    (docs / "more.md").write_text("# More\n\nOf it.\n")
    with (docs / "SUMMARY.md").open("a") as summary:
        summary.write("* [More](more.md)\n")
    commit(shell, docs, "Say more")
    return docs


@pytest.fixture
def syncd(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("", docs, monkeypatch, capsys)


@pytest.fixture
def client(shell: Any) -> Iterator[Client]:
    with Client(shell.url, shell.token.read_text().strip()) as client:
        yield client


def commit(shell: Any, docs: Path, message: str) -> None:
    shell.git("add", ".", cwd=docs)
    shell.git("commit", "--quiet", "--message", message, cwd=docs)


def run_fine(syncd: CommandRunner, *words: str) -> str:
    done = syncd(*words)
    assert done.code == 0, done.out + done.err
    return done.out


def list_open(client: Client, space: str) -> list[int]:
    return [each.number for status in ("open", "draft") for each in client.change_requests.list(space, status)]


def test_a_push_is_taken_back_and_stays_so_until_a_new_commit(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    assert syncd("undo", "--yes").code == 1, "nothing was done yet"
    run_fine(syncd, "push")
    tip = shell.git("rev-parse", "HEAD", cwd=docs)
    assert "archiving its change request" in run_fine(syncd, "undo", "--dry-run")
    refused = syncd("undo")
    assert (refused.code, "add --yes" in refused.err) == (64, True)
    assert list_open(client, shell.space) == [1]
    out = run_fine(syncd, "undo", "--yes")
    assert "#1 is archived" in out
    assert "git reset --keep" in out
    assert list_open(client, shell.space) == []
    assert shell.git("rev-parse", "HEAD", cwd=docs) == tip, "the commits are the writer's own"
    run_fine(syncd, "push")
    run_fine(syncd, "sync")
    assert list_open(client, shell.space) == []
    (docs / "use.md").write_text("# Use\n\nLike this and that.\n")
    commit(shell, docs, "Say it better")
    pushed = run_fine(syncd, "push")
    assert "note: #1 was archived; what feature/x still has of it is proposed again with #2" in pushed
    assert list_open(client, shell.space) == [2]


def test_what_main_content_brings_does_not_propose_again_what_was_taken_back(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client, tmp_path: Path
) -> None:
    run_fine(syncd, "push")
    run_fine(syncd, "undo", "1", "--yes")
    other = shell.clone("other")
    (other / "install.md").write_text("# Install\n\nOnce.\n")
    commit(shell, other, "Say it once")
    assert shell.syncd("push", cwd=other).returncode == 0
    client.change_requests.merge(shell.space, "2")
    run_fine(syncd, "pull")
    shell.git("merge", "--quiet", "--no-edit", "platform/main", cwd=docs)
    run_fine(syncd, "push")
    assert list_open(client, shell.space) == []


def test_reset_drops_no_merge_in_which_a_person_settled_a_conflict(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    run_fine(syncd, "push")
    other = shell.clone("other")
    (other / "use.md").write_text("# Use\n\nLike this, says another.\n")
    commit(shell, other, "Say it otherwise")
    assert shell.syncd("push", cwd=other).returncode == 0
    client.change_requests.merge(shell.space, "2")
    assert shell.syncd("pull", cwd=docs).returncode in (0, 6)
    assert subprocess.run(["git", "merge", "--quiet", "platform/main"], cwd=docs, check=False).returncode == 1
    (docs / "use.md").write_text("# Use\n\nLike both.\n")
    commit(shell, docs, "Settle it")
    held = syncd("undo", "1", "--reset", "--yes")
    assert (held.code, "never sent" in held.err) == (5, True)


def test_reset_drops_no_file_that_the_change_request_does_not_hold(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    (docs / "drafts").mkdir()
    (docs / "drafts" / "idea.md").write_text("Words of a draft.\n")
    commit(shell, docs, "A draft")
    run_fine(syncd, "push")
    held = syncd("undo", "1", "--reset", "--yes")
    assert (held.code, "does not hold, and a reset would drop it: drafts/idea.md" in held.err) == (5, True)
    assert (docs / "drafts" / "idea.md").exists()
    assert list_open(client, shell.space) == [1]


def test_reset_takes_the_commits_back_too_and_finishes_a_run_that_was_cut_off(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    run_fine(syncd, "push")
    (docs / "use.md").write_text("# Use\n\nNot sent.\n")
    commit(shell, docs, "Not sent")
    held = syncd("undo", "1", "--reset", "--yes")
    assert (held.code, "never sent" in held.err) == (5, True)
    assert list_open(client, shell.space) == [1], "what is refused is refused before anything is done"
    shell.git("reset", "--quiet", "--hard", "HEAD~1", cwd=docs)
    (docs / "use.md").write_text("# Use\n\nUncommitted.\n")
    in_the_way = syncd("undo", "--reset", "--yes")
    assert in_the_way.code == 5
    assert list_open(client, shell.space) == [1], "the same command is to do it once the edit is out of the way"
    client.change_requests.update(shell.space, "1", ChangeRequestUpdate(status="archived"))
    shell.git("checkout", "--quiet", "use.md", cwd=docs)
    tip = shell.git("rev-parse", "HEAD", cwd=docs)
    out = run_fine(syncd, "undo", "1", "--reset", "--yes")
    assert f"git reset --keep {tip[:10]} brings its commits back" in out
    assert shell.git("rev-parse", "HEAD", cwd=docs) == shell.git("rev-parse", "platform/main", cwd=docs)
    assert shell.git("status", "--porcelain", cwd=docs) == ""
    assert not (docs / "more.md").exists()
    again = run_fine(syncd, "undo", "1", "--reset", "--yes")
    assert ("#1 is archived" in again, "is reset" in again) == (True, False), "it is done already"
    run_fine(syncd, "push")
    assert list_open(client, shell.space) == []
    (docs / "use.md").write_text("# Use\n\nSomething else.\n")
    commit(shell, docs, "Something else")
    assert "proposed again" not in run_fine(syncd, "push"), "the branch has nothing of it any more"


def test_a_merge_is_taken_back_by_a_change_request_once(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    run_fine(syncd, "push")
    client.change_requests.merge(shell.space, "1")
    not_yet = syncd("undo", "1", "--yes")
    assert (not_yet.code, "syncd pull" in not_yet.err) == (5, True)
    shell.git("checkout", "--quiet", "main", cwd=docs)
    run_fine(syncd, "pull")
    assert syncd("undo", "1", "--reset", "--yes").code == 64
    shown = run_fine(syncd, "undo", "--dry-run")
    assert "Undo a merge, by proposing the opposite: #1 docs  Say more" in shown
    assert "- delete file more.md" in shown
    assert shell.git("log", "--oneline", "platform/main..main", cwd=docs) == ""
    document = json.loads(run_fine(syncd, "undo", "1", "--yes", "--json"))
    who = shell.git("log", "-1", "--format=%an <%ae>, %cn", cwd=docs).strip()
    assert who == "A. Writer <writer@example.org>, syncd"
    assert (document["kind"], document["number"], document["exit_code"]) == ("merge", 1, 0)
    assert list_open(client, shell.space) == [2]
    assert shell.git("log", "-1", "--format=%s", cwd=docs).strip() == 'Revert "Say more"'
    assert (docs / "use.md").read_text() == "# Use\n\nLike this.\n"
    again = run_fine(syncd, "undo", "1", "--yes")
    assert "has the revert already" in again
    assert len(shell.git("log", "--oneline", "platform/main..main", cwd=docs).splitlines()) == 1
    client.change_requests.merge(shell.space, "2")
    run_fine(syncd, "pull")
    assert not (docs / "more.md").exists()
    for number in (2, 1):  # take back what took it back, and then the first merge once more
        run_fine(syncd, "undo", str(number), "--yes")
        assert (docs / "more.md").exists() is (number == 2)
        client.change_requests.merge(shell.space, str(list_open(client, shell.space)[-1]))
        run_fine(syncd, "pull")


def test_a_merge_that_was_built_upon_is_left_to_a_person(
    shell: Any, docs: Path, syncd: CommandRunner, client: Client
) -> None:
    run_fine(syncd, "push")
    client.change_requests.merge(shell.space, "1")
    shell.git("checkout", "--quiet", "main", cwd=docs)
    run_fine(syncd, "pull")
    (docs / "use.md").write_text("# Use\n\nLike that, and more.\n")
    commit(shell, docs, "Build on it")
    conflict = syncd("undo", "1", "--yes")
    assert (conflict.code, "use.md" in conflict.err, "git revert" in conflict.err) == (6, True, True)
    assert shell.git("log", "-1", "--format=%s", cwd=docs).strip() == "Build on it"
    revert = re.search(r"git (revert -m 1 \w+), settle", conflict.err)
    assert revert is not None
    with pytest.raises(AssertionError, match="could not revert"):
        shell.git(*revert[1].split(), cwd=docs)
    (docs / "use.md").write_text("# Use\n\nLike this, and more.\n")
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--no-edit", cwd=docs)
    assert "has the revert already" in run_fine(syncd, "undo", "1", "--yes")
