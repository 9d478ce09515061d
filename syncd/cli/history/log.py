"""`log`: what happened, newest first, from what this machine has recorded; no request is sent."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer

from syncd.cli.change_requests.find import list_selected, parse_request_name
from syncd.cli.service.run_status import find_run
from syncd.cli.terminal.context import describe_absent_file, load_whole_configuration, open_repository_here
from syncd.cli.terminal.output import RepositoryFailures, print_document
from syncd.cli.terminal.pager import page_text
from syncd.cli.terminal.text import escape, format_time
from syncd.config import RepositoryConfig
from syncd.daemon.labels import build_bindings, name_repositories
from syncd.daemon.locks import SERVICE_LOCK, STATE_FILE, find_holder
from syncd.daemon.workspaces import read_time
from syncd.errors import NotARepository, SyncdError
from syncd.model.moment import parse_moment
from syncd.repo.repository import Repository
from syncd.store.status import read_store_summary
from syncd.sync.binding import Binding
from syncd.sync.branches import find_tracked
from syncd.sync.log.entries import FIRST, LogEntry, LogQuery, list_integrated, list_mirrored, list_sent
from syncd.sync.outcome import CONFLICT, PAGE

_AGE = re.compile(r"(?P<count>[0-9]{1,6})\s*(?P<unit>minute|min|hour|h|day|d|week|w)s?(?:\s+ago)?")
_UNITS = {"min": 60, "minute": 60, "hour": 3600, "h": 3600, "day": 86_400, "d": 86_400, "week": 604_800, "w": 604_800}
_KINDS = (
    *("revision", "merged", "fetched", "integrated", "archived", "sent", "applied"),
    *("waiting", "held", "run"),
)
"""Kinds of entries in the order in which a run makes them."""


@dataclass(frozen=True)
class LogOptions:
    """What a person typed behind `log`."""

    file: str = ""
    space: str = ""
    change_request: str = ""
    count: int = 50
    since: str = ""
    as_json: bool = False


def show_log(config_file: Path | None, options: LogOptions) -> int:
    """Print what happened in the configured repositories, newest first, and return the exit code.

    Shape: one that cannot be read is named, and stops no other.
    Raises: BadParameter for a time, number or file that means nothing; ConfigInvalid, NotTrusted; what the only
    repository raises.
    """
    config, broken = load_whole_configuration(config_file)
    name = parse_request_name(options.change_request, options.space) if options.change_request else None
    since = _parse_since(options.since) if options.since else FIRST
    found: list[tuple[Path, LogEntry]] = []
    codes: list[int] = []
    failures = RepositoryFailures(broken, as_json=options.as_json)
    selected = list_selected(config, name.space if name is not None else options.space)
    paths = {each.path: _find_path(each, options.file) if options.file else "" for each, _ in selected}
    if all(path is None for path in paths.values()):
        raise typer.BadParameter(f"{options.file} is in no configured repository")
    for repository, bindings in selected:
        if (path := paths[repository.path]) is None:
            continue
        wanted = tuple(binding for binding in bindings if not path or binding.holds(path))
        if path and not wanted:
            raise typer.BadParameter(f"{options.file} is in no space; git log {options.file} shows its commits")
        query = LogQuery(wanted, options.count, name.number if name is not None else 0, path, since)
        is_whole = not (options.space or name or path)
        with failures.catch():
            entries = list(_list_entries(repository, query, is_whole=is_whole))
            if path and not entries:
                _require_file(repository, wanted, path)
            found += [(repository.path, entry) for entry in entries]
            codes.append(0)
    if not codes:
        return failures.finish(codes)
    newest = sorted(found, key=lambda each: _rank_entry(each[1]), reverse=True)[: options.count]
    if options.as_json:
        print_document({"entries": [_build_document(root, entry) for root, entry in newest]})
    else:
        names = dict(zip((each.path for each in config.repository), name_repositories(config), strict=True))
        named = names if len(selected) > 1 else {}
        lines = [line for root, entry in newest for line in _format_entry(entry, named.get(root, ""))]
        page_text("\n".join(lines) or "Nothing is recorded for that.")
    return failures.finish(codes)


def _require_file(repository: RepositoryConfig, bindings: tuple[Binding, ...], path: str) -> None:
    """Refuse a path that nothing has, or ever had. Raises: BadParameter."""
    with Repository.open(repository.path) as git:
        main = f"refs/remotes/{repository.remote}/main"
        top = git.work_tree
        if top is not None and (top / path).is_dir() and not (top / path).is_symlink():
            raise typer.BadParameter(f"{path} is a directory: name one of its files")
        commits = filter(None, (git.read_head().oid, git.resolve(main)))
        is_here = top is not None and os.path.lexists(top / path)
        if is_here or any(git.lookup(commit, path) is not None for commit in commits):
            return
        once = LogQuery(bindings, 1, path=path)
        if not any(list_mirrored(git, main, once)) and not any(list_sent(git, repository.remote, once)):
            raise typer.BadParameter(describe_absent_file(git, repository.remote, path))


def list_newest(repositories: Sequence[RepositoryConfig], count: int) -> list[tuple[Path, LogEntry]]:
    """Return what happened last in repositories, newest first, each with the path of its repository.

    Shape: what one that cannot be read has recorded is left out. Raises: SyncdError where none can be read.
    """
    found: list[tuple[Path, LogEntry]] = []
    failures: list[SyncdError] = []
    for repository in repositories:
        query = LogQuery(build_bindings(repository), count)
        try:
            found += [(repository.path, entry) for entry in _list_entries(repository, query, is_whole=True)]
        except SyncdError as error:
            failures.append(error)
    if failures and len(failures) == len(repositories):
        raise failures[0]
    return sorted(found, key=lambda each: _rank_entry(each[1]), reverse=True)[:count]


def _rank_entry(entry: LogEntry) -> tuple[datetime, int]:
    """Commits know whole seconds; within one, the flows of a run have their order."""
    return entry.at.replace(microsecond=0), _KINDS.index(entry.kind)


def _list_entries(repository: RepositoryConfig, query: LogQuery, *, is_whole: bool) -> Iterator[LogEntry]:
    with Repository.open(repository.path) as git:
        yield from list_mirrored(git, f"refs/remotes/{repository.remote}/main", query)
        yield from list_sent(git, repository.remote, query)
        if is_whole:
            branches = [branch.name for branch in find_tracked(git, repository.branch_names, repository.patterns)]
            yield from list_integrated(git, branches, query)
        git_dir = git.git_dir
    recorded = [*_list_outcomes(git_dir, query, is_whole=is_whole)]
    recorded += [*_list_plans(repository, git_dir), *_list_runs(repository, git_dir)] if is_whole else []
    yield from (entry for entry in recorded if entry.at >= query.since)


def _list_outcomes(git_dir: Path, query: LogQuery, *, is_whole: bool) -> Iterator[LogEntry]:
    """What waits for a person, since when its flow said so last."""
    if query.number:
        return
    for outcome in read_store_summary(git_dir / STATE_FILE).outcomes:
        at = parse_moment(outcome.at)
        if outcome.state not in ("held", "waiting") or at is None:
            continue
        path = outcome.key if outcome.flow in (CONFLICT, PAGE) else ""
        space = _find_space(query.bindings, outcome.key, path)
        if (query.path and path != query.path) or (not is_whole and not space):
            continue
        what = f"{outcome.flow} {outcome.key}: {outcome.detail}".partition("\n")[0]
        yield LogEntry(at, outcome.state, what, space, path=path)


def _list_plans(repository: RepositoryConfig, git_dir: Path) -> Iterator[LogEntry]:
    """The plans that were applied to sites."""
    if repository.site is None:
        return
    from syncd.cli.sites.rollback import format_former_plan
    from syncd.plan.site.rollback import parse_former_state
    from syncd.store.backups import read_backups

    for backup in read_backups(git_dir / STATE_FILE):
        if (at := parse_moment(backup.at)) is not None:
            former = parse_former_state(backup.document)
            what = f"plan {backup.digest} of {former.path}: {format_former_plan(former)}"
            yield LogEntry(at, "applied", what)


def _list_runs(repository: RepositoryConfig, git_dir: Path) -> Iterator[LogEntry]:
    """The last run, as `syncd status` counts it."""
    has_service = isinstance(find_holder(git_dir / SERVICE_LOCK), int)
    now = read_time().timestamp()
    run = find_run(repository.path, git_dir, interval=repository.interval, has_service=has_service, now=now)
    if run.record is not None and (at := parse_moment(run.record.at)) is not None:
        why = f": {run.record.why}" if run.record.why else ""
        yield LogEntry(at, "run", f"the last run, by {run.by}, {run.record.state}{why}", exit_code=run.record.exit_code)


def _find_space(bindings: Iterable[Binding], key: str, path: str) -> str:
    """The name of the space that an outcome is about, or ""."""
    if path:
        return next((binding.name for binding in bindings if binding.holds(path)), "")
    return next((binding.name for binding in bindings if key == binding.name or key.startswith(f"{binding.name}/")), "")


def _find_path(repository: RepositoryConfig, file: str) -> str | None:
    """A file that a person named, from the root of a repository's work tree; None when it is not in there."""
    try:
        with open_repository_here(repository.path) as git:
            top = git.work_tree
    except NotARepository:
        return None
    if top is None:
        return os.path.normpath(file)
    path = Path(os.path.abspath(file))
    roots = (top, top.resolve())
    inside = next((path.relative_to(root) for root in roots if path.is_relative_to(root)), None)
    return inside.as_posix() if inside is not None else None


def _parse_since(text: str) -> datetime:
    """The time that a person means: a date or time of ISO 8601, or an age such as `2 days`. Raises: BadParameter."""
    if age := _AGE.fullmatch(text.strip()):
        now = read_time()
        return now - min(timedelta(seconds=int(age["count"]) * _UNITS[age["unit"]]), now - FIRST)
    moment = parse_moment(text.strip())
    if moment is None:
        raise typer.BadParameter(f"--since {text}: a date such as 2026-01-31, or an age such as 2d or '3 weeks'")
    return moment


def _format_entry(entry: LogEntry, repository: str) -> Sequence[str]:
    """Return the line of an entry; `repository` is "" where it goes without saying."""
    numbers = " ".join(f"#{number}" for number in entry.numbers)
    branch = f"{entry.space}/{entry.branch}" if entry.space and entry.branch else entry.space or entry.branch
    author = f"({entry.author})" if entry.author else ""
    whose = f"{repository}: {branch}".rstrip() if repository else branch
    parts = [whose, numbers, entry.what, author, entry.path if entry.commit else "", entry.commit[:10]]
    at = format_time(entry.at.astimezone(UTC).isoformat())
    return [f"{at}  {entry.kind:<10}  {escape('  '.join(part for part in parts if part))}"]


def _build_document(root: Path, entry: LogEntry) -> dict[str, Any]:
    return {
        "repository": str(root),
        "at": entry.at.astimezone(UTC).isoformat(),
        "kind": entry.kind,
        "space": entry.space or None,
        "change_requests": list(entry.numbers),
        "what": entry.what,
        "author": entry.author or None,
        "commit": entry.commit or None,
        "revision": entry.revision or None,
        "branch": entry.branch or None,
        "path": entry.path or None,
        "exit_code": entry.exit_code,
    }
