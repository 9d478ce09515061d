"""`status` of a real clone: what it calls to push is what push takes, and where single files stand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.status.watch import watch_status
from syncd.model.review import ReviewCreate
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.checkouts import plant
from tests.cli.conftest import PAGES

pytestmark = pytest.mark.story


@pytest.fixture
def docs(shell: Any) -> Path:
    clone: Path = shell.clone()
    return clone


def commit(shell: Any, docs: Path, **files: bytes) -> None:
    for name, data in files.items():
        (docs / f"{name}.md").write_bytes(data)
    shell.git("-c", "core.autocrlf=false", "add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)


def edit_in_browser(shell: Any, **files: str) -> None:
    source = plant(shell.root / "source", {**PAGES, **{f"{name}.md": text for name, text in files.items()}})
    with Storage(shell.data) as storage:
        import_directory(storage, source, title="Docs", space=shell.space)


def read_records(shell: Any, docs: Path, *words: str) -> list[list[str]]:
    done = shell.syncd("status", "--porcelain=v1", *words, cwd=docs)
    assert done.stdout, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def list_to_push(shell: Any, docs: Path) -> list[str]:
    """The paths that status calls to push."""
    return [fields[-1] for fields in read_records(shell, docs) if fields[0] == "push"]


def list_pushed(shell: Any, docs: Path, *words: str) -> list[str]:
    """The paths that a push took."""
    results = shell.json("push", *words, cwd=docs)["results"]
    changes = [change for result in results if result["flow"] == "propose" for change in result.get("changes", [])]
    return [change["key"] for change in changes if change["noun"] == "page"]


def edit_nothing(shell: Any, docs: Path) -> None:
    """Leave everything in step."""


def edit_without_commit(shell: Any, docs: Path) -> None:
    (docs / "use.md").write_text("# Use\n\nNot committed.\n")


def add_unlisted_page(shell: Any, docs: Path) -> None:
    commit(shell, docs, new=b"# New\n")


def change_line_ends(shell: Any, docs: Path) -> None:
    commit(shell, docs, use=b"# Use\r\n\r\nLike this.\r\n")


def change_line_ends_and_text(shell: Any, docs: Path) -> None:
    commit(shell, docs, use=b"# Use\r\n\r\nLike that.\r\n")


def make_conflict(shell: Any, docs: Path) -> None:
    commit(shell, docs, use=b"# Use\n\nLike that.\n", install=b"# Install\n\nThree.\n\nTwo.\n")
    edit_in_browser(shell, use="# Use\n\nLike something else.\n")
    assert shell.syncd("pull", cwd=docs).returncode == 6


def detach_head(shell: Any, docs: Path) -> None:
    commit(shell, docs, use=b"# Use\n\nOn main.\n")
    shell.git("checkout", "--quiet", "--detach", cwd=docs)


@pytest.mark.parametrize(
    ("edit", "paths"),
    [
        (edit_nothing, []),
        (edit_without_commit, []),
        (add_unlisted_page, []),
        (change_line_ends, []),
        (change_line_ends_and_text, ["use.md"]),
        (make_conflict, ["install.md"]),
        (detach_head, ["use.md"]),
    ],
)
def test_what_status_calls_to_push_is_what_push_takes(
    shell: Any, docs: Path, edit: Callable[[Any, Path], None], paths: list[str]
) -> None:
    edit(shell, docs)
    assert list_to_push(shell, docs) == paths
    assert list_pushed(shell, docs, "main") == paths
    assert list_to_push(shell, docs) == []
    assert "syncd push" not in shell.syncd("status", cwd=docs).stdout.partition("Next:")[2]


def test_a_change_request_without_a_page_in_conflict_does_not_hold_the_branch(shell: Any, docs: Path) -> None:
    make_conflict(shell, docs)
    shell.syncd("push", cwd=docs)
    (request,) = shell.json("status", cwd=docs)["repositories"][0]["requests"]
    assert (request["has_all"], request["awaits"]) == (False, "author")
    assert "lacks some of main" in shell.syncd("status", cwd=docs).stdout


def test_a_conflict_that_git_merge_settled_is_no_problem_any_more(shell: Any, docs: Path) -> None:
    make_conflict(shell, docs)
    before = shell.syncd("status", cwd=docs)
    assert (before.returncode, "! conflict use.md held" in before.stdout) == (6, True)
    document = json.loads(shell.syncd("status", "--json", cwd=docs).stdout)
    (held,) = [one for one in document["repositories"][0]["outcomes"] if one["state"] == "held"]
    assert (held["branch"], held["lane"], held["command"]) == ("main", "platform/main", "syncd resolve use.md")
    shell.git("merge", "--quiet", "--strategy-option=ours", "platform/main", cwd=docs)
    after = shell.syncd("status", cwd=docs).stdout
    assert "! conflict" not in after
    assert after.endswith("Next: syncd push\n")
    shell.fine("push", cwd=docs)


def test_a_conflict_is_no_problem_any_more_of_a_branch_that_was_reset_to_before_it(shell: Any, docs: Path) -> None:
    make_conflict(shell, docs)
    shell.git(
        "reset", "--quiet", "--hard", shell.git("merge-base", "HEAD", "platform/main", cwd=docs).strip(), cwd=docs
    )
    after = shell.syncd("status", cwd=docs).stdout
    assert "! conflict" not in after
    assert "syncd resolve" not in after


def test_reviews_are_known_after_a_run_and_not_asked_for_by_status(shell: Any, docs: Path) -> None:
    commit(shell, docs, use=b"# Use\n\nProposed.\n")
    shell.fine("push", cwd=docs)
    assert "open; holds what main says; waits for a review" in shell.fine("status", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.reviews.create(shell.space, "1", ReviewCreate(status="approved"))
    assert "approved" not in shell.fine("status", cwd=docs)
    shell.fine("pull", cwd=docs)
    shell.token.write_text("refused")
    out = shell.fine("status", cwd=docs)
    assert "approved by Owner; waits for its merge on the platform" in out
    assert out.endswith("Next: syncd cr merge 1\n")
    assert f"{shell.url}/app/" in out
    commit(shell, docs, use=b"# Use\n\nProposed again.\n")
    assert "lacks some of main" in shell.fine("status", cwd=docs)


def test_a_deleted_file_is_not_called_edited(shell: Any, docs: Path) -> None:
    (docs / "use.md").unlink()
    (file,) = shell.json("status", "use.md", cwd=docs)["files"]
    assert (file["states"], file["edit"]) == (["in-step", "uncommitted"], "deleted")
    out = shell.fine("status", "use.md", cwd=docs)
    assert "! deleted, and that is not committed; git checkout HEAD -- use.md brings it back" in out
    assert "edited" not in out


def test_a_file_is_followed_from_edit_to_merge(shell: Any, docs: Path) -> None:
    def read_states() -> list[str]:
        (file,) = shell.json("status", "use.md", cwd=docs)["files"]
        states: list[str] = file["states"]
        return states

    assert read_states() == ["in-step"]
    (docs / "use.md").write_text("# Use\n\nMine.\n")
    assert read_states() == ["in-step", "uncommitted"]
    commit(shell, docs)
    assert read_states() == ["to-push"]
    shell.fine("push", cwd=docs)
    assert read_states() == ["proposed"]
    (file,) = shell.json("status", "use.md", cwd=docs)["files"]
    assert [request["number"] for request in file["requests"]] == [1]
    assert file["in_git"]["subject"] == "Write"
    assert file["on_platform"]["revision"] == file["revision"]
    assert file["url"].endswith("/use")
    out = shell.fine("status", "use.md", "SUMMARY.md", cwd=docs)
    assert "use.md  changed here, and proposed; both had revision" in out
    assert "SUMMARY.md  in step with revision" in out
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    assert read_states() == ["in-step"]


def test_a_file_in_conflict_has_an_exit_code_of_its_own(shell: Any, docs: Path) -> None:
    make_conflict(shell, docs)
    done = shell.syncd("status", "use.md", cwd=docs)
    assert done.returncode == 6
    assert "use.md  changed on both sides since revision" in done.stdout
    assert "syncd resolve use.md" in done.stdout
    assert read_records(shell, docs, "use.md")[1][2] == "conflict,to-pull"
    assert shell.syncd("status", "README.md", cwd=docs).returncode == 0


def test_pages_that_are_new_or_hostile_are_told_apart(shell: Any, docs: Path) -> None:
    hostile = "a\tb\n\x1b[31m.md"
    (docs / hostile).write_text("# Hostile\n")
    (docs / "data.bin").write_bytes(b"\0")
    commit(shell, docs, new=b"# New\n")
    records = read_records(shell, docs, "new.md", hostile, "data.bin")
    assert [fields[2] for fields in records[1:]] == ["unlisted", "unlisted", "not-content"]
    assert records[2][-1] == '"a\\tb\\n\\033[31m.md"'
    raw = shell.fine("status", "--porcelain=v1", "-z", hostile, cwd=docs)
    assert raw.split("\0")[1].endswith(f"\t{hostile}")
    assert "\x1b[31m" not in shell.fine("status", hostile, cwd=docs)


@pytest.mark.parametrize("name", ["a\nb.md", "a\x1b[31mb.md"])
def test_a_committed_file_of_any_name_is_found(shell: Any, docs: Path, name: str) -> None:
    (docs / name).write_text("# Odd\n")
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)
    (file,) = shell.json("status", name, cwd=docs)["files"]
    assert file["states"] == ["unlisted"]


def test_a_file_outside_of_the_spaces_is_a_wrong_use(shell: Any, docs: Path) -> None:
    (docs / "folder").mkdir()
    for word, why in (
        ("/etc/passwd", "outside of the repository"),
        ("folder", "is a directory"),
        ("nothing.md", "there is no nothing.md"),
    ):
        done = shell.syncd("status", word, cwd=docs)
        assert done.returncode == 64
        assert why in done.stderr
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace('directory = "."', 'directory = "folder"'))
    shell.fine("trust", config, "--yes", cwd=docs)
    done = shell.syncd("status", "use.md", cwd=docs)
    assert (done.returncode, "use.md is outside of the spaces: docs in folder" in done.stderr) == (64, True)


def test_formats_that_contradict_each_other_are_refused(shell: Any, docs: Path) -> None:
    for words in (["--porcelain=v2"], ["--json", "--porcelain=v1"], ["-z"]):
        assert shell.syncd("status", *words, cwd=docs).returncode == 64


def test_a_merge_that_is_not_finished_comes_first(shell: Any, docs: Path) -> None:
    shell.git("switch", "--quiet", "--create", "topic", cwd=docs)
    commit(shell, docs, use=b"# Use\n\nTopic.\n")
    shell.git("switch", "--quiet", "main", cwd=docs)
    commit(shell, docs, install=b"# Install\n")
    shell.git("merge", "--quiet", "--no-commit", "topic", cwd=docs)
    out = shell.fine("status", cwd=docs)
    assert "! a merge is in progress" in out
    assert out.endswith("Next: git status\n")


def test_it_is_shown_again_after_each_change_until_somebody_interrupts() -> None:
    found = iter(["one", "one", "two", "two", "one"])
    shown: list[str] = []

    def wait(seconds: float) -> None:
        if len(shown) == 3:
            raise KeyboardInterrupt

    assert watch_status(lambda: next(found), shown.append, sleep=wait) == 0
    assert shown == ["one", "two", "one"]
