"""`sync`, `pull` and `push`: what a run came to, as people and programs read it."""

import sys
from collections.abc import Sequence
from typing import Any

from syncd.cli.sync.flow_runs import FlowsOptions, FlowsRun, run_repositories
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
from syncd.cli.terminal.text import escape, print_text
from syncd.cli.terminal.verbosity import is_quiet, is_verbose
from syncd.sync.outcome import Waiting


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
    results = [build_result_document(result) for result in name_config_in_hints(run.results, options.config)]
    document = {"command": options.command, "results": results}
    if options.command != "pull":
        document["unsent"] = [build_unsent_document(work) for work in (*run.works, *run.untracked)]
    return document | {"requests": run.requests, "exit_code": run.exit_code}


def _format_run(options: FlowsOptions, run: FlowsRun) -> list[str]:
    unsent = [line for work in run.works for line in format_unsent(work, pushed=not run.exit_code)]
    unsent += [line for work in run.untracked for line in format_untracked(work, pulled=options.command == "pull")]
    proposed = [work for work in run.works if options.command == "push" or work.branch in run.branch_names]
    idle = _format_idle(proposed) if options.command == "push" or unsent else [IN_STEP]
    return [*format_results(name_config_in_hints(run.results, options.config), idle=idle), *unsent]


def _format_problems(options: FlowsOptions, run: FlowsRun) -> list[str]:
    results = name_config_in_hints(run.results, options.config)
    problems = [result for result in results if result.outcome.exit_code or isinstance(result.outcome, Waiting)]
    return format_results(problems, idle=())


def _format_idle(works: Sequence[BranchWork]) -> Sequence[str]:
    """The lines for a push that had nothing to propose."""
    requests = [line for work in works for line in format_requests(work)]
    nothing = "Nothing to propose: {} has no page or file of a space that differs from main content."
    idle = (work for work in works if not work.needs_push and not any(space.is_taken_back for space in work.spaces))
    return requests or [nothing.format(escape(work.branch)) for work in idle]
