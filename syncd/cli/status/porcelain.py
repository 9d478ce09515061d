"""The status as lines for scripts, format 1: it only gains kinds of records, and the fields of a kind never change.

A record is a line of fields between tabs; the first is its kind. Only the last field can hold text from outside: it is
quoted as Git quotes a path, or stands as it is where records end with NUL.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from syncd.cli.status.next_command import suggest_command
from syncd.cli.status.values import BrokenStatus, RepositoryStatus, RequestStatus
from syncd.cli.sync.unsent import BranchWork
from syncd.sync.outcome import CONFLICT, PAGE

if TYPE_CHECKING:  # most ask for the whole
    from syncd.cli.status.files import FileStatus

HEADER = "# syncd-status v1"
NOTHING = "-"
"""Stands for a value that is not there."""
_SPELLED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}

Record = tuple[object, ...]


def format_porcelain(statuses: Sequence[RepositoryStatus | BrokenStatus], *, start: str, is_nul: bool) -> str:
    """Return all records of the status of each repository."""
    records: list[Record] = [(HEADER,)]
    for status in statuses:
        records += _list_broken(status) if isinstance(status, BrokenStatus) else _list_records(status, start)
    return format_records(records, is_nul=is_nul)


def format_records(records: Sequence[Record], *, is_nul: bool) -> str:
    """Return records as text; a value that is not there is `-`."""
    end = "\0" if is_nul else "\n"
    return "".join(f"{_format_record(record, is_nul)}{end}" for record in records)


def _format_record(record: Record, is_nul: bool) -> str:
    *fields, last = (NOTHING if value in ("", None) else str(value) for value in record)
    return "\t".join([*fields, last if is_nul else quote_field(last)])


def quote_field(text: str) -> str:
    """Quote a text as Git quotes a path, where it has a control character, a quote or a backslash, or is not ASCII.

    Source: git-config(1), core.quotePath.
    """
    data = text.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in data):
        return text
    return '"' + "".join(map(_quote_byte, data)) + '"'


def _quote_byte(byte: int) -> str:
    if byte in _SPELLED:
        return f"\\{_SPELLED[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _list_broken(status: BrokenStatus) -> Iterator[Record]:
    yield "repository", status.exit_code, NOTHING, status.path
    yield "error", status.error


def _list_records(status: RepositoryStatus, start: str) -> Iterator[Record]:
    yield "repository", status.exit_code, status.daemon, status.path
    yield "head", status.detached, status.operation, status.current
    run = status.run.record
    if run is not None:
        yield "run", run.state, status.run.by, run.at, run.succeeded
    if status.run.pause is not None:
        yield "pause", status.run.pause.at, status.run.pause.until
    for branch in status.branches:
        yield "branch", branch.ahead, branch.behind, branch.branch
    for space in status.spaces:
        state = "undecided" if space.undecided else "bound"
        yield "space", space.name, space.space, space.revision, state, space.directory
    for request in status.requests:
        yield build_request_record(request)
    for kind, flow in (("conflict", CONFLICT), ("invalid", PAGE)):
        yield from ((kind, path) for path in status.list_held(flow))
    for problem in status.problems:
        if (problem.flow, problem.state) == (CONFLICT, "held") and problem.branch:
            yield "conflict-in", problem.branch, problem.key
        if problem.flow not in (CONFLICT, PAGE):
            yield problem.state, problem.flow, problem.key
    for work in status.works:
        yield from _list_work(work)
    for plan in status.plans:
        yield "plan", plan.digest, "approved" if plan.approved else "waiting", plan.site, plan.file
    for site in status.sites:
        yield "site", site.site, *(site.count(state) for state in ("owned", "drifted", "blocked")), site.at, site.file
    if command := suggest_command(status, start=start):
        yield "next", command


def build_request_record(request: RequestStatus) -> Record:
    """Return the record of a change request."""
    state = request.state
    age, extent = "outdated" if state.is_outdated else "current", "all" if request.has_all else "part"
    facts = state.status, request.next_step, age, state.comments, extent
    return "request", request.space, request.number, *facts, state.address, request.branch


def build_file_record(file: "FileStatus") -> Record:
    """Return the record of a file that was named."""
    numbers = ",".join(str(request.number) for request in file.requests)
    oids = [change.commit if change is not None else NOTHING for change in (file.in_git, file.on_platform)]
    return "file", file.space, ",".join(file.states), file.revision, *oids, numbers, file.address, file.path


def _list_work(work: BranchWork) -> Iterator[Record]:
    for space in work.spaces:
        if space.needs_push:
            yield from (("push", work.branch, space.binding.name, path) for path in space.pending)
        yield from (("unlisted", work.branch, space.binding.name, path) for path in space.unlisted)
    yield from (("uncommitted", work.branch, path) for path in work.uncommitted)
