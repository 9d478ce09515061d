"""Refuse a plan that deletes all or much, opens many change requests, or follows a space back to an old revision."""

from collections.abc import Mapping, Sequence

from syncd.errors import BecameEmpty, TooMuch, WentBack
from syncd.model.wording import format_first

FREE_DELETIONS = 10
"""Deletions that any run may do unasked."""
FREE_SHARE = 0.05
"""Share of what exists that a run may delete unasked, where that is more than FREE_DELETIONS."""
FREE_OPENINGS = 10
"""Change requests that a run may open unasked for branches that nobody named."""

_NAMES_SHOWN = 5
_OPTION = "--force {}={}"
_CHECK_DIRECTORY = "look whether the space is bound to the right directory"

Force = Mapping[str, int]
"""Scope to the exact number of things that a person approved with `--force scope=number`."""


def guard_deletions(
    scope: str, deleted: Sequence[str], existing: int, *, remain: int, force: Force, absent: str = ""
) -> None:
    """Refuse a plan that would delete too many of `existing` items; `remain` is how many are left.

    Shape: `absent` says what the side that became empty lacks as a whole, such as its directory; then whatever would
    remain comes from the other side alone.

    Raises: BecameEmpty when nothing would remain, or with `absent`; TooMuch above max(10, 5 %). Neither is raised when
    `force` has the exact number.
    Source: syncd/manual/explanation/guards.md.
    """
    count = len(deleted)
    if not count or force.get(scope) == count:
        return
    if not remain or absent:
        number = count if remain else f"all {count}"
        what = f"{scope}: {number} would be deleted; {absent or 'one side is suddenly empty'}"
        hint = f"{_CHECK_DIRECTORY}; {_force_hint(scope, count)}" if absent else _force_hint(scope, count)
        raise BecameEmpty(what, hint=hint)
    limit = max(FREE_DELETIONS, int(existing * FREE_SHARE))
    if count > limit:
        what = f"{scope}: {count} of {existing} would be deleted, over {limit} ({format_first(deleted, _NAMES_SHOWN)})"
        raise TooMuch(what, hint=_force_hint(scope, count))


def guard_openings(scope: str, branches: Sequence[str], *, force: Force) -> None:
    """Refuse to open change requests for too many branches that only match a pattern.

    Raises: TooMuch above 10, unless forced with the exact number.
    """
    count = len(branches)
    if count > FREE_OPENINGS and force.get(scope) != count:
        what = f"{scope}: {count} branches would each get a change request ({format_first(branches, _NAMES_SHOWN)})"
        raise TooMuch(what, hint=f"narrow the pattern in branches; {_force_hint(scope, count)}")


def guard_restored(scope: str, revision: str, last: str, *, force: Force) -> None:
    """Refuse to mirror a space that went back to a revision from before the last one in Git.

    Raises: WentBack, unless forced with 1: only a person knows which side is right.
    """
    if force.get(scope) != 1:
        what = f"{scope}: the space went back to revision {revision}, from before {last}, as after a restored backup"
        hint = f"if the platform is right: {_OPTION.format(scope, 1)}; to keep what Git has: undo that commit then"
        raise WentBack(what, hint=hint)


def _force_hint(scope: str, count: int) -> str:
    return f"if that is intended: {_OPTION.format(scope, count)}"
