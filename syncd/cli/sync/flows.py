"""`sync`, `pull` and `push`: what a run came to, as people and programs read it."""

import sys
from collections.abc import Sequence
from typing import Any

from syncd.cli.sync.flow_runs import FlowsOptions, FlowsRun, RepositoryRun, run_repositories
from syncd.cli.sync.unsent import (
    BranchWork,
    build_unsent_document,
    format_requests,
    format_unsent,
    format_untracked,
)
from syncd.cli.terminal.output import (
    IN_STEP,
    build_result_document,
    format_results,
    name_config_in_hints,
    print_document,
)
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.cli.terminal.verbosity import is_quiet, is_verbose
from syncd.sync.outcome import Waiting
from syncd.sync.run.values import find_exit_code


def run_flows(options: FlowsOptions, *, as_json: bool) -> int:
    """Run the flows of a command once, print their results, and return the exit code.

    Raises: BadParameter; Stopped; with a single repository what its run raises.
    """
    run = run_repositories(options)
    if as_json:
        print_document(_build_document(options, run))
        return run.exit_code
    if not is_quiet():
        print_text("\n".join(_format_run(options, run)))
    elif problems := _format_problems(options, run):
        print_text("\n".join(problems))
    if is_verbose():
        counted = ", ".join(f"{count} {method}" for method, count in sorted(run.requests.items()))
        print(f"{run.requests.total()} requests ({counted or 'none'}) in {run.seconds:.1f} s", file=sys.stderr)
    return run.exit_code


def _build_document(options: FlowsOptions, run: FlowsRun) -> dict[str, Any]:
    results = [
        {"repository": one.name, **build_result_document(result)}
        for one in run.repositories
        for result in name_config_in_hints(one.results, options.config)
    ]
    document: dict[str, Any] = {"command": options.command, "results": results}
    if options.command != "pull":
        document["unsent"] = [
            {"repository": one.name, **build_unsent_document(work)}
            for one in run.repositories
            for work in (*one.works, *one.untracked)
        ]
    return document | {"requests": run.requests, "exit_code": run.exit_code}


def _format_run(options: FlowsOptions, run: FlowsRun) -> Sequence[str]:
    lines = _join_repositories(run, [_format_repository(options, run, one) for one in run.repositories])
    if not lines and options.command == "push":
        return _format_idle(run.works)
    return lines or [IN_STEP]


def _format_repository(options: FlowsOptions, run: FlowsRun, one: RepositoryRun) -> list[str]:
    """Return what is to say of a repository: nothing where it is in step."""
    unsent = [line for work in one.works for line in format_unsent(work, pushed=not run.exit_code)]
    unsent += [line for work in one.untracked for line in format_untracked(work, pulled=options.command == "pull")]
    proposed = [work for work in one.works if options.command == "push" or work.branch in run.branch_names]
    idle = _format_idle(proposed) if unsent else ()
    return [*format_results(name_config_in_hints(one.results, options.config), idle=idle), *unsent]


def _format_problems(options: FlowsOptions, run: FlowsRun) -> list[str]:
    found: list[list[str]] = []
    for one in run.repositories:
        results = name_config_in_hints(one.results, options.config)
        problems = [result for result in results if result.outcome.exit_code or isinstance(result.outcome, Waiting)]
        found.append(format_results(problems, idle=()))
    return _join_repositories(run, found)


def _join_repositories(run: FlowsRun, lines: Sequence[list[str]]) -> list[str]:
    """Return the lines of all repositories; of several, each below its name, and those first where something failed."""
    if len(run.repositories) == 1:
        return lines[0]
    each = sorted(zip(run.repositories, lines, strict=True), key=lambda pair: not find_exit_code(pair[0].results))
    texts = [["", style_text(f"{one.name}:", 1, sys.stdout), *own] for one, own in each if own]
    return [line for text in texts for line in text][1:]


def _format_idle(works: Sequence[BranchWork]) -> Sequence[str]:
    """The lines for a push that had nothing to propose."""
    requests = [line for work in works for line in format_requests(work)]
    differs, no_commit = "no page or file of a space that differs from main content", "no commit yet"
    idle = (work for work in works if not work.needs_push and not any(space.is_taken_back for space in work.spaces))
    lacks = ((work, differs if work.has_commit else no_commit) for work in idle)
    return requests or [f"Nothing to propose: {escape(work.branch)} has {what}." for work, what in lacks]
