"""`sync`, `pull` and `push`: one run over every configured repository."""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import typer

from syncd.cli.sync.unsent import (
    BranchWork,
    build_unsent_document,
    find_branch_work,
    format_requests,
    format_unsent,
    format_untracked,
)
from syncd.cli.terminal.context import find_other_tree, load_configuration, open_repository_here, parse_force
from syncd.cli.terminal.output import (
    IN_STEP,
    build_result_document,
    format_results,
    name_config_in_hints,
    print_document,
)
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.text import escape, print_text
from syncd.cli.terminal.verbosity import is_quiet, is_verbose
from syncd.config import Config, RepositoryConfig
from syncd.daemon.health import combine_codes
from syncd.daemon.labels import name_repositories
from syncd.daemon.workspaces import Environment, build_run_options, open_workspace, record_command
from syncd.errors import Stopped, SyncdError
from syncd.repo.repository import Repository
from syncd.repo.work_tree.usage import format_abort
from syncd.sync.branches import find_tracked, is_own_branch, is_tracked_branch
from syncd.sync.outcome import Waiting, outcome_from
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RUN, Result, RunOptions, find_exit_code, is_stopped
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class _RepositoryRun:
    """The results of one repository's run, how many requests it sent by method, and the work of its branches.

    Shape: `untracked` is the branch that is checked out, where it is not tracked and the run passed it over.
    """

    results: Sequence[Result]
    requests: Mapping[str, int] = field(default_factory=dict)
    works: Sequence[BranchWork] = ()
    untracked: Sequence[BranchWork] = ()


def run_flows(
    command: str,
    config_file: Path | None,
    *,
    as_json: bool,
    force: Sequence[str],
    branch: str | None = None,
    subject: str = "",
) -> int:
    """Run the flows of a command (`sync`, `pull` or `push`) once, print their results, and return the exit code.

    Raises: BadParameter; Stopped; with a single repository what its run raises.
    """
    config = load_configuration(config_file)
    if branch is not None and not any(_has_branch(repository, branch) for repository in config.repository):
        raise typer.BadParameter(f"there is no branch {branch}")
    started = monotonic()
    runs = _run_repositories(command, config, force, branch, subject)
    seconds = monotonic() - started
    results = name_config_in_hints([result for run in runs for result in run.results], config_file)
    works = [work for run in runs for work in run.works]
    untracked = [work for run in runs for work in run.untracked]
    requests = sum((Counter(run.requests) for run in runs), Counter[str]())
    code = combine_codes([find_exit_code(run.results) for run in runs])
    if as_json:
        documents = [build_result_document(result) for result in results]
        unsent = {"unsent": list(map(build_unsent_document, (*works, *untracked)))} if command != "pull" else {}
        print_document({"command": command, "results": documents, **unsent, "requests": requests, "exit_code": code})
    elif is_quiet():
        wrong = [result for result in results if result.outcome.exit_code or isinstance(result.outcome, Waiting)]
        if wrong:
            print_text("\n".join(format_results(wrong)))
    else:
        unsent_work = [line for work in works for line in format_unsent(work, pushed=not code)]
        unsent_work += [line for work in untracked for line in format_untracked(work, pulled=command == "pull")]
        named = {name for repository in config.repository for name in repository.named}
        pushed = works if command == "push" else [work for work in works if work.branch in named]
        idle = [IN_STEP] if command != "push" and not unsent_work else _format_idle(pushed)
        print_text("\n".join([*format_results(results, idle=idle), *unsent_work]))
    if is_verbose() and not as_json:
        counted = ", ".join(f"{count} {method}" for method, count in sorted(requests.items()))
        print(f"{sum(requests.values())} requests ({counted or 'none'}) in {seconds:.1f} s", file=sys.stderr)
    return code


def _run_repositories(
    command: str, config: Config, force: Sequence[str], branch: str | None, subject: str
) -> list[_RepositoryRun]:
    """Run the command in one repository after the other; where there are several, one that fails stops no other."""
    runs: list[_RepositoryRun] = []
    for name, repository in zip(name_repositories(config), config.repository, strict=True):
        try:
            runs.append(_run_repository(command, config, repository, force, branch, subject))
            if is_stopped(runs[-1].results):
                break
        except Stopped:
            raise
        except SyncdError as error:
            failed = [Result(RUN, name, outcome_from(error))]
            record_command(repository, failed)
            if len(config.repository) == 1:
                raise
            runs.append(_RepositoryRun(failed))
    return runs


def _run_repository(
    command: str, config: Config, repository: RepositoryConfig, force: Sequence[str], branch: str | None, subject: str
) -> _RepositoryRun:
    run_options = _choose_options(command, repository, branch, subject)
    with show_progress() as on_progress:
        around = Environment(os.environ, progress=on_progress, force=parse_force(force))
        with open_workspace(config, repository, around) as workspace:
            results = run_cycle(workspace, run_options)
            requests = dict(workspace.client.requests_sent)
            record_command(repository, results, site=run_options.site is not None)
            with _open_here(workspace.repository, repository.path) as git:
                tracked = _list_branches(workspace, run_options)
                works = [find_branch_work(git, repository, name) for name in tracked] if run_options.propose else ()
                untracked = _find_untracked(git, repository) if command != "push" else ()
            return _RepositoryRun(results, requests, works, untracked)


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
    if branch is None or git.work_tree is None or is_own_branch(branch, repository.named, repository.patterns):
        return ()
    is_tracked = is_tracked_branch(branch, repository.named, repository.patterns)
    return () if is_tracked or not repository.space else [find_branch_work(git, repository, branch)]


def _format_idle(works: Sequence[BranchWork]) -> Sequence[str]:
    """The lines for a push that had nothing to propose."""
    requests = [line for work in works for line in format_requests(work)]
    nothing = "Nothing to propose: {} has no page or file of a space that differs from main content."
    idle = (work for work in works if not work.needs_push and not any(space.is_taken_back for space in work.spaces))
    return requests or [nothing.format(escape(work.branch)) for work in idle]


def _choose_options(command: str, repository: RepositoryConfig, branch: str | None, subject: str) -> RunOptions:
    run_options = replace(build_run_options(repository), reviews="always")
    if command == "sync":
        return run_options
    if command == "pull":
        return replace(run_options, propose=False, site=None, should_publish=False)
    name = choose_push_branch(repository, branch)
    return RunOptions(branches=(name,), integrate=False, subject=subject, reviews="changed")


def choose_push_branch(repository: RepositoryConfig, branch: str | None, *, way: str = "syncd push BRANCH") -> str:
    """Return the branch that a person named, or that of the work tree around the current directory.

    Shape: `way` is how a branch is named to the command.
    Raises: BadParameter when HEAD is detached, or for a branch that syncd made for people to merge.
    """
    name = branch or _find_current_branch(repository, way)
    if is_own_branch(name, repository.named, repository.patterns):
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
