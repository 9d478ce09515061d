"""Note the manual steps that a person has to do on the platform, so that each push reports them without a request."""

from collections.abc import Mapping, Sequence

from syncd.plan.change import Change
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.state.notes import add_notes, read_notes

WAITING = "by_hand"
_UPON = " upon "
_OF = ": "
"""Stands behind a branch's name; no name of a branch has it."""


def describe_state(repository: Repository, binding: Binding, desired: str, main: str, *, branch: str = "") -> str:
    """Return a text that identifies what is desired of a space and what it holds.

    Shape: `branch` is the one that desires it, where it has no change request: a space has one note for all of these.
    """
    state = _UPON.join(str(repository.find_tree(commit, binding.directory)) for commit in (desired, main))
    return f"{branch}{_OF}{state}" if branch else state


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
    """Note the manual steps of a state in place of what was noted before; of a branch, in place of its own.

    Shape: where the space does not hold all that is desired, an empty list is noted too: this state needs no push.
    """
    fields = [[report.noun, report.key, report.message, report.where] for report in reports]
    former = read_notes(repository, binding, number).get(WAITING)
    noted = _select_of_others(state, former) if isinstance(former, dict) else {}
    if fields or not _is_complete(state):
        noted[state] = fields
    if noted or former is not None:
        add_notes(repository, binding, number, {WAITING: noted})


def _select_of_others(state: str, former: Mapping[str, object]) -> dict[str, object]:
    """What was noted for other branches while the space holds the same."""
    branch, _, trees = state.rpartition(_OF)
    held = _UPON + trees.partition(_UPON)[2]
    owners = {other: other.rpartition(_OF)[0] for other in former if branch and other.endswith(held)}
    return {other: former[other] for other, owner in owners.items() if owner not in ("", branch)}


def _is_complete(state: str) -> bool:
    """Whether the space holds all that is asked of it."""
    desired, _, existing = state.rpartition(_OF)[2].partition(_UPON)
    return desired == existing


def is_state_noted(repository: Repository, binding: Binding, number: int, state: str) -> bool:
    """Return whether all of a state that can be written was written."""
    noted = read_notes(repository, binding, number).get(WAITING)
    return isinstance(noted, dict) and state in noted


def has_waiting_steps(repository: Repository, binding: Binding, number: int) -> bool:
    """Return whether a change request has noted steps that wait for a person."""
    return bool(read_notes(repository, binding, number).get(WAITING))
