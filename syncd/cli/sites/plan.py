"""`site plan`: what would change on a site, for people, for reviews and for machines; nothing is written."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import build_warning_documents
from syncd.cli.sites.colours import is_narrow, style_lines
from syncd.cli.sites.saved import save_plan
from syncd.cli.sites.session import SiteSession, check_targets, describe_lock, find_one_site, find_sites, find_source
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.daemon.workspaces import read_time
from syncd.errors import ConfigInvalid, GuardRefused
from syncd.model.ref import AREAS, Ref
from syncd.model.text import show_unprintable
from syncd.plan.site.options import Options
from syncd.plan.site.render.document import render_plan_document
from syncd.plan.site.render.text import APPLY, render_plan_markdown, render_plan_text
from syncd.plan.site.steps import Gate, SitePlan
from syncd.sync.outcome import CHANGES_PENDING
from syncd.sync.site.flow import PreparedPlan, find_unfinished, prepare_plan
from syncd.sync.site.read.site_file import read_committed

REPLACEABLE = frozenset({"group"})


@dataclass(frozen=True)
class PlanOptions:
    """What a person typed behind `site plan`: which sites, which part of each, and which side wins a conflict."""

    config: Path | None = None
    file: Path | None = None
    areas: Sequence[str] = field(default=())
    target: Sequence[str] = field(default=())
    prefer: str = ""
    allow_replace: Sequence[str] = field(default=())

    def build_options(self) -> Options:
        """Return the options of the planner. Raises: BadParameter for an unknown word."""
        areas = frozenset(name for word in self.areas for name in word.split(","))
        allow_replace = frozenset(name for word in self.allow_replace for name in word.split(","))
        if unknown := sorted(areas - set(AREAS)):
            raise typer.BadParameter(f"--areas {unknown[0]}: there are {', '.join(AREAS)}")
        if unknown := sorted(allow_replace - REPLACEABLE):
            raise typer.BadParameter(f"--allow-replace {unknown[0]}: only a {', '.join(REPLACEABLE)} is made anew")
        if self.prefer not in ("", "file", "live"):
            raise typer.BadParameter(f"--prefer {self.prefer}: there are file and live")
        targets = frozenset(map(Ref, self.target))
        if unknown := sorted(ref for ref in targets if ":" not in ref):
            raise typer.BadParameter(f"--target {unknown[0]}: write KIND:KEY as the plan does, such as section:home")
        return Options(
            areas=frozenset(area for area in AREAS if not areas or area in areas),
            target=targets,
            prefer=self.prefer,  # type: ignore[arg-type]
            allow_replace=allow_replace,
        )

    def for_site(self, session: SiteSession, *, of: int) -> "PlanOptions":
        """Return the options that select one of `of` sites alone."""
        if of == 1:
            return self
        return replace(self, file=Path(os.path.relpath(session.repository.path / session.site_options.file)))

    def format_command(self) -> str:
        """Return the command that applies the plan of these options."""
        flags = (("--areas", self.areas), ("--target", self.target), ("--allow-replace", self.allow_replace))
        words = [word for flag, values in flags for value in values for word in (flag, value)]
        words += ["--prefer", self.prefer] if self.prefer else []
        words += ["--file", str(self.file)] if self.file is not None else []
        return " ".join([APPLY, *map(shlex.quote, words)])

    def build_document(self) -> dict[str, Any]:
        """Return the options that change the plan, as JSON for a saved plan."""
        lists = {"areas": self.areas, "target": self.target, "replace": self.allow_replace}
        return {name: list(value) for name, value in lists.items()} | {"prefer": self.prefer}


@dataclass(frozen=True)
class PlanOutputOptions:
    """How a person wants a plan printed or saved."""

    out: Path | None = None
    markdown: Path | None = None
    verbose: bool = False
    as_json: bool = False
    exit_code: bool = False


def show_plan(options: PlanOptions, output: PlanOutputOptions) -> int:
    """Print what would change on each selected site; return 0, or with `--exit-code` a code for pending changes.

    Raises: BadParameter; ConfigInvalid; FileInvalid; PlatformError.
    """
    planner_options = options.build_options()
    alone = output.out is not None or output.markdown is not None
    sessions = (
        [find_one_site(options.config, options.file, "a plan in a file")]
        if alone
        else find_sites(options.config, options.file)
    )
    code = 0
    for number, session in enumerate(sessions):
        if number and not output.as_json:
            print()
        prepared, note = _prepare_plan(session, planner_options, whole=output.out is not None)
        print_notes(note, describe_lock(session, prepared))
        uncommitted = prepared.source.path if note and output.out is None else ""
        _write_plan(prepared, options.for_site(session, of=len(sessions)), output, uncommitted=uncommitted)
        code = max(code, _choose_exit_code(prepared.plan))
    return code if output.exit_code else 0


def format_site_plan(prepared: PreparedPlan, gates: Sequence[Gate], *, verbose: bool = False) -> list[str]:
    """Return a plan as lines for people: its closed gates, findings, warnings, then what would be done."""
    held = [line for line in render_plan_text(SitePlan(prepared.plan.site, gates=tuple(gates))) if _is_gate_line(line)]
    whole = render_plan_text(prepared.plan, verbose=verbose, narrow=is_narrow())
    lines = [line for line in whole if line[0] not in ("gate", "hint")]
    warnings = [line for line in lines if line[0] == "warning"]
    rest = lines[len(warnings) + bool(warnings) :]
    return [
        *_format_heading(prepared),
        *style_lines(held),
        *_format_findings(prepared),
        *style_lines(warnings),
        "",
        *style_lines(rest),
    ]


def print_notes(*notes: str) -> None:
    """Print notes about the files of a command on stderr; empty ones are left out."""
    for note in filter(None, notes):
        print(f"{style_text('note:', 33, sys.stderr)} {escape(note)}", file=sys.stderr)


def format_site_name(prepared: PreparedPlan) -> str:
    """Return the title and the id of a plan's site."""
    title, id = prepared.live.site.get("title"), prepared.plan.site
    return f"{show_unprintable(str(title))} ({id})" if title else id


def build_plan_document(prepared: PreparedPlan) -> dict[str, Any]:
    """Return the JSON object of a plan."""
    source = prepared.source
    where = {"file": source.path, "commit": source.commit or None, "lock_serial": prepared.lock.serial}
    warnings = build_warning_documents(prepared.findings)
    return {**render_plan_document(prepared.plan), "digest": prepared.plan.digest, **where, "findings": warnings}


def _prepare_plan(session: SiteSession, planner_options: Options, *, whole: bool) -> tuple[PreparedPlan, str]:
    """The plan of a site, and a note about its file; with `whole` it is made from the committed file, to be saved."""
    with show_progress() as on_progress, session.open_for_reading(on_progress) as workspace:
        source, note = find_source(workspace, session)
        if whole and note:
            source = read_committed(workspace.repository, workspace.branch, session.site_options.file)
            note = f"{note}, and so does the saved plan"
        prepared = prepare_plan(workspace, source, session.site_options, planner_options)
        check_targets(planner_options.target, prepared)
        return prepared, note


def _write_plan(prepared: PreparedPlan, options: PlanOptions, output: PlanOutputOptions, *, uncommitted: str) -> None:
    plan = prepared.plan
    if output.markdown is not None:
        try:
            found = (f"{one.path}:{one.line}: {one.code}: {one.message}" for one in prepared.findings)
            output.markdown.write_text(render_plan_markdown(plan, found), encoding="utf-8")
        except OSError as error:
            raise ConfigInvalid(f"{output.markdown} cannot be written: {error.strerror}") from error
    if output.out is not None:
        save_plan(output.out, prepared, options.build_document(), read_time())
    if output.as_json:
        print_document(build_plan_document(prepared))
        return
    lines = format_site_plan(prepared, plan.gates, verbose=output.verbose)
    hints = _format_next_steps(plan, output.out, options.format_command(), uncommitted)
    print_text("\n".join([*lines, *style_lines(("hint", text) for text in hints)]))


def _choose_exit_code(plan: SitePlan) -> int:
    if plan.gates:
        return GuardRefused.exit_code
    if unfinished := find_unfinished(plan):
        return unfinished.exit_code
    return CHANGES_PENDING if plan else 0


def _format_heading(prepared: PreparedPlan) -> Iterator[str]:
    source, serial = prepared.source, prepared.lock.serial
    where = f"{source.path} @ {source.commit[:7]}" if source.commit else f"{source.path} on disk"
    lock = f"lock serial {serial}" if serial else "no lock committed yet"
    yield f"{style_text(escape(f'Site {format_site_name(prepared)}'), 1, sys.stdout)}  {escape(where)}  {lock}"


def _format_findings(prepared: PreparedPlan) -> Iterator[str]:
    for one in prepared.findings:
        word = style_text(one.severity, 33, sys.stdout)
        yield f"{escape(one.path)}:{one.line}:{one.column}: {word} {one.code}: {escape(one.message)}"


def _is_gate_line(line: tuple[str, str]) -> bool:
    style, text = line
    return style == "gate" or (style == "hint" and text.startswith(" "))


def _format_next_steps(plan: SitePlan, out: Path | None, command: str, uncommitted: str) -> Iterator[str]:
    """The commands that come next."""
    if out is not None and plan:
        yield f"Saved to {out}. Apply with: syncd site apply {shlex.quote(str(out))}"
    else:
        lines = render_plan_text(plan, command=command, uncommitted=uncommitted)
        yield from (text for style, text in lines if style == "hint" and not text.startswith(" "))
