"""A repository as the flows see it: refs, objects, one streamed commit at a time, merges, and the work tree."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.errors import HistoryCut, PathRefused
from syncd.layout.tree.lfs_pointers import parse_pointer
from syncd.repo import (
    blame,
    borrowing,
    history,
    index,
    location,
    merge,
    objects,
    obstacles,
    refs,
    rev_list,
    trees,
    usage,
)
from syncd.repo.failures import translate_system_failures
from syncd.repo.git import Git
from syncd.repo.names import check_branch, check_oid, is_plain
from syncd.repo.remote import Access, Remote
from syncd.repo.values import Blob, Commit, Difference, FileChange, Head, Merged, MergedText, Person
from syncd.repo.worktree import WorkTree
from syncd.repo.writer import Writer

ANCHORS = "refs/syncd/"
"""Where syncd keeps refs of its own, below no name that people use."""


class Repository:
    """One repository, for one job in one thread; close it, or use it as a context manager.

    Shape: `git_dir` is the git directory of this work tree; `work_tree` is None when the repository is bare.
    """

    def __init__(self, where: location.RepositoryLocation) -> None:
        self._git = Git(where)
        self._reader = objects.Reader(self._git)
        self._history = history.History(self._git, self._reader)
        self._anchors: dict[str, str] | None = None
        # What was written here of what: the same again need not be written again.
        self._made: dict[Hashable, str] = {}
        self._texts: dict[tuple[tuple[str, str, str], ...], list[MergedText]] = {}
        # Listing configuration is no proof of a repository; an answer about an object of it, even of none, is.
        self._reader.find_object("HEAD")
        self._git.override_programs()
        self.git_dir, self.work_tree = self._git.location.git_dir, self._git.location.work_tree

    @staticmethod
    def open(path: Path) -> "Repository":
        """Given the top of a work tree, or a bare repository, return it open, healed of what a killed run left there.

        Raises: NotARepository.
        """
        opened = Repository(location.find_repository(path))
        WorkTree(opened._git, opened._reader).heal()
        return opened

    @staticmethod
    def locate(path: Path) -> Path:
        """Given the top of a work tree, or a bare repository, return its git directory; no process is started.

        Raises: NotARepository, GitFailed when it cannot be read.
        """
        return location.find_repository(path).git_dir

    @staticmethod
    def create(path: Path, *, branch: str = "main", bare: bool = False) -> "Repository":
        """Given a directory, make it a repository whose first branch is `branch`; one that is there stays as it is."""
        check_branch(branch)
        with translate_system_failures(f"making {path}"):
            path.mkdir(parents=True, exist_ok=True)
        kind = ["--bare"] if bare else []
        words = ("--quiet", "--template=", f"--initial-branch={branch}", *kind)
        Git().run("init", *words, "--", str(path.resolve()), disk=path)
        return Repository.open(path)

    def create_borrower(self, path: Path) -> "Repository":
        """Given a new directory, return a bare repository there that reads this one's objects and writes its own."""
        borrowing.borrow(self._git, path)
        return Repository.open(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process of this repository."""
        self._reader.close()

    def resolve(self, ref: str) -> str | None:
        """Given a full ref name or HEAD, return the commit that it leads to; None when there is none."""
        return refs.resolve(self._reader, ref)

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Given a prefix such as `refs/syncd/`, return the refs below it and what each names."""
        if not prefix.startswith(ANCHORS):
            return refs.list_refs(self._git, prefix)
        if self._anchors is None:  # nobody else writes there, so one listing serves every space
            self._anchors = refs.list_refs(self._git, ANCHORS)
        below = prefix.rstrip("/") + "/"
        return {ref: oid for ref, oid in self._anchors.items() if f"{ref}/".startswith(below)}

    def update_ref(self, ref: str, new: str, *, old: str | None) -> None:
        """Given a ref and the commit that it names now (None: it does not exist), let it name another.

        Raises: RefMoved when it names something else.
        """
        with self._forget_on_failure(ref):
            refs.update_ref(self._git, self._reader, ref, new, old=old)
        if self._anchors is not None and ref.startswith(ANCHORS):
            self._anchors[ref] = new

    def delete_ref(self, ref: str, *, old: str) -> None:
        """Given a ref and the commit that it names now, remove it. Raises: RefMoved when it names something else."""
        with self._forget_on_failure(ref):
            refs.delete_ref(self._git, self._reader, ref, old=old)
        if self._anchors is not None:
            self._anchors.pop(ref, None)

    @contextmanager
    def _forget_on_failure(self, ref: str) -> Iterator[None]:
        """Forget what refs of ours name, when one of them may have moved or not."""
        try:
            yield
        except BaseException:
            self._anchors = None
            raise

    def read_head(self) -> Head:
        """Return the branch that is checked out and its commit."""
        return usage.read_head(self._git, self._reader)

    def find_operation(self) -> str | None:
        """Return what is in progress: rebase, merge, cherry-pick, revert or bisect; None for nothing."""
        return usage.find_operation(self._git)

    def is_checked_out(self, branch: str) -> bool:
        """Given a branch, return whether this work tree shows it.

        Raises: OperationInProgress when another work tree does, or when a rebase or the like will move it.
        """
        return usage.is_checked_out(self._git, self._reader, branch)

    def list_files(self, commit: str, directory: str = "") -> dict[str, Blob]:
        """Given a commit, return its files below a directory by their path there; {} when it is absent."""
        return trees.list_files(self._git, self._reader, commit, directory)

    def find_tree(self, commit: str, directory: str = "") -> str | None:
        """Given a commit, return the tree id of a directory of it: equal ids are equal content. None when absent."""
        if directory and not is_plain(directory):
            raise PathRefused(f"{directory[:200]!r} is no directory of a repository")
        found = self._reader.find_object(f"{check_oid(commit)}:{directory}")
        return found[0] if found and found[1] == "tree" else None

    def read(self, oid: str) -> bytes:
        """Given a blob's id, return its bytes."""
        return self._reader.read_object(oid, "blob")

    def read_content(self, oid: str) -> bytes:
        """Given a blob's id, return the bytes that it stands for: of a Git LFS pointer the object, when it is here."""
        data = self.read(oid)
        pointer = parse_pointer(data)
        return objects.read_lfs_object(self._git.location, pointer) or data if pointer is not None else data

    def lookup(self, commit: str, path: str) -> str | None:
        """Given a commit, return the id of the blob at a path; None when there is none."""
        found = self._reader.find_object(f"{check_oid(commit)}:{path}") if is_plain(path) else None
        return found[0] if found and found[1] == "blob" else None

    def find_obstacles(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        """Given a commit and paths of files, return each submodule and symbolic link that stands there or above."""
        return obstacles.find_obstacles(self._git, self._reader, commit, paths)

    def select_present(self, oids: Iterable[str]) -> set[str]:
        """Given object ids, return those that the repository has."""
        return set(self._reader.read_sizes(oids))

    def read_sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Given object ids, return the size in bytes of each that the repository has."""
        return self._reader.read_sizes(oids)

    def list_staged(self) -> dict[str, Blob]:
        """Return the files of the index by their path from the root."""
        return index.list_staged(self._git)

    def list_tracked(self) -> list[str]:
        """Return the paths of the work tree that are tracked, or untracked and not ignored."""
        return index.list_tracked(self._git)

    def list_uncommitted(self) -> list[str]:
        """Return the paths of the work tree that differ from the last commit, and those that are not tracked."""
        return index.list_uncommitted(self._git)

    def find_revision(self, words: str) -> str | None:
        """Given how a person names a commit (`HEAD~1`, a tag, a short id), return its id; None when there is none."""
        plain = bool(words) and words.isprintable() and not words.startswith("-")
        found = self._reader.find_object(f"{words}^{{commit}}") if plain else None
        return found[0] if found else None

    def list_changes(self, before: str, after: str, directory: str = "", *, renames: bool = False) -> list[FileChange]:
        """Given two commits, return the files that differ below a directory, by their path there."""
        return trees.list_file_changes(self._git, self._reader, before, after, directory, renames=renames)

    def compare_trees(
        self, before: str, after: str, paths: Sequence[str] = (), *, renames: bool = False
    ) -> list[Difference]:
        """Given two commits or trees, return each path that differs, from the root, with what both have there."""
        return trees.compare_trees(self._git, self._reader, before, after, paths, renames=renames)

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Given two commits, return whether the first is the second or one of its ancestors."""
        return self._history.is_ancestor(ancestor, commit)

    def find_merge_base(self, ours: str, theirs: str) -> str | None:
        """Given two commits, return a best common ancestor; None for unrelated histories."""
        return next(iter(self.find_merge_bases(ours, theirs)), None)

    def find_merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Given two commits, return all best common ancestors; none for unrelated histories."""
        found = self._history.find_merge_bases(ours, theirs)
        if not found:
            self._refuse_cut(ours, theirs)
        return found

    def _is_cut(self) -> bool:
        return bool(self._list_cuts())

    def _list_cuts(self) -> list[str]:
        """The commits whose parents are not here. Source: gitrepository-layout(5), shallow."""
        try:
            return (self._git.location.common_dir / "shallow").read_text().split()
        except FileNotFoundError:
            return []

    def _refuse_cut(self, ours: str, theirs: str) -> None:
        """Of histories that are cut nobody can say that they are unrelated. Raises: HistoryCut."""
        if self._is_cut():
            raise HistoryCut(
                f"{ours[:10]} and {theirs[:10]} cannot be merged: what they grew from is not in this shallow clone"
            )

    def is_cut(self, commit: str) -> bool:
        """Given a commit, return whether some of its history is not in this shallow clone."""
        return any(self.is_ancestor(end, commit) for end in self._list_cuts() if end in self.select_present([end]))

    def find_marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
        """Given two commits, return those with a trailer that only one of them reaches: the first, the second."""
        return self._history.find_marked(ours, theirs, trailer)

    def list_commits(self, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
        """Given a commit, return it and its ancestors, newest first, without those of `exclude`, at most `limit`."""
        return self._history.list_commits(exclude, include, limit=limit)

    def find_line_commits(
        self, commit: str, path: str, lines: Sequence[tuple[int, int]], *, exclude: Sequence[str]
    ) -> dict[int, str]:
        """Given a commit, a file in it and ranges of its lines, return the commit that each line comes from."""
        return blame.find_line_commits(self._git, commit, path, lines, exclude=exclude)

    def find_last_change(self, commit: str, path: str, *, exclude: Sequence[str]) -> str:
        """Given a commit, return the newest one up to it, but for what others have, that touched a path, or ""."""
        return blame.find_last_change(self._git, commit, path, exclude=exclude)

    def find_commit(self, ref: str, trailer: str, value: str) -> Commit | None:
        """Given a ref, return the newest commit of its first-parent line that carries a trailer with this value."""
        tip = self.resolve(ref)
        return self._history.find_commit(tip, trailer, value) if tip else None

    def find_carrying(self, commit: str, trailer: str, value: str, *, committer: str) -> Iterator[Commit]:
        """Given a commit, return it and all of its ancestors by this committer that carry a trailer, newest first."""
        return rev_list.find_carrying(self._git, self._reader, commit, trailer, value, committer=committer)

    def open_writer(self, ref: str, *, old: str | None, start: str | None = None) -> Writer:
        """Given a ref and the commit that it names now, return a writer of its next commit, a context manager."""
        if ref.startswith(ANCHORS):
            self._anchors = None
        return Writer(self._git, self._reader, ref, old=old, start=start)

    def merge(self, ours: str, theirs: str) -> Merged:
        """Given two commits, related or not, return the tree that merges them and the paths in conflict."""
        if self._is_cut():
            self.find_merge_base(ours, theirs)
        return merge.merge_commits(self._git, ours, theirs)

    def merge_texts(self, trios: Sequence[tuple[str, str, str]]) -> list[MergedText]:
        """Given blobs in threes, a base and two that grew from it, return each three merged."""
        key = tuple(trios)
        if key not in self._texts:
            self._texts[key] = merge.merge_texts(self._git, self._reader, trios)
        return list(self._texts[key])

    def write_tree(self, tree: str | None, changes: Mapping[str, Blob | bytes | None]) -> str:
        """Given a tree (None: empty) and what some paths are to hold (None: nothing), return the tree that does."""
        key = tree, frozenset(changes.items())
        if key not in self._made:
            self._made[key] = merge.write_changed_tree(self._git, self._reader, tree, changes)
        return self._made[key]

    def commit_tree(self, tree: str, *, parents: Sequence[str], message: str, author: Person, committer: Person) -> str:
        """Given a tree and what is to be said about it, write the commit and return its id; no ref names it yet."""
        data = merge.build_commit(tree, parents=parents, message=message, author=author, committer=committer)
        if data not in self._made:
            self._made[data] = merge.write_commit(self._git, data)
        return self._made[data]

    def fast_forward(self, branch: str, *, old: str | None, new: str) -> None:
        """Given a branch, where it is (None: unborn) and a descendant, move it there, with the files where it is shown.

        Raises: WorkTreeInTheWay, OperationInProgress, RefMoved; then nothing has moved.
        """
        WorkTree(self._git, self._reader).fast_forward(branch, old=old, new=new)

    def follow(self, branch: str, *, old: str, new: str) -> None:
        """Given a branch that has nothing of its own, move it to where its rewritten upstream is; as `fast_forward`."""
        WorkTree(self._git, self._reader).follow(branch, old=old, new=new)

    def checkout_new(self, branch: str) -> None:
        """Given the branch that a fresh work tree is on, fill index and files from it."""
        WorkTree(self._git, self._reader).checkout_new(branch)

    def recover(self, remote: str = "platform") -> None:
        """Given that the caller holds the run lock, remove stale locks of ours and finish a cut-off move."""
        WorkTree(self._git, self._reader).recover(remote)

    def find_remote_url(self, name: str) -> str | None:
        """Given a Git remote's name, return its address as the repository's configuration has it; None for none."""
        status, output, _ = self._git.attempt("config", "--get", f"remote.{name}.url")
        return None if status else output.decode("utf-8", "surrogateescape").rstrip("\n")

    def open_remote(self, access: Access, *, pulse: Callable[[], None]) -> Remote:
        """Given the access to a Git remote, return it, a context manager; `pulse` ends its work by an exception."""
        return Remote(self._git.location, access, pulse=pulse)

    def write_files(self, ref: str, files: Mapping[str, bytes], message: str) -> str:
        """Given a ref below `refs/syncd/`, let it name a new commit that holds exactly these files; return its id."""
        if not ref.startswith(ANCHORS):
            raise PathRefused(f"{ref[:80]!r} is no anchor")
        old = self.resolve(ref)
        person = Person("syncd", "syncd@localhost", datetime.now(UTC))
        with self.open_writer(ref, old=old) as writer:
            for path, data in sorted(files.items()):
                writer.put(path, writer.write_blob(data))
            return writer.commit(
                message=message, author=person, committer=person, parents=[old] if old else [], base=None
            )
