"""Random site files: one is drawn, and the next is what a team might make of it."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from syncd.layout.site.read.declared import Item, Place, SiteFile, SitePolicy
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Area, Kind, Ref

GATE = "visitor.claims.partner == true"
OTHER_GATE = "visitor.claims.unsigned.beta == true"
ICONS = (None, "house", "code")
BOOLEAN = {"type": "boolean", "description": "A claim."}


@dataclass
class Section:
    """A declared section with its variants, each a mapping with its key."""

    key: str
    fields: dict[str, Any]
    variants: list[dict[str, Any]]


@dataclass
class Drawn:
    """A site file before it is one: `groups` are (key, title), `places` the keys in each place, in order."""

    spaces: Sequence[str]
    groups: dict[str, str] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=lambda: {ROOT: []})
    redirects: dict[str, dict[str, Any]] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=lambda: {"claims.partner": BOOLEAN, "unsigned.beta": BOOLEAN})
    settings: dict[str, Any] = field(default_factory=lambda: {"title": "Drawn"})
    styles: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)

    def secret(self) -> set[str]:
        """The spaces that only visitors with a claim may read."""
        seen: dict[str, bool] = {}
        for section in self.sections.values():
            for variant in section.variants:
                gated = bool(variant.get("condition") or section.fields.get("condition"))
                seen[variant["space"]] = seen.get(variant["space"], True) and gated
        return {space for space, gated in seen.items() if gated}


def draw(chance: Random, spaces: Sequence[str], *, sections: int = 3) -> Drawn:
    """Given chance, draw a first site file."""
    drawn = Drawn(spaces)
    for key in ("g1", "g2")[: chance.randrange(3)]:
        _add_group(chance, drawn, key)
    for _ in range(chance.randint(1, sections)):
        _add_section(chance, drawn)
    for _ in range(chance.randrange(6)):
        _point(chance, drawn)
    return drawn


def edited(chance: Random, before: Drawn, *, deeds: int = 4) -> Drawn:
    """Given a site file, draw what a team makes of it."""
    drawn = copy.deepcopy(before)
    for _ in range(chance.randint(1, deeds)):
        chance.choice(DEEDS)(chance, drawn)
    return drawn


def file_of(drawn: Drawn, organization: str, site: str, holding: str) -> SiteFile:
    """Given what was drawn, return it as a site file that owns everything."""
    items: dict[Ref, Item] = {}
    orders: dict[Ref, tuple[Ref, ...]] = {}

    def add(kind: Kind, key: str, fields: dict[str, Any], parent: Ref = ROOT) -> Ref:
        item = Item(kind, key, fields, Place(f"{site}/site.yaml", len(items) + 1), parent=parent)
        items[item.ref] = item
        return item.ref

    def place(key: str, parent: Ref) -> Ref:
        if key in drawn.groups:
            ref = add("group", key, {"title": drawn.groups[key]}, parent)
            orders[ref] = tuple(place(child, ref) for child in drawn.places[key])
            return ref
        section = drawn.sections[key]
        ref = add("section", key, dict(section.fields), parent)
        named = [(f"{key}/{one['key']}", {k: v for k, v in one.items() if k != "key"}) for one in section.variants]
        orders[ref] = tuple(add("variant", name, fields, ref) for name, fields in named)
        return ref

    add("site", "", dict(drawn.settings))
    add("visitors", "", dict(drawn.claims))
    orders[ROOT] = tuple(place(key, ROOT) for key in drawn.places[ROOT])
    for source, to in drawn.redirects.items():
        add("redirect", make_source_key(source), {"source": source, "to": to})
    if drawn.styles:
        add("customization", "", dict(drawn.styles))
    for key, fields in drawn.overrides.items():
        add("override", key, dict(fields))
    managed: set[Area] = {"settings", "visitors", "structure", "redirects", "customization"}
    policy = SitePolicy(prune={"structure": "owned", "redirects": "owned"}, allow_empty=True)
    spaces = {f"s{number}": space for number, space in enumerate(drawn.spaces)}
    return SiteFile(
        f"{site}/site.yaml",
        organization,
        site,
        items,
        orders,
        frozenset(managed),
        policy,
        {**spaces, "holding": holding},
        holding=holding,
    )


def _free(chance: Random, taken: set[str], stem: str) -> str:
    return chance.choice([name for name in (f"{stem}{number}" for number in range(12)) if name not in taken])


def _paths(drawn: Drawn) -> set[str]:
    return {section.fields["path"] for section in drawn.sections.values()}


def _add_group(chance: Random, drawn: Drawn, key: str = "") -> None:
    key = key or _free(chance, set(drawn.groups), "g")
    drawn.groups[key] = f"Group {chance.randrange(9)}"
    drawn.places[key] = []
    drawn.places[ROOT].insert(chance.randint(0, len(drawn.places[ROOT])), key)


def _add_section(chance: Random, drawn: Drawn) -> None:
    key = _free(chance, set(drawn.sections), "sec")
    fields: dict[str, Any] = {
        "title": f"Title {chance.randrange(5)}",
        "path": _free(chance, _paths(drawn), "path"),
        "icon": chance.choice(ICONS),
        "default": not drawn.sections,
        "condition": chance.choice([None, None, GATE]) if drawn.sections else None,
    }
    section = Section(key, fields, [])
    for _ in range(chance.randint(1, 3)):
        _add_variant(chance, drawn, section)
    drawn.sections[key] = section
    above = chance.choice([ROOT, *drawn.groups])
    drawn.places[above].insert(chance.randint(0, len(drawn.places[above])), key)


def _add_variant(chance: Random, drawn: Drawn, section: Section) -> None:
    spaces = [space for space in drawn.spaces if space not in {one["space"] for one in section.variants}]
    if not spaces:
        return
    variant = {
        "key": _free(chance, {one["key"] for one in section.variants}, "v"),
        "space": chance.choice(spaces),
        "path": _free(chance, {one["path"] for one in section.variants}, "p"),
        "condition": chance.choice([None, None, OTHER_GATE]) if section.variants else None,
        "hidden": chance.random() < 0.2,
        "default": not section.variants,
    }
    section.variants.insert(chance.randint(0, len(section.variants)), variant)


def _any(chance: Random, drawn: Drawn) -> Section:
    return chance.choice(list(drawn.sections.values()))


def _more_variants(chance: Random, drawn: Drawn) -> None:
    _add_variant(chance, drawn, _any(chance, drawn))


def _fewer_variants(chance: Random, drawn: Drawn) -> None:
    section = _any(chance, drawn)
    gone = [one for one in section.variants if not one["default"]]
    if gone:
        out = chance.choice(gone)
        section.variants.remove(out)
        _forget(drawn, f"{section.key}/{out['key']}")


def _fewer_sections(chance: Random, drawn: Drawn) -> None:
    gone = [one for one in drawn.sections.values() if not one.fields["default"]]
    if gone:
        out = chance.choice(gone)
        del drawn.sections[out.key]
        for keys in drawn.places.values():
            if out.key in keys:
                keys.remove(out.key)
        for variant in out.variants:
            _forget(drawn, f"{out.key}/{variant['key']}")
        _forget(drawn, out.key)


def _forget(drawn: Drawn, key: str) -> None:
    drawn.overrides.pop(key, None)
    drawn.redirects = {
        source: to for source, to in drawn.redirects.items() if key not in (to.get("section"), to.get("variant"))
    }


def _fewer_groups(chance: Random, drawn: Drawn) -> None:
    if drawn.groups:
        key = chance.choice(list(drawn.groups))
        held = drawn.places.pop(key)
        at = drawn.places[ROOT].index(key)
        drawn.places[ROOT][at : at + 1] = held
        del drawn.groups[key]


def _retitle(chance: Random, drawn: Drawn) -> None:
    fields = _any(chance, drawn).fields
    fields["title"], fields["icon"] = f"Title {chance.randrange(9)}", chance.choice(ICONS)
    for key in drawn.groups:
        drawn.groups[key] = f"Group {chance.randrange(9)}"


def _rename(chance: Random, drawn: Drawn) -> None:
    """Let sections, or variants of one, change their paths among each other, with a new one or without."""
    rows = [one.fields for one in drawn.sections.values()] if chance.random() < 0.5 else _any(chance, drawn).variants
    paths = [row["path"] for row in rows]
    stem = "path" if rows and "title" in rows[0] else "p"
    if chance.random() < 0.5:
        paths[chance.randrange(len(paths))] = _free(chance, set(paths), stem)
    chance.shuffle(paths)
    for row, path in zip(rows, paths, strict=True):
        row["path"] = path


def _reorder(chance: Random, drawn: Drawn) -> None:
    chance.shuffle(chance.choice([*drawn.places.values(), _any(chance, drawn).variants]))


def _relocate(chance: Random, drawn: Drawn) -> None:
    key = _any(chance, drawn).key
    for keys in drawn.places.values():
        if key in keys:
            keys.remove(key)
    drawn.places[chance.choice([ROOT, *drawn.groups])].append(key)


def _regate(chance: Random, drawn: Drawn) -> None:
    section = _any(chance, drawn)
    row = chance.choice([section.fields, *section.variants])
    if not row["default"]:
        row["condition"] = chance.choice([None, GATE, OTHER_GATE])


def _redefault(chance: Random, drawn: Drawn) -> None:
    rows = [one.fields for one in drawn.sections.values()] if chance.random() < 0.5 else _any(chance, drawn).variants
    chosen = chance.choice(rows)
    if not chosen.get("condition"):
        for row in rows:
            row["default"] = row is chosen


def _respace(chance: Random, drawn: Drawn) -> None:
    section = _any(chance, drawn)
    spaces = [space for space in drawn.spaces if space not in {one["space"] for one in section.variants}]
    if spaces:
        chance.choice(section.variants)["space"] = chance.choice(spaces)


def _point(chance: Random, drawn: Drawn) -> None:
    section = _any(chance, drawn)
    variant = chance.choice(section.variants)
    drawn.redirects[f"/R{chance.randrange(8)}"] = chance.choice(
        [
            {"section": section.key},
            {"variant": f"{section.key}/{variant['key']}"},
            {"url": f"https://example.com/{chance.randrange(5)}"},
        ]
    )


def _unpoint(chance: Random, drawn: Drawn) -> None:
    if drawn.redirects:
        del drawn.redirects[chance.choice(list(drawn.redirects))]


def _restyle(chance: Random, drawn: Drawn) -> None:
    drawn.styles["styling.theme"] = chance.choice(["clean", "bold", "muted"])
    drawn.settings["title"] = f"Drawn {chance.randrange(5)}"


def _override(chance: Random, drawn: Drawn) -> None:
    section = _any(chance, drawn)
    variant = chance.choice(section.variants)
    drawn.overrides[f"{section.key}/{variant['key']}"] = {"styling.corners": chance.choice(["straight", "circular"])}


def _reclaim(chance: Random, drawn: Drawn) -> None:
    if "claims.extra" in drawn.claims:
        del drawn.claims["claims.extra"]
    else:
        drawn.claims["claims.extra"] = BOOLEAN


DEEDS = (
    _add_group, _add_section, _add_section, _more_variants, _fewer_variants, _fewer_sections, _fewer_groups, _retitle,
    _rename, _rename, _reorder, _reorder, _relocate, _regate, _regate, _redefault, _respace, _point, _point, _point,
    _unpoint, _restyle, _override, _reclaim,
)  # fmt: skip
