"""`status`: the state of both sides as this machine last saw them; no request is sent."""

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from syncd.cli.service.run_status import RunStatus, find_run, format_run, format_run_problems
from syncd.cli.sync.unsent import BranchWork, build_unsent_document, find_branch_work, format_requests, format_unsent
from syncd.cli.terminal.context import load_configuration, open_repository_here
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, format_time, print_text
from syncd.config import RepositoryConfig
from syncd.daemon.health import combine_codes
from syncd.daemon.locks import DAEMON, STATE, find_holder
from syncd.errors import ConfigInvalid, Conflict, FileInvalid, Held, SyncdError, Unauthorized, Unreachable
from syncd.model.wording import format_count
from syncd.plan.message import REVISION, SPACE
from syncd.repo import Repository
from syncd.store.status import SITE_STATES, FlowOutcome, StoreSummary, read_store_summary
from syncd.sync.branches import find_tracked
from syncd.sync.outcome import CONFLICT, PAGE, PARTLY_DONE

WRONG_STATES = ("drifted", "blocked")
COMMITS_MAX = 1000
"""The most commits that are counted."""


NEEDS_DOCTOR = {Unreachable.exit_code, Unauthorized.exit_code, ConfigInvalid.exit_code}
"""Exit codes of a last run after which another run comes to the same, until somebody mends what it stands on."""


@dataclass(frozen=True)
class SpaceStatus:
    """One space: the last mirrored revision, and the change requests of branches.

    Shape: `undecided` while Git and the space differ and nobody has chosen which side goes first.
    """

    name: str
    space: str
    directory: str
    revision: str
    undecided: bool
    change_requests: tuple[str, ...]


@dataclass(frozen=True)
class BranchStatus:
    """One tracked branch against main content: commits that only one side has."""

    branch: str
    ahead: int
    behind: int


@dataclass(frozen=True)
class SiteStatus:
    """A site when it was last read: how many resources each state has, by area."""

    file: str
    site: str
    at: str
    states: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class PlanStatus:
    """A plan that waits for a person, with the reasons; `approved` is the time of its approval, or ""."""

    digest: str
    site: str
    file: str
    at: str
    approved: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class RepositoryStatus:
    """One repository, with the last outcome of every flow.

    Shape: `former` are spaces that were mirrored and are no longer configured; `current` is the branch of the work tree
    around the current directory, and `detached` the commit of its HEAD when that is on no branch.
    """

    path: str
    daemon: int | None
    branches: tuple[BranchStatus, ...]
    spaces: tuple[SpaceStatus, ...]
    former: tuple[str, ...]
    outcomes: tuple[FlowOutcome, ...]
    plans: tuple[PlanStatus, ...] = ()
    sites: tuple[SiteStatus, ...] = ()
    works: tuple[BranchWork, ...] = ()
    current: str = ""
    detached: str = ""
    run: RunStatus = field(default_factory=RunStatus)

    @property
    def exit_code(self) -> int:
        """The exit code of the last run when it failed, else of what waits for a person now."""
        held = [outcome for outcome in self.problems if outcome.state == "held"]
        codes = {self._code_of(outcome) for outcome in held}
        codes |= {Held.exit_code for plan in self.plans if not plan.approved}
        if self.run.exit_code or not codes:
            return self.run.exit_code
        return codes.pop() if len(codes) == 1 else Held.exit_code

    def _code_of(self, held: FlowOutcome) -> int:
        is_blocked = any(site.states["blocked"] for site in self.sites if site.file == held.key)
        if held.flow == "site" and is_blocked:
            return PARTLY_DONE
        codes = {CONFLICT: Conflict.exit_code, PAGE: FileInvalid.exit_code}
        return codes.get(held.flow, Held.exit_code)

    @property
    def problems(self) -> list[FlowOutcome]:
        """The outcomes that a person should read first; those about a waiting plan are left out for the plan itself."""
        known = [f"plan {plan.digest} waits" for plan in self.plans]
        found = [outcome for outcome in self.outcomes if outcome.state in ("held", "waiting")]
        return [outcome for outcome in found if not any(outcome.detail.startswith(words) for words in known)]


@dataclass(frozen=True)
class BrokenStatus:
    """A repository that cannot be read, with its last run where that is known."""

    path: str
    error: str
    hint: str
    exit_code: int
    run: RunStatus


def show_status(config_file: Path | None, *, as_json: bool) -> int:
    """Print the status of every configured repository, and return their exit code.

    Raises: ConfigInvalid, NotTrusted.
    """
    config = load_configuration(config_file)
    found = [_find_status(repository) for repository in config.repository]
    code = combine_codes([status.exit_code for status in found])
    if as_json:
        documents = [_build_document(status) for status in found]
        print_document({"platform": config.platform.url, "repositories": documents, "exit_code": code})
    else:
        print_text("\n\n".join("\n".join(_format_status(status)) for status in found))
    return code


def _build_document(status: RepositoryStatus | BrokenStatus) -> dict[str, Any]:
    if isinstance(status, BrokenStatus):
        return asdict(status)
    facts = {name: value for name, value in asdict(replace(status, works=())).items() if name != "works"}
    return facts | {"unsent": [build_unsent_document(work) for work in status.works], "exit_code": status.exit_code}


def _find_status(repository: RepositoryConfig) -> RepositoryStatus | BrokenStatus:
    try:
        return _read_status(repository)
    except SyncdError as error:
        run = find_run(repository.path, None, interval=repository.interval, has_service=False, now=time.time())
        return BrokenStatus(str(repository.path), error.what, error.hint, error.exit_code, run)


def _read_status(repository: RepositoryConfig) -> RepositoryStatus:
    with Repository.open(repository.path) as git, open_repository_here(repository.path) as here:
        main = git.resolve(f"refs/remotes/{repository.remote}/main")
        names = [branch.name for branch in find_tracked(git, repository.named, repository.patterns)]
        head = here.read_head()
        current = head.branch
        names += [current] if current is not None and current not in names else []
        branches = [_read_branch(git, name, main) for name in names]
        works = tuple(find_branch_work(here, repository, name) for name in names) if repository.space else ()
        spaces = [_read_space(git, repository, index, main) for index in range(len(repository.space))]
        recorded = read_store_summary(git.git_dir / STATE)
        former = {*recorded.spaces} - {space.id for space in repository.space}
        running = find_holder(git.git_dir / DAEMON)
        interval = repository.interval
        run = find_run(
            repository.path, git.git_dir, interval=interval, has_service=running is not None, now=time.time()
        )
    known = tuple(branch for branch in branches if branch is not None)
    gone = tuple(sorted(former))
    sites = tuple(_read_sites(recorded))
    return RepositoryStatus(
        path=str(repository.path),
        daemon=running,
        branches=known,
        spaces=tuple(spaces),
        former=gone,
        outcomes=recorded.outcomes,
        plans=tuple(_read_plans(recorded)),
        sites=sites,
        works=works,
        current=current or "",
        detached=(head.oid or "")[:10] if current is None else "",
        run=run,
    )


def _read_plans(recorded: StoreSummary) -> Iterator[PlanStatus]:
    for plan in recorded.pending_plans:
        gates = json.loads(plan.document)["plan"]["gates"]
        why = tuple(f"{gate['scope']}: {gate['why']}" for gate in gates)
        yield PlanStatus(plan.digest, plan.site, plan.file, plan.at, plan.approved, why)


def _read_sites(recorded: StoreSummary) -> Iterator[SiteStatus]:
    for poll in recorded.site_states:
        facts = json.loads(poll.facts)
        yield SiteStatus(poll.site, facts["site"], poll.at, {state: facts[state] for state in SITE_STATES})


def _read_branch(git: Repository, branch: str, main: str | None) -> BranchStatus | None:
    tip = git.resolve(f"refs/heads/{branch}")
    if tip is None or main is None:
        return None
    if tip == main:
        return BranchStatus(branch, 0, 0)
    ahead = len(git.list_commits(main, tip, limit=COMMITS_MAX))
    behind = len(git.list_commits(tip, main, limit=COMMITS_MAX))
    return BranchStatus(branch, ahead, behind)


def _read_space(git: Repository, repository: RepositoryConfig, index: int, main: str | None) -> SpaceStatus:
    space = repository.space[index]
    last = git.find_commit(f"refs/remotes/{repository.remote}/main", SPACE, space.id) if main else None
    revision = last.trailers.get(REVISION, [""])[0] if last else ""
    prefix = f"refs/syncd/proposed/{space.name}/"
    requests = tuple(f"#{ref.removeprefix(prefix).replace('/', ' ', 1)}" for ref in sorted(git.list_refs(prefix)))
    undecided = git.resolve(f"refs/remotes/{repository.remote}/undecided/{space.name}") is not None
    return SpaceStatus(space.name, space.id, space.directory or ".", revision, undecided, requests)


def _format_status(status: RepositoryStatus | BrokenStatus) -> list[str]:
    if isinstance(status, BrokenStatus):
        hint = [f"    {escape(line)}" for line in filter(None, status.hint.split("\n"))]
        lines = [f"{escape(status.path)}  cannot be read", f"! {escape(status.error)}", *hint]
        return [*lines, *format_run_problems(status.run), format_run(status.run)]
    daemon = f"daemon running (pid {status.daemon})" if status.daemon else "no daemon"
    lines = [f"{escape(status.path)}  {daemon}", *format_run_problems(status.run)]
    for outcome in status.problems:
        first, *rest = outcome.detail.split("\n")
        lines.append(f"! {outcome.flow} {escape(outcome.key)} {outcome.state}: {escape(first)}")
        lines += [f"    {escape(line)}" for line in rest]
    for plan in status.plans:
        state = "is approved" if plan.approved else "waits for approval"
        lines.append(f"! plan {plan.digest} of {escape(plan.file)} {state}: {escape('; '.join(plan.why))}")
        if not plan.approved:
            lines.append(f"    syncd site pending {plan.digest} shows it; syncd site approve {plan.digest}")
    if status.detached:
        lines.append(f"! HEAD is detached at {status.detached}: commits there are on no branch; git switch BRANCH")
    for work in status.works:
        lines += format_unsent(work)
    lines.append(format_run(status.run))
    works = {work.branch: work for work in status.works}
    for branch in status.branches:
        distance = _format_distance(branch, works.get(branch.branch), status.run)
        lines.append(f"  branch {escape(branch.branch):<16} {distance}")
    for space in status.spaces:
        requests = ", ".join(space.change_requests) or "no change request"
        requests = "undecided: see syncd init" if space.undecided else requests
        lines.append(
            f"  space  {space.name:<16} revision {escape(space.revision) or 'none yet'}"
            f"  in {escape(space.directory)}  {escape(requests)}"
        )
    for site in status.sites:
        lines.append(f"  site   {escape(site.file):<16} {_format_counts(site)}")
    for id in status.former:
        lines.append(f"  space  {escape(id)} is configured no more; its directory and its refs stay as they are")
    for work in status.works:
        lines += [f"  {line}" for line in format_requests(work)]
    if suggestion := _suggest_command(status):
        lines.append(f"Next: {suggestion}")
    return lines


def _format_counts(site: SiteStatus) -> str:
    """How many resources of each area syncd owns, and how many of them drifted or are blocked."""
    parts = []
    for area in sorted({area for counts in site.states.values() for area in counts}):
        owned = site.states["owned"].get(area, 0)
        wrong = [f"{count} {state}" for state in WRONG_STATES if (count := site.states[state].get(area, 0))]
        if owned or wrong:
            parts.append(f"{area} {', '.join([f'{owned} owned', *wrong])}")
    hint = "  (syncd site drift)" if site.states["drifted"] else ""
    return f"{' | '.join(parts) or 'nothing is owned yet'}{hint}"


def _format_distance(branch: BranchStatus, work: BranchWork | None, run: RunStatus) -> str:
    if not branch.ahead and not branch.behind:
        known = run.record.succeeded if run.record is not None else ""
        old = (
            f"the same as main content of {format_time(known)}"
            if known
            else "the same as main content when last mirrored"
        )
        return "in step with main content" if run.is_good else old
    distance = f"{branch.ahead} ahead, {branch.behind} behind main content"
    if not branch.ahead or work is None:
        return distance
    changed = sum(len(space.changed) for space in work.spaces if space.needs_push)
    if changed:
        return f"{distance}; {format_count(changed, 'file')} not pushed"
    return f"{distance}; {'all is proposed' if work.sent_spaces else 'no page or file of a space is changed'}"


def _suggest_command(status: RepositoryStatus) -> str:
    if status.run.exit_code in NEEDS_DOCTOR:
        return "syncd doctor"
    if status.problems or status.plans:
        return ""  # each problem has a hint of its own
    if any(branch.behind for branch in status.branches):
        return "syncd pull"
    unsent = next((work for work in status.works if work.needs_push), None)
    if unsent is not None:
        return "syncd push" if unsent.branch == status.current else f"syncd push {shlex.quote(unsent.branch)}"
    if any(work.sent_spaces for work in status.works):
        return "syncd review shows what others say; a merge on the platform comes back with syncd pull"
    return ""
