"""What happened in a repository, read from its commits and refs alone: revisions, merges, proposals, branches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from syncd.errors import GitFailed
from syncd.model.moment import choose_moment
from syncd.plan.message import CHANGE_REQUEST, PROPOSED, REVISION, SPACE
from syncd.repo.repository import Repository
from syncd.repo.values import Commit, FileChange
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.committer import COMMITTER, name_author
from syncd.sync.state.notes import STATUS, notes_ref, read_notes
from syncd.sync.state.proposed_refs import list_archived, list_proposed

GAP_MAX = 1000
"""Commits in a row that may be of no interest before the search ends: behind the first mirror lies people's history."""
FIRST = datetime.min.replace(tzinfo=UTC)
"""Before everything."""


@dataclass(frozen=True)
class LogEntry:
    """One event, and when it was (aware).

    Shape: `kind` is merged, revision, sent, fetched, archived, integrated, applied, held, waiting or run. `space` is a
    bound space's name, or ""; `commit`, `revision`, `branch` and `path` are "" where they mean nothing.
    """

    at: datetime
    kind: str
    what: str
    space: str = ""
    author: str = ""
    numbers: tuple[int, ...] = ()
    commit: str = ""
    revision: str = ""
    branch: str = ""
    path: str = ""
    exit_code: int = 0


@dataclass(frozen=True)
class LogQuery:
    """Which events are wanted: of these spaces, and where given of one change request, of one file, and since a time.

    Shape: `path` is from the repository's root; `count` is the most entries that are wanted of one source.
    """

    bindings: tuple[Binding, ...]
    count: int
    number: int = 0
    path: str = ""
    since: datetime = FIRST

    def find_binding(self, commit: Commit) -> Binding | None:
        """Return the space of a mirror commit, if it is one of those that are wanted."""
        ids = commit.trailers.get(SPACE, [])
        return next((binding for binding in self.bindings if binding.space in ids), None)

    def has_number(self, numbers: Iterable[int]) -> bool:
        """Return whether an event about these change requests is wanted."""
        return not self.number or self.number in numbers


def list_mirrored(repository: Repository, main: str, query: LogQuery) -> Iterator[LogEntry]:
    """Yield an entry for each revision that was mirrored to the ref of main content, newest first.

    Shape: a file is followed through renames. Raises: GitFailed.
    """
    oid, path, gap, found = repository.resolve(main), query.path, 0, 0
    while oid is not None and gap < GAP_MAX and found < query.count:
        commit = repository.read_commit(oid)
        oid = next(iter(commit.parents), None)
        gap += 1
        binding = query.find_binding(commit)
        numbers = _read_numbers(commit)
        if binding is None or not query.has_number(numbers) or commit.author.when < query.since:
            continue
        change = _find_change(repository, commit, path) if path else None
        if path and change is None:
            continue
        gap, found = 0, found + 1
        yield LogEntry(
            commit.author.when,
            "merged" if numbers else "revision",
            commit.subject,
            binding.name,
            name_author(commit),
            numbers,
            commit.oid,
            next(iter(commit.trailers.get(REVISION, [])), ""),
            path=_describe_change(change) if change is not None else "",
        )
        path = change.old_path if change is not None and change.old_path is not None else path


def list_sent(repository: Repository, remote: str, query: LogQuery) -> Iterator[LogEntry]:
    """Yield what was sent to change requests, and what came back of them, from the platform's refs in Git.

    Shape: `remote` names these refs. A change request has one as long as it is not merged; an archived one has an entry
    for that, too. One whose branch was deleted has entries while a ref keeps what its reviewers wrote.
    Raises: GitFailed.
    """
    main = repository.resolve(f"refs/remotes/{remote}/main")
    for binding in query.bindings:
        for number, branch, commit in list_proposed(repository, binding):
            if not query.has_number([number]):
                continue
            lane = repository.resolve(f"refs/remotes/{remote}/changes/{binding.name}/{number}")
            listed = (
                *_list_notes(repository, binding, number, branch, commit),
                *_list_lane(repository, lane, binding, number, branch, query),
            )
            base = repository.find_merge_base(main, commit) if main is not None and query.path else None
            for entry in listed:
                is_about = not query.path or entry.path or _has_changed(repository, base, entry.commit, query.path)
                if entry.at >= query.since and is_about:
                    yield entry
        for number, branch, commit, ref in list_archived(repository, binding):
            if query.has_number([number]):
                edits = _list_lane(repository, commit, binding, number, branch, query)
                yield from (_name_kept(entry, commit, ref) for entry in edits if entry.at >= query.since)


def list_integrated(repository: Repository, branches: Sequence[str], query: LogQuery) -> Iterator[LogEntry]:
    """Yield the merges by which syncd brought the platform's content into branches. Raises: GitFailed."""
    if query.number or query.path:
        return
    for branch in branches:
        oid, gap, found = repository.resolve(f"{HEADS}{branch}"), 0, 0
        while oid is not None and gap < GAP_MAX and found < query.count:
            commit = repository.read_commit(oid)
            oid = next(iter(commit.parents), None)
            gap += 1
            is_own = commit.author.email == COMMITTER[1] and len(commit.parents) > 1 and SPACE not in commit.trailers
            if is_own and commit.author.when >= query.since:
                gap, found = 0, found + 1
                yield LogEntry(commit.author.when, "integrated", commit.subject, commit=commit.oid, branch=branch)


def _list_notes(repository: Repository, binding: Binding, number: int, branch: str, sent: str) -> Iterator[LogEntry]:
    """That a branch was sent, and that its change request was archived.

    Of a commit that is older than the first note, that is when it was sent; a later one went there after it was made.
    """
    tip = repository.resolve(notes_ref(binding, number))
    if tip is None:
        return
    notes = repository.list_commits(None, tip, limit=GAP_MAX)
    commit = repository.read_commit(sent)
    at = choose_moment(notes[-1].author.when.isoformat(), datetime.now(UTC), [commit.recorded])
    about: dict[str, Any] = {"space": binding.name, "numbers": (number,), "branch": branch}
    yield LogEntry(at, "sent", commit.subject, author=commit.author.name, commit=sent, **about)
    if read_notes(repository, binding, number).get(STATUS) == "archived":
        yield LogEntry(notes[0].author.when, "archived", commit.subject, commit=sent, **about)


def _name_kept(entry: LogEntry, commit: str, ref: str) -> LogEntry:
    """What reviewers wrote last in a change request whose branch was deleted; only a ref still names it."""
    what = f"{entry.what}; {entry.branch} was deleted and never had it: git show --first-parent {ref}"
    return replace(entry, what=what) if entry.commit == commit else entry


def _list_lane(
    repository: Repository, tip: str | None, binding: Binding, number: int, branch: str, query: LogQuery
) -> Iterator[LogEntry]:
    """What a change request came to hold besides what was sent, newest first; `tip` is what it holds.

    Shape: its own commits lie on the first-parent line of its ref, and behind them those that they were made from.
    """
    pending, seen = [tip] if tip is not None else [], set[str]()
    while pending and len(seen) < query.count:
        oid = pending.pop()
        commit = repository.read_commit(oid)
        if oid in seen or not commit.subject.startswith(f"{PROPOSED}{number}:"):
            continue
        seen.add(oid)
        pending += commit.parents
        change = _find_change(repository, commit, query.path) if query.path else None
        if query.path and change is None:
            continue
        subject = commit.subject.partition(": ")[2]
        where = _describe_change(change) if change is not None else ""
        about: dict[str, Any] = {"space": binding.name, "numbers": (number,), "branch": branch, "path": where}
        yield LogEntry(commit.author.when, "fetched", subject, author=name_author(commit), commit=oid, **about)


def _has_changed(repository: Repository, base: str | None, commit: str, path: str) -> bool:
    return base is None or repository.lookup(base, path) != repository.lookup(commit, path)


def _read_numbers(commit: Commit) -> tuple[int, ...]:
    return tuple(int(each) for each in commit.trailers.get(CHANGE_REQUEST, []) if each.isdecimal())


def _find_change(repository: Repository, commit: Commit, path: str) -> FileChange | None:
    """What a commit does to a file, compared with its first parent; None for nothing."""
    parent = next(iter(commit.parents), None)
    here = repository.lookup(commit.oid, path)
    before = repository.lookup(parent, path) if parent is not None else None
    if here == before:
        return None
    if here is None or before is not None or parent is None:
        status: Literal["D", "A", "M"] = "D" if here is None else "A" if before is None else "M"
        return FileChange(status, path, None, here or before or "", "")
    try:
        changes = repository.list_changes(parent, commit.oid, renames=True)
    except GitFailed:  # what it was called before is not in a shallow clone
        changes = []
    return next((each for each in changes if each.path == path), FileChange("A", path, None, here, ""))


def _describe_change(change: FileChange) -> str:
    if change.old_path is not None:
        return f"{change.old_path} -> {change.path}"
    return f"{change.path}{ {'A': ' (new)', 'D': ' (deleted)'}.get(change.status, '') }"
