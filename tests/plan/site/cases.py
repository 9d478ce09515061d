"""Small sites for examples: a file from a few lines, and the platform and the lock that it leaves when carried out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syncd.layout.site.read.declared import Item, Place, SiteFile, SitePolicy
from syncd.model.redirect import make_source_key
from syncd.model.ref import AREAS, ROOT, Kind, Ref
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import Capabilities, ExistingItem, LiveSite, SiteLock
from syncd.plan.site.options import Options
from syncd.plan.site.steps import Line, SitePlan
from tests.plan.site.simulator import Simulator

SITE = "site_1"
SPACES = ("sp_home", "sp_api", "sp_v1", "sp_partners")
HOLDING = "sp_holding"
KINDS = frozenset({"site-section", "site-space", "site-page", "external"})
GATE = "visitor.claims.partner == true"


def section(key: str, parent: Ref = ROOT, was: tuple[str, ...] = (), **fields: Any) -> Item:
    given = {"title": key.capitalize() * 2, "path": key} | fields
    return Item("section", key, given, Place("site.yaml"), parent=parent, was=was)


def variant(key: str, space: str, was: tuple[str, ...] = (), **fields: Any) -> Item:
    above, _, own = key.rpartition("/")
    given = {"space": space, "path": own} | fields
    return Item("variant", key, given, Place("site.yaml"), parent=Ref.of("section", above) if above else ROOT, was=was)


HOME = (section("home", default=True), variant("home/en", "sp_home", default=True))


def group(key: str, parent: Ref = ROOT, **fields: Any) -> Item:
    return Item("group", key, {"title": key.capitalize()} | fields, Place("site.yaml"), parent=parent)


def redirect(source: str, **to: Any) -> Item:
    return Item("redirect", make_source_key(source), {"source": source, "to": to}, Place("site.yaml"))


def single(kind: Kind, key: str = "", **fields: Any) -> Item:
    return Item(kind, key, {name.replace("__", "."): value for name, value in fields.items()}, Place("site.yaml"))


def site_file(*items: Item, **more: Any) -> SiteFile:
    """Given items, return a file with these, in the order in which they are named."""
    placed = {item.ref: replace(item, place=Place("site.yaml", line, 5)) for line, item in enumerate(items, 1)}
    orders: dict[Ref, tuple[Ref, ...]] = {}
    for item in placed.values():
        if item.kind in ("group", "section", "variant"):
            orders[item.parent] = (*orders.get(item.parent, ()), item.ref)
    given: dict[str, Any] = {"orders": orders, "managed": frozenset(AREAS), "holding": HOLDING} | more
    spaces = {space.removeprefix("sp_"): space for space in (*SPACES, HOLDING)}
    return SiteFile("site.yaml", "org_1", SITE, items=placed, spaces=spaces, **given)


def empty(**more: Any) -> LiveSite:
    """Return a site with nothing on it, on a server that has only what the document shows, and all redirects."""
    return LiveSite(
        site={"title": "Docs", "visibility": "public", "adaptive_content": False},
        customization={"styling": {"theme": "clean"}, "pdf": {"enabled": True}},
        pages={space: {"start": f"{space}_p1", "guide": f"{space}_p2"} for space in SPACES},
        page_ids={space: frozenset({f"{space}_p1", f"{space}_p2"}) for space in SPACES},
        spaces=dict.fromkeys((*SPACES, HOLDING), ""),
        abilities=Capabilities(kinds=KINDS),
        **more,
    )


def carried_out(file: SiteFile, live: LiveSite | None = None) -> tuple[LiveSite, SiteLock]:
    """Given a file, return the platform and the lock once it has been carried out."""
    simulator = Simulator(live or empty(), SiteLock(SITE), file)
    simulator.run_all(plan_site(file, simulator.live(), simulator.lock))
    return simulator.live(), simulator.lock


def edited(live: LiveSite, thing: str, **fields: Any) -> LiveSite:
    """Given what a thing is called on the platform (a path, title or source), return it as somebody changed it."""
    found = find_item(live, thing)
    return replace(live, items={**live.items, found.id: replace(found, fields={**found.fields, **fields})})


def find_item(live: LiveSite, thing: str) -> ExistingItem:
    return next(
        one
        for one in live.items.values()
        if thing in (one.fields.get("source"), one.fields.get("path"), one.fields.get("title"))
    )


def lines(plan: SitePlan, *actions: str) -> dict[str, Line]:
    """Given a plan, return its lines with these actions, or all, by the ref that each is about."""
    return {line.ref: line for line in plan.lines if not actions or line.action in actions}


def calls(plan: SitePlan) -> list[tuple[str, str]]:
    return [(step.call, step.ref) for step in plan.steps if step.call not in ("adopt", "forget")]


def bodies(plan: SitePlan, ref: str) -> list[Mapping[str, Any]]:
    return [step.body for step in plan.steps if step.ref == ref and step.call not in ("adopt", "forget")]


def policy(**given: Any) -> SitePolicy:
    return SitePolicy(**given)


def planned(file: SiteFile, live: LiveSite, lock: SiteLock, **options: Any) -> SitePlan:
    return plan_site(file, live, lock, Options(**options))
