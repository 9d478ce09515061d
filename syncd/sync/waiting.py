"""What waits for a person on the platform, noted so that each push tells it again and asks the platform nothing."""

from collections.abc import Sequence

from syncd.plan.change import Change
from syncd.repo import Repository
from syncd.sync.notes import note, notes_of
from syncd.sync.workspace import Binding, Workspace

NO_REQUEST = 0
"""Stands for the number where there is nothing to open a change request for."""
WAITING = "by_hand"


def state_of(repository: Repository, binding: Binding, desired: str, main: str) -> str:
    """Given what is asked of a space and main content, return what tells this state from others."""
    return f"{repository.subtree(desired, binding.directory)} upon {main}"


def waiting(workspace: Workspace, binding: Binding, number: int, state: str) -> tuple[Change, ...]:
    """Given a change request, or none, and what was proposed, return what waits for a person, when that was noted."""
    noted = notes_of(workspace, binding, number).get(WAITING)
    known = noted.get(state) if isinstance(noted, dict) else None
    try:
        told = [[str(field) for field in fields] for fields in known or ()]
        return tuple(Change("report", noun, key, message, where=where) for noun, key, message, where in told)
    except (TypeError, ValueError):
        return ()  # a person changed the note: what waits is found out again


def keep_waiting(workspace: Workspace, binding: Binding, number: int, state: str, reports: Sequence[Change]) -> None:
    """Given what waits for a person, note it in place of what was noted before.

    Shape: with no change request, that nothing waits is noted too: then this state needs no further push.
    """
    fields = [[report.noun, report.key, report.message, report.where] for report in reports]
    if number == NO_REQUEST or fields or WAITING in notes_of(workspace, binding, number):
        note(workspace, binding, number, {WAITING: {state: fields} if fields or number == NO_REQUEST else {}})
