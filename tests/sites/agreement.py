"""Compares a site with its file without asking the planner: what differs, in words."""

from collections.abc import Iterator
from typing import Any

from syncd.layout.site.read.customization import find_leaf
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.live_state import LiveSite, SiteLock


def differences(file: SiteFile, live: LiveSite, lock: SiteLock) -> Iterator[str]:
    """Given the three sides, return where the platform is not as the file says, or has what it does not say."""
    ids = {ref: entry.id for ref, entry in lock.items.items()}
    refs = {id: ref for ref, id in ids.items() if ref.kind in ("group", "section", "variant", "redirect")}
    for item in file.items.values():
        if item.kind in ("group", "section", "variant", "redirect"):
            thing = live.items.get(ids.get(item.ref, ""))
            if thing is None:
                yield f"{item.ref} is not there"
            elif item.kind != "redirect":
                yield from _unlike(item, {**thing.fields})
                if refs.get(thing.parent, ROOT) != item.parent:
                    yield f"{item.ref} stands in {refs.get(thing.parent, thing.parent)}"
            elif not _leads(item.fields["to"], thing.fields["destination"], ids):
                yield f"{item.ref} leads to {thing.fields['destination']}"
        elif item.kind == "override":
            shown = live.overrides.get(ids.get(Ref.of("variant", item.key), ""), {})
            yield from (f"{item.ref}.{n}" for n, value in item.fields.items() if find_leaf(shown, n) != value)
        elif item.kind == "customization":
            yield from (f"{item.ref}.{n}" for n, v in item.fields.items() if find_leaf(live.customization, n) != v)
        elif item.kind == "site":
            yield from _unlike(item, live.site)
    for id in live.items:
        if refs.get(id) not in file.items:
            yield f"{live.items[id].kind} {id} ({refs.get(id)}) is too many"
    for parent, children in file.orders.items():
        there = [refs.get(id, id) for id in live.orders.get(ids.get(parent, ""), ())]
        # How groups and sections interleave, the API document's operations do not show.
        kinds = [""] if live.abilities.sort else ["group:", "section:", "variant:"]
        for kind in kinds:
            one, other = ([ref for ref in refs_there if ref.startswith(kind)] for refs_there in (there, children))
            if one != other:
                yield f"in {parent or 'the root'} there are {one}, not {other}"


def _unlike(item: Item, there: Any) -> Iterator[str]:
    for name, value in item.fields.items():
        if (there.get(name) or None) != (value or None):
            yield f"{item.ref}.{name} is {there.get(name)!r}, not {value!r}"


def _leads(to: Any, destination: Any, ids: dict[Ref, str]) -> bool:
    if "section" in to:
        return bool(destination.get("siteSectionId") == ids.get(Ref.of("section", to["section"])))
    if "variant" in to:
        return bool(destination.get("siteSpaceId") == ids.get(Ref.of("variant", to["variant"])))
    return bool(destination.get("url") == to["url"])
