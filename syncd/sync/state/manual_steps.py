"""Note the manual steps that a person has to do on the platform, so that each push reports them without a request."""

from collections.abc import Sequence

from syncd.plan.change import Change
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.state.notes import add_notes, read_notes

WAITING = "by_hand"
_UPON = " upon "


def describe_state(repository: Repository, binding: Binding, desired: str, main: str) -> str:
    """Return a text that identifies what is desired of a space and what it holds."""
    return _UPON.join(str(repository.find_tree(commit, binding.directory)) for commit in (desired, main))


def find_waiting_steps(repository: Repository, binding: Binding, number: int, state: str) -> tuple[Change, ...]:
    """Return the manual steps that were noted for a state of a change request, or of none."""
    noted = read_notes(repository, binding, number).get(WAITING)
    known = noted.get(state) if isinstance(noted, dict) else None
    try:
        steps = [[str(field) for field in fields] for fields in known or ()]
        return tuple(Change("report", noun, key, message, where=where) for noun, key, message, where in steps)
    except (TypeError, ValueError):
        return ()  # a person changed the note: the next push finds out the steps again


def count_waiting_steps(repository: Repository, binding: Binding, number: int, existing: str) -> int:
    """Return how many manual steps were noted while a change request held this content."""
    noted = read_notes(repository, binding, number).get(WAITING)
    end = f"{_UPON}{repository.find_tree(existing, binding.directory)}"
    known = noted.items() if isinstance(noted, dict) else ()
    return sum(len(steps) for state, steps in known if state.endswith(end) and isinstance(steps, list))


def note_waiting_steps(
    repository: Repository, binding: Binding, number: int, state: str, reports: Sequence[Change]
) -> None:
    """Note the manual steps of a state in place of what was noted before.

    Shape: where the space does not hold all that is desired, an empty list is noted too: this state needs no push.
    """
    fields = [[report.noun, report.key, report.message, report.where] for report in reports]
    noted = {state: fields} if fields or not _is_complete(state) else {}
    if noted or WAITING in read_notes(repository, binding, number):
        add_notes(repository, binding, number, {WAITING: noted})


def _is_complete(state: str) -> bool:
    """Whether the space holds all that is asked of it."""
    desired, _, existing = state.partition(_UPON)
    return desired == existing


def is_state_noted(repository: Repository, binding: Binding, number: int, state: str) -> bool:
    """Return whether all of a state that can be written was written."""
    noted = read_notes(repository, binding, number).get(WAITING)
    return isinstance(noted, dict) and state in noted


def has_waiting_steps(repository: Repository, binding: Binding, number: int) -> bool:
    """Return whether a change request has noted steps that wait for a person."""
    return bool(read_notes(repository, binding, number).get(WAITING))
