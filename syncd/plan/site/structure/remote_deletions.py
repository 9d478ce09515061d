"""What somebody deleted on the platform although the file declares it: left alone, made anew, or a person's to decide.

It is told by the lock, which has an id of it that is not there any more. What goes with a section is not told apart.
"""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import AREA, ROOT, Ref
from syncd.plan.site import resolve
from syncd.plan.site.context import Case
from syncd.plan.site.live_state import Entry, IdOf
from syncd.plan.site.steps import FieldChange, Line, Lost

DELETED = "was deleted outside syncd"
CHOOSE = "choose with --prefer file or --prefer live"


def find(case: Case) -> None:
    """Given a case, find which declared parts were deleted, and which of them stay away."""
    for kind in ("group", "section", "variant"):
        for item in case.file.of(kind):
            if item.ref not in case.matches.lost:
                continue
            if item.parent in case.lost and kind == "variant":
                case.lost[item.ref] = case.lost[item.parent]
                case.left |= {item.ref} if item.parent in case.left else set()
            elif kind != "variant" or item.parent == ROOT or item.parent in case.matches.found:
                lose(case, item, changed=_is_changed(case, item))


def lose(case: Case, item: Item, *, changed: bool) -> None:
    """Given something that was deleted, and whether the file changed it since, decide what becomes of it."""
    case.lost[item.ref] = "conflict" if changed else "drift"
    judge = case.judge(AREA[item.kind])
    is_back = judge.prefer == "file" or (not judge.prefer and not changed and judge.on_drift == "revert")
    if not is_back:
        case.left.add(item.ref)


def is_away(case: Case, ref: Ref, former: Any) -> bool:
    """Given a ref and the id that the lock has of it somewhere, return whether just that was deleted and stays away."""
    entry = entry_of(case, ref)
    return ref in case.left and entry is not None and former == entry.id


def entry_of(case: Case, ref: Ref) -> Entry | None:
    """Given a ref, return what the lock has of it when it was deleted."""
    known = case.matches.lost.get(ref)
    return None if known is None else case.lock.items[known]


def differs(case: Case, wanted: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Given what the file declares and what the lock has, return whether the file changed.

    An id of something that is gone, too, or goes with this plan, is as good as any other.
    """
    return any(not _alike(case, value, base.get(name)) for name, value in wanted.items() if name != "parent")


def tell(case: Case) -> None:
    """Given a case, take down what stays away, one line for each thing that did not go with another."""
    for ref, of in case.lost.items():
        item = case.file.items[ref]
        is_part = item.kind == "variant" and item.parent in case.lost
        if ref not in case.left or is_part or not case.covers(ref):
            continue
        # Only for its name: a source is as people wrote it, a key is not.
        source = (FieldChange("source", None, item.fields["source"]),) if "source" in item.fields else ()
        if of == "conflict" and not case.options.prefer:
            note = f"{DELETED}, and the file changed it"
            case.lines.append(Line("blocked", ref, source, note, case.where(ref), CHOOSE, of))
        else:
            case.lines.append(Line("report", ref, source, _why(case, item, of), case.where(ref), gone=of))


def _why(case: Case, item: Item, of: Lost) -> str:
    area = AREA[item.kind]
    if of == "conflict":
        return f"{DELETED}, and the file changed it; left as it is"
    if case.options.prefer == "live":
        return f"{DELETED}, left as it is"
    return f"{DELETED}, left as it is: on_drift is {case.file.policy.drift(area)}"


def _is_changed(case: Case, item: Item) -> bool:
    entry = entry_of(case, item.ref)
    if entry is None or differs(case, resolve.structure(case, item), entry.applied):
        return True
    return item.kind == "section" and any(_is_changed(case, one) for one in case.below.get(item.ref, ()))


def _alike(case: Case, wanted: Any, base: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(base, Mapping):
        return all(_alike(case, value, base.get(name)) for name, value in wanted.items())
    if isinstance(wanted, IdOf) or (isinstance(wanted, str) and wanted in case.live.things):
        return isinstance(base, str) and (base == wanted or base not in case.live.things or base in case.doomed)
    return bool((wanted or None) == (base or None))
