"""`cr`: what each command of change requests does."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from syncd.cli.change_requests.find import RequestName, list_selected, open_request
from syncd.cli.change_requests.text import (
    build_details_document,
    build_request_document,
    format_details,
    format_problems,
    format_request,
    format_title,
)
from syncd.cli.terminal.context import load_configuration, load_whole_configuration
from syncd.cli.terminal.output import RepositoryFailures, print_document
from syncd.cli.terminal.progress import make_environment
from syncd.cli.terminal.text import name_config, print_text
from syncd.daemon.workspaces import open_for_reading
from syncd.errors import SyncdError
from syncd.model.change_request import ChangeRequest
from syncd.sync.binding import format_space_option
from syncd.sync.review.decide import merge_request, record_decision, refresh_request, set_request_status
from syncd.sync.review.requests import LIVE, STATUSES, FoundRequest, find_requests, list_requests, read_details
from syncd.sync.state.proposed_refs import list_proposed
from syncd.sync.workspace import Workspace


def choose_statuses(names: Sequence[str], *, with_all: bool) -> Sequence[str]:
    """Return the statuses that `--status` and `--all` select; live ones without either. Raises: BadParameter."""
    if with_all and names:
        raise typer.BadParameter("--all and --status exclude each other")
    for name in names:
        if name not in STATUSES:
            raise typer.BadParameter(f"--status {name}: {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
    return STATUSES if with_all else tuple(dict.fromkeys(names)) or LIVE


def show_requests(config_file: Path | None, statuses: Sequence[str], space: str, *, as_json: bool) -> int:
    """Print the change requests with some statuses of the bound spaces, or of one of them; return the exit code.

    Raises: BadParameter; what the only repository raises.
    """
    config, broken = load_whole_configuration(config_file)
    codes: list[int] = []
    found: list[tuple[Path, FoundRequest]] = []
    failures = RepositoryFailures(broken, as_json=as_json)
    for repository, bindings in list_selected(config, space):
        with failures.catch(), open_for_reading(config, repository, make_environment()) as workspace:
            found += [(repository.path, each) for each in list_requests(workspace, bindings, statuses)]
            codes.append(0)
    if codes:
        _print_requests(found, statuses, as_json=as_json)
    return failures.finish(codes)


def _print_requests(found: Sequence[tuple[Path, FoundRequest]], statuses: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_document({"change_requests": [build_request_document(root, each) for root, each in found]})
        return
    lines = [line for _, each in found for line in format_request(each)]
    nothing = (
        "No change request is live." if tuple(statuses) == LIVE else f"No change request is {' or '.join(statuses)}."
    )
    print_text("\n".join(lines) or nothing)


def show_request(config_file: Path | None, name: RequestName, *, as_json: bool) -> None:
    """Print one change request: description, changed pages, reviews, conflicts, address. Raises: BadParameter."""
    with open_request(load_configuration(config_file), name) as (_, workspace, found):
        details = read_details(workspace, found)
        root = _find_root(workspace)
    if as_json:
        print_document({"change_request": build_details_document(root, details)})
    else:
        print_text("\n".join(format_details(details, config_file)))


def open_in_browser(config_file: Path | None, name: RequestName, *, only_print: bool) -> None:
    """Print the address of a change request, and open it in the person's browser.

    Shape: only an http or https address is ever opened. Raises: BadParameter; SyncdError without an address or browser.
    """
    with open_request(load_configuration(config_file), name) as (_, workspace, found):
        address = found.request.address
    if not address:
        number = found.request.number
        hint = f"syncd cr show {number}{format_space_option(found.binding.name, workspace.bindings)}"
        raise SyncdError(f"the platform names no address for #{number}", hint=hint)
    print(address, flush=True)
    if only_print:
        return
    import webbrowser  # looks for browsers when it is first asked

    if not webbrowser.open(address):
        raise SyncdError("no browser could be opened", hint="--print only prints the address")


def merge(config_file: Path | None, name: RequestName, *, update: bool, as_json: bool) -> None:
    """Merge a change request, unless it is outdated, in conflict, or a rule forbids it.

    Raises: BadParameter; Conflict, GuardRefused, Unauthorized as `merge_request`.
    """
    with open_request(load_configuration(config_file), name) as (_, workspace, found):
        is_merged = found.request.status == "merged"
        if not is_merged:
            if update and found.request.is_live and found.request.outdated:
                found = _refresh_request(workspace, found)
            remarks = [] if as_json else list(format_problems(found))
            merge_request(workspace, found)
            if remarks:
                print_text("\n".join(remarks), sys.stderr)
        now = workspace.client.change_requests.get(found.binding.space, found.request.id)
        message = "is merged already" if is_merged else "is merged into main content"
        _print_change(
            workspace,
            found,
            now,
            message,
            next_step=f"{name_config('syncd pull', config_file)} brings it to Git",
            as_json=as_json,
        )


def close(config_file: Path | None, name: RequestName, *, as_json: bool) -> None:
    """Archive a change request. Raises: BadParameter; GuardRefused when it is merged."""
    with open_request(load_configuration(config_file), name) as (_, workspace, found):
        if found.request.status == "archived":
            now, message = found.request, "is archived already"
        else:
            now, message = set_request_status(workspace, found, "archived"), "is archived"
        option = format_space_option(found.binding.name, workspace.bindings)
        reopen = f"{name_config(f'syncd cr reopen {now.number}{option}', config_file)} opens it again"
        branch = f"; {found.branch} is proposed again when it has a new commit" if found.branch else ""
        _print_change(workspace, found, now, message, next_step=f"{reopen}{branch}", as_json=as_json)


def reopen(config_file: Path | None, name: RequestName, *, as_json: bool) -> None:
    """Open a change request that is archived or a draft. Raises: BadParameter; GuardRefused when it is merged."""
    with open_request(load_configuration(config_file), name) as (_, workspace, found):
        if found.request.status == "open":
            now, message = found.request, "is open already"
        else:
            now, message = set_request_status(workspace, found, "open"), "is open"
        next_step = _format_reopened(workspace, found, config_file) if found.branch else ""
        _print_change(workspace, found, now, message, next_step=next_step, as_json=as_json)


def _format_reopened(workspace: Workspace, found: FoundRequest, config_file: Path | None) -> str:
    """What comes after a change request was opened again: a branch is sent to its newest one alone."""
    own = [number for number, branch, _ in list_proposed(workspace.repository, found.binding) if branch == found.branch]
    newest, number = max(own, default=0), found.request.number
    if newest > number:
        option = format_space_option(found.binding.name, workspace.bindings)
        merge = name_config(f"syncd cr merge {number}{option}", config_file)
        return f"{merge}, once it is reviewed; nothing is sent to it, since what {found.branch} says goes to #{newest}"
    return f"{name_config(f'syncd push {found.branch}', config_file)} goes on with it"


def _refresh_request(workspace: Workspace, found: FoundRequest) -> FoundRequest:
    """The change request with main content in it, and what its reviews are worth since."""
    refresh_request(workspace, found)
    (now,) = find_requests(workspace, [found.binding], found.request.number)
    return now


def _print_change(
    workspace: Workspace, found: FoundRequest, now: ChangeRequest, message: str, *, next_step: str, as_json: bool
) -> None:
    """Record and say what became of a change request, and what fits next."""
    record_decision(workspace, found, now)
    result = FoundRequest(found.binding, now, found.branch, found.reviews)
    if as_json:
        print_document({"change_request": build_request_document(_find_root(workspace), result)})
        return
    lines = [format_title(result), f"  {message}", *([f"Next: {next_step}"] if next_step else [])]
    print_text("\n".join(lines))


def _find_root(workspace: Workspace) -> Path:
    return workspace.repository.work_tree or workspace.repository.git_dir
