"""Sites that never were: a file, a platform and a lock from one number, small enough that everything collides."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.site.read.declared import Item, Place, SiteFile, SitePolicy
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, VISITORS, Area, Kind, Ref
from syncd.plan.site.live_state import Capabilities, ExistingItem, LiveSite, LockEntry, SiteLock

SITE, ORGANIZATION, HOLDING = "site_1", "org_1", "space_holding"
SPACES = tuple(f"space_{number}" for number in range(6))
PATHS = ("alpha", "beta", "gamma", "delta", "Alpha", "epsilon")
CONDITIONS = ("visitor.claims.partner == true", "visitor.claims.unsigned.beta == true")
SOURCES = ("/alpha", "/Alpha", "/old", "/old/b", "/beta/en", "/status", "/x")
CLAIMS = ("claims.partner", "unsigned.beta", "claims.staff")
KINDS = frozenset({"site-section", "site-space", "site-page", "external"})
AREAS: tuple[Area, ...] = ("settings", "visitors", "structure", "redirects", "customization")
PAGES = {space: {"start": f"{space}_p1", "guide/first": f"{space}_p2"} for space in SPACES}


@dataclass(frozen=True)
class World:
    """One case: what the file declares, what the platform has, what the lock knows."""

    file: SiteFile
    live: LiveSite
    lock: SiteLock


def world(seed: int) -> World:
    """Given a number, return a world: a file that was carried out once, edits by hand, and the next file."""
    dice = random.Random(seed)
    former = site_file(dice)
    following = changed(dice, former) if dice.random() < 0.6 else site_file(dice)
    live, ids = built(dice, former)
    lock = _locked(dice, former, live, ids)
    live = _meddled(dice, live)
    other = random.Random(~seed)  # so that what came later leaves the worlds before as they were
    following = replace(following, policy=replace(following.policy, allow_new_spaces=other.random() < 0.5))
    following = replace(following, items=_renamed(other, following, live, lock))
    return World(following, replace(live, published=other.random() < 0.8), lock)


def confused(seed: int) -> World:
    """Given a number, return a world whose lock somebody merged by hand: some ids in it are those of other things."""
    case, dice = world(seed), random.Random(seed)
    items = dict(case.lock.items)
    for ref in [ref for ref in items if dice.random() < 0.3]:
        ids = [thing.id for thing in case.live.of(ref.kind)]
        if ids:
            items[ref] = replace(items[ref], id=dice.choice(ids))
    return replace(case, lock=replace(case.lock, items=items))


def _renamed(dice: random.Random, file: SiteFile, live: LiveSite, lock: SiteLock) -> dict[Ref, Item]:
    """Redirects that are said to be others, by a former source or by an id, so that sources are wanted and left."""
    items = dict(file.items)
    former = [ref.key for ref in lock.items if ref.kind == "redirect" and ref not in items]
    there = [thing.id for thing in live.of("redirect")]
    dice.shuffle(there)
    for item in file.of("redirect"):
        number = dice.random()
        if former and number < 0.15:
            items[item.ref] = replace(item, was=(former.pop(),))
        elif there and 0.15 < number < 0.25 and item.ref not in lock.items:
            items[item.ref] = replace(item, id=there.pop())
    return items


def site_file(dice: random.Random) -> SiteFile:
    """Given dice, return a file that has nothing against any offline rule."""
    items: dict[Ref, Item] = {}
    if dice.random() < 0.15:
        _variants(dice, ROOT, items)
    elif dice.random() < 0.9:
        _sections(dice, items)
    for item in (*_redirects(dice, items), *_singles(dice, items)):
        items.setdefault(item.ref, item)
    return _file(dice, items)


def changed(dice: random.Random, file: SiteFile) -> SiteFile:
    """Given a file, return it with some of its things changed, renamed, moved, taken out and added."""
    other = site_file(dice)
    items: dict[Ref, Item] = {}
    for ref, item in file.items.items():
        if dice.random() < 0.85:
            items[ref] = item
    if any(ref.kind == "section" for ref in items) == any(ref.kind == "section" for ref in other.items):
        for ref, item in other.items.items():
            if dice.random() < 0.3:
                items[ref] = item
    return _file(dice, _sound(dice, items))


def built(dice: random.Random, file: SiteFile) -> tuple[LiveSite, dict[Ref, str]]:
    """Given a file, return the platform just as it declares it, and the ids of what is there, by ref."""
    ids = {
        item.ref: f"{item.kind[0]}{number}_{item.kind}"
        for number, item in enumerate(file.of("group", "section", "variant", "redirect"))
    }
    things: dict[str, ExistingItem] = {}
    for item in file.of("group", "section", "variant"):
        things[ids[item.ref]] = ExistingItem(item.kind, ids[item.ref], _live_fields(item), ids.get(item.parent, ROOT))
    for item in file.of("redirect"):
        destination = destination_of(item.fields["to"], ids, file)
        if destination is not None:
            fields = {"source": item.fields["source"], "destination": destination}
            things[ids[item.ref]] = ExistingItem("redirect", ids[item.ref], fields)
    lists: dict[Ref, list[Ref]] = {}
    for ref in (ref for refs in file.orders.values() for ref in refs):
        lists.setdefault(file.items[ref].parent, []).append(ref)
    for item in file.of("group", "section", "variant"):
        if item.ref not in lists.get(item.parent, ()):
            lists.setdefault(item.parent, []).append(item.ref)
    orders = {ids.get(parent, ROOT): tuple(ids[ref] for ref in refs) for parent, refs in lists.items()}
    site = {"title": "Docs", "visibility": "public", "adaptive_content": False, "agents_context": "excluded"}
    live = LiveSite(
        site=site | _fields(file, Ref("site:")),
        items=things,
        orders=orders,
        schema=_schema(_fields(file, VISITORS)),
        customization={"styling": {"theme": "clean"}, "pdf": {"enabled": True}, "kept": {"unknown": 1}},
        pages=PAGES,
        page_ids={space: frozenset(pages.values()) for space, pages in PAGES.items()},
        spaces=dict.fromkeys((*SPACES, HOLDING), ""),
        abilities=Capabilities(sort=dice.random() < 0.5, reparent=dice.random() < 0.5, kinds=KINDS),
    )
    overrides = {id: live.customization for id, thing in things.items() if thing.kind == "variant"}
    return replace(live, overrides=overrides), ids


def destination_of(to: Mapping[str, Any], ids: Mapping[Ref, str], file: SiteFile) -> dict[str, Any] | None:
    """Given a destination in the file's words and the ids of what is there, return it in the API's terms."""
    match to:
        case {"section": key} if Ref(f"section:{key}") in ids:
            return {"kind": "site-section", "siteSectionId": ids[Ref(f"section:{key}")]}
        case {"variant": key} if Ref(f"variant:{key}") in ids:
            return {"kind": "site-space", "siteSpaceId": ids[Ref(f"variant:{key}")]}
        case {"page": path, "in": key} if Ref(f"variant:{key}") in ids:
            space = file.items[Ref(f"variant:{key}")].fields["space"]
            return {"kind": "site-page", "siteSpaceId": ids[Ref(f"variant:{key}")], "pageId": PAGES[space][path]}
        case {"url": url}:
            return {"kind": "external", "url": url}
    return None


def _sections(dice: random.Random, items: dict[Ref, Item]) -> None:
    groups = [ROOT]
    for key in _some(dice, ("g1", "g2", "g3"), 0, 3):
        parent = dice.choice(groups) if dice.random() < 0.4 else ROOT
        title = dice.choice(("Guides", "Products", "More"))
        items[Ref(f"group:{key}")] = _item(
            "group", key, {"title": title, "icon": dice.choice(("gear", "code"))}, parent
        )
        groups.append(Ref(f"group:{key}"))
    keys = _some(dice, ("a", "b", "c", "d"), 1, 4)
    default = dice.choice(keys)
    paths = _paths(dice, len(keys))
    for key, path in zip(keys, paths, strict=True):
        fields: dict[str, Any] = {"title": dice.choice(("One page", "Two pages", "Three")), "path": path}
        if dice.random() < 0.4:
            fields["description"] = dice.choice((None, "Words", "More words"))
        if dice.random() < 0.5:
            fields["condition"] = dice.choice((None, *CONDITIONS))
        if key == default:
            fields["default"] = True
        was = (dice.choice(PATHS),) if dice.random() < 0.15 else ()
        items[Ref(f"section:{key}")] = _item("section", key, fields, dice.choice(groups), was=was)
        _variants(dice, Ref(f"section:{key}"), items)


def _variants(dice: random.Random, parent: Ref, items: dict[Ref, Item]) -> None:
    keys = _some(dice, ("en", "fr", "v2"), 1, 3)
    default = dice.choice(keys)
    spaces = dice.sample(SPACES, len(keys))
    for key, path, space in zip(keys, _paths(dice, len(keys)), spaces, strict=True):
        fields: dict[str, Any] = {"space": space, "path": path}
        if dice.random() < 0.3:
            fields["condition"] = dice.choice((None, *CONDITIONS))
        if dice.random() < 0.3:
            fields["hidden"] = dice.random() < 0.5
        if key == default:
            fields["default"] = True
        whole = key if parent == ROOT else f"{parent.partition(':')[2]}/{key}"
        items[Ref(f"variant:{whole}")] = _item("variant", whole, fields, parent)


def _redirects(dice: random.Random, items: Mapping[Ref, Item]) -> Iterator[Item]:
    for source in _some(dice, SOURCES, 0, 5):
        yield _item("redirect", make_source_key(source), {"source": source, "to": _to(dice, items)}, ROOT)


def _to(dice: random.Random, items: Mapping[Ref, Item]) -> dict[str, Any]:
    sections = [item.key for item in items.values() if item.kind == "section"]
    variants = [item.key for item in items.values() if item.kind == "variant"]
    number = dice.random()
    if sections and number < 0.4:
        return {"section": dice.choice(sections)}
    if variants and number < 0.6:
        return {"variant": dice.choice(variants)}
    if variants and number < 0.8:
        return {"page": dice.choice(("start", "guide/first")), "in": dice.choice(variants)}
    return {"url": dice.choice(("https://example.com/a", "https://example.com/b"))}


def _singles(dice: random.Random, items: Mapping[Ref, Item]) -> Iterator[Item]:
    if dice.random() < 0.6:
        visibility = dice.choice(("public", "unlisted", "share-link", "visitor-auth"))
        title, adaptive = dice.choice(("Docs", "Our docs")), dice.random() < 0.5
        fields = {"title": title, "visibility": visibility, "adaptive_content": adaptive}
        yield _item("site", "", dict(dice.sample(sorted(fields.items()), dice.randint(1, 3))), ROOT)
    if dice.random() < 0.6:
        claims = _some(dice, CLAIMS, 0, 3)
        yield _item(
            "visitors", "", {name: {"type": "boolean", "description": dice.choice("xy")} for name in claims}, ROOT
        )
    if dice.random() < 0.6:
        leaves = {"styling.theme": dice.choice(("clean", "bold")), "pdf.enabled": dice.random() < 0.5}
        yield _item("customization", "", dict(dice.sample(sorted(leaves.items()), dice.randint(1, 2))), ROOT)
        for variant in [item for item in items.values() if item.kind == "variant" and dice.random() < 0.3]:
            own: dict[str, Any] = {"styling.theme": dice.choice(("clean", "bold", None)), "pdf.enabled": True}
            fields = {"reset": True} if dice.random() < 0.2 else own
            yield _item("override", variant.key, fields, ROOT)


def _file(dice: random.Random, items: Mapping[Ref, Item]) -> SiteFile:
    orders: dict[Ref, list[Ref]] = {ROOT: []}
    for item in items.values():
        if item.kind in ("group", "section"):
            orders.setdefault(item.ref, [])
        if item.kind in ("group", "section", "variant"):
            orders.setdefault(item.parent, []).append(item.ref)
    for refs in orders.values():
        dice.shuffle(refs)
    ordered = {
        ref: replace(item, place=Place("site.yaml", line), places={})
        for line, (ref, item) in enumerate(_preorder(items, orders), 1)
    }
    return SiteFile(
        path="site.yaml",
        organization=ORGANIZATION,
        site=SITE,
        items=ordered,
        orders={ref: tuple(refs) for ref, refs in orders.items() if dice.random() < 0.9},
        managed=frozenset(area for area in AREAS if dice.random() < 0.95),
        policy=_policy(dice),
        spaces={space.replace("_", "-"): space for space in (*SPACES, HOLDING)},
        holding=HOLDING if dice.random() < 0.75 else "",
        absent={source: Place("site.yaml", 900) for source in SOURCES if dice.random() < 0.1},
    )


def _policy(dice: random.Random) -> SitePolicy:
    on_drift: dict[Area, Any] = {area: dice.choice(("report", "revert", "accept")) for area in AREAS}
    prune: dict[Area, Any] = {
        area: dice.choice(("never", "owned", "owned", "all")) for area in ("structure", "redirects")
    }
    return SitePolicy(on_drift=on_drift, prune=prune, require_bridge=dice.random() < 0.1)


def _preorder(items: Mapping[Ref, Item], orders: Mapping[Ref, Sequence[Ref]]) -> Iterator[tuple[Ref, Item]]:
    left = list(reversed(orders[ROOT]))
    while left:
        ref = left.pop()
        yield ref, items[ref]
        left += reversed(orders.get(ref, ()))
    for ref, item in items.items():
        if item.kind not in ("group", "section", "variant"):
            yield ref, item


def _sound(dice: random.Random, items: Mapping[Ref, Item]) -> dict[Ref, Item]:
    """Mend what taking things from two files has broken: parents, paths, defaults, variants."""
    kept: dict[Ref, Item] = {}
    sections = [item for item in items.values() if item.kind == "section"]
    for item in items.values():
        if item.kind == "group":
            is_fine = item.parent in items and item.parent in kept
            kept[item.ref] = item if is_fine else replace(item, parent=ROOT)
    for item in sections:
        parent = item.parent if item.parent in kept else ROOT
        taken = {one.fields["path"].casefold() for one in kept.values() if one.kind == "section"}
        if item.fields["path"].casefold() not in taken:
            kept[item.ref] = replace(item, parent=parent)
    for item in items.values():
        if item.kind != "variant" or (item.parent not in kept and (item.parent != ROOT or sections)):
            continue
        beside = [one for one in kept.values() if one.kind == "variant" and one.parent == item.parent]
        is_like = [one for one in beside if one.fields["path"].casefold() == item.fields["path"].casefold()]
        if not is_like and item.fields["space"] not in [one.fields["space"] for one in beside]:
            kept[item.ref] = item
    for item in [one for one in kept.values() if one.kind == "section"]:
        if not any(one.parent == item.ref for one in kept.values()):
            _variants(dice, item.ref, kept)
    _one_default(kept, [item for item in kept.values() if item.kind == "section"])
    for parent in {item.parent for item in kept.values() if item.kind == "variant"}:
        _one_default(kept, [item for item in kept.values() if item.kind == "variant" and item.parent == parent])
    rest = {ref: item for ref, item in items.items() if item.kind not in ("group", "section", "variant")}
    return kept | {ref: item for ref, item in rest.items() if _is_whole(item, kept)}


def _is_whole(item: Item, kept: Mapping[Ref, Item]) -> bool:
    if item.kind == "override":
        return Ref(f"variant:{item.key}") in kept
    to = item.fields.get("to", {})
    refs = [Ref(f"section:{to['section']}")] if "section" in to else []
    refs += [Ref(f"variant:{to[name]}") for name in ("variant", "in") if name in to]
    return all(ref in kept for ref in refs)


def _one_default(kept: dict[Ref, Item], items: Sequence[Item]) -> None:
    chosen = [item for item in items if item.fields.get("default")] or list(items)
    for item in items:
        fields = {name: value for name, value in item.fields.items() if name != "default"}
        kept[item.ref] = replace(item, fields=fields | ({"default": True} if item is chosen[0] else {}))


def _locked(dice: random.Random, file: SiteFile, live: LiveSite, ids: Mapping[Ref, str]) -> SiteLock:
    items: dict[Ref, LockEntry] = {}
    if dice.random() < 0.1:
        return SiteLock(SITE)
    for item in file.items.values():
        id = ids.get(item.ref, SITE if item.kind != "override" else ids.get(Ref(f"variant:{item.key}"), ""))
        if dice.random() < 0.1 or (item.ref in ids and id not in live.items):
            continue
        applied = dict(item.fields) if item.kind not in ("redirect",) else dict(live.items[id].fields)
        if item.kind in ("group", "section", "variant"):
            applied["parent"] = live.items[id].parent
        if item.kind == "redirect" and "page" in item.fields["to"]:
            applied["to"] = dict(item.fields["to"])
        items[item.ref] = LockEntry(id, dice.choice(("created", "adopted")), applied)
    for ref, entry in list(items.items()):
        if entry.id in live.orders and dice.random() < 0.8:
            items[ref] = replace(entry, applied={**entry.applied, "order": list(live.orders[entry.id])})
    if dice.random() < 0.5:
        root = items.get(Ref("site:"), LockEntry(SITE, "adopted"))
        items[Ref("site:")] = replace(root, applied={**root.applied, "order": list(live.orders.get(ROOT, ()))})
    if dice.random() < 0.2:
        items[Ref("section:gone")] = LockEntry("s99_section", "created", {"title": "Gone", "path": "gone"})
    return SiteLock(SITE, "3f0c", 7, items)


def _meddled(dice: random.Random, live: LiveSite) -> LiveSite:
    """The platform after people were there: values changed, things deleted and added, lists reordered."""
    things = dict(live.items)
    orders = {id: list(children) for id, children in live.orders.items()}
    if dice.random() < 0.4:
        return live
    for thing in list(things.values()):
        number = dice.random()
        if number < 0.08 and thing.kind == "redirect":
            del things[thing.id]
        elif number < 0.25:
            things[thing.id] = _edited(dice, thing, things)
    for number, source in enumerate(_some(dice, SOURCES, 0, 2)):
        taken = {make_source_key(one.fields["source"]) for one in things.values() if one.kind == "redirect"}
        if make_source_key(source) not in taken:
            fields = {"source": source, "destination": {"kind": "external", "url": "https://example.com/hand"}}
            things[f"rh{number}"] = ExistingItem("redirect", f"rh{number}", fields)
    if any(thing.kind == "section" for thing in things.values()) and dice.random() < 0.4:
        path = _free(dice, things, ROOT, "section")
        if path:
            section: dict[str, Any] = {"title": dice.choice(("One page", "By hand")), "path": path, "condition": None}
            things["sh"] = ExistingItem("section", "sh", section)
            things["vh"] = ExistingItem(
                "variant", "vh", {"space": dice.choice(SPACES), "path": "en", "default": True}, "sh"
            )
            orders.setdefault(ROOT, []).append("sh")
            orders["sh"] = ["vh"]
    for children in orders.values():
        if dice.random() < 0.3:
            dice.shuffle(children)
    if dice.random() < 0.3:
        for thing in [one for one in things.values() if dice.random() < 0.2]:
            taken_away(things, orders, thing)
    kept = {id: tuple(children) for id, children in orders.items()}
    site = dict(live.site) | ({"visibility": "unlisted"} if dice.random() < 0.2 else {})
    return replace(live, items=things, orders=kept, site=site)


def taken_away(things: dict[str, ExistingItem], orders: dict[str, list[str]], thing: ExistingItem) -> bool:
    """Given a platform and a thing, delete it with what it holds, unless no platform would; return whether it did."""
    beside = orders.get(thing.parent, [])
    if thing.id not in things or (thing.kind == "group" and orders.get(thing.id)):
        return False
    thing = things[thing.id]
    if thing.kind == "variant" and len(beside) == 1:
        return False
    for id in (thing.id, *orders.pop(thing.id, ())):
        del things[id]
    if thing.id in beside:
        beside.remove(thing.id)
    heirs = beside if thing.kind == "variant" else _sections_of(things, orders, ROOT)
    if thing.fields.get("default") and heirs:
        heir = things[heirs[0]]
        things[heir.id] = replace(heir, fields={**heir.fields, "default": True})
    return True


def _sections_of(things: Mapping[str, ExistingItem], orders: Mapping[str, Sequence[str]], parent: str) -> list[str]:
    found: list[str] = []
    for id in orders.get(parent, ()):
        found += [id] if things[id].kind == "section" else _sections_of(things, orders, id)
    return found


def _edited(dice: random.Random, thing: ExistingItem, things: Mapping[str, ExistingItem]) -> ExistingItem:
    fields = dict(thing.fields)
    if thing.kind == "redirect":
        fields["destination"] = {"kind": "external", "url": "https://example.com/edited"}
    elif thing.kind == "group" or (thing.kind == "section" and dice.random() < 0.5):
        fields["title"] = "Edited"
    elif dice.random() < 0.5:
        fields["condition"] = dice.choice((None, *CONDITIONS))
    elif path := _free(dice, things, thing.parent if thing.kind == "variant" else ROOT, thing.kind):
        fields["path"] = path
    return replace(thing, fields=fields)


def _free(dice: random.Random, things: Mapping[str, ExistingItem], parent: str, kind: Kind) -> str:
    beside = [one for one in things.values() if one.kind == kind and (kind == "section" or one.parent == parent)]
    taken = {str(one.fields["path"]).casefold() for one in beside}
    free = [path for path in PATHS if path.casefold() not in taken]
    return dice.choice(free) if free else ""


def _live_fields(item: Item) -> dict[str, Any]:
    names = {
        "group": ("title", "icon"),
        "section": ("title", "path", "icon", "description", "condition", "default"),
        "variant": ("space", "path", "condition", "hidden", "default"),
    }[item.kind]
    empty: dict[str, Any] = {"hidden": False, "default": False}
    return {name: item.fields.get(name, empty.get(name)) for name in names}


def _schema(claims: Mapping[str, Any]) -> dict[str, Any] | None:
    if not claims:
        return None
    signed = {name.partition(".")[2]: schema for name, schema in claims.items() if name.startswith("claims.")}
    unsigned = {name.partition(".")[2]: schema for name, schema in claims.items() if name.startswith("unsigned.")}
    inner = {"type": "object", "properties": unsigned, "additionalProperties": False}
    return {"type": "object", "properties": {**signed, "unsigned": inner}, "additionalProperties": False}


def _fields(file: SiteFile, ref: Ref) -> dict[str, Any]:
    return dict(file.items[ref].fields) if ref in file.items else {}


def _item(kind: Kind, key: str, fields: Mapping[str, Any], parent: Ref, *, was: tuple[str, ...] = ()) -> Item:
    return Item(kind, key, fields, Place("site.yaml"), parent=parent, was=was)


def _paths(dice: random.Random, count: int) -> list[str]:
    found: list[str] = []
    for path in dice.sample(PATHS, len(PATHS)):
        if path.casefold() not in {one.casefold() for one in found}:
            found.append(path)
    return found[:count]


def _some(dice: random.Random, values: Sequence[str], least: int, most: int) -> list[str]:
    return dice.sample(values, min(len(values), dice.randint(least, most)))
