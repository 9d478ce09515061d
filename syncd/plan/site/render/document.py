"""A site's plan, and its drift, for machines: JSON whose shape stays while its version's first number does.

Source: syncd/manual/how-to/site.md, "Plan".
"""

from typing import Any

from syncd.model.ref import AREAS
from syncd.plan.site.steps import FieldChange, Line, SitePlan, Step, to_json

FORMAT = "1.0"


def render_plan_document(plan: SitePlan) -> dict[str, Any]:
    """Return a plan as JSON: what happens to what, the requests, and the gates."""
    return {
        "format_version": FORMAT,
        "plan_id": plan.digest,
        "site": plan.site,
        "snapshot": dict(plan.snapshot),
        "summary": dict(plan.counts()),
        "unmanaged": {area: plan.unmanaged[area] for area in AREAS if area in plan.unmanaged},
        "gates": [
            {
                "scope": gate.scope,
                "count": gate.count,
                "flag": gate.flag,
                "approval": gate.approval,
                "why": gate.why,
                "refs": list(gate.refs),
            }
            for gate in plan.gates
        ],
        "warnings": list(plan.warnings),
        "operations": [_render_operation(line) for line in plan.lines],
        "steps": [_render_step(step) for step in plan.steps],
    }


def render_drift_document(plan: SitePlan) -> dict[str, Any]:
    """Return what was changed outside syncd as JSON."""
    return {
        "format_version": FORMAT,
        "site": plan.site,
        "drift": [
            *({"ref": line.ref, "deleted": True, **_render_deletion(line)} for line in plan.list_drift() if line.gone),
            *(
                {"ref": line.ref, **_render_change(field)}
                for line in plan.list_drift()
                for field in line.fields
                if field.cause in ("drift", "conflict")
            ),
        ],
    }


def _render_operation(line: Line) -> dict[str, Any]:
    kind, key = line.ref.kind, line.ref.key
    said = {"note": line.note, "manual": line.manual}
    return {
        "action": line.action,
        "kind": kind,
        "key": key,
        "source": _render_source(line.where),
        "changes": [_render_change(field) for field in line.fields],
        **({"deleted_outside": line.gone} if line.gone else {}),
        **{name: text for name, text in said.items() if text},
    }


def _render_deletion(line: Line) -> dict[str, Any]:
    return {"class": line.gone, "source": _render_source(line.where)}


def _render_change(field: FieldChange) -> dict[str, Any]:
    found = {"path": field.name, "before": to_json(field.before), "after": to_json(field.after), "class": field.cause}
    return {**found, "source": _render_source(field.where)}


def _render_source(where: str) -> dict[str, Any] | None:
    file, _, rest = where.rpartition(":")
    file, _, line = file.rpartition(":")
    return {"file": file, "line": int(line), "column": int(rest)} if file else None


def _render_step(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {"wave": int(step.wave), "call": step.call, "ref": step.ref, "id": to_json(step.id)}
    return {**found, "body": to_json(step.body), **({"temporary": True} if step.is_temporary else {})}
