"""The two guards that hold every flow: became empty, and too much to delete."""

from collections.abc import Mapping, Sequence

from syncd.errors import BecameEmpty, TooMuch

FREE_DELETIONS = 10
"""Deletions that any run may do unasked."""
FREE_SHARE = 0.05
"""Share of what exists that a run may delete unasked, where that is more than FREE_DELETIONS."""

Force = Mapping[str, int]
"""Scope to the exact number of deletions that a person approved with `--force scope=number`."""


def guard_deletions(scope: str, deleted: Sequence[str], existing: int, *, remain: int, force: Force) -> None:
    """Given what a plan would delete of `existing` things, return when a run may do so.

    Raises: BecameEmpty when nothing would remain; TooMuch above max(10, 5 %); both unless forced with the exact number.
    Source: house, section 6, "Guards".
    """
    count = len(deleted)
    if not count or force.get(scope) == count:
        return
    way_out = f"if that is intended: --force {scope}={count}"
    if not remain:
        raise BecameEmpty(f"{scope}: all {count} would be deleted; one side is suddenly empty", hint=way_out)
    if count > max(FREE_DELETIONS, int(existing * FREE_SHARE)):
        some = ", ".join(deleted[:5]) + (", …" if count > 5 else "")
        raise TooMuch(f"{scope}: {count} of {existing} would be deleted ({some})", hint=way_out)
