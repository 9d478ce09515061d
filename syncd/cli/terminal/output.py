"""What people and machines read: results, plans and errors; text from outside never reaches a terminal raw."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from syncd.cli.terminal.text import FORMAT_VERSION, paint, safe, safe_json
from syncd.plan.change import Change, Plan, Verb
from syncd.sync.outcome import Applied, Held, Outcome, Waiting, describe_outcome

if TYPE_CHECKING:
    from syncd.sync.run.values import Result

SIGNS = {"create": "+", "update": "~", "move": ">", "adopt": "=", "delete": "-", "report": "!"}
COLOURS = {"create": 32, "update": 33, "move": 34, "adopt": 36, "delete": 31, "report": 35}
IN_STEP = "Everything is in step."
SHOWN = 20
"""Changes of one flow that are printed each; of more, pages and files are counted. `--json` lists all."""
COUNTED = {"page", "file", "include"}


def emit(document: Mapping[str, Any]) -> None:
    """Given a document, print it as JSON with the format's version."""
    print(safe_json({"format_version": FORMAT_VERSION, **document}))


def change_lines(changes: Iterable[Change], *, shown: int = SHOWN) -> list[str]:
    """Given changes, return a line each, or a line each kind when they are many; the sign says what the colour does."""
    everything = list(changes)
    few = len(everything) <= shown
    lines = []
    for change in everything if few else [c for c in everything if c.noun not in COUNTED]:
        sign = _sign(change.verb)
        note = f"  ({safe(change.message)})" if change.message else ""
        where = f"  {safe(change.where)}" if change.where else ""
        lines.append(f"  {sign} {change.noun} {safe(change.key)}{note}{where}")
    kinds = Counter((change.verb, change.noun) for change in everything if change.noun in COUNTED)
    if not few:
        lines += [f"  {_sign(verb)} {count} {noun}s" for (verb, noun), count in kinds.items()]
    return lines


def _sign(verb: Verb) -> str:
    return paint(f"{SIGNS[verb]} {verb:<6}", COLOURS[verb], sys.stdout)


def plan_lines(plan: Plan) -> list[str]:
    """Given a plan, return its changes and one line that counts them and names its digest."""
    words = {"create": "to add", "update": "to change", "delete": "to delete", "adopt": "to adopt", "move": "to move"}
    counts = plan.counts()
    total = ", ".join(f"{counts[verb]} {word}" for verb, word in words.items() if counts[verb]) or "nothing to do"
    return [*change_lines(plan.changes, shown=200), f"Plan {plan.digest()}: {total}."]


def result_lines(results: "Sequence[Result]", *, idle: Sequence[str] = (IN_STEP,)) -> list[str]:
    """Given the results of a run, return what a person wants to read: problems first, then what was done.

    Shape: `idle` is said where no flow had anything to do.
    """
    failing = [result for result in results if result.outcome.exit_code]
    working = [result for result in results if isinstance(result.outcome, Applied)]
    patient = [result for result in results if isinstance(result.outcome, Waiting) and not result.outcome.exit_code]
    lines: list[str] = []
    for result in (*failing, *patient):
        lines += _problem(result)
    for result in working:
        assert isinstance(result.outcome, Applied)
        lines.append(f"{paint(result.flow, 1, sys.stdout)} {safe(result.key)}")
        lines += change_lines(result.outcome.changes)
        lines += [f"  {paint('note:', 33, sys.stdout)} {safe(note)}" for note in result.outcome.notes]
    return lines or list(idle)


def _problem(result: "Result") -> list[str]:
    outcome = result.outcome
    assert isinstance(outcome, Held | Waiting)
    word = "held" if isinstance(outcome, Held) else "waiting"
    subject = f"{result.flow} {safe(result.key)}".rstrip()
    lines = [f"{paint(f'! {subject} {word}:', 31, sys.stdout)} {safe(outcome.why)}"]
    return lines + [f"    {safe(line)}" for line in outcome.hint.split("\n") if line]


def result_document(result: "Result") -> dict[str, Any]:
    """Given a result, return its JSON object."""
    state, _ = describe_outcome(result.outcome)
    document: dict[str, Any] = {"flow": result.flow, "key": result.key, "state": state, **_facts(result.outcome)}
    return document | {"exit_code": result.outcome.exit_code}


def _facts(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Applied():
            return {"changes": [change_document(change) for change in outcome.changes], "notes": list(outcome.notes)}
        case Held():
            return {"why": outcome.why, "hint": outcome.hint, "paths": list(outcome.paths)}
        case Waiting():
            return {"why": outcome.why, "hint": outcome.hint, "until": outcome.until}
        case _:
            return {}


def change_document(change: Change) -> dict[str, Any]:
    """Given a change, return its JSON object."""
    document = {"verb": change.verb, "noun": change.noun, "key": change.key, "message": change.message}
    return document | {"before": change.before, "after": change.after, "where": change.where}
