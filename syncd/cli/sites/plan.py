"""`site plan`: what would change on a site, for people, for reviews and for machines; nothing is written."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import warning_documents
from syncd.cli.sites.colours import is_narrow, painted
from syncd.cli.sites.saved import save
from syncd.cli.sites.session import Sited, lock_note, one_site, require_targets, sited, source_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.daemon.workplace import now
from syncd.errors import ConfigInvalid
from syncd.model.ref import AREAS, Ref
from syncd.model.text import show_unprintable
from syncd.plan.site.options import Options
from syncd.plan.site.render.document import plan_document
from syncd.plan.site.render.text import APPLY, plan_markdown, plan_text
from syncd.plan.site.steps import Gate, SitePlan
from syncd.sync.outcome import Held
from syncd.sync.site.flow import Prepared, find_unfinished, prepare
from syncd.sync.site.read.site_file import committed

PENDING, GATED = 2, Held("").exit_code
REPLACEABLE = frozenset({"group"})


@dataclass(frozen=True)
class Asked:
    """What a plan is asked for, as typed: which sites, which part of each, and who wins."""

    config: Path | None = None
    file: Path | None = None
    areas: Sequence[str] = field(default=())
    target: Sequence[str] = field(default=())
    prefer: str = ""
    anew: Sequence[str] = field(default=())

    def options(self) -> Options:
        """Return them as the planner knows them. Raises: BadParameter for a word that means nothing."""
        areas = frozenset(name for word in self.areas for name in word.split(","))
        anew = frozenset(name for word in self.anew for name in word.split(","))
        if unknown := sorted(areas - set(AREAS)):
            raise typer.BadParameter(f"--areas {unknown[0]}: there are {', '.join(AREAS)}")
        if unknown := sorted(anew - REPLACEABLE):
            raise typer.BadParameter(f"--allow-replace {unknown[0]}: only a {', '.join(REPLACEABLE)} is made anew")
        if self.prefer not in ("", "file", "live"):
            raise typer.BadParameter(f"--prefer {self.prefer}: there are file and live")
        targets = frozenset(map(Ref, self.target))
        if unknown := sorted(ref for ref in targets if ":" not in ref):
            raise typer.BadParameter(f"--target {unknown[0]}: write KIND:KEY as the plan does, such as section:home")
        chosen = frozenset(AREAS) if not areas else frozenset(area for area in AREAS if area in areas)
        return Options(areas=chosen, target=targets, prefer=self.prefer, allow_replace=anew)  # type: ignore[arg-type]

    def about(self, each: Sited, *, of: int) -> "Asked":
        """Given one of several sites, return the same as it would be asked of this one alone."""
        return self if of == 1 else replace(self, file=Path(os.path.relpath(each.repository.path / each.wish.file)))

    def command(self) -> str:
        """Return what to type so that just this is applied."""
        ways = (("--areas", self.areas), ("--target", self.target), ("--allow-replace", self.anew))
        words = [word for way, values in ways for value in values for word in (way, value)]
        words += ["--prefer", self.prefer] if self.prefer else []
        words += ["--file", str(self.file)] if self.file is not None else []
        return " ".join([APPLY, *map(shlex.quote, words)])

    def words(self) -> dict[str, Any]:
        """Return what of it makes a plan another one, as JSON."""
        chosen = {"areas": self.areas, "target": self.target, "replace": self.anew}
        return {name: list(value) for name, value in chosen.items()} | {"prefer": self.prefer}


@dataclass(frozen=True)
class Shown:
    """How a plan is to be shown."""

    out: Path | None = None
    markdown: Path | None = None
    verbose: bool = False
    as_json: bool = False
    exit_code: bool = False


def show_plan(asked: Asked, shown: Shown) -> int:
    """Print what would change on each site that is meant; return the code that tells pending changes when asked to."""
    options = asked.options()
    alone = shown.out is not None or shown.markdown is not None
    chosen = [one_site(asked.config, asked.file, "a plan in a file")] if alone else sited(asked.config, asked.file)
    code = 0
    for number, each in enumerate(chosen):
        if number and not shown.as_json:
            print()
        prepared, note = _prepared(each, options, whole=shown.out is not None)
        tell_notes(note, lock_note(each, prepared))
        uncommitted = prepared.source.path if note and shown.out is None else ""
        _write(prepared, asked.about(each, of=len(chosen)), shown, uncommitted=uncommitted)
        code = max(code, _code(prepared.plan))
    return code if shown.exit_code else 0


def plan_lines(prepared: Prepared, gates: Sequence[Gate], *, verbose: bool = False) -> list[str]:
    """Given a plan and its gates that are closed, return it for people: gates, problems, then what would be done."""
    held = [line for line in plan_text(SitePlan(prepared.plan.site, gates=tuple(gates))) if _is_of_a_gate(line)]
    whole = plan_text(prepared.plan, verbose=verbose, narrow=is_narrow())
    told = [line for line in whole if line[0] not in ("gate", "hint")]
    warned = [line for line in told if line[0] == "warning"]
    rest = told[len(warned) + bool(warned) :]
    return [*_head(prepared), *painted(held), *_problems(prepared), *painted(warned), "", *painted(rest)]


def tell_notes(*notes: str) -> None:
    """Given sentences about the files that a command goes by, say those that say something on stderr."""
    for note in filter(None, notes):
        print(f"{paint('note:', 33, sys.stderr)} {safe(note)}", file=sys.stderr)


def named(prepared: Prepared) -> str:
    """Given a plan, return what people call its site, and its id."""
    title, id = prepared.live.site.get("title"), prepared.plan.site
    return f"{show_unprintable(str(title))} ({id})" if title else id


def document_of(prepared: Prepared) -> dict[str, Any]:
    """Given a plan, return its JSON."""
    source = prepared.source
    where = {"file": source.path, "commit": source.commit or None, "lock_serial": prepared.lock.serial}
    warnings = warning_documents(prepared.findings)
    return {**plan_document(prepared.plan), "digest": prepared.plan.digest(), **where, "findings": warnings}


def _prepared(each: Sited, options: Options, *, whole: bool) -> tuple[Prepared, str]:
    """The plan of a site, and a word about the file; one that is saved is made from what is committed."""
    with progress() as tell, each.look(tell) as workspace:
        source, note = source_of(workspace, each.wish)
        if whole and note:
            source = committed(workspace.repository, workspace.branch, each.wish.file)
            note = f"{note}, and so does the saved plan"
        prepared = prepare(workspace, source, each.wish, options)
        require_targets(options.target, prepared)
        return prepared, note


def _write(prepared: Prepared, asked: Asked, shown: Shown, *, uncommitted: str) -> None:
    plan = prepared.plan
    if shown.markdown is not None:
        try:
            found = (f"{one.path}:{one.line}: {one.code}: {one.message}" for one in prepared.findings)
            shown.markdown.write_text(plan_markdown(plan, found), encoding="utf-8")
        except OSError as error:
            raise ConfigInvalid(f"{shown.markdown} cannot be written: {error.strerror}") from error
    if shown.out is not None:
        save(shown.out, prepared, asked.words(), now())
    if shown.as_json:
        emit(document_of(prepared))
        return
    lines = plan_lines(prepared, plan.gates, verbose=shown.verbose)
    hints = _next(plan, shown.out, asked.command(), uncommitted)
    print_text("\n".join([*lines, *painted(("hint", text) for text in hints)]))


def _code(plan: SitePlan) -> int:
    if plan.gates:
        return GATED
    if unfinished := find_unfinished(plan):
        return unfinished.exit_code
    return PENDING if plan else 0


def _head(prepared: Prepared) -> Iterator[str]:
    source, serial = prepared.source, prepared.lock.serial
    where = f"{source.path} @ {source.commit[:7]}" if source.commit else f"{source.path} on disk"
    lock = f"lock serial {serial}" if serial else "no lock committed yet"
    yield f"{paint(safe(f'Site {named(prepared)}'), 1, sys.stdout)}  {safe(where)}  {lock}"


def _problems(prepared: Prepared) -> Iterator[str]:
    for one in prepared.findings:
        word = paint(one.severity, 33, sys.stdout)
        yield f"{safe(one.path)}:{one.line}:{one.column}: {word} {one.code}: {safe(one.message)}"


def _is_of_a_gate(line: tuple[str, str]) -> bool:
    style, text = line
    return style == "gate" or (style == "hint" and text.startswith(" "))


def _next(plan: SitePlan, out: Path | None, command: str, uncommitted: str) -> Iterator[str]:
    """What to type next."""
    if out is not None and plan:
        yield f"Saved to {out}. Apply with: syncd site apply {shlex.quote(str(out))}"
    else:
        told = plan_text(plan, command=command, uncommitted=uncommitted)
        yield from (text for style, text in told if style == "hint" and not text.startswith(" "))
