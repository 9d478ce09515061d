"""A branch that is checked out moves with its files, or not at all; what a person has not committed stays."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.errors import GitFailed, OperationInProgress, RefMoved, WorkTreeInTheWay
from syncd.repo.repository import Repository
from syncd.repo.values import Person

Commit = Callable[..., str]
Git = Callable[..., str]


@pytest.fixture
def later(commit: Commit, base: str) -> str:
    """A commit after base that changes, adds and removes a page, and turns a page into a folder and back."""
    files = {"guide/one.md": b"# One\n\nmore\n", "guide/new.md": b"# New\n", "guide/two.md": None}
    return commit({**files, "README.md": None, "README.md/inner.md": b"inner\n"}, base)


def _state(git: Git, top: Path) -> tuple[str, str, dict[str, bytes]]:
    files = {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}
    shown = {path: data for path, data in files.items() if not path.startswith(".git/")}
    return git("rev-parse", "HEAD").strip(), git("status", "--porcelain=v1", "-uall", "--ignored"), shown


def test_a_clean_work_tree_follows(repository: Repository, base: str, later: str, git: Git, top: Path) -> None:
    repository.fast_forward("main", old=base, new=later)
    assert repository.resolve("refs/heads/main") == later
    assert git("status", "--porcelain") == ""
    assert (top / "README.md/inner.md").read_bytes() == b"inner\n"
    assert not (top / "guide/two.md").exists()
    assert git("diff-files") == ""
    assert not (top / ".git/index.lock").exists()
    assert "syncd" in git("reflog", "-1")
    repository.fast_forward("main", old=base, new=later)
    repository.fast_forward("main", old=later, new=later)


def test_an_edit_elsewhere_survives(repository: Repository, base: str, later: str, git: Git, top: Path) -> None:
    (top / "notes.md").write_bytes(b"unsaved thoughts\n")
    (top / "untracked.md").write_bytes(b"mine\n")
    (top / "staged.md").write_bytes(b"staged\n")
    git("add", "staged.md")
    repository.fast_forward("main", old=base, new=later)
    assert git("status", "--porcelain") == " M notes.md\nA  staged.md\n?? untracked.md\n"
    assert (top / "notes.md").read_bytes() == b"unsaved thoughts\n"


@pytest.mark.parametrize("staged", [False, True])
def test_an_edit_in_the_way_stops_everything(
    repository: Repository, base: str, later: str, git: Git, top: Path, staged: bool
) -> None:
    (top / "guide/one.md").write_bytes(b"mine\n")
    (top / "guide/two.md").write_bytes(b"mine too\n")
    if staged:
        git("add", "-A")
    before = _state(git, top)
    for _ in range(2):
        with pytest.raises(WorkTreeInTheWay) as raised:
            repository.fast_forward("main", old=base, new=later)
        assert raised.value.paths == ("guide/one.md", "guide/two.md")
        assert raised.value.hint
        assert _state(git, top) == before
    git("reset", "--quiet", "--hard")
    repository.fast_forward("main", old=base, new=later)
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("staged", [False, True])
def test_a_file_that_a_person_has_deleted_or_moved_is_in_the_way_of_its_edit(
    repository: Repository, base: str, later: str, git: Git, top: Path, staged: bool
) -> None:
    (top / "guide/one.md").rename(top / "guide/first.md")
    (top / "guide/two.md").unlink()  # so does the move
    if staged:
        git("add", "--all")
    before = _state(git, top)
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("main", old=base, new=later)
    assert "guide/one.md" in raised.value.paths
    assert _state(git, top) == before


def test_a_file_that_a_person_has_deleted_is_in_the_way_of_its_move(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    moved = commit({"guide/two.md": None, "guide/second.md": (top / "guide/two.md").read_bytes()}, base)
    (top / "guide/two.md").unlink()
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("main", old=base, new=moved)
    assert raised.value.paths == ("guide/two.md",)
    git("checkout", "--", "guide/two.md")
    repository.fast_forward("main", old=base, new=moved)
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("place", ["guide/new.md", "guide/new.md/below.md"])
def test_an_untracked_file_in_the_way_stops_everything(
    repository: Repository, base: str, later: str, git: Git, top: Path, place: str, ignored: bool
) -> None:
    if ignored:
        (top / ".git/info").mkdir(exist_ok=True)
        (top / ".git/info/exclude").write_text("new.md\nbelow.md\n")
    (top / place).parent.mkdir(exist_ok=True)
    (top / place).write_bytes(b"mine\n")
    before = _state(git, top)
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("main", old=base, new=later)
    assert raised.value.paths == (place,)
    assert _state(git, top) == before


def test_an_untracked_file_above_an_added_path_is_in_the_way(
    repository: Repository, base: str, commit: Commit, top: Path, tmp_path: Path
) -> None:
    new = commit({"deep/er/page.md": b"p"}, base)
    (tmp_path / "elsewhere").mkdir()
    (top / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("main", old=base, new=new)
    assert raised.value.paths == ("deep",)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_untracked_file_of_the_same_content_is_not_in_the_way(
    repository: Repository, base: str, later: str, git: Git, top: Path
) -> None:
    (top / "guide/new.md").write_bytes(b"# New\n")
    (top / "guide/one.md").write_bytes(b"# One\n\nmore\n")
    repository.fast_forward("main", old=base, new=later)
    assert git("status", "--porcelain") == ""


def test_an_empty_file_of_a_person_is_in_the_way(repository: Repository, base: str, later: str, top: Path) -> None:
    (top / "guide/new.md").touch()
    with pytest.raises(WorkTreeInTheWay):
        repository.fast_forward("main", old=base, new=later)
    assert (top / "guide/new.md").exists()


def test_a_touched_file_is_no_edit(repository: Repository, base: str, later: str, git: Git, top: Path) -> None:
    os.utime(top / "guide/one.md", (1, 1))
    repository.fast_forward("main", old=base, new=later)
    assert git("status", "--porcelain") == ""


def test_an_edit_in_the_moment_of_the_last_commit_is_seen(
    repository: Repository, base: str, later: str, top: Path
) -> None:
    page, index = top / "guide/one.md", top / ".git/index"
    moment = page.stat()
    page.write_bytes(b"# 1ne\n")
    os.utime(page, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    os.utime(index, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    with pytest.raises(WorkTreeInTheWay):
        repository.fast_forward("main", old=base, new=later)
    assert page.read_bytes() == b"# 1ne\n"


def _rebase(git: Git, top: Path) -> None:
    git("rebase", "--quiet", "side", ok=(1,))


def _merge(git: Git, top: Path) -> None:
    git("merge", "--quiet", "side", ok=(1,))


def _cherry_pick(git: Git, top: Path) -> None:
    git("cherry-pick", "side", ok=(1,))


def _revert(git: Git, top: Path) -> None:
    git("revert", "--no-edit", "HEAD~1", ok=(1,))


def _bisect(git: Git, top: Path) -> None:
    git("bisect", "start")
    git("bisect", "bad")
    git("bisect", "good", "HEAD~2")


@pytest.mark.parametrize(
    ("name", "begin"),
    [("rebase", _rebase), ("merge", _merge), ("cherry-pick", _cherry_pick), ("revert", _revert), ("bisect", _bisect)],
)
def test_an_operation_in_progress_is_waited_for(
    repository: Repository,
    base: str,
    commit: Commit,
    git: Git,
    top: Path,
    name: str,
    begin: Callable[[Git, Path], None],
) -> None:
    side = commit({"notes.md": b"side\n"}, base)
    git("branch", "side", side)
    for text in ("ours\n", "ours again\n"):
        (top / "notes.md").write_text(text)
        git("commit", "--quiet", "-a", "-m", text)
    tip = repository.resolve("refs/heads/main")
    assert tip is not None
    new = commit({"guide/new.md": b"new\n"}, tip)
    begin(git, top)
    assert repository.find_operation() == name
    before = _state(git, top)
    with pytest.raises(OperationInProgress, match=name):
        repository.fast_forward("main", old=tip, new=new)
    assert _state(git, top) == before
    assert repository.resolve("refs/heads/main") == tip


def test_unmerged_paths_are_in_the_way(repository: Repository, base: str, commit: Commit, git: Git, top: Path) -> None:
    (top / "notes.md").write_text("stashed\n")
    git("stash", "--quiet")
    (top / "notes.md").write_text("committed\n")
    git("commit", "--quiet", "-a", "-m", "x")
    git("stash", "pop", ok=(1,))
    tip = repository.resolve("refs/heads/main")
    assert tip is not None
    before = _state(git, top)
    with pytest.raises(WorkTreeInTheWay):
        repository.fast_forward("main", old=tip, new=commit({"notes.md": b"theirs\n"}, tip))
    assert _state(git, top) == before


def test_a_held_index_is_waited_for(repository: Repository, base: str, later: str, git: Git, top: Path) -> None:
    (top / ".git/index.lock").touch()
    with pytest.raises(OperationInProgress) as raised:
        repository.fast_forward("main", old=base, new=later)
    assert str(top / ".git/index.lock") in raised.value.hint
    repository.recover()
    assert (top / ".git/index.lock").exists()
    (top / ".git/index.lock").unlink()
    repository.fast_forward("main", old=base, new=later)


def test_a_branch_that_moved_stays(repository: Repository, base: str, later: str, commit: Commit, git: Git) -> None:
    other = commit({"other.md": b"o"}, base)
    git("merge", "--quiet", "--ff-only", other)
    with pytest.raises(RefMoved):
        repository.fast_forward("main", old=base, new=later)
    assert repository.resolve("refs/heads/main") == other
    assert git("status", "--porcelain") == ""


def test_only_forward_is_a_fast_forward(repository: Repository, base: str, later: str) -> None:
    repository.fast_forward("main", old=base, new=later)
    with pytest.raises(GitFailed, match="fast-forward"):
        repository.fast_forward("main", old=later, new=base)


def test_a_branch_lock_in_the_way_puts_everything_back(
    repository: Repository, base: str, later: str, git: Git, top: Path
) -> None:
    before = _state(git, top)
    lock = top / ".git/refs/heads/main.lock"
    lock.touch()
    with pytest.raises(GitFailed):
        repository.fast_forward("main", old=base, new=later)
    lock.unlink()
    assert _state(git, top) == before
    assert not (top / ".git/syncd/moving.json").exists()
    repository.fast_forward("main", old=base, new=later)
    assert git("status", "--porcelain") == ""


def test_a_branch_that_is_not_checked_out_moves_alone(
    repository: Repository, base: str, later: str, git: Git, top: Path
) -> None:
    git("branch", "side", base)
    (top / "guide/one.md").write_bytes(b"mine\n")
    before = _state(git, top)
    repository.fast_forward("side", old=base, new=later)
    git("checkout", "--quiet", "--detach")
    repository.fast_forward("main", old=base, new=later)
    assert repository.resolve("refs/heads/side") == repository.resolve("refs/heads/main") == later
    assert _state(git, top) == before


def test_a_bare_repository_has_only_refs(
    tmp_path: Path, repository: Repository, base: str, later: str, git: Git
) -> None:
    git("clone", "--quiet", "--bare", str(repository.work_tree), str(tmp_path / "bare"))
    git("fetch", "--quiet", "origin", "refs/syncd/test/*:refs/syncd/test/*", at=tmp_path / "bare")
    with Repository.open(tmp_path / "bare") as bare:
        assert bare.work_tree is None
        bare.checkout_new("main")
        bare.fast_forward("main", old=base, new=later)
        assert bare.read_head().oid == later
        bare.recover()
    with Repository.create(tmp_path / "made", bare=True, branch="trunk") as made:
        assert (made.work_tree, made.read_head().branch) == (None, "trunk")


def test_an_unborn_branch_is_filled(repository: Repository, commit: Commit, git: Git, top: Path) -> None:
    tip = commit({"a b.md": b"a", "é/ü.md": b"u", 'q".md': b"q"})
    (top / "mine.md").write_text("mine\n")
    repository.fast_forward("main", old=None, new=tip)
    assert git("status", "--porcelain") == "?? mine.md\n"
    assert (top / "é/ü.md").read_bytes() == b"u"


def test_a_fresh_work_tree_is_checked_out_once(repository: Repository, base: str, git: Git, top: Path) -> None:
    assert git("status", "--porcelain") == ""
    (top / "README.md").unlink()
    repository.checkout_new("main")
    assert git("status", "--porcelain") == " D README.md\n"


def test_a_fresh_checkout_overwrites_nothing(repository: Repository, commit: Commit, git: Git, top: Path) -> None:
    repository.update_ref("refs/heads/main", commit({"a.md": b"theirs", "b.md": b"b"}), old=None)
    (top / "a.md").write_bytes(b"mine")
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.checkout_new("main")
    assert raised.value.paths == ("a.md",)
    assert not (top / "b.md").exists()
    (top / "a.md").write_bytes(b"theirs")
    repository.checkout_new("main")
    assert git("status", "--porcelain") == ""


def test_a_sparse_work_tree_stays_sparse(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    git("sparse-checkout", "set", "--cone", "guide")
    new = commit({"guide/one.md": b"1\n", "far/away.md": b"f\n", "far/off.md": b"o\n"}, base)
    repository.fast_forward("main", old=base, new=new)
    assert git("status", "--porcelain") == ""
    assert (top / "guide/one.md").read_bytes() == b"1\n"
    assert not (top / "far").exists()


def test_links_and_modes_follow(repository: Repository, base: str, git: Git, top: Path, tmp_path: Path) -> None:
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / "link.md").symlink_to("README.md")
    (top / "notes.md").chmod(0o755)
    git("add", "-A")
    git("commit", "--quiet", "-m", "modes")
    new = repository.resolve("refs/heads/main")
    assert new is not None
    git("reset", "--quiet", "--hard", base)
    repository.fast_forward("main", old=base, new=new)
    assert git("status", "--porcelain") == ""
    assert os.access(top / "run.sh", os.X_OK)
    assert os.access(top / "notes.md", os.X_OK)
    assert (top / "link.md").is_symlink()


def test_line_ends_are_those_that_the_repository_asks_for(
    repository: Repository, base: str, git: Git, top: Path, commit: Commit
) -> None:
    (top / ".gitattributes").write_text("*.md text eol=crlf\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "attributes")
    tip = repository.resolve("refs/heads/main")
    assert tip is not None
    new = commit({"guide/new.md": b"a\nb\n"}, tip)
    (top / "guide/new.md").write_bytes(b"a\r\nb\r\n")
    repository.fast_forward("main", old=tip, new=new)
    assert git("status", "--porcelain") == ""
    assert (top / "guide/new.md").read_bytes() == b"a\r\nb\r\n"


def test_a_path_of_many_levels_is_no_trouble(repository: Repository, base: str, commit: Commit, top: Path) -> None:
    (top / "d").write_bytes(b"mine\n")
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("main", old=base, new=commit({"d/" * 1500 + "page.md": b"deep\n"}, base))
    assert raised.value.paths == ("d",)


def test_a_repository_of_longer_ids_works_the_same(tmp_path: Path, git: Git, person: Person) -> None:
    top = tmp_path / "long"
    git("init", "--quiet", "--object-format=sha256", "--initial-branch=main", str(top), at=tmp_path)
    tip = None
    with Repository.open(top) as repository:
        for text in (b"one\n", b"two\n"):
            with repository.open_writer("refs/syncd/x", old=tip) as writer:
                writer.put("a.md", writer.write_blob(text))
                new = writer.commit(
                    message="m\n", author=person, committer=person, parents=[tip] if tip else [], base=tip
                )
            repository.fast_forward("main", old=tip, new=new)
            tip = new
        assert len(new) == 64
        assert repository.merge(new, new).conflicts == ()
    assert git("status", "--porcelain", at=top) == ""
    assert (top / "a.md").read_bytes() == b"two\n"


def test_a_refused_move_leaves_the_index_byte_for_byte(
    repository: Repository, base: str, later: str, top: Path
) -> None:
    before = (top / ".git/index").read_bytes()
    (top / "guide/one.md").write_bytes(b"mine\n")
    with pytest.raises(WorkTreeInTheWay):
        repository.fast_forward("main", old=base, new=later)
    assert (top / ".git/index").read_bytes() == before


FAILS_ONCE = """#!/bin/sh
case "$*" in
  *'read-tree -m -u'*)
    if mkdir '{mark}' 2>/dev/null; then
      rm '{gone}'
      echo 'error: unable to create file guide/new.md: Operation not permitted' >&2
      exit 128
    fi;;
esac
exec '{git}' "$@"
"""


def test_files_go_back_when_git_cannot_write_one_of_them(
    base: str, later: str, git: Git, top: Path, tmp_path: Path
) -> None:
    """Half of the files had moved, and whoever committed then deleted what was to follow."""
    before, script = _state(git, top), tmp_path / "front" / "git"
    script.parent.mkdir()
    words = {"mark": tmp_path / "failed", "gone": top / "guide/two.md", "git": shutil.which("git")}
    script.write_text(FAILS_ONCE.format(**words))
    script.chmod(0o755)
    load = "from pathlib import Path; from syncd.repo.repository import Repository"
    follow = f"Repository.open(Path({str(top)!r})).fast_forward('main', old={base!r}, new={later!r})"
    search = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", f"{load}; {follow}"], env=search, capture_output=True, text=True, check=False
    )
    assert "GitFailed" in done.stderr
    assert (tmp_path / "failed").is_dir()
    assert _state(git, top) == before


@pytest.mark.parametrize(
    ("flag", "hint"),
    [
        ("--assume-unchanged", "git update-index --no-assume-unchanged 'a page.md', then commit or stash it"),
        ("--skip-worktree", "git update-index --no-skip-worktree 'a page.md', then commit or stash it"),
        ("", "commit or stash them"),
        ("untracked", "commit them, or move elsewhere what Git does not track"),
    ],
)
def test_what_is_in_the_way_is_told_with_what_git_can_do_about_it(
    base: str, top: Path, git: Git, commit: Commit, flag: str, hint: str
) -> None:
    """Git stashes and commits no edit that it was told to overlook, and nothing that it does not track."""
    old = base
    if flag != "untracked":
        old = commit({"a page.md": b"One.\n"}, base)
        git("merge", "--quiet", "--ff-only", old)
    (top / "a page.md").write_text("Mine.\n")
    if flag.startswith("--"):
        git("update-index", flag, "a page.md")
    new = commit({"a page.md": b"Two.\n"}, old)
    with Repository.open(top) as repository, pytest.raises(WorkTreeInTheWay) as refused:
        repository.fast_forward("main", old=old, new=new)
    assert refused.value.hint.startswith(hint)
    assert (top / "a page.md").read_text() == "Mine.\n"
