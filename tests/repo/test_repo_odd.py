"""Repositories that are not plain: sparse, shallow, partial, linked, with submodules, links and other line ends."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.errors import GitFailed, HistoryCut, WorkTreeInTheWay
from syncd.repo.repository import Repository
from syncd.repo.values import Person

Commit = Callable[..., str]
Git = Callable[..., str]


def skipped(git: Git) -> set[str]:
    """The paths that the index says are not to be on disk."""
    return {line[2:] for line in git("ls-files", "-t").splitlines() if line.startswith("S ")}


@pytest.mark.parametrize("mode", [["--cone"], ["--no-cone"], ["--cone", "--sparse-index"]])
def test_a_sparse_work_tree_stays_sparse(base: str, top: Path, git: Git, commit: Commit, mode: list[str]) -> None:
    git("sparse-checkout", "set", *mode, "guide" if "--cone" in mode else "/guide/")
    cone = "--cone" in mode
    before = git("sparse-checkout", "list")
    kept = {path.relative_to(top).as_posix() for path in top.rglob("*") if ".git" not in path.parts and path.is_file()}
    assert ("notes.md" in kept) is cone
    files = {
        "guide/one.md": b"# One\n\nMore.\n",
        "other/new.md": b"new\n",
        "guide/two.md": None,
        "guide/deep/x.md": b"x\n",
    }
    first = commit({"other/here.md": b"here\n"}, base)
    second = commit({**files, "other/here.md": b"changed\n"}, first)
    third = commit({"other/here.md": None}, second)
    with Repository.open(top) as repository:
        for old, new in ((base, first), (first, second), (second, third)):
            repository.fast_forward("main", old=old, new=new)
            assert git("status", "--porcelain") == ""
    assert (top / "guide/one.md").read_bytes() == b"# One\n\nMore.\n"
    assert (top / "guide/deep/x.md").exists()
    assert not (top / "guide/two.md").exists()
    assert not (top / "other").exists(), "files outside of the cone are not made"
    assert any(path.startswith("other/") for path in skipped(git))
    assert git("sparse-checkout", "list") == before
    assert git("diff", "--name-only", "HEAD") == ""


@pytest.mark.parametrize("setting", ["core.autocrlf", "attributes"])
def test_line_ends_are_those_that_git_would_write(base: str, top: Path, git: Git, commit: Commit, setting: str) -> None:
    if setting == "attributes":
        (top / ".gitattributes").write_text("*.md text eol=crlf\n")
        git("add", ".gitattributes")
        git("commit", "--quiet", "--message", "Line ends")
    else:
        git("config", "core.autocrlf", "true")
    git("rm", "--quiet", "--cached", "-r", ".")
    git("reset", "--quiet", "--hard")
    assert (top / "notes.md").read_bytes() == b"# Notes\r\n"
    here = git("rev-parse", "HEAD").strip()
    new = commit({"notes.md": b"# Notes\n\nMore.\n", "fresh.md": b"fresh\n"}, here)
    newer = commit({"notes.md": b"# Notes\n\nStill more.\n", "fresh.md": b"fresher\n"}, new)
    with Repository.open(top) as repository:
        repository.fast_forward("main", old=here, new=new)
        assert (top / "notes.md").read_bytes() == b"# Notes\r\n\r\nMore.\r\n"
        assert (top / "fresh.md").read_bytes() == b"fresh\r\n"
        assert git("status", "--porcelain") == ""
        repository.fast_forward("main", old=new, new=newer)
        assert git("status", "--porcelain") == ""
        (top / "notes.md").write_bytes(b"edited\r\n")
        last = commit({"notes.md": b"theirs\n"}, newer)
        with pytest.raises(WorkTreeInTheWay):
            repository.fast_forward("main", old=newer, new=last)
    assert (top / "notes.md").read_bytes() == b"edited\r\n"


def test_submodules_are_left_alone(base: str, top: Path, git: Git, commit: Commit, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", str(top), str(tmp_path / "module")], check=True)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "module"), "guide/module")
    git("commit", "--quiet", "--message", "A module")
    here = git("rev-parse", "HEAD").strip()
    link = git("rev-parse", "HEAD:guide/module").strip()
    (top / "guide/module/README.md").write_text("edited inside\n")
    new = commit({"guide/one.md": b"# One\n\nMore.\n"}, here)
    with Repository.open(top) as repository:
        assert "guide/module" not in repository.list_files(here)
        repository.fast_forward("main", old=here, new=new)
        assert repository.find_obstacles(new, ["guide/module/page.md", "guide/one.md"]) == {"guide/module": "submodule"}
    assert git("rev-parse", "HEAD:guide/module").strip() == link
    assert (top / "guide/module/README.md").read_text() == "edited inside\n"
    assert git("status", "--porcelain", "--ignore-submodules=dirty") == ""


def test_what_is_no_file_is_found_in_the_way(base: str, top: Path, git: Git, commit: Commit, tmp_path: Path) -> None:
    (top / "guide/shortcut").symlink_to(tmp_path)
    (top / "link.md").symlink_to("notes.md")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Links")
    here = git("rev-parse", "HEAD").strip()
    with Repository.open(top) as repository:
        asked = ["guide/shortcut/page.md", "link.md", "notes.md", "absent/x.md"]
        assert repository.find_obstacles(here, asked) == {"guide/shortcut": "symbolic link", "link.md": "symbolic link"}
        assert repository.find_obstacles(here, [f"many/{number}.md" for number in range(5000)] + ["link.md"]) == {
            "link.md": "symbolic link"
        }
        assert repository.find_obstacles(here, []) == {}


def test_a_shallow_clone_says_that_its_history_is_cut(
    base: str, top: Path, git: Git, commit: Commit, tmp_path: Path, person: Person
) -> None:
    for number in range(3):
        base = commit({"notes.md": f"{number}\n".encode()}, base)
    git("update-ref", "refs/heads/main", base)
    git("update-ref", "refs/heads/side", commit({"side.md": b"side\n"}, f"{git('rev-parse', 'main~2').strip()}"))
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{top}", str(tmp_path / "shallow")],
        check=True,
    )
    with Repository.open(tmp_path / "shallow") as repository:
        ours, theirs = repository.resolve("refs/heads/main"), repository.resolve("refs/remotes/origin/side")
        assert ours is not None
        assert theirs is not None
        for ask in (repository.merge, repository.find_merge_base, repository.find_merge_bases):
            with pytest.raises(HistoryCut) as cut:
                ask(ours, theirs)
            assert "git fetch --unshallow" in cut.value.hint
        assert repository.list_cut_parents(ours) == {git("rev-parse", "main^").strip()}
        tree = repository.find_tree(ours)
        assert tree is not None
        child = repository.commit_tree(tree, parents=[ours], message="m\n", author=person, committer=person)
        assert repository.find_merge_base(ours, child) == ours
        assert not repository.merge(ours, child).conflicts


def test_unrelated_histories_are_no_error_where_nothing_is_cut(
    repository: Repository, commit: Commit, base: str
) -> None:
    assert repository.find_merge_base(base, commit({"x.md": b"x\n"})) is None


def test_a_partial_clone_says_what_it_lacks(base: str, top: Path, git: Git, tmp_path: Path) -> None:
    git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    subprocess.run(
        ["git", "clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{top}", str(partial)], check=True
    )
    sung = tmp_path / "sung"
    git("config", "core.sshCommand", f"touch {sung}", at=partial)
    with Repository.open(partial) as repository:
        tip = repository.resolve("refs/heads/main")
        assert tip is not None
        assert "notes.md" in repository.list_files(tip)
        oid = repository.list_files(tip)["notes.md"].oid
        with pytest.raises(GitFailed) as lacks:
            repository.read(oid)
        assert "partial clone" in f"{lacks.value.what} {lacks.value.hint}"
        assert repository.resolve("refs/heads/main") == base, "the process that ended over it is not asked again"
    assert not sung.exists()


def test_a_linked_work_tree_is_served_beside_the_main_one(
    base: str, top: Path, git: Git, commit: Commit, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", str(linked))
    new = commit({"guide/one.md": b"# One\n\nMore.\n"}, base)
    with Repository.open(linked) as repository:
        repository.fast_forward("side", old=base, new=new)
        assert repository.read_head().branch == "side"
    assert (linked / "guide/one.md").read_text() == "# One\n\nMore.\n"
    assert (top / "guide/one.md").read_text() == "# One\n"
    assert git("status", "--porcelain") == "" == git("status", "--porcelain", at=linked)


def test_a_bare_repository_called_like_one_with_files_gets_none(
    base: str, top: Path, git: Git, commit: Commit, tmp_path: Path
) -> None:
    """`project/.git` that is bare, with linked work trees beside it."""
    project = tmp_path / "project"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(top), str(project / ".git")], check=True)
    git("worktree", "add", "--quiet", "-b", "side", str(project / "side"), at=project / ".git")
    with Repository.open(project) as repository:
        assert repository.work_tree is None
        tree = repository.write_tree(repository.find_tree(base), {"new.md": b"new\n"})
        person = Person("a", "b", repository.read_commit(base).author.when)
        new = repository.commit_tree(tree, parents=[base], message="m\n", author=person, committer=person)
        repository.fast_forward("main", old=base, new=new)
    assert sorted(path.name for path in project.iterdir()) == [".git", "side"]
    with Repository.open(project / "side") as repository:
        assert repository.work_tree == project / "side"
        repository.fast_forward("side", old=base, new=new)
    assert (project / "side/new.md").exists()
