"""Whether the item under an id is still what the lock recorded: an id alone never says that something is syncd's."""

from collections.abc import Mapping
from typing import Any

from syncd.model.redirect import make_source_key
from syncd.model.ref import Ref
from syncd.plan.site.live_state import ExistingItem, LiveSite, LockEntry, SiteLock
from syncd.plan.site.structure.renames import is_temporary

_KINDS = ("group", "section", "variant", "redirect")


def is_recorded(ref: Ref, entry: LockEntry, existing: ExistingItem) -> bool:
    """Return whether an item is still what the lock's entry recorded under its id.

    Shape: a redirect has the source of its ref; anything else still has one of the values by which people know it,
    such as its path or its title, or a path that syncd gave it to make room. An entry without these values, as `syncd
    site adopt` makes it, is trusted.
    """
    kind, key = ref.kind, ref.key
    if kind != existing.kind:
        return False
    if kind == "redirect":
        return make_source_key(str(existing.fields.get("source"))) == make_source_key(key)
    known = _list_traits(kind, entry.applied, entry.applied.get("parent"))
    return (
        not known
        or is_temporary(str(existing.fields.get("path")))
        or bool(known & _list_traits(kind, existing.fields, existing.parent))
    )


def find_owners(lock: SiteLock, live: LiveSite) -> dict[str, Ref]:
    """Return the refs of the lock's groups, sections, variants and redirects by their ids.

    Shape: of refs that share an id, the first whose item is what was recorded, else the first.
    """
    found: dict[str, Ref] = {}
    for ref, entry in lock.items.items():
        if ref.kind not in _KINDS:
            continue
        first = found.setdefault(entry.id, ref)
        if first != ref and not _is_known(first, lock, live) and _is_known(ref, lock, live):
            found[entry.id] = ref
    return found


def _is_known(ref: Ref, lock: SiteLock, live: LiveSite) -> bool:
    existing = live.items.get(lock.items[ref].id)
    return existing is not None and is_recorded(ref, lock.items[ref], existing)


def _list_traits(kind: str, fields: Mapping[str, Any], parent: Any) -> set[tuple[Any, ...]]:
    """What people know an item by: paths of variants repeat from section to section, so they count with their place."""
    title, path, space = (fields.get(name) for name in ("title", "path", "space"))
    path = str(path).casefold() if path else None
    found: dict[str, set[tuple[Any, ...]]] = {
        "group": {("title", title)},
        "section": {("title", title), ("path", path)},
        "variant": {("space", space), ("path", path, parent)},
    }
    return {trait for trait in found.get(kind, ()) if None not in trait}
