"""`site drift`: changes that were made on the platform outside syncd, and `--accept` to write them into the file."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import build_warning_documents, print_warnings
from syncd.cli.sites.colours import is_narrow, style_lines
from syncd.cli.sites.plan import PlanOptions
from syncd.cli.sites.session import SiteSession, find_sites, find_source
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.rewrite_file import rewrite_file
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.file import read_site_file
from syncd.model.ref import AREAS
from syncd.plan.site.drift.accept import AcceptedDrift, accept_drift
from syncd.plan.site.render.document import render_drift_document
from syncd.plan.site.render.text import describe_conflicts, render_drift_text
from syncd.plan.site.steps import SitePlan
from syncd.sync.outcome import DRIFTED
from syncd.sync.site.flow import PreparedPlan, prepare_plan
from syncd.sync.site.poll_cache import LastLook, summarize_site
from syncd.sync.site.read.site_file import read_work_tree


def run_drift(options: PlanOptions, *, accept: bool, exit_code: bool, as_json: bool) -> int:
    """Show the drift of each selected site, or write it into the files of the work tree; return the exit code.

    Raises: BadParameter; ConfigInvalid; FileInvalid; PlatformError.
    """
    sessions = find_sites(options.config, options.file)
    found = []
    for number, session in enumerate(sessions):
        if len(sessions) > 1 and not as_json:
            name = escape(str(session.repository.path / session.site_options.file))
            print(*([""] if number else []), style_text(name, 1, sys.stdout), sep="\n")
        found.append(_show_site(session, options, accept=accept, as_json=as_json))
    return DRIFTED if exit_code and any(found) else 0


def _show_site(session: SiteSession, options: PlanOptions, *, accept: bool, as_json: bool) -> bool:
    """Show or accept the drift of one site, and return whether any is left."""
    with show_progress() as on_progress, session.open_for_reading(on_progress) as workspace:
        top = session.work_tree
        if accept and top is None:
            raise typer.BadParameter(f"--accept writes files, and {session.repository.path} has no work tree")
        source, _ = find_source(workspace, session)
        prepared = prepare_plan(
            workspace, read_work_tree(top, source.path) if accept and top else source, session.site_options
        )
        if not accept:
            facts = summarize_site(prepared.plan, prepared.lock)
            LastLook.of(workspace, session.site_options, source).note_beside_runs(facts)
        prepared = replace(prepared, plan=_select_areas(prepared.plan, options))
    accepted = _accept_drift(top, prepared) if accept and top is not None else None
    if as_json:
        print_document(render_drift_document(prepared.plan) | _build_document(prepared, accepted))
    elif accepted is None:
        print_text("\n".join(style_lines(render_drift_text(prepared.plan, narrow=is_narrow()))))
    else:
        _print_accepted(prepared, accepted)
    return bool(prepared.plan.list_drift() if accepted is None else accepted.left)


def _select_areas(plan: SitePlan, options: PlanOptions) -> SitePlan:
    """The plan with only the selected areas."""
    areas = options.build_options().areas
    return replace(plan, lines=tuple(line for line in plan.lines if line.ref.area in areas))


def _accept_drift(top: Path, prepared: PreparedPlan) -> AcceptedDrift:
    source = prepared.source
    texts = {**source.others, source.path: source.text}
    accepted = accept_drift(prepared.file, texts, prepared.live, prepared.plan, areas=frozenset(AREAS))
    for path, text in accepted.texts.items():
        rewrite_file(top, path, text)
    return replace(accepted, left=(*accepted.left, *describe_conflicts(prepared.plan)))


def _print_accepted(prepared: PreparedPlan, accepted: AcceptedDrift) -> None:
    for sentence in accepted.left:
        print(f"! left: {escape(sentence)}")
    if not accepted.texts:
        print("Nothing was written." if accepted.left else "No drift: nothing was changed outside syncd.")
        return
    print(f"{escape(', '.join(accepted.texts))}: {escape(', '.join(accepted.words))}")
    print_warnings(_find_new_findings(prepared, accepted))
    print("Read it with git diff, then commit it.")


def _find_new_findings(prepared: PreparedPlan, accepted: AcceptedDrift) -> list[Finding]:
    """The findings that the files have only since the drift was accepted."""
    source = prepared.source
    others = {path: accepted.texts.get(path, text) for path, text in source.others.items()}
    text = accepted.texts.get(source.path, source.text)
    file, findings = read_site_file(text, path=source.path, others=others)
    old_messages = {one.message for one in prepared.findings}
    found = (*findings, *(check_site(file) if file is not None else ()))
    return [one for one in found if one.message not in old_messages]


def _build_document(prepared: PreparedPlan, accepted: AcceptedDrift | None) -> dict[str, Any]:
    if accepted is None:
        return {}
    document = {"accepted": list(accepted.fields), "files": list(accepted.texts), "left": list(accepted.left)}
    return {**document, "warnings": build_warning_documents(_find_new_findings(prepared, accepted))}
