"""`status FILE...`: where single pages and assets stand, as this machine knows it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

import typer

from syncd.cli.status.values import RepositoryStatus, RequestStatus
from syncd.cli.terminal.context import describe_absent_file, open_repository_here
from syncd.config import RepositoryConfig
from syncd.daemon.labels import build_bindings
from syncd.daemon.locks import STATE_FILE
from syncd.errors import Conflict, FileInvalid, GuardRefused
from syncd.plan.message import CHANGE_REQUEST, REVISION, SPACE
from syncd.repo.repository import Repository
from syncd.repo.values import EditKind
from syncd.store.status import read_page_address
from syncd.sync.binding import Binding
from syncd.sync.committer import COMMITTER, name_author
from syncd.sync.merge.parts import read_original
from syncd.sync.outcome import CONFLICT, PAGE
from syncd.sync.state.unsent import find_place

IN_STEP, TO_PUSH, PROPOSED, TO_PULL = "in-step", "to-push", "proposed", "to-pull"
IN_CONFLICT, INVALID, UNLISTED = "conflict", "invalid", "unlisted"
UNCOMMITTED, NOT_CONTENT = "uncommitted", "not-content"


@dataclass(frozen=True)
class LastChange:
    """The newest commit that touched a file; `author` is "" where only syncd is named, for people on the platform.

    Shape: `revision` and `change_request` are those that a mirror commit stands for, else "".
    """

    commit: str
    author: str
    at: str
    subject: str
    revision: str = ""
    change_request: str = ""


@dataclass(frozen=True)
class FileStatus:
    """Where one file stands, by its path from the repository's root.

    Shape: `states` are words of this module; `revision` is the one that the file is in step with, or was before it
    was changed. `in_git` is the last change on the branch, `on_platform` the last one of main content; `edit` is what
    happened in the work tree that is not committed.
    """

    path: str
    space: str
    branch: str
    states: tuple[str, ...]
    revision: str = ""
    in_git: LastChange | None = None
    on_platform: LastChange | None = None
    requests: tuple[RequestStatus, ...] = ()
    address: str = ""
    edit: EditKind | None = None

    @property
    def exit_code(self) -> int:
        """6 for a page in conflict, 65 for one that no platform takes, else 0."""
        if IN_CONFLICT in self.states:
            return Conflict.exit_code
        return FileInvalid.exit_code if INVALID in self.states else 0


def find_exit_code(files: Sequence[FileStatus]) -> int:
    """Return the one exit code of several files; that of a guard where they differ."""
    codes = {file.exit_code for file in files} - {0}
    return GuardRefused.exit_code if len(codes) > 1 else next(iter(codes), 0)


@dataclass(frozen=True)
class _Sides:
    """The commits that a file is compared in; each may be missing."""

    tip: str | None
    main: str | None
    base: str | None


def find_files(repository: RepositoryConfig, status: RepositoryStatus, words: Sequence[str]) -> list[FileStatus]:
    """Return where each file stands that a person typed.

    Raises: BadParameter for what is outside of the spaces, or nowhere; GitFailed.
    """
    bindings = build_bindings(repository)
    with open_repository_here(repository.path) as git:
        paths = [_find_path(word, Path(status.work_tree)) for word in words]
        chosen = [_choose_binding(bindings, path) for path in paths]
        head, state = git.read_head(), Repository.locate(repository.path) / STATE_FILE
        main = git.resolve(f"refs/remotes/{repository.remote}/main")
        base = git.find_merge_base(main, head.oid) if main is not None and head.oid is not None else None
        finder = _FileFinder(git, repository.remote, status, _Sides(head.oid, main, base), state)
        return [finder.find_file(binding, path) for binding, path in zip(chosen, paths, strict=True)]


def _find_path(word: str, top: Path) -> str:
    """The path of a file from the repository's root; a link is the file itself, and not what it leads to."""
    typed = Path(os.path.abspath(word))
    path = typed.parent.resolve() / typed.name
    if not top.name or not path.is_relative_to(top.resolve()):
        raise typer.BadParameter(f"{word} is outside of the repository {top}")
    if path.is_dir() and not path.is_symlink():
        raise typer.BadParameter(f"{word} is a directory: name its files")
    return path.relative_to(top.resolve()).as_posix()


def _choose_binding(bindings: Sequence[Binding], path: str) -> Binding:
    found = [binding for binding in bindings if binding.holds(path)]
    if not found:
        known = ", ".join(f"{binding.name} in {binding.directory or '.'}" for binding in bindings)
        raise typer.BadParameter(f"{path} is outside of the spaces: {known or 'none is configured'}")
    return max(found, key=lambda binding: len(binding.directory))


@dataclass(frozen=True)
class _FileFinder:
    git: Repository
    remote: str
    status: RepositoryStatus
    sides: _Sides
    state: Path

    def find_file(self, binding: Binding, path: str) -> FileStatus:
        """Return where the file at a path from the root stands."""
        edit = next((work.uncommitted[path] for work in self.status.works if path in work.uncommitted), None)
        here, there, base = (self._look_up(side, path) for side in (self.sides.tip, self.sides.main, self.sides.base))
        requests = tuple(self._find_requests(binding, path))
        if here is None and there is None and base is None and edit is None and not requests:
            raise typer.BadParameter(describe_absent_file(self.git, self.remote, path))
        states = [*self._find_states(binding, path, here, there, base, requests)]
        if edit is not None:
            states.append(UNCOMMITTED)
        since = self.sides.main if here == there else self.sides.base
        return FileStatus(
            path,
            binding.name,
            self.status.current,
            tuple(states),
            self._find_revision(binding, since) if there is not None or base is not None else "",
            self._find_change(self.sides.tip, path),
            self._find_change(self.sides.main, path),
            requests,
            read_page_address(self.state, binding.space, binding.inner(path)),
            edit,
        )

    def _look_up(self, commit: str | None, path: str) -> str | None:
        found = self.git.find_file(commit, path) if commit is not None else None
        return found.oid if found is not None else None

    def _find_states(
        self,
        binding: Binding,
        path: str,
        here: str | None,
        there: str | None,
        base: str | None,
        requests: Sequence[RequestStatus],
    ) -> Iterator[str]:
        """What is to be done with a file, by the same work that `push` takes."""
        works = [work for work in self.status.works if work.branch == self.status.current]
        spaces = [space for work in works for space in work.spaces if space.binding == binding]
        if path in self.status.list_held(CONFLICT, self.status.current):
            yield IN_CONFLICT
        if path in self.status.list_held(PAGE):
            yield INVALID
        place = "content"
        if here is not None and self.sides.tip is not None:
            place = find_place(self.git, binding, self.sides.tip, binding.inner(path), base=self.sides.base)
        if place != "content" and there is None:
            yield UNLISTED if place == "unlisted" else NOT_CONTENT
            return
        if here == there:
            if here is not None:
                yield IN_STEP
            return
        if any(space.needs_push and path in space.pending for space in spaces):
            yield TO_PUSH
        elif any(request.branch == self.status.current for request in requests):
            yield PROPOSED
        if there != base:
            yield TO_PULL

    def _find_requests(self, binding: Binding, path: str) -> Iterator[RequestStatus]:
        """The change requests that have another version of a file than main content had when they took it in."""
        for request in self.status.requests:
            ref = f"refs/remotes/{self.remote}/changes/{binding.name}/{request.number}"
            commit = self.git.resolve(ref) if request.space == binding.name else None
            if commit is None or self.sides.main is None:
                continue
            base = self.git.find_merge_base(self.sides.main, commit)
            if self._look_up(commit, path) != self._look_up(base, path):
                yield request

    def _find_revision(self, binding: Binding, commit: str | None) -> str:
        """The newest revision of the space that a commit has taken in."""
        if commit is None:
            return ""
        mirrored = self.git.find_carrying(commit, SPACE, binding.space, committer=COMMITTER[1])
        found = next((one for one in mirrored if REVISION in one.trailers), None)
        return found.trailers[REVISION][0] if found is not None else ""

    def _find_change(self, tip: str | None, path: str) -> LastChange | None:
        oid = self.git.find_last_change(tip, path, exclude=()) if tip is not None else ""
        if not oid:
            return None
        commit = read_original(self.git, oid)
        change = LastChange(
            commit.oid,
            name_author(commit),
            commit.author.when.astimezone(UTC).isoformat(timespec="seconds"),
            commit.subject,
        )
        if SPACE not in commit.trailers:
            return change
        revision, request = (commit.trailers.get(trailer, [""])[0] for trailer in (REVISION, CHANGE_REQUEST))
        return replace(change, revision=revision, change_request=request)
