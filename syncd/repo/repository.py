"""A repository as the flows see it: refs, objects, one streamed commit at a time, merges, and the work tree."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.errors import GitFailed, PathRefused
from syncd.layout.tree.lfs_pointers import parse_pointer
from syncd.repo.failures import translate_system_failures
from syncd.repo.names import check_branch, check_oid, is_plain
from syncd.repo.process import borrowing, location
from syncd.repo.process.git import Git
from syncd.repo.read import blame, history, objects, obstacles, rev_list, trees
from syncd.repo.read.kept_answers import KeptAnswers
from syncd.repo.remote.remote import Access, Remote, find_remote_url
from syncd.repo.values import Blob, Commit, Difference, EditKind, FileChange, Head, Merged, MergedText, Person
from syncd.repo.work_tree import index, usage
from syncd.repo.work_tree.worktree import WorkTree, heal_others, open_showing
from syncd.repo.write import commit_text
from syncd.repo.write.merge import Merges, merge_commits
from syncd.repo.write.refs import OWN_REFS, Refs
from syncd.repo.write.writer import Writer


class Repository:
    """One repository, for one job in one thread; close it, or use it as a context manager.

    Shape: `git_dir` is the git directory of this work tree; `work_tree` is None when the repository is bare.
    """

    def __init__(self, where: location.RepositoryLocation, kept: KeptAnswers | None = None) -> None:
        self._git, self._kept = Git(where), kept
        if kept is not None:
            kept.begin_run(where)
        self._reader = objects.Reader(self._git, kept)
        self._history = history.History(self._git, self._reader)
        self._refs = Refs(self._git, self._reader, kept)
        self._merges = Merges(self._git, self._reader)
        # Listing configuration is no proof of a repository; an answer about an object of it, even of none, is.
        self._reader.find_object("HEAD")
        self._git.override_programs()
        self.git_dir, self.work_tree = self._git.location.git_dir, self._git.location.work_tree

    @staticmethod
    def open(path: Path, kept: KeptAnswers | None = None) -> "Repository":
        """Open the repository at the top of a work tree, or a bare one, and repair what a killed run left in any tree.

        Shape: `kept` are the answers of the last run of this process, which serve again while no ref has moved.
        Raises: NotARepository.
        """
        opened = Repository(location.find_repository(path), kept)
        WorkTree(opened._git, opened._reader).heal()
        heal_others(opened._git)
        return opened

    @staticmethod
    def locate(path: Path) -> Path:
        """Return the git directory of the repository at the top of a work tree, or of a bare one, without a process.

        Raises: NotARepository, GitFailed when it cannot be read.
        """
        return location.find_repository(path).git_dir

    @staticmethod
    def create(path: Path, *, branch: str = "main", bare: bool = False) -> "Repository":
        """Create a repository whose first branch is `branch`, and open it; one that exists stays as it is."""
        check_branch(branch)
        with translate_system_failures(f"making {path}"):
            path.mkdir(parents=True, exist_ok=True)
        kind = ["--bare"] if bare else []
        words = ("--quiet", "--template=", f"--initial-branch={branch}", *kind)
        Git().run("init", *words, "--", str(path.resolve()), disk=path)
        return Repository.open(path)

    def create_borrower(self, path: Path) -> "Repository":
        """Create a bare repository in a new directory that reads this one's objects and writes its own, and open it."""
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
        self._refs.close()
        self._reader.close()
        if self._kept is not None:
            self._kept.end_run(self._git.location)

    def resolve(self, ref: str) -> str | None:
        """Return the commit that a full ref name or HEAD leads to; None when there is none."""
        return self._reader.resolve_ref(ref)

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix such as `refs/syncd/`, each with what it names."""
        return self._refs.list_refs(prefix)

    def update_ref(self, ref: str, new: str, *, old: str | None) -> None:
        """Move a ref from the commit `old`, None when it does not exist, to another one.

        Raises: RefMoved when it names something else than `old`.
        """
        self._refs.update(ref, new, old=old)

    def set_ref(self, ref: str, new: str | None) -> str | None:
        """Let a ref name a commit, or none; return what it named before. Raises: RefMoved when it moves meanwhile."""
        old = self.resolve(ref)
        if new is None and old is not None:
            self.delete_ref(ref, old=old)
        elif new is not None and new != old:
            self.update_ref(ref, new, old=old)
        return old

    def delete_ref(self, ref: str, *, old: str) -> None:
        """Delete a ref. Raises: RefMoved when it names something else than `old`."""
        self._refs.delete(ref, old=old)

    def read_head(self) -> Head:
        """Return the branch that is checked out and its commit."""
        return usage.read_head(self._git, self._reader)

    def find_operation(self) -> str | None:
        """Return what is in progress: rebase, merge, cherry-pick, revert or bisect; None for nothing."""
        return usage.find_operation(self._git)

    def has_linked_trees(self) -> bool:
        """Return whether the repository has linked work trees, as `git worktree` makes them."""
        return bool(usage.list_other_git_dirs(self._git))

    def is_shown(self, branch: str) -> bool:
        """Return whether a work tree, this or another one, has a branch checked out."""
        here = self.work_tree is not None and self.read_head().branch == branch
        return here or bool(usage.list_elsewhere(self._git, branch))

    def require_movable(self, branch: str) -> None:
        """Refuse a branch that a rebase or the like will move, or that is checked out where syncd cannot work.

        Raises: OperationInProgress.
        """
        with open_showing(self._git, self._reader, branch) as (tree, _):
            tree.require_movable(branch)

    def list_files(self, commit: str, directory: str = "") -> dict[str, Blob]:
        """Return the files of a commit below a directory, by their path in it; {} when the directory is absent."""
        return trees.list_files(self._git, self._reader, commit, directory)

    def find_tree(self, commit: str, directory: str = "") -> str | None:
        """Return the tree id of a directory of a commit: equal ids are equal content. None when it is absent.

        Raises: PathRefused for a directory that no repository has.
        """
        if directory and not is_plain(directory):
            raise PathRefused(f"{directory[:200]!r} is no directory of a repository")
        found = self._reader.find_at(commit, directory)
        return found[0] if found and found[1] == "tree" else None

    def read_root_tree(self, commit: str) -> str:
        """Return the id of a commit's whole tree; a tree is its own. Raises: GitFailed when it is missing."""
        tree = self.find_tree(commit)
        if tree is None:
            raise GitFailed(f"object {commit} is missing, or has no tree")
        return tree

    def is_tree(self, oid: str) -> bool:
        """Return whether an id is that of a tree, and not of a commit."""
        return self.find_tree(oid) == oid

    def read(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        return self._reader.read_object(oid, "blob")

    def read_content(self, oid: str) -> bytes:
        """Return the content that a blob stands for: the object of a Git LFS pointer, when it is here, or its bytes."""
        data = self.read(oid)
        pointer = parse_pointer(data)
        return objects.read_lfs_object(self._git.location, pointer) or data if pointer is not None else data

    def lookup(self, commit: str, path: str) -> str | None:
        """Return the id of the blob at a path of a commit; None when there is none."""
        found = self._reader.find_at(commit, path) if is_plain(path) else None
        return found[0] if found and found[1] == "blob" else None

    def find_file(self, commit: str, path: str) -> Blob | None:
        """Return the file at a path of a commit or tree; None when there is none."""
        return trees.find_files(self._git, self._reader, commit, (path,)).get(path)

    def find_obstacles(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        """Return each submodule and symbolic link that a commit has at one of the paths, or above it."""
        return obstacles.find_obstacles(self._git, self._reader, commit, paths)

    def select_present(self, oids: Iterable[str]) -> set[str]:
        """Return those of the object ids that the repository has."""
        return set(self._reader.read_sizes(oids))

    def read_sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the size of each object that the repository has, by id. Units: bytes."""
        return self._reader.read_sizes(oids)

    def list_staged(self, file: Path | None = None) -> dict[str, Blob]:
        """Return the files of the index, or of another index in a file, by their path from the root."""
        return index.list_staged(self._git, file)

    def list_tracked(self) -> list[str]:
        """Return the paths of the work tree that are tracked, or untracked and not ignored."""
        return index.list_tracked(self._git)

    def list_uncommitted(self) -> dict[str, EditKind]:
        """Return the paths of the work tree that differ from the last commit, or are not tracked, with how."""
        return index.list_uncommitted(self._git)

    def find_revision(self, words: str) -> str | None:
        """Return the id of a commit that a person names (`HEAD~1`, a tag, a short id); None when there is none."""
        plain = bool(words) and words.isprintable() and not words.startswith("-")
        found = self._reader.find_object(f"{words}^{{commit}}") if plain else None
        return found[0] if found else None

    def list_changes(self, before: str, after: str, directory: str = "", *, renames: bool = False) -> list[FileChange]:
        """Return the files below a directory that differ between two commits, by their path in it."""
        return trees.list_file_changes(self._git, self._reader, before, after, directory, renames=renames)

    def compare_trees(
        self, before: str, after: str, paths: Sequence[str] = (), *, renames: bool = False
    ) -> list[Difference]:
        """Return the paths that differ between two commits or trees, from the root, with what both have there."""
        return trees.compare_trees(self._git, self._reader, before, after, paths, renames=renames)

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Return whether the first commit is the second or one of its ancestors."""
        return self._history.is_ancestor(ancestor, commit)

    def find_ancestors(self, commits: Collection[str], *, exclude: str | None) -> dict[str, frozenset[str]]:
        """Return which of many commits are ancestors of each, as `rev_list.find_ancestors` does."""
        return rev_list.find_ancestors(self._git, commits, exclude=exclude)

    def find_merge_base(self, ours: str, theirs: str) -> str | None:
        """Return a merge base of two commits; None for unrelated histories."""
        return next(iter(self.find_merge_bases(ours, theirs)), None)

    def find_merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Return all merge bases of two commits; none for unrelated histories.

        Raises: HistoryCut when this shallow clone lacks the history in which one may be.
        """
        return self._history.find_merge_bases(ours, theirs)

    def list_cut_parents(self, commit: str) -> set[str]:
        """Return the ancestors of a commit that this shallow clone names as parents, and lacks."""
        return self._history.list_cut_parents(commit)

    def find_marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
        """Return the commits with a trailer that only the first, and only the second, of two reaches."""
        return self._history.find_marked(ours, theirs, trailer)

    def read_commit(self, oid: str) -> Commit:
        """Return a commit. Raises: GitFailed when it is missing, or no commit."""
        return self._history.read_commit(oid)

    def list_commits(self, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
        """Return a commit and its ancestors, newest first, without those that `exclude` reaches, at most `limit`."""
        return self._history.list_commits(exclude, include, limit=limit)

    def find_line_commits(
        self,
        commit: str,
        path: str,
        lines: Sequence[tuple[int, int]],
        *,
        exclude: Sequence[str],
        should_follow_moves: bool = False,
    ) -> dict[int, str]:
        """Return the commit that each line of a file comes from, as `blame.find_line_commits` does."""
        return blame.find_line_commits(
            self._git, commit, path, lines, exclude=exclude, should_follow_moves=should_follow_moves
        )

    def find_last_change(self, commit: str, path: str, *, exclude: Sequence[str]) -> str:
        """Return the newest ancestor of a commit, or itself, that changed a path, as `blame.find_last_change` does."""
        return blame.find_last_change(self._git, commit, path, exclude=exclude)

    def find_change_times(self, commit: str, paths: Collection[str], *, since: str | None) -> dict[str, int] | None:
        """Return when each of many files last changed, as `blame.find_change_times` does."""
        return blame.find_change_times(self._git, commit, paths, since=since, cuts=self._history.list_cuts())

    def find_commit(self, ref: str, trailer: str, value: str) -> Commit | None:
        """Return the newest commit of a ref's first-parent line that has a trailer with this value, or None."""
        tip = self.resolve(ref)
        return self._history.find_commit(tip, trailer, value) if tip else None

    def find_carrying(
        self, commit: str, trailer: str, value: str, *, committer: str, exclude: str | None = None
    ) -> Iterator[Commit]:
        """Yield a commit and its ancestors by a committer that have a trailer, as `rev_list.find_carrying` does."""
        return rev_list.find_carrying(
            self._git, self._reader, commit, trailer, value, committer=committer, exclude=exclude
        )

    def open_writer(self, ref: str, *, old: str | None, start: str | None = None) -> Writer:
        """Return a writer, a context manager, of the next commit of a ref that names `old` now."""
        return Writer(self._git, self._reader, self._refs, ref, old=old, start=start)

    def merge(self, ours: str, theirs: str) -> Merged:
        """Return the tree that merges two commits, related or not, and the paths in conflict."""
        if self._history.list_cuts():
            self.find_merge_base(ours, theirs)
        return merge_commits(self._git, ours, theirs)

    def merge_texts(self, trios: Sequence[tuple[str, str, str]]) -> list[MergedText]:
        """Return the three-way merge of each trio of blobs: base, ours and theirs."""
        return self._merges.merge_texts(trios)

    def write_tree(self, tree: str | None, changes: Mapping[str, Blob | bytes | None]) -> str:
        """Return a tree changed at some paths, where None removes a file; the tree None is the empty one."""
        return self._merges.write_tree(tree, changes)

    def commit_tree(self, tree: str, *, parents: Sequence[str], message: str, author: Person, committer: Person) -> str:
        """Write a commit of a tree and return its id; no ref names it yet."""
        return self._merges.commit_tree(tree, parents=parents, message=message, author=author, committer=committer)

    def fast_forward(self, branch: str, *, old: str | None, new: str) -> Path | None:
        """Move a branch from `old`, None for an unborn one, to a descendant, with the files where it is checked out.

        Shape: the answer is the top of the work tree whose files moved, where that is not this one.
        Raises: WorkTreeInTheWay, OperationInProgress, RefMoved, GitFailed for no descendant; then nothing has moved.
        """
        if old is not None and not self.is_ancestor(old, new):
            raise GitFailed(f"{branch} cannot be fast-forwarded from {check_oid(old)[:10]} to {new[:10]}")
        return self.follow(branch, old=old, new=new)

    def follow(self, branch: str, *, old: str | None, new: str) -> Path | None:
        """Move a branch without commits of its own to its rewritten upstream. Shape, Raises: as `fast_forward`."""
        with open_showing(self._git, self._reader, branch) as (tree, top):
            tree.follow(branch, old=old, new=new)
        return top

    def checkout_new(self, branch: str) -> None:
        """Fill the index and files of a fresh work tree from the branch that it is on."""
        WorkTree(self._git, self._reader).checkout_new(branch)

    def recover(self, remote: str = "platform") -> None:
        """Remove stale locks of ours and finish moves that were cut off; the caller holds the run lock."""
        WorkTree(self._git, self._reader).recover(remote)
        heal_others(self._git)

    def find_remote_url(self, name: str) -> str | None:
        """Return the address of a Git remote from the repository's configuration, or None."""
        return find_remote_url(self._git, name)

    def read_author(self, environ: Mapping[str, str], *, when: datetime) -> Person | None:
        """Return the person whose name Git would write into a commit, as `commit_text.read_author` does."""
        return commit_text.read_author(self._git, environ, when=when)

    def make_own_directory(self) -> Path:
        """Make the directory where syncd keeps its own files of this work tree, and return it."""
        return self._git.location.make_own_directory()

    def open_remote(
        self, access: Access, *, pulse: Callable[[], None], permit: Callable[[], None] | None = None, scratch: str = ""
    ) -> Remote:
        """Return a Git remote, a context manager; `pulse` can end its work, `permit` refuse a push, by an exception."""
        return Remote(self._git.location, access, pulse=pulse, permit=permit, scratch=scratch)

    def write_files(self, ref: str, files: Mapping[str, bytes], message: str) -> str:
        """Write a commit with exactly these files, let a ref below `refs/syncd/` name it, and return its id.

        Raises: PathRefused for any other ref.
        """
        if not ref.startswith(OWN_REFS):
            raise PathRefused(f"{ref[:80]!r} is no ref of syncd's own")
        old = self.resolve(ref)
        person = Person("syncd", "syncd@localhost", datetime.now(UTC))
        with self.open_writer(ref, old=old) as writer:
            for path, data in sorted(files.items()):
                writer.put(path, writer.write_blob(data))
            return writer.commit(
                message=message, author=person, committer=person, parents=[old] if old else [], base=None
            )
