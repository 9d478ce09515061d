"""No configuration, environment or hook makes git run anything else, and no process or descriptor is left behind."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest

from syncd.errors import DiskFull, GitFailed, NotARepository, RepositoryDenied, Stopped, WorkTreeInTheWay
from syncd.repo.failures import build_failure, translate_system_failures
from syncd.repo.process.git import Git as Runner
from syncd.repo.process.location import find_repository
from syncd.repo.process.pipe import Pipe
from syncd.repo.repository import Repository
from syncd.repo.values import Person

Commit = Callable[..., str]
Git = Callable[..., str]

HOOKS = """
applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
post-checkout post-merge post-index-change reference-transaction pre-auto-gc post-rewrite fsmonitor-watchman
"""
COMMANDS = """
core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand
filter.canary.clean filter.canary.smudge filter.canary.process filter.a.b.c.smudge merge.canary.driver merge.tool.cmd
diff.canary.textconv diff.canary.command diff.external gpg.program credential.helper sequence.editor
uploadpack.packObjectsHook interactive.diffFilter trailer.x.command
"""


@pytest.fixture
def canaries(base: str, top: Path, git: Git, tmp_path: Path) -> Path:
    """Arm everything that a repository's configuration can run; each canary leaves a file in the directory returned."""
    sung = tmp_path / "sung"
    sung.mkdir()
    for directory in (top / ".git/hooks", tmp_path / "hooks"):
        directory.mkdir(exist_ok=True)
        for name in HOOKS.split():
            hook = directory / name
            hook.write_text(f"#!/bin/sh\ntouch {sung}/hook-{name}\n")
            hook.chmod(0o755)
    for key in COMMANDS.split():
        program = tmp_path / f"canary {key}"
        program.write_text(f"#!/bin/sh\ntouch '{sung}/{key}'\ncat\n")
        program.chmod(0o755)
        git("config", key, f"'{program}'" if key != "core.fsmonitor" else str(program))
    for key, value in (("core.hooksPath", tmp_path / "hooks"), ("filter.canary.required", "true"),
                       ("commit.gpgSign", "true"), ("log.showSignature", "true"), ("gc.auto", "1")):  # fmt: skip
        git("config", key, str(value))
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/attributes").write_text("* filter=canary diff=canary\n*.md merge=canary\n*.png filter=a.b.c\n")
    return sung


def test_nothing_is_run_in_a_whole_cycle(
    canaries: Path, base: str, top: Path, git: Git, commit: Commit, person: Person
) -> None:
    subprocess.run(["git", "init", "--quiet", str(top / "module")], check=True)
    subprocess.run(
        ["git", "-C", str(top / "module"), "config", "core.fsmonitor", f"touch {canaries}/module"], check=True
    )
    with Repository.open(top) as repository:
        repository.recover()
        theirs = commit({"guide/one.md": b"theirs\n", "new.md": b"new\n", "x.png": b"png"}, base)
        ours = commit({"guide/one.md": b"ours\n"}, base)
        assert repository.merge(ours, theirs).conflicts == ("guide/one.md",)
        side = commit({"notes.md": b"side\n"}, base)
        merged = repository.merge(side, theirs)
        tip = repository.commit_tree(
            merged.tree, parents=[side, theirs], message="m\n", author=person, committer=person
        )
        repository.list_changes(base, tip, renames=True)
        (top / "notes.md").write_text("mine\n")
        with pytest.raises(WorkTreeInTheWay):
            repository.fast_forward("main", old=base, new=tip)
        (top / "notes.md").write_text("# Notes\n")
        (top / "new.md").write_text("new\n")
        repository.fast_forward("main", old=base, new=tip)
        repository.find_commit("refs/heads/main", "Syncd-Space", "x")
        repository.delete_ref("refs/syncd/test/0", old=base)
        assert repository.read_head().oid == tip
    assert (top / "x.png").read_bytes() == b"png"
    assert sorted(path.name for path in canaries.iterdir()) == []


def test_the_canaries_can_sing(canaries: Path, top: Path, git: Git) -> None:
    (top / "notes.md").write_text("mine\n")
    git("status", ok=(0, 128))
    git("add", "notes.md", ok=(0, 1, 128))
    assert list(canaries.iterdir()) != []


def test_the_caller_s_environment_reaches_no_git(
    repository: Repository, base: str, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        "GIT_DIR": "/x",
        "GIT_INDEX_FILE": "/x",
        "GIT_OBJECT_DIRECTORY": "/x",
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    names |= {"GIT_CONFIG_PARAMETERS": "'core.bare=true'", "SYNCD_TOKEN": "secret", "GIT_WORK_TREE": "/x"}
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    with Repository.open(top) as opened:
        assert opened.resolve("refs/heads/main") == base
        pipe = Runner(find_repository(top)).start("cat-file", "--batch-command")
        pipe.send(b"info HEAD\n")
        pipe.read_line()
        seen = Path(f"/proc/{pipe.process.pid}/environ")
        if seen.exists():
            environment = dict(item.split(b"=", 1) for item in seen.read_bytes().split(b"\0") if item)
            assert b"SYNCD_TOKEN" not in environment
            assert environment[b"GIT_DIR"] == str(top / ".git").encode()
        pipe.kill()
    assert not (tmp_path / "trace").exists()


def test_a_repository_of_someone_else_is_refused(
    repository: Repository, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: (top / ".git").stat().st_uid + 1)
    with pytest.raises(NotARepository, match="belongs to user"):
        Repository.open(top)


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


def _children() -> list[str]:
    tasks = Path("/proc/self/task")
    return [child for task in tasks.glob("*/children") for child in task.read_text().split()]


def test_two_hundred_repositories_leave_nothing_open(base: str, top: Path) -> None:
    children, before = _children(), _descriptors()
    for number in range(200):
        with Repository.open(top) as opened:
            assert opened.resolve("HEAD") == base
            if number % 20 == 0:
                with opened.open_writer("refs/syncd/x", old=None) as writer:
                    writer.write_blob(b"never committed")
    assert _children() == children
    assert _descriptors() <= before


def test_a_command_that_is_silent_too_long_is_ended(base: str, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncd.repo.process.git.SECONDS", 0.2)
    pipe = Runner(find_repository(top)).start("cat-file", "--batch-command")
    with pytest.raises(GitFailed, match="no sign"):
        pipe.read_line()
    assert pipe.process.returncode is not None


class _Talker:
    """A process that says something on standard error all the time, as a slow Git host does, and does not end."""

    def __init__(self) -> None:
        command = ["sh", "-c", "exec yes remote: still counting >&2"]
        self.proc: subprocess.Popen[bytes] | None = subprocess.Popen(
            command, stdin=PIPE, stdout=PIPE, stderr=PIPE, process_group=0
        )


def test_a_command_that_goes_on_talking_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise Stopped("stopped")

    monkeypatch.setattr("syncd.repo.process.pipe.PULSE_SECONDS", 0.1)
    pipe = Pipe("fetch", _Talker(), seconds=10, pulse=stop)
    with pytest.raises(Stopped):
        pipe.finish()
    assert pipe.process.returncode is not None


def test_a_command_that_goes_on_talking_is_ended_at_its_deadline() -> None:
    pulses: list[None] = []
    pipe = Pipe("fetch", _Talker(), seconds=0.5, pulse=lambda: pulses.append(None))
    with pytest.raises(GitFailed, match="did not end within"):
        pipe.finish()
    assert pipe.process.returncode is not None
    assert not pulses, "one each second is enough"


def test_an_answer_without_end_is_cut(base: str, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncd.repo.process.pipe.LARGEST_ANSWER", 10)
    with pytest.raises(GitFailed, match="answered more"):
        Runner(find_repository(top)).run("cat-file", "commit", base)


def test_a_full_disk_is_told_as_such(repository: Repository, base: str, top: Path) -> None:
    full = Path("/dev/full")
    if full.exists():
        with full.open("wb") as sink:
            command = ["git", "-C", str(top), "ls-tree", base]
            done = subprocess.run(command, stdout=sink, stderr=subprocess.PIPE, check=False)
        assert isinstance(build_failure("ls-tree", done.returncode, done.stderr.decode()), DiskFull)
        with pytest.raises(DiskFull), translate_system_failures("writing"), full.open("wb", buffering=0) as sink:
            sink.write(b"x")
    with pytest.raises(GitFailed), translate_system_failures("reading"):
        (top / "nothing").read_bytes()
    with pytest.raises(RepositoryDenied, match="reading: denied"), translate_system_failures("reading"):
        raise PermissionError(13, "denied")


def test_what_git_cannot_explain_is_the_fault_of_a_disk_without_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "fatal: could not set 'core.repositoryformatversion' to '0'\n"
    assert type(build_failure("init", 128, said, disk=tmp_path / "not" / "there")) is GitFailed
    monkeypatch.setattr("syncd.repo.failures._SMALL_FILE_BYTES", 1 << 62)
    assert type(build_failure("init", 128, said, disk=tmp_path / "not" / "there")) is DiskFull
    assert type(build_failure("x", 128, "fatal: not a git repository: '/x'\n", disk=tmp_path)) is NotARepository


@pytest.mark.parametrize(
    ("stderr", "kind", "said"),
    [
        ("error: one\nfatal: two\nhint: three\n", GitFailed, "git x: fatal: two"),
        ("", GitFailed, "git x ended with status 128"),
        ("fatal: a\x1b[2Jb\n", GitFailed, "git x: fatal: a?[2Jb"),
        ("fatal: a\u202eb\u200b\n", GitFailed, "git x: fatal: a?b?"),
        ("fatal: not a git repository: '/x'\n", NotARepository, "git x: fatal: not a git repository: '/x'"),
        (
            "error: Unable to create '/x/.git/packed-refs.lock': Permission denied\nfatal: two\n",
            RepositoryDenied,
            "git x: error: Unable to create '/x/.git/packed-refs.lock': Permission denied",
        ),
        (
            "fatal: cannot mkdir /x: Read-only file system\n",
            RepositoryDenied,
            "git x: fatal: cannot mkdir /x: Read-only file system",
        ),
        ("error: Disk quota exceeded\n", DiskFull, "git x: error: Disk quota exceeded"),
        ("error: unable to write file a/big.md\n", DiskFull, "git x: error: unable to write file a/big.md"),
        (
            "fatal: sha1 file '/x/objects/pack/tmp_pack_zti91I' write error. Out of diskspace\n",
            DiskFull,
            "git x: fatal: sha1 file '/x/objects/pack/tmp_pack' write error. Out of diskspace",
        ),
    ],
)  # fmt: skip
def test_what_git_says_becomes_one_of_our_errors(stderr: str, kind: type[Exception], said: str) -> None:
    found = build_failure("x", 128, stderr)
    assert type(found) is kind
    assert str(found) == said
