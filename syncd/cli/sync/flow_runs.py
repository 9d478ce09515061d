"""One run of `sync`, `pull` or `push` over every configured repository, and what it came to."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Literal

import typer

from syncd.cli.sync.unsent import BranchWork, find_branch_work
from syncd.cli.terminal.context import find_other_tree, load_whole_configuration, open_repository_here, parse_force
from syncd.cli.terminal.progress import make_environment, show_progress
from syncd.config import Config, RepositoryConfig, name_drop_in
from syncd.daemon.health import combine_codes
from syncd.daemon.labels import name_repositories
from syncd.daemon.workspaces import build_run_options, open_workspace, record_command
from syncd.errors import ConfigInvalid, Stopped, SyncdError
from syncd.repo.repository import Repository
from syncd.repo.work_tree.usage import format_abort
from syncd.sync.branches import find_tracked, is_own_branch, is_tracked_branch
from syncd.sync.outcome import outcome_from
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RUN, Result, RunOptions, find_exit_code, is_stopped
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class FlowsOptions:
    """What a person typed behind `sync`, `pull` or `push`."""

    command: Literal["sync", "pull", "push"]
    config: Path | None = None
    force: Sequence[str] = ()
    branch: str | None = None
    subject: str = ""


@dataclass(frozen=True)
class RepositoryRun:
    """The results of one repository's run, how many requests it sent by method, and the work of its branches.

    Shape: `name` stands for the repository in messages; `untracked` is the branch that is checked out, where it is not
    tracked and the run passed it over.
    """

    name: str
    results: Sequence[Result]
    requests: Mapping[str, int] = field(default_factory=dict)
    works: Sequence[BranchWork] = ()
    untracked: Sequence[BranchWork] = ()


@dataclass(frozen=True)
class FlowsRun:
    """What a command came to in all repositories of a configuration, and how long it took.

    Shape: `branch_names` are the tracked branches that the configuration lists by name. Units: `seconds`.
    """

    repositories: Sequence[RepositoryRun]
    branch_names: Set[str]
    seconds: float

    @property
    def results(self) -> list[Result]:
        """The results of all repositories."""
        return [result for run in self.repositories for result in run.results]

    @property
    def works(self) -> list[BranchWork]:
        """The work of the branches that took part."""
        return [work for run in self.repositories for work in run.works]

    @property
    def untracked(self) -> list[BranchWork]:
        """The work of branches that are checked out, and were passed over."""
        return [work for run in self.repositories for work in run.untracked]

    @property
    def requests(self) -> Counter[str]:
        """How many requests were sent, by method."""
        return sum((Counter(run.requests) for run in self.repositories), Counter[str]())

    @property
    def exit_code(self) -> int:
        """The exit code of all repositories together."""
        return combine_codes([find_exit_code(run.results) for run in self.repositories])


def run_repositories(options: FlowsOptions) -> FlowsRun:
    """Run the flows of a command once in one repository after the other, and return what they came to.

    Where there are several repositories, one that fails stops no other, and neither does a drop-in with a mistake.
    Raises: BadParameter; Stopped; with a single repository what its run raises.
    """
    config, broken = load_whole_configuration(options.config, is_shown=True)
    branch = options.branch
    if branch is not None and not any(_has_branch(repository, branch) for repository in config.repository):
        if broken:  # a repository of a drop-in may have it
            raise next(iter(broken.values()))
        raise typer.BadParameter(f"there is no branch {branch}")
    started = monotonic()
    runs = [_refuse_drop_in(path, error) for path, error in broken.items()]
    for name, repository in zip(name_repositories(config), config.repository, strict=True):
        try:
            runs.append(_run_repository(options, config, repository, name))
            if is_stopped(runs[-1].results):
                break
        except Stopped:
            raise
        except SyncdError as error:
            failed = [Result(RUN, name, outcome_from(error))]
            record_command(repository, failed)
            if len(config.repository) == 1 and not broken:
                raise
            runs.append(RepositoryRun(name, failed))
    branch_names = {name for repository in config.repository for name in repository.branch_names}
    return FlowsRun(runs, branch_names, monotonic() - started)


def _refuse_drop_in(path: Path, error: ConfigInvalid) -> RepositoryRun:
    """What a drop-in with a mistake came to: nothing of it was run."""
    name = name_drop_in(path)
    return RepositoryRun(name, [Result(RUN, name, outcome_from(error))])


def _run_repository(options: FlowsOptions, config: Config, repository: RepositoryConfig, name: str) -> RepositoryRun:
    run_options = _choose_run_options(options, repository)
    with show_progress() as on_progress:
        environment = make_environment(on_progress, force=parse_force(options.force))
        with open_workspace(config, repository, environment) as workspace:
            results = run_cycle(workspace, run_options)
            requests = dict(workspace.client.requests_sent)
            record_command(repository, results, site=run_options.site is not None)
            with _open_here(workspace.repository, repository.path) as git:
                tracked = _list_branches(workspace, run_options)
                works = [find_branch_work(git, repository, branch) for branch in tracked] if run_options.propose else ()
                untracked = _find_untracked(git, repository) if options.command != "push" else ()
            return RepositoryRun(name, results, requests, works, untracked)


def _list_branches(workspace: Workspace, run_options: RunOptions) -> list[str]:
    """The branches that a run proposes: the named ones, and those that patterns match."""
    found = find_tracked(workspace.repository, run_options.branches, run_options.patterns)
    return [branch.name for branch in found]


def _open_here(git: Repository, path: Path) -> AbstractContextManager[Repository]:
    """The repository at the work tree around the current directory; `git` is open at the configured one, and what it
    has read need not be read again there."""
    return nullcontext(git) if find_other_tree(path) is None else open_repository_here(path)


def _find_untracked(git: Repository, repository: RepositoryConfig) -> Sequence[BranchWork]:
    """The work of the branch that is checked out, where it is one of people's own and not tracked."""
    branch = git.read_head().branch
    if branch is None or git.work_tree is None or is_own_branch(branch, repository.branch_names, repository.patterns):
        return ()
    is_tracked = is_tracked_branch(branch, repository.branch_names, repository.patterns)
    return () if is_tracked or not repository.space else [find_branch_work(git, repository, branch)]


def _choose_run_options(options: FlowsOptions, repository: RepositoryConfig) -> RunOptions:
    run_options = replace(build_run_options(repository), reviews="always")
    if options.command == "sync":
        return run_options
    if options.command == "pull":
        return replace(run_options, propose=False, site=None, should_publish=False)
    name = choose_push_branch(repository, options.branch)
    return RunOptions(branches=(name,), integrate=False, subject=options.subject, reviews="changed")


def choose_push_branch(repository: RepositoryConfig, branch: str | None, *, way: str = "syncd push BRANCH") -> str:
    """Return the branch that a person named, or that of the work tree around the current directory.

    Shape: `way` is how a branch is named to the command.
    Raises: BadParameter when HEAD is detached, or for a branch that syncd made for people to merge.
    """
    name = branch or _find_current_branch(repository, way)
    if is_own_branch(name, repository.branch_names, repository.patterns):
        raise typer.BadParameter(f"{name} is one of syncd's own branches, and never proposed: git switch to yours")
    return name


def _has_branch(repository: RepositoryConfig, branch: str) -> bool:
    try:
        with Repository.open(repository.path) as git:
            return git.resolve(f"refs/heads/{branch}") is not None
    except SyncdError:
        return True  # the run of this repository reports the error


def _find_current_branch(repository: RepositoryConfig, way: str) -> str:
    """The branch of the work tree around the current directory. Raises: BadParameter when HEAD is detached."""
    with open_repository_here(repository.path) as git:
        head, operation = git.read_head(), git.find_operation()
    if head.branch is None and operation:
        raise typer.BadParameter(f"a {operation} is in progress: finish it, or {format_abort(operation)}; or {way}")
    if head.branch is None:
        at = f"HEAD is detached at {head.oid[:10]}" if head.oid else "HEAD names no branch"
        raise typer.BadParameter(f"{at}: commits there are on no branch; git switch BRANCH, or {way}")
    return head.branch
