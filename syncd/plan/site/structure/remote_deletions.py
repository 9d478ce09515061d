"""What somebody deleted on the platform although the file declares it: left alone, made anew, or a person's to decide.

It is known by the lock, which has an id of it that is not there any more. What goes with a section goes unmentioned.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import AREA, ROOT, Ref
from syncd.plan.site import resolve
from syncd.plan.site.lines import CHOOSE, DELETED
from syncd.plan.site.live_state import IdOf, LockEntry
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import FieldChange, Line, RemoteDeletion
from syncd.plan.site.structure.decisions import PARTS, RemoteDeletions


def find_remote_deletions(sides: Sides) -> RemoteDeletions:
    """Return which declared parts of the structure were deleted on the platform, and which of them are not created
    again.
    """
    lost: dict[Ref, RemoteDeletion] = {}
    left: set[Ref] = set()
    declared = [item for kind in PARTS for item in sides.desired.of(kind)]
    for item in declared:
        is_part = item.kind == "variant" and item.parent in lost
        if item.ref not in sides.matches.lost_refs:
            continue
        if is_part:
            lost[item.ref], is_left = lost[item.parent], item.parent in left
        elif item.kind != "variant" or item.parent == ROOT or item.parent in sides.matches.found:
            lost[item.ref], is_left = judge_deletion(sides, item, is_changed=_is_changed(sides, item))
        else:
            continue
        left |= {item.ref} if is_left else set()
    return RemoteDeletions(lost, frozenset(left))


def judge_deletion(sides: Sides, item: Item, *, is_changed: bool) -> tuple[RemoteDeletion, bool]:
    """Return whether the file changed an item since it was deleted, and whether the item is left deleted."""
    judge = sides.judge(AREA[item.kind])
    is_back = judge.prefer == "file" or (not judge.prefer and not is_changed and judge.on_drift == "revert")
    return "conflict" if is_changed else "drift", not is_back


def is_away(sides: Sides, remote: RemoteDeletions, ref: Ref, former: Any) -> bool:
    """Return whether an item was deleted under the id that the lock has of it somewhere, and is left deleted."""
    entry = find_lost_entry(sides, ref)
    return ref in remote.left and entry is not None and former == entry.id


def find_lost_entry(sides: Sides, ref: Ref) -> LockEntry | None:
    """Return what the lock has of an item that was deleted, or None."""
    known = sides.matches.lost_refs.get(ref)
    return None if known is None else sides.base.items[known]


def has_changed(
    sides: Sides, desired: Mapping[str, Any], base: Mapping[str, Any], deleted: Container[str] = frozenset()
) -> bool:
    """Return whether the file declares other values than the lock has.

    Shape: `deleted` are the ids of what this plan deletes. An id of that, or of what is gone, is as good as any other.
    """
    return any(
        not _is_alike(sides, deleted, value, base.get(name)) for name, value in desired.items() if name != "parent"
    )


def describe_remote_deletions(sides: Sides, remote: RemoteDeletions) -> Iterator[Line]:
    """Yield a line for each item that is left deleted and was not deleted with another one."""
    for ref, of in remote.lost.items():
        item = sides.desired.items[ref]
        is_part = item.kind == "variant" and item.parent in remote.lost
        if ref not in remote.left or is_part or not sides.is_covered(ref):
            continue
        # Only for its name: a source is as people wrote it, a key is not.
        source = (FieldChange("source", None, item.fields["source"]),) if "source" in item.fields else ()
        if of == "conflict" and not sides.options.prefer:
            note = f"{DELETED}, and the file changed it"
            yield Line("blocked", ref, source, note, sides.locate(ref), CHOOSE, of)
        else:
            yield Line("report", ref, source, _explain(sides, item, of), sides.locate(ref), gone=of)


def _explain(sides: Sides, item: Item, of: RemoteDeletion) -> str:
    if of == "conflict":
        return f"{DELETED}, and the file changed it; left as it is"
    if sides.options.prefer == "live":
        return f"{DELETED}, left as it is"
    return f"{DELETED}, left as it is: on_drift is {sides.desired.policy.drift(AREA[item.kind])}"


def _is_changed(sides: Sides, item: Item) -> bool:
    entry = find_lost_entry(sides, item.ref)
    if entry is None or has_changed(sides, resolve.resolve_part(sides, item), entry.applied):
        return True
    return item.kind == "section" and any(_is_changed(sides, one) for one in sides.children.get(item.ref, ()))


def _is_alike(sides: Sides, deleted: Container[str], desired: Any, base: Any) -> bool:
    if isinstance(desired, Mapping) and isinstance(base, Mapping):
        return all(_is_alike(sides, deleted, value, base.get(name)) for name, value in desired.items())
    items = sides.existing.items
    if isinstance(desired, IdOf) or (isinstance(desired, str) and desired in items):
        return isinstance(base, str) and (base == desired or base not in items or base in deleted)
    return bool((desired or None) == (base or None))
