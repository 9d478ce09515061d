"""The status of single files as lines for people."""

import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from syncd.cli.status.files import (
    IN_CONFLICT,
    IN_STEP,
    INVALID,
    NOT_CONTENT,
    PROPOSED,
    TO_PULL,
    TO_PUSH,
    UNLISTED,
    FileStatus,
    LastChange,
)
from syncd.cli.status.text import describe_request, mark_problem
from syncd.cli.sync.unsent import describe_edit
from syncd.cli.terminal.text import escape, format_time, name_config, style_text

_SUMMARIES = {
    TO_PUSH: "changed here, and not pushed: syncd push",
    PROPOSED: "changed here, and proposed",
    TO_PULL: "changed on the platform: syncd pull",
    NOT_CONTENT: "no content of the space: no page links to it",
}


def format_file(file: FileStatus, config_file: Path | None = None) -> list[str]:
    """Return the lines of a file's status; `config_file` is what the command line names."""
    lines = [f"{style_text(escape(file.path), 1, sys.stdout)}  {escape(_format_place(file))}"]
    lines += map(mark_problem, _format_problems(file, config_file))
    if file.in_git is not None and file.in_git != file.on_platform:
        lines.append(f"  branch   {_format_change(file.in_git)}")
    if file.on_platform is not None:
        lines.append(f"  platform {_format_change(file.on_platform)}")
    lines += [f"           {file.address}"] if file.address else []
    for request in file.requests:
        facts = "; ".join(describe_request(request))
        lines.append(f"  request  #{request.number} of {escape(request.branch)}: {facts}")
        if request.state.address:
            lines.append(f"           {request.state.address}")
    return lines


def _format_place(file: FileStatus) -> str:
    if IN_STEP in file.states:
        return f"in step with revision {file.revision} of {file.space}"
    if IN_CONFLICT in file.states:
        return f"changed on both sides since revision {file.revision} of {file.space}"
    since = f"; both had revision {file.revision} of {file.space}" if file.revision else f"; new in {file.space}"
    words = [_SUMMARIES[state] for state in file.states if state in _SUMMARIES]
    return ", and ".join(words) + since if words else since.removeprefix("; ")


def _format_problems(file: FileStatus, config_file: Path | None) -> Iterator[str]:
    resolve, check = (
        escape(name_config(f"syncd {command} {quote(file.path)}", config_file)) for command in ("resolve", "check")
    )
    if IN_CONFLICT in file.states:
        yield f"! in conflict, and it stays as each side has it; {resolve}"
    if INVALID in file.states:
        yield f"! no platform takes it; {check} says why"
    if UNLISTED in file.states:
        yield "! not listed in SUMMARY.md, so that no push sends it; list it there, and commit"
    if file.edit is not None:
        yield f"! {describe_edit(file.edit, path=escape(quote(file.path)))}"


def _format_change(change: LastChange) -> str:
    author = change.author or "somebody on the platform"
    revision = f", revision {change.revision}" if change.revision else ""
    request = f" by change request #{change.change_request}" if change.change_request else ""
    by = f"{author}{request}{revision}, {change.commit[:7]} {change.subject}"
    return f"{format_time(change.at)}, {escape(by)}"
