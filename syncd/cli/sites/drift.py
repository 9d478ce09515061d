"""`site drift`: what somebody changed on the platform since syncd was there, and how to take it into the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.output import emit
from syncd.cli.progress import progress
from syncd.cli.rewriting import rewrite
from syncd.cli.sites.painting import painted
from syncd.cli.sites.plan import Asked
from syncd.cli.sites.session import Sited, sited, source_of
from syncd.cli.terminal import safe
from syncd.layout.site.declared import AREA, AREAS
from syncd.plan.site.accepting import Accepted, accept_drift
from syncd.plan.site.document import drift_document
from syncd.plan.site.steps import SitePlan
from syncd.plan.site.text import drift_text
from syncd.sync.reconcile.flow import Prepared, prepare
from syncd.sync.reconcile.source import in_work_tree

DRIFTED = 3


def run_drift(asked: Asked, *, accept: bool, exit_code: bool, as_json: bool) -> int:
    """Show the drift of each site that is meant, or write it into the files of the work tree; return the exit code."""
    found = [_one(each, asked, accept=accept, as_json=as_json) for each in sited(asked.config, asked.file)]
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
        emit(drift_document(prepared.plan) | _written(accepted))
    elif accepted is None:
        print("\n".join(painted(drift_text(prepared.plan))))
    else:
        _tell(accepted)
    return bool(prepared.plan.drifted() if accepted is None else accepted.left)


def _chosen(plan: SitePlan, asked: Asked) -> SitePlan:
    """The plan with the areas that are asked for."""
    areas = asked.options().areas
    return replace(plan, lines=tuple(line for line in plan.lines if AREA[line.ref.partition(":")[0]] in areas))  # type: ignore[index]


def _accept(top: Path, prepared: Prepared) -> Accepted:
    source = prepared.source
    texts = {**source.others, source.path: source.text}
    accepted = accept_drift(prepared.file, texts, prepared.live, prepared.plan, areas=frozenset(AREAS))
    for path, text in accepted.texts.items():
        rewrite(top / path, text)
    return accepted


def _tell(accepted: Accepted) -> None:
    if accepted.texts:
        print(f"{safe(', '.join(accepted.texts))}: {safe(', '.join(accepted.words))}")
    for sentence in accepted.left:
        print(f"! left: {safe(sentence)}")
    print("Read it with git diff, then commit it." if accepted.texts else "Nothing was written.")


def _written(accepted: Accepted | None) -> dict[str, Any]:
    if accepted is None:
        return {}
    return {"accepted": list(accepted.fields), "files": list(accepted.texts), "left": list(accepted.left)}
