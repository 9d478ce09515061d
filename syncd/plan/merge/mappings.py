"""Merge what two sides made of a mapping of names to plain values."""

from collections.abc import Mapping

from syncd.model.page import Scalar


def merge_mappings(
    base: Mapping[str, Scalar], ours: Mapping[str, Scalar], theirs: Mapping[str, Scalar]
) -> dict[str, Scalar] | None:
    """Return a mapping with the changes of both sides; None where both changed one name differently.

    Shape: in the order of ours, with what theirs adds at the end.
    """
    merged: dict[str, Scalar] = {}
    for name in {**ours, **theirs}:
        former, one, other = (_spell(side.get(name)) for side in (base, ours, theirs))
        if former not in (one, other) and one != other:
            return None
        kept = theirs if one == former else ours
        if name in kept:
            merged[name] = kept[name]
    return merged


def _spell(value: Scalar | None) -> str:
    """A value with its type: true is not 1."""
    return repr(value)
