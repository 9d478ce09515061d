"""`resolve`: show the pages in conflict, and record what a person chooses: a side, hunks, or their own text."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.sync.conflict_choices import collect_choices
from syncd.cli.sync.conflict_lines import (
    build_conflict_document,
    format_conflict,
    format_headline,
)
from syncd.cli.terminal.context import find_other_tree, load_whole_configuration, open_repository_here
from syncd.cli.terminal.output import RepositoryFailures, build_result_document, format_changes, print_document
from syncd.cli.terminal.progress import make_environment
from syncd.cli.terminal.text import escape, name_config, print_text
from syncd.config import Config, RepositoryConfig
from syncd.daemon.workspaces import open_for_reading, open_workspace
from syncd.errors import Conflict, StalePlan
from syncd.plan.merge.hunks import join_hunks, list_hunks, replace_hunks
from syncd.plan.merge.pages import SIDES, other_side
from syncd.store.status import FlowOutcome
from syncd.sync.integrate.drafts import delete_draft, drop_outdated_drafts, read_draft
from syncd.sync.integrate.resolve import PageConflict, find_conflicts, resolve_pages
from syncd.sync.merge.result import Choice
from syncd.sync.outcome import CONFLICT, Applied
from syncd.sync.run.values import Result
from syncd.sync.state.conflicts import drop_settled
from syncd.sync.workspace import Workspace

NOTHING = "No page is in conflict."
CONFLICTS_SHOWN = 20
"""Up to so many pages are shown with their hunks; of more, without PATH, only the reasons are shown."""


@dataclass(frozen=True)
class ResolveOptions:
    """What a person typed behind `resolve`: which pages of which branch, and how to settle them.

    Shape: `way` is `ours`, `theirs`, `edit`, `interactive`, or "" to show them; `hunks` are numbers, or none for pages
    as a whole.
    """

    paths: tuple[str, ...] = ()
    branch: str = ""
    way: str = ""
    hunks: tuple[int, ...] = ()
    as_json: bool = False
    config: Path | None = None


@dataclass(frozen=True)
class OpenBranch:
    """A branch of a configured repository, open for reading, with its pages in conflict and the selected ones."""

    repository: RepositoryConfig
    name: str
    workspace: Workspace
    conflicts: Sequence[PageConflict]
    selected: Sequence[PageConflict]


def parse_hunks(words: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of hunks in words such as `1` or `2,3`. Raises: BadParameter."""
    numbers = [number.strip() for word in words for number in word.split(",")]
    if wrong := [number for number in numbers if not number.isdecimal() or not int(number)]:
        raise typer.BadParameter(f"{wrong[0]!r} is no number of a hunk; syncd resolve shows them")
    return tuple(dict.fromkeys(map(int, numbers)))


def run_resolve(options: ResolveOptions) -> int:
    """Show the pages in conflict of every configured repository, or settle some, and return the exit code.

    Raises: BadParameter; Conflict when an edited page still has markers; StalePlan when a page changed meanwhile; what
    integrating raises; why the first repository that cannot be read cannot, when nothing of the others is meant.
    """
    config, broken = load_whole_configuration(options.config)
    failures = RepositoryFailures(broken, as_json=options.as_json)
    _check_options(options)
    with ExitStack() as stack:
        branches = _open_branches(stack, config, options, failures)
        for path in options.paths:
            if not any(_is_selected(branch, conflict, path) for branch in branches for conflict in branch.conflicts):
                if failures.errors:
                    raise failures.errors[0]
                raise typer.BadParameter(f"{path} is not in conflict; syncd resolve shows what is")
        if not options.way:
            return failures.finish([_show_conflicts(branches, options)] if branches or not failures.errors else [])
        if options.hunks and sum(len(_list_unique_pages(branch.selected)) for branch in branches) != 1:
            raise typer.BadParameter("--hunk settles hunks of one page: name that")
        documents = [_settle_conflicts(config, branch, options) for branch in branches if branch.selected]
    if options.as_json:
        print_document({"command": "resolve", "repositories": documents})
    return failures.finish([0])


def _check_options(options: ResolveOptions) -> None:
    if options.hunks and options.way not in ("ours", "theirs"):
        raise typer.BadParameter("--hunk needs --ours or --theirs; --edit opens all hunks")
    if options.way == "interactive":
        if options.as_json:
            raise typer.BadParameter("--interactive and --json exclude each other")
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise typer.BadParameter("--interactive asks on a terminal; without one: --hunk N with --ours or --theirs")
    elif options.way and not options.paths:
        raise typer.BadParameter("name the pages to settle, or . for all of them")


def _open_branches(
    stack: ExitStack, config: Config, options: ResolveOptions, failures: RepositoryFailures
) -> list[OpenBranch]:
    """The branch of each repository that has it: the named one, else the one checked out here. Raises: BadParameter."""
    branches = []
    for repository in config.repository:
        with failures.catch():
            name = _find_branch(repository, options.branch)
            if name:
                branches.append(_open_branch(stack, config, repository, name, options))
    if options.branch and not branches and not failures.errors:
        raise typer.BadParameter(f"there is no branch {options.branch}")
    return branches


def _open_branch(
    stack: ExitStack, config: Config, repository: RepositoryConfig, name: str, options: ResolveOptions
) -> OpenBranch:
    workspace = stack.enter_context(open_for_reading(config, repository, make_environment()))
    conflicts = find_conflicts(workspace, name)
    for path, kept in drop_outdated_drafts(workspace, name, conflicts).items():
        note = f"note: {escape(path)} changed after you had settled some of its hunks: choose again"
        print_text(f"{note} (your text is kept in {escape(str(kept))})", sys.stderr)
    branch = OpenBranch(repository, name, workspace, conflicts, conflicts)
    paths = options.paths or (".",)
    return replace(branch, selected=[c for c in conflicts if any(_is_selected(branch, c, path) for path in paths)])


def _show_conflicts(branches: Sequence[OpenBranch], options: ResolveOptions) -> int:
    """Print the selected pages, with their hunks unless there are many; return the exit code."""
    count = sum(len(branch.selected) for branch in branches)
    if options.as_json:
        documents = [
            {
                "path": str(branch.repository.path),
                "branch": branch.name,
                "held": [build_conflict_document(branch.workspace, conflict) for conflict in branch.selected],
                "elsewhere": [
                    {"path": one.key, "branch": one.branch, "command": one.command} for one in _list_elsewhere(branch)
                ],
            }
            for branch in branches
        ]
        print_document({"command": "resolve", "repositories": documents})
        return Conflict.exit_code if count else 0
    is_short = count > CONFLICTS_SHOWN and not options.paths
    lines: list[str] = []
    for branch in branches:
        first = {conflict.path: conflict for conflict in _list_unique_pages(branch.selected)}
        for conflict in branch.selected:
            first_conflict = first[conflict.path]
            is_same = conflict is not first_conflict and conflict.entry.pages == first_conflict.entry.pages
            if is_short or is_same:
                lines += [
                    format_headline(conflict),
                    *(["  It is settled with the same choice.", ""] if not is_short else []),
                ]
            else:
                lines += [*format_conflict(branch.workspace, conflict), ""]
    elsewhere = [line for branch in branches for line in _format_elsewhere(branch)]
    nothing = f"No page is in conflict in {escape(branches[0].name)}." if elsewhere else NOTHING
    lines = [*lines, *_format_next_steps(branches, options, is_short=is_short)] if count else [nothing]
    lines += elsewhere
    print_text("\n".join(lines))
    return Conflict.exit_code if count else 0


def _format_elsewhere(branch: OpenBranch) -> list[str]:
    return [
        f"In another branch: {escape(one.key)} ({escape(one.branch)} and {escape(one.lane)}): {escape(one.command)}"
        for one in _list_elsewhere(branch)[:CONFLICTS_SHOWN]
    ]


def _list_elsewhere(branch: OpenBranch) -> list[FlowOutcome]:
    """The pages that the last run left in conflict in other branches of the repository, and nobody has settled."""
    outcomes = drop_settled(branch.workspace.repository, branch.workspace.store.list_outcomes())
    held = [one for one in outcomes if (one.flow, one.state) == (CONFLICT, "held")]
    return [one for one in held if one.branch not in ("", branch.name)]


def _format_next_steps(branches: Sequence[OpenBranch], options: ResolveOptions, *, is_short: bool) -> list[str]:
    """The commands that come next, with the first page in conflict as the example."""
    first = next(conflict for branch in branches for conflict in branch.selected)
    command = _format_command(options, first.path)
    if is_short:
        return [f"Next: {command} shows one page"]
    lines = [f"Next: {command} --ours, --theirs{' or --edit' if first.parts else ''}"]
    if len(list_hunks(first.parts)) > 1:
        lines.append(
            f"      {command} --hunk {list_hunks(first.parts)[0].number} --theirs, hunk by hunk; -p asks for each"
        )
    return lines


def _format_command(options: ResolveOptions, *paths: str) -> str:
    """The command about pages of the same branch, for the terminal."""
    words = [*paths, *(["--branch", options.branch] if options.branch else [])]
    return escape(name_config(shlex.join(["syncd", "resolve", *words]), options.config))


def _settle_conflicts(config: Config, branch: OpenBranch, options: ResolveOptions) -> dict[str, Any]:
    """Let the person choose, record the choices in the branch, and return the JSON object."""
    conflicts = _list_unique_pages(branch.selected)
    choices = collect_choices(branch.workspace, conflicts, options.way, options.hunks)
    applied, remaining = Applied(()), list(branch.conflicts)
    if choices:
        applied, remaining = _record_choices(config, branch, conflicts, choices)
        applied = replace(applied, notes=(*applied.notes, *_list_left_out(conflicts, choices)))
    if not options.as_json:
        lines = [f"{escape(path)} is settled in {escape(branch.name)}" for path in choices]
        lines += [line for conflict in conflicts for line in _format_draft(branch.workspace, conflict)]
        lines += format_changes(applied.changes)
        lines += [f"  note: {escape(note)}" for note in applied.notes]
        count = len({conflict.path for conflict in remaining})
        push = shlex.join(filter(None, ["syncd", "push", options.branch]))
        step = _format_command(options) if count else escape(name_config(push, options.config))
        print_text("\n".join([*lines, f"{count} still in conflict: {step}" if count else f"Next: {step}"]))
    document = build_result_document(Result("resolve", branch.name, applied))
    held = [build_conflict_document(branch.workspace, conflict) for conflict in remaining] if options.as_json else []
    return {"path": str(branch.repository.path), **document, "settled": list(choices), "held": held}


def _record_choices(
    config: Config, branch: OpenBranch, conflicts: Sequence[PageConflict], choices: dict[str, Choice]
) -> tuple[Applied, list[PageConflict]]:
    """Record the choices in the branch, and return what that came to and what is still in conflict.

    Raises: StalePlan when a page changed while the person decided; what integrating raises.
    """
    settled = [conflict for conflict in conflicts if conflict.path in choices]
    with open_workspace(config, branch.repository, make_environment()) as opened:
        workspace = replace(opened, cache=branch.workspace.cache)
        now = find_conflicts(workspace, branch.name)
        if changed := [conflict.path for conflict in settled if conflict not in now]:
            raise StalePlan(
                f"{', '.join(changed)} changed while you decided; nothing was recorded", hint="run it again"
            )
        applied, remaining = resolve_pages(workspace, branch.name, choices)
    for conflict in settled:
        delete_draft(branch.workspace, conflict)
    return applied, list(remaining)


def _list_left_out(conflicts: Sequence[PageConflict], choices: Mapping[str, Choice]) -> Iterator[str]:
    """A note for each page that was taken as a whole while the other side had changed it outside of the hunks, too."""
    for conflict in conflicts:
        choice = choices.get(conflict.path)
        if choice not in SIDES or not conflict.text_parts:
            continue
        chosen = {hunk.number: hunk.at(choice) for hunk in list_hunks(conflict.text_parts)}
        if join_hunks(replace_hunks(conflict.text_parts, chosen), conflict.labels) != conflict.texts[choice]:
            other = conflict.name_side(other_side(choice))
            branch, lane, path = map(shlex.quote, (conflict.branch, conflict.lane, conflict.path))
            commits = f"{branch}~ {branch}" if choice == "theirs" else f"{branch} {lane}"
            yield (
                f"{conflict.path} was taken as a whole, without what {other} changed in it beside the hunks: "
                f"git diff {commits} -- {path}"
            )


def _format_draft(workspace: Workspace, conflict: PageConflict) -> list[str]:
    """A line about the open hunks of a page of which some are settled."""
    open_numbers = [hunk.number for hunk in list_hunks(read_draft(workspace, conflict))]
    if not open_numbers or len(open_numbers) == len(list_hunks(conflict.parts)):
        return []
    return [f"{escape(conflict.path)} stays in conflict until hunk {', '.join(map(str, open_numbers))} is settled too"]


def _list_unique_pages(conflicts: Sequence[PageConflict]) -> list[PageConflict]:
    """The first conflict of each page: a choice settles that."""
    found: dict[str, PageConflict] = {}
    for conflict in conflicts:
        found.setdefault(conflict.path, conflict)
    return list(found.values())


def _find_branch(repository: RepositoryConfig, name: str) -> str:
    """The named branch, or the one that is checked out here; "" where the repository does not have it."""
    with open_repository_here(repository.path) as git:
        branch = name or git.read_head().branch or next(iter(repository.branch_names), "")
        return branch if git.resolve(f"refs/heads/{branch}") is not None else ""


def _list_names(branch: OpenBranch, conflict: PageConflict) -> set[str]:
    """The paths that name a page: from the root of the work tree, and from the current directory."""
    names = set(conflict.entry.paths)
    top = (find_other_tree(branch.repository.path) or branch.repository.path).resolve()
    current = Path.cwd().resolve()
    return names | {os.path.relpath(top / path, current) for path in names if current.is_relative_to(top)}


def _is_selected(branch: OpenBranch, conflict: PageConflict, path: str) -> bool:
    """Whether a typed path is the page, or a folder that it is in."""
    typed = os.path.normpath(path)
    return typed == "." or any(name == typed or name.startswith(f"{typed}/") for name in _list_names(branch, conflict))
