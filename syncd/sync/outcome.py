"""What a flow came to: unchanged, applied, waiting or held."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from syncd.errors import FileInvalid, RateLimited, Retry, SyncdError
from syncd.model.wording import format_count
from syncd.plan.change import Change

CHANGES_PENDING, DRIFTED, PARTLY_DONE = 2, 3, 4
"""Exit codes of what is no error: changes wait to be made; the other side is not as it was expected to be; something
could not be done, and all else was. Source: syncd/manual/reference/exit-codes.md.
"""

CONFLICT, PAGE = "conflict", "page"
"""The flows of results about one page that waits for a person: it is in conflict, or no platform takes it."""
LOST_WORDS = "the platform had lost words of it, and they were edited there in the same place"
"""Why a page is in conflict that a branch need not have changed."""
BIND = "bind"
"""The flow that joins a space with a branch; a space that is bound has no outcome of it."""


@dataclass(frozen=True)
class Held:
    """A person has to act first.

    Shape: with `approval`, all is done except what the person has to agree to; with `manual`, except what only a person
    can do. `command` settles it. A page is in conflict between `branch` and `lane`, which is what people call the ref
    of the other side; a refused page is as `branch` has it at the commit `lane`.
    """

    why: str
    hint: str = ""
    exit_code: int = 5
    paths: tuple[str, ...] = field(default=())
    approval: bool = False
    manual: bool = False
    command: str = ""
    branch: str = ""
    lane: str = ""

    @property
    def is_invalid(self) -> bool:
        """Whether a file has to be mended."""
        return self.exit_code == FileInvalid.exit_code


@dataclass(frozen=True)
class Unchanged:
    """Both sides were already as they should be, except for pages that wait for a person."""

    conflicts: tuple[Held, ...] = ()
    exit_code = 0


@dataclass(frozen=True)
class Applied:
    """The plan was carried out; `notes` are things a person should know that needed no change.

    Shape: `conflicts` are pages that wait for a person, each an outcome of its own, while all others went on.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    conflicts: tuple[Held, ...] = ()
    exit_code = 0


@dataclass(frozen=True)
class Waiting:
    """Another try can succeed without a person: not before `until` (epoch seconds), or at the next interval.

    With exit code 0 nothing is wrong: reviewers have not decided yet.
    """

    why: str
    hint: str = ""
    until: float | None = None
    exit_code: int = 75


Outcome = Unchanged | Applied | Waiting | Held


def format_pending_command(digest: str, commands: str = "syncd site") -> str:
    """Return the command that shows a plan that waits for approval; its outcome is recognised by it."""
    return f"{commands} pending {digest}"


def outcome_of(flow: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a flow; a syncd error becomes Waiting or Held, a defect passes through."""
    try:
        return flow()
    except SyncdError as error:
        return outcome_from(error)


def outcome_from(error: SyncdError) -> Waiting | Held:
    """Return the outcome of a flow that an error ended."""
    if isinstance(error, RateLimited):
        return Waiting(error.what, error.hint, until=error.until, exit_code=error.exit_code)
    if error.retry is Retry.NEVER:
        return Held(error.what, error.hint, error.exit_code, getattr(error, "paths", ()))
    return Waiting(error.what, error.hint, exit_code=error.exit_code)


def join_outcomes(outcomes: Iterable[Outcome]) -> Applied | Unchanged:
    """Return the outcomes of the steps of one flow as one; those that wait or are held are left out."""
    each = [outcome for outcome in outcomes if isinstance(outcome, Applied | Unchanged)]
    changes = tuple(change for outcome in each if isinstance(outcome, Applied) for change in outcome.changes)
    notes = tuple(note for outcome in each if isinstance(outcome, Applied) for note in outcome.notes)
    conflicts = tuple(held for outcome in each for held in outcome.conflicts)
    return Applied(changes, notes, conflicts) if changes or notes else Unchanged(conflicts)


def find_details(outcome: Outcome) -> dict[str, str]:
    """Return the texts of an outcome, by the fields in which they are recorded."""
    match outcome:
        case Held():
            keys = ("why", "hint", "command", "branch", "lane")
            return {key: getattr(outcome, key) for key in keys}
        case Waiting():
            return {"why": outcome.why, "hint": outcome.hint}
        case _:
            return {}


def describe_outcome(outcome: Outcome) -> tuple[str, str]:
    """Return the state of an outcome in one word, and what a person should know of it."""
    match outcome:
        case Unchanged():
            return "unchanged", ""
        case Applied():
            return "applied", format_count(len(outcome.changes), "change")
        case Waiting():
            return "waiting", outcome.why
        case Held():
            return "held", f"{outcome.why} ({outcome.hint})" if outcome.hint else outcome.why
