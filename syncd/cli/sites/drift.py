"""`site drift`: what somebody changed on the platform since syncd was there, and how to take it into the file."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import tell_warnings, warning_documents
from syncd.cli.sites.colours import is_narrow, painted
from syncd.cli.sites.plan import Asked
from syncd.cli.sites.session import Sited, sited, source_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.rewrite_file import rewrite
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.file import read_site_file
from syncd.model.ref import AREAS
from syncd.plan.site.drift.accept import Accepted, accept_drift
from syncd.plan.site.render.document import drift_document
from syncd.plan.site.render.text import drift_text
from syncd.plan.site.steps import SitePlan
from syncd.sync.site.flow import Prepared, prepare
from syncd.sync.site.read.site_file import in_work_tree

DRIFTED = 3


def run_drift(asked: Asked, *, accept: bool, exit_code: bool, as_json: bool) -> int:
    """Show the drift of each site that is meant, or write it into the files of the work tree; return the exit code."""
    chosen = sited(asked.config, asked.file)
    found = []
    for number, each in enumerate(chosen):
        if len(chosen) > 1 and not as_json:
            name = safe(str(each.repository.path / each.wish.file))
            print(*([""] if number else []), paint(name, 1, sys.stdout), sep="\n")
        found.append(_one(each, asked, accept=accept, as_json=as_json))
    return DRIFTED if exit_code and any(found) else 0


def _one(each: Sited, asked: Asked, *, accept: bool, as_json: bool) -> bool:
    """Return whether drift is left."""
    with progress() as tell, each.look(tell) as workspace:
        top = workspace.repository.work_tree
        if accept and top is None:
            raise typer.BadParameter(f"--accept writes files, and {each.repository.path} has no work tree")
        source, _ = source_of(workspace, each.wish)
        prepared = prepare(workspace, in_work_tree(top, source.path) if accept and top else source, each.wish)
        prepared = replace(prepared, plan=_chosen(prepared.plan, asked))
    accepted = _accept(top, prepared) if accept and top is not None else None
    if as_json:
        emit(drift_document(prepared.plan) | _written(prepared, accepted))
    elif accepted is None:
        print_text("\n".join(painted(drift_text(prepared.plan, narrow=is_narrow()))))
    else:
        _tell(prepared, accepted)
    return bool(prepared.plan.drifted() if accepted is None else accepted.left)


def _chosen(plan: SitePlan, asked: Asked) -> SitePlan:
    """The plan with the areas that are asked for."""
    areas = asked.options().areas
    return replace(plan, lines=tuple(line for line in plan.lines if line.ref.area in areas))


def _accept(top: Path, prepared: Prepared) -> Accepted:
    source = prepared.source
    texts = {**source.others, source.path: source.text}
    accepted = accept_drift(prepared.file, texts, prepared.live, prepared.plan, areas=frozenset(AREAS))
    for path, text in accepted.texts.items():
        rewrite(top, path, text)
    return accepted


def _tell(prepared: Prepared, accepted: Accepted) -> None:
    for sentence in accepted.left:
        print(f"! left: {safe(sentence)}")
    if not accepted.texts:
        print("Nothing was written." if accepted.left else "No drift: nothing was changed outside syncd.")
        return
    print(f"{safe(', '.join(accepted.texts))}: {safe(', '.join(accepted.words))}")
    tell_warnings(_new(prepared, accepted))
    print("Read it with git diff, then commit it.")


def _new(prepared: Prepared, accepted: Accepted) -> list[Finding]:
    """What is to be said of the files now that what stands on the platform stands in them."""
    source = prepared.source
    others = {path: accepted.texts.get(path, text) for path, text in source.others.items()}
    text = accepted.texts.get(source.path, source.text)
    file, findings = read_site_file(text, path=source.path, others=others)
    known = {one.message for one in prepared.findings}
    found = (*findings, *(check_site(file) if file is not None else ()))
    return [one for one in found if one.message not in known]


def _written(prepared: Prepared, accepted: Accepted | None) -> dict[str, Any]:
    if accepted is None:
        return {}
    said = {"accepted": list(accepted.fields), "files": list(accepted.texts), "left": list(accepted.left)}
    return {**said, "warnings": warning_documents(_new(prepared, accepted))}
