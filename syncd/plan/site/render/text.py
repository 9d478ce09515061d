"""A site's plan, and its drift, for people: lines that a terminal paints, and Markdown for a review.

A sign and a word say what happens, so that no colour has to; what comes from a platform cannot move a cursor.
Source: syncd/manual/how-to/site.md, "Plan".
"""

from collections.abc import Callable, Iterable, Iterator

from syncd.model.ref import AREAS, Area
from syncd.model.text import show_unprintable
from syncd.plan.site.format import format_change, format_name, format_place, split_change
from syncd.plan.site.lines import DELETED
from syncd.plan.site.steps import Action, FieldChange, Gate, Line, SitePlan

SIGNS: dict[Action, tuple[str, str]] = {
    "create": ("+", "add"),
    "update": ("~", "change"),
    "move": (">", "move"),
    "delete": ("-", "delete"),
    "adopt": ("=", "adopt"),
    "blocked": ("!", "blocked"),
    "report": ("?", "leave"),
}
"""The sign and the word of each action."""
StyledLine = tuple[str, str]
"""A style (an action, or `title`, `gate`, `warning`, `hint`, `plain`) and a line of text."""
APPLY = "syncd site apply"
ROWS_MAX = 200
"""Lines of one area in Markdown, and deletes of one gate, beyond which only their number is told."""
_NAME_WIDTH = 44
_DETAIL_WIDTH = 64
_FIRST = 5
_PARTS_MAX = 5
"""Differences inside one value that are told each."""
_INDENT = f"{'':<6}"
"""Of what is said of a line, where a terminal is too narrow for columns."""


def render_plan_text(
    plan: SitePlan, *, verbose: bool = False, command: str = APPLY, uncommitted: str = "", narrow: bool = False
) -> list[StyledLine]:
    """Return the lines of a plan: warnings, by area what happens, then drift, gates, and what to type next.

    Shape: `command` is what to type so that just this is applied; `uncommitted` is the path of the site file when that
    has to be committed before; `narrow` does without columns.
    """
    painted: list[StyledLine] = [("warning", f"warning: {show_unprintable(warning)}") for warning in plan.warnings]
    painted += [("plain", "")] if painted else []
    for area in AREAS:
        lines = [line for line in _select_area(plan, area) if line.action != "report"]
        if lines:
            painted += [("title", area), *_render_lines(lines, narrow=narrow), ("plain", "")]
    reports = plan.select_lines("report")
    if reports:
        painted += [("title", "left as it is"), *_render_lines(reports, narrow=narrow), ("plain", "")]
    if verbose:
        painted += _render_unmanaged(plan)
    painted += [("plain", text) for text in _summarize(plan, verbose=verbose)]
    for gate in plan.gates:
        painted += _render_gate(gate)
    return [*painted, *(("hint", text) for text in _suggest_commands(plan, command, uncommitted))]


def render_drift_text(plan: SitePlan, *, narrow: bool = False) -> list[StyledLine]:
    """Return the lines about what somebody changed on the platform since the last run.

    Shape: `narrow` does without columns.
    """
    lines = plan.list_drift()
    if not lines:
        return [("plain", "No drift: nothing was changed outside syncd.")]
    told: list[tuple[str, str, str]] = []
    for line in lines:
        if line.gone:
            style, also = ("blocked", ", and the file changed it") if line.gone == "conflict" else ("report", "")
            told.append((style, format_name(line), f"{DELETED}{also}{_format_where(line.where)}"))
        for field in _list_drift(line):
            style = "blocked" if field.cause == "conflict" else "report"
            also = " (both changed it)" if field.cause == "conflict" else ""
            for part in split_change(field):
                now, declared = format_change(part)
                said = f"is {now}; the file says {declared}{also}{_format_where(field.where)}"
                told.append((style, f"{format_name(line)} {show_unprintable(part.name)}", said))
    gap = f"\n{_INDENT}" if narrow else "  "
    width = 0 if narrow else _NAME_WIDTH
    painted = [(style, f"? {name:<{width}}{gap}{said}") for style, name, said in told]
    return [
        *painted,
        ("plain", f"{_count_drift(lines)} outside syncd."),
        *(("hint", text) for text in _suggest_remedies(lines)),
    ]


def describe_conflicts(plan: SitePlan) -> Iterator[str]:
    """Give a sentence about each value and item that both sides changed, with both ways to settle it."""
    for line in plan.list_drift():
        if line.gone == "conflict":
            yield f"{format_name(line)} {DELETED}, and the file changed it; take it out, or {APPLY} --prefer file"
            continue
        for field in line.fields:
            if field.cause == "conflict":
                name, now = f"{format_name(line)} {show_unprintable(field.name)}", format_change(field)[0]
                place = format_place(field.where) or "the file"
                yield f"both sides changed {name}, and it is {now}; write that at {place}, or {APPLY} --prefer file"


def _suggest_remedies(lines: Iterable[Line]) -> Iterator[str]:
    """What can be done about drift."""
    lines = list(lines)
    areas = dict.fromkeys(line.ref.area for line in lines)
    causes = {cause for line in lines for cause in (line.gone, *(field.cause for field in line.fields))}
    if "drift" in causes:
        yield "Take this into the file: syncd site drift --accept"
    revert = ", ".join(f"{area}: revert" for area in areas)
    yield f"Put back what the file says: set policy.on_drift: {{ {revert} }}, and syncd site apply"
    if any(field.cause == "conflict" for line in lines for field in line.fields):
        yield f"Where both sides changed: {APPLY} --prefer file, or write what the site has into the file"
    if any(line.gone for line in lines):
        yield f"Make anew what was deleted: {APPLY} --prefer file"


def render_plan_markdown(plan: SitePlan, findings: Iterable[str] = ()) -> str:
    """Return a plan as Markdown, for a comment on a proposal or the summary of a job.

    Shape: `findings` are sentences about the site file, which come first among the warnings.
    """
    warnings = [*findings, *plan.warnings]
    parts = [f"### Site plan `{plan.digest}`", *_summarize(plan)]
    for area in AREAS:
        lines = list(_select_area(plan, area))
        if lines:
            parts += [f"#### {area.capitalize()}", _render_table(lines)]
    if plan.gates:
        gates = [
            f"- {_escape_markdown(gate.why)}: {_render_code(gate.flag)}" + (" (approval)" if gate.approval else "")
            for gate in plan.gates
        ]
        parts += ["#### Held until a person agrees", "\n".join(gates)]
    if warnings:
        more = [f"- and {len(warnings) - ROWS_MAX} more"] if len(warnings) > ROWS_MAX else []
        parts += [
            "#### Warnings",
            "\n".join([*(f"- {_escape_markdown(warning)}" for warning in warnings[:ROWS_MAX]), *more]),
        ]
    return "\n\n".join(parts) + "\n"


def _count_drift(lines: Iterable[Line]) -> str:
    """How many values somebody changed, and how many items are gone."""
    changed = sum(len(_list_drift(line)) for line in lines)
    gone = sum(bool(line.gone) for line in lines)
    parts = [f"{changed} {'value was' if changed == 1 else 'values were'} changed"] if changed else []
    parts += [f"{gone} {'item was' if gone == 1 else 'items were'} deleted"] if gone else []
    return " and ".join(parts)


def _select_area(plan: SitePlan, area: Area) -> Iterator[Line]:
    return (line for line in plan.lines if line.ref.area == area)


def _list_drift(line: Line) -> list[FieldChange]:
    return [field for field in line.fields if field.cause in ("drift", "conflict")]


def _render_lines(lines: Iterable[Line], *, narrow: bool) -> Iterator[StyledLine]:
    for line in lines:
        sign, word = SIGNS[line.action]
        head = f"  {sign} {word:<7} {format_name(line)}"
        if narrow:
            yield line.action, f"{head}{_format_where(line.where)}"
            yield from ((line.action, f"{_INDENT}{detail}") for detail in _list_details(line))
            continue
        first, *more = [*_list_details(line), ""]
        text = f"{head:<{_NAME_WIDTH}}  {first}" if first else head
        yield line.action, f"{text.rstrip()}{_format_where(line.where)}"
        yield from ((line.action, f"{'':<{_NAME_WIDTH}}  {detail}") for detail in more if detail)


def _list_details(line: Line) -> list[str]:
    """What is said of one line: its fields, one a row, then why, and what a person can do."""
    note = [show_unprintable(line.note)] if line.note else []
    manual = [f"-> {show_unprintable(line.manual)}"] if line.manual else []
    if line.action in ("create", "delete"):
        parts = [*filter(None, [", ".join(_list_values(line))]), *(f"({each})" for each in note)]
        whole = "  ".join(parts)
        return [*([whole] if len(whole) <= _DETAIL_WIDTH else parts), *manual]
    if line.action == "report" or (
        line.action == "blocked" and any(field.cause == "conflict" for field in line.fields)
    ):
        said = [
            text
            for field in line.fields
            if field.cause != "change"
            for text in _render_parts(field, _render_both_sides)
        ]
    else:
        said = [text for field in line.fields for text in _render_parts(field, _render_change)]
    return [*said, *note, *manual]


def _render_parts(field: FieldChange, worded: Callable[[FieldChange], str]) -> Iterator[str]:
    """What is said of a field, by each of its parts that differ, when these are few."""
    parts = split_change(field)
    yield from map(worded, parts[:_PARTS_MAX])
    if len(parts) > _PARTS_MAX:
        yield f"{_format_field_name(field.name)}  differs in {len(parts) - _PARTS_MAX} more places"


def _list_values(line: Line) -> Iterator[str]:
    """The fields of something that comes or goes; a redirect's source is its name already."""
    for field in line.fields:
        now, then = format_change(field)
        value = then if line.action == "create" else now
        if line.ref.kind == "redirect":
            if field.name == "destination":
                yield f"-> {value}"
        elif (field.after if line.action == "create" else field.before) is not None:
            yield f"{_format_field_name(field.name)} {value}"


def _render_change(field: FieldChange) -> str:
    now, then = format_change(field)
    said = f"{_format_field_name(field.name)}  {now} -> {then}"
    return f"{said}  (back to what the file says)" if field.cause == "drift" else said


def _render_both_sides(field: FieldChange) -> str:
    now, then = format_change(field)
    return f"{_format_field_name(field.name)}  is {now}; the file says {then}"


def _format_field_name(name: str) -> str:
    return {"parent": "in", "destination": "to"}.get(name, show_unprintable(name))


def _format_where(where: str) -> str:
    return f"  [{format_place(where)}]" if where else ""


def _render_unmanaged(plan: SitePlan) -> Iterator[StyledLine]:
    for area, names in plan.beyond.items():
        yield "title", f"not in the file: {area}"
        yield from (("plain", f"    {show_unprintable(name)}") for name in names)
        yield "plain", ""


def _summarize(plan: SitePlan, *, verbose: bool = False) -> list[str]:
    counts = plan.counts()
    words: tuple[tuple[Action, str], ...] = (
        ("create", "to add"), ("update", "to change"), ("move", "to move"), ("delete", "to delete"),
        ("adopt", "to adopt"), ("blocked", "blocked"),
        ("report", "left as it is" if counts["report"] == 1 else "left as they are"),
    )  # fmt: skip
    said = ", ".join(f"{counts[action]} {word}" for action, word in words if counts[action])
    unmanaged = sum(plan.unmanaged.values())
    one = unmanaged == 1
    where = "listed above" if verbose else f"-v lists {'it' if one else 'them'}"
    beyond = f" {unmanaged} {'item' if one else 'items'} on the platform {'is' if one else 'are'} not in the file"
    beyond = f"{beyond} ({where})." if unmanaged else ""
    if not plan and not said:
        return [f"Nothing to do: the site is as the file declares.{beyond}"]
    calls = sum(not step.call.is_local for step in plan.steps)
    requests = f"At most {calls} {'request that changes' if calls == 1 else 'requests that change'} the site."
    if not calls:
        requests = "The site stays as it is; only the lock learns." if plan else "Nothing would be changed."
    return [f"Plan {plan.digest}: {said or 'the lock is brought up to date'}.{beyond}", requests]


def _render_gate(gate: Gate) -> Iterator[StyledLine]:
    yield "gate", f"held: {show_unprintable(gate.why)}"
    names = [show_unprintable(format_name(Line("report", ref))) for ref in gate.refs]
    more = f", and {len(names) - _FIRST} more" if len(names) > _FIRST else ""
    yield "gate", f"  {', '.join(names[:_FIRST])}{more}"
    yield "hint", f"  if this is intended: {gate.flag}"


def _suggest_commands(plan: SitePlan, command: str, uncommitted: str) -> list[str]:
    if not plan:
        return ["What can be done about it: syncd site drift"] if plan.list_drift() else []
    words = " ".join([command, *(gate.flag for gate in plan.gates)])
    if uncommitted:
        return [f"Commit {show_unprintable(uncommitted)}, then: {words}"]
    return [f"{'If this is intended' if plan.gates else 'Apply with'}: {words}"]


def _render_table(lines: list[Line]) -> str:
    rows = ["| | What | Change | Where |", "| --- | --- | --- | --- |"]
    for line in lines[:ROWS_MAX]:
        sign, word = SIGNS[line.action]
        details = "<br>".join(_escape_markdown(detail) for detail in _list_details(line))
        name, where = _escape_markdown(format_name(line)), _escape_markdown(format_place(line.where))
        rows.append(f"| {_render_code(sign)} {word} | {name} | {details} | {where} |")
    if len(lines) > ROWS_MAX:
        rows.append(f"| | and {len(lines) - ROWS_MAX} more | | |")
    return "\n".join(rows)


def _escape_markdown(text: str) -> str:
    """Text in Markdown that stays text: no markup, no table cell, no mention of anybody."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]<>|#~!" else char for char in show_unprintable(text))
    return escaped.replace("@", "@\u200b")


def _render_code(text: str) -> str:
    plain = show_unprintable(text).replace("|", "\\|").replace("`", "'")
    return f"`{plain}`"
