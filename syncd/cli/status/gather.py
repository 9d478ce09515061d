"""Gather what this machine knows of a repository; no request is sent, and nothing is written."""

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from syncd.cli.service.run_status import find_run
from syncd.cli.status.values import (
    BranchStatus,
    BrokenStatus,
    PlanStatus,
    RepositoryStatus,
    RequestStatus,
    SiteStatus,
    SpaceStatus,
)
from syncd.cli.sync.unsent import BranchWork, find_branch_work
from syncd.cli.terminal.context import find_other_tree
from syncd.cli.terminal.text import name_config_in_hint
from syncd.config import RepositoryConfig
from syncd.config.repository import INTERVAL_SECONDS
from syncd.daemon.labels import build_bindings
from syncd.daemon.locks import SERVICE_LOCK, STATE_FILE, UNKNOWN, find_holder
from syncd.errors import SyncdError
from syncd.plan.message import REVISION, SPACE
from syncd.repo.repository import Repository
from syncd.store.status import SITE_STATES, PendingPlan, SiteState, StoreSummary, read_site_facts, read_store_summary
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS, Branch, find_tracked
from syncd.sync.policy import GIT_IMPORT
from syncd.sync.state.conflicts import drop_settled
from syncd.sync.state.proposed_refs import list_proposed
from syncd.sync.state.request_state import parse_request_state
from syncd.sync.state.sent_log import COMMENTED
from syncd.sync.state.unsent import Unsent

COMMITS_MAX = 1000
"""The most commits that are counted."""
ROOM_MIN = 1 << 20
"""Bytes with which the shortest run may come to its end."""


def find_status(repository: RepositoryConfig, config_file: Path | None = None) -> RepositoryStatus | BrokenStatus:
    """Return the status of a repository, or why it cannot be read; `config_file` is what the command line names."""
    try:
        return _name_config(_read_status(repository), str(config_file or ""))
    except SyncdError as error:
        return build_broken_status(repository.path, error, repository.interval)


def build_broken_status(path: Path, error: SyncdError, interval: float = INTERVAL_SECONDS) -> BrokenStatus:
    """Return the status of a repository that cannot be read, or of a drop-in that may have named some."""
    run = find_run(path, None, interval=interval, has_service=False, now=time.time())
    return BrokenStatus(str(path), error.what, error.hint, error.exit_code, run)


def _name_config(status: RepositoryStatus, config: str) -> RepositoryStatus:
    """The status, whose commands name the configuration that the command line names."""
    outcomes = tuple(replace(one, hint=name_config_in_hint(one.hint, config)) for one in status.outcomes)
    record = status.run.record
    if record is not None:
        record = replace(record, hint=name_config_in_hint(record.hint, config))
    run = replace(status.run, record=record)
    return replace(status, outcomes=outcomes, run=run, config=config, is_job=bool(os.environ.get("CI")))


def _read_status(repository: RepositoryConfig) -> RepositoryStatus:
    linked = find_other_tree(repository.path)
    with Repository.open(repository.path) as git, Repository.open(linked) if linked else nullcontext(git) as here:
        main = git.resolve(f"refs/remotes/{repository.remote}/main")
        tracked = {branch.name: branch for branch in find_tracked(git, repository.branch_names, repository.patterns)}
        names = [*tracked]
        head = here.read_head()
        current = head.branch
        names += [current] if current is not None and current not in names else []
        branches = [_read_branch(git, name, tracked.get(name), main) for name in names]
        works = [find_branch_work(here, repository, name) for name in names] if repository.space else []
        recorded = read_store_summary(git.git_dir / STATE_FILE)
        bindings = build_bindings(repository)
        spaces = [_read_space(git, repository.remote, binding, main) for binding in bindings]
        listed = (list_proposed(git, binding) for binding in bindings)
        others = {branch for each in listed for _, branch, _ in each} - {*names}
        proposed = [*works, *(find_branch_work(here, repository, name) for name in sorted(others))]
        requests = tuple(_read_requests(git, repository, proposed, recorded))
        former = {*recorded.spaces} - {space.id for space in repository.space}
        holder = find_holder(git.git_dir / SERVICE_LOCK)
        running = holder if isinstance(holder, int) else None
        interval = repository.interval
        run = find_run(
            repository.path, git.git_dir, interval=interval, has_service=running is not None, now=time.time()
        )
        return RepositoryStatus(
            path=str(repository.path),
            daemon=running,
            branches=tuple(branch for branch in branches if branch is not None),
            spaces=tuple(spaces),
            former=tuple(sorted(former)),
            outcomes=drop_settled(git, recorded.outcomes),
            plans=tuple(read_plans(recorded.pending_plans)),
            sites=tuple(read_sites(recorded.site_states)),
            works=tuple(works),
            requests=requests,
            current=current or "",
            detached=(head.oid or "")[:10] if current is None else "",
            is_unborn=main is not None and current in repository.branch_names and head.oid is None,
            operation=(here.find_operation() or "") if here.work_tree is not None else "",
            work_tree=str(here.work_tree or ""),
            imported=repository.branch_names[0] if repository.write == GIT_IMPORT else "",
            run=run,
            is_service_hidden=holder == UNKNOWN,
            is_disk_full=_is_disk_full(git.git_dir),
        )


def _is_disk_full(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free < ROOM_MIN
    except OSError:  # which file system that is cannot be asked
        return False


def read_plans(pending: Sequence[PendingPlan]) -> Iterator[PlanStatus]:
    """Return plans that wait, with what holds each."""
    for plan in pending:
        gates = json.loads(plan.document)["plan"]["gates"]
        why = tuple(f"{gate['scope']}: {gate['why']}" for gate in gates)
        yield PlanStatus(plan.digest, plan.site, plan.file, plan.at, plan.approved, why)


def read_sites(site_states: Sequence[SiteState]) -> Iterator[SiteStatus]:
    """Return sites as they were when a run or a person last looked at them."""
    for poll in site_states:
        facts = read_site_facts(poll)
        yield SiteStatus(poll.site, facts["site"], poll.at, {state: facts[state] for state in SITE_STATES})


def _read_branch(git: Repository, name: str, tracked: Branch | None, main: str | None) -> BranchStatus | None:
    tip = git.resolve(f"{HEADS}{name}")
    if tip is None or main is None:
        return None
    if tip == main:
        return BranchStatus(name, 0, 0, tracked is not None)
    ahead = len(git.list_commits(main, tip, limit=COMMITS_MAX))
    behind = len(git.list_commits(tip, main, limit=COMMITS_MAX))
    # What only a pattern matches is fast-forwarded, and never merged with main content.
    can_pull = tracked is not None and (tracked.is_named or not ahead)
    return BranchStatus(name, ahead, behind, can_pull)


def _read_space(git: Repository, remote: str, binding: Binding, main: str | None) -> SpaceStatus:
    last = git.find_commit(f"refs/remotes/{remote}/main", SPACE, binding.space) if main else None
    return SpaceStatus(
        binding.name,
        binding.space,
        binding.directory or ".",
        last.trailers.get(REVISION, [""])[0] if last else "",
        git.resolve(f"refs/remotes/{remote}/undecided/{binding.name}") is not None,
        tuple(f"#{number} {branch}" for number, branch, _ in list_proposed(git, binding)),
    )


def _has_all(unsent: Unsent | None) -> bool:
    """Whether a branch's change request holds all that the branch has of the space."""
    return unsent is not None and unsent.is_sent and not (unsent.conflicting or unsent.awaited or unsent.refused)


def _read_requests(
    git: Repository, repository: RepositoryConfig, works: Sequence[BranchWork], recorded: StoreSummary
) -> Iterator[RequestStatus]:
    newest = {
        (unsent.binding.name, unsent.request.number): unsent
        for work in works
        for unsent in work.spaces
        if unsent.request is not None
    }
    for binding in build_bindings(repository):
        for number, branch, _ in list_proposed(git, binding):
            state = parse_request_state(recorded.requests.get((binding.space, number), ""))
            unsent = newest.get((binding.name, number))
            if unsent is not None and unsent.request is not None and not state.address:
                state = replace(state, address=unsent.request.address)
            left_out = tuple(path for path, _ in unsent.awaited) if unsent is not None else ()
            is_commented = git.resolve(f"{COMMENTED}{binding.name}/{number}") is not None
            yield RequestStatus(binding.name, number, branch, _has_all(unsent), state, left_out, is_commented)
