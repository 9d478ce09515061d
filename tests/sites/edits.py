"""What a team does to its site file: edits of the document, drawn by chance, and the patches that bring them into it.

Every edit leaves a file that passes all rules; one that cannot be made on the file at hand leaves it as it is.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from syncd.layout.site.write.patch import Patch

GATES = ("visitor.claims.partner == true", "visitor.claims.partner && visitor.claims.unsigned.beta == true")
FLAG = {"type": "boolean", "description": "Yes or no."}
ICONS = ("rocket", "star", "leaf", None)
_COLORS = ("#112233", "#445566", "#778899")


@dataclass
class Desk:
    """A document on somebody's desk; `spare` are aliases of spaces that the site does not show yet.

    With `documented`, only what a server can do that has nothing beyond the API document is done.
    """

    document: dict[str, Any]
    chance: Random
    spare: list[str] = field(default_factory=list)
    number: int = 0
    documented: bool = False

    def new(self, stem: str) -> str:
        """Return a name that was never used before."""
        self.number += 1
        return f"{stem}-{self.number}"

    def lists(self) -> Iterator[list[dict[str, Any]]]:
        """Return the root and the items of every group."""
        pending = [self.document["structure"]["items"]]
        while pending:
            items = pending.pop(0)
            yield items
            pending += [item["items"] for item in items if "group" in item]

    def sections(self) -> list[dict[str, Any]]:
        """Return all sections."""
        return [item for items in self.lists() for item in items if "section" in item]

    def groups(self) -> list[dict[str, Any]]:
        """Return all groups."""
        return [item for items in self.lists() for item in items if "group" in item]

    def section(self) -> dict[str, Any]:
        """Return some section."""
        return self.chance.choice(self.sections())

    def variant(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return some variant behind its section."""
        section = self.section()
        return section, self.chance.choice(section["variants"])

    def key(self) -> str:
        """Return some variant's key."""
        section, variant = self.variant()
        return f"{section['section']}/{variant['variant']}"

    def plain(self) -> dict[str, Any] | None:
        """Return a section that is not the default one, if there is any."""
        found = [section for section in self.sections() if not section.get("default")]
        return self.chance.choice(found) if found else None

    def side(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return a variant that is not its section's default, behind this section, if there is any."""
        found = [(one, other) for one in self.sections() for other in one["variants"] if not other.get("default")]
        return self.chance.choice(found) if found else None

    def settings(self) -> dict[str, Any]:
        """Return the site's customization."""
        return self.document["customization"]["site"]  # type: ignore[no-any-return]

    def overrides(self) -> dict[str, Any]:
        """Return the variants' customization."""
        return self.document["customization"].setdefault("overrides", {})  # type: ignore[no-any-return]

    def redirects(self) -> list[dict[str, Any]]:
        """Return the redirects."""
        return self.document["redirects"]  # type: ignore[no-any-return]

    def forget(self, key: str) -> None:
        """Take everything out that names a section or variant that is gone."""

        def leads(to: dict[str, Any]) -> bool:
            names = (to.get("section", ""), to.get("variant", ""), to.get("in", ""))
            return any(name == key or name.startswith(f"{key}/") for name in names)

        def without(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: without(member) for name, member in value.items()}
            if not isinstance(value, list):
                return value
            return [without(one) for one in value if not (isinstance(one, dict) and leads(one.get("to") or {}))]

        self.document["redirects"] = without(self.redirects())
        settings = self.document["customization"]
        if "overrides" in settings:
            kept = {one: own for one, own in settings["overrides"].items() if not f"{one}/".startswith(f"{key}/")}
            settings["overrides"] = kept
        settings["site"] = without(settings["site"])


def _retitle(desk: Desk) -> None:
    thing = desk.chance.choice([*desk.sections(), *desk.groups()])
    thing["title"] = desk.new("Title")


def _describe(desk: Desk) -> None:
    desk.section()["description"] = desk.chance.choice([None, desk.new("About this")])


def _icon(desk: Desk) -> None:
    desk.chance.choice([*desk.sections(), *desk.groups()])["icon"] = desk.chance.choice(ICONS)


def _repath_section(desk: Desk) -> None:
    desk.section()["path"] = desk.new("path")


def _swap_paths(desk: Desk) -> None:
    rows = desk.chance.choice([desk.sections(), desk.section()["variants"]])
    if len(rows) > 1:
        chosen = desk.chance.sample(rows, min(3, len(rows)))
        paths = [row["path"] for row in chosen]
        for row, path in zip(chosen, paths[1:] + paths[:1], strict=True):
            row["path"] = path


def _repath_variant(desk: Desk) -> None:
    desk.variant()[1]["path"] = desk.new("v")


def _gate(desk: Desk) -> None:
    found = desk.plain()
    side = desk.side()
    thing = desk.chance.choice([one for one in (found, side[1] if side else None) if one is not None])
    thing["condition"] = desk.chance.choice([*GATES, None])


def _hide(desk: Desk) -> None:
    if side := desk.side():
        side[1]["hidden"] = not side[1].get("hidden", False)


def _order_variants(desk: Desk) -> None:
    desk.chance.shuffle(desk.section()["variants"])


def _order_items(desk: Desk) -> None:
    desk.chance.shuffle(desk.chance.choice(list(desk.lists())))


def _default_section(desk: Desk) -> None:
    chosen = desk.chance.choice([one for one in desk.sections() if not one.get("condition")])
    for section in desk.sections():
        section.pop("default", None)
    chosen["default"] = True


def _default_variant(desk: Desk) -> None:
    section = desk.section()
    chosen = desk.chance.choice([one for one in section["variants"] if not (one.get("condition") or one.get("hidden"))])
    for variant in section["variants"]:
        variant.pop("default", None)
    chosen["default"] = True


def _new_group(desk: Desk) -> None:
    key = desk.new("group")
    root = desk.document["structure"]["items"]
    root.insert(desk.chance.randint(0, len(root)), {"group": key, "title": key.title(), "items": []})


def _relocate(desk: Desk) -> None:
    lists = list(desk.lists())
    source = desk.chance.choice([items for items in lists if any("section" in item for item in items)])
    section = desk.chance.choice([item for item in source if "section" in item])
    source.remove(section)
    target = desk.chance.choice(lists)
    target.insert(desk.chance.randint(0, len(target)), section)


def _drop_group(desk: Desk) -> None:
    if groups := desk.groups():
        group = desk.chance.choice(groups)
        for items in desk.lists():
            if group in items:
                items[items.index(group) : items.index(group) + 1] = group["items"]
                return


def _new_variant(desk: Desk) -> None:
    if desk.spare:
        key = desk.new("v")
        variant: dict[str, Any] = {"variant": key, "space": desk.spare.pop(), "path": key}
        if desk.chance.random() < 0.5:
            variant["condition"] = GATES[0]
        variants = desk.section()["variants"]
        variants.insert(desk.chance.randint(0, len(variants)), variant)


def _drop_variant(desk: Desk) -> None:
    if side := desk.side():
        section, variant = side
        section["variants"].remove(variant)
        desk.spare.insert(0, variant["space"])
        desk.forget(f"{section['section']}/{variant['variant']}")


def _new_section(desk: Desk) -> None:
    if desk.spare:
        key = desk.new("section")
        variant = {"variant": "en", "space": desk.spare.pop(), "path": "en", "default": True}
        section: dict[str, Any] = {"section": key, "title": key.title(), "path": key, "variants": [variant]}
        if desk.chance.random() < 0.5:
            section["condition"] = GATES[0]
        items = desk.chance.choice(list(desk.lists())[desk.documented :])
        items.insert(desk.chance.randint(0, len(items)), section)


def _drop_section(desk: Desk) -> None:
    if (section := desk.plain()) and len(desk.sections()) > 2:
        for items in desk.lists():
            if section in items:
                items.remove(section)
        desk.spare[:0] = [variant["space"] for variant in section["variants"]]
        desk.forget(section["section"])


def _respace(desk: Desk) -> None:
    if desk.spare:
        _, variant = desk.variant()
        desk.spare.insert(0, variant["space"])
        variant["space"] = desk.spare.pop()


def _destination(desk: Desk) -> dict[str, Any]:
    if desk.documented:
        return {"section": desk.section()["section"]}
    return desk.chance.choice(
        [
            {"section": desk.section()["section"]},
            {"variant": desk.key()},
            {"page": desk.chance.choice(["changelog", "getting-started/quickstart"]), "in": desk.key()},
            {"url": f"https://www.example.org/{desk.new('there')}"},
        ]
    )


def _redirect(desk: Desk) -> None:
    for _ in range(desk.chance.randint(1, 5)):
        desk.redirects().append({"from": f"/old/{desk.new('page')}", "to": _destination(desk)})


def _retarget(desk: Desk) -> None:
    if desk.redirects():
        desk.chance.choice(desk.redirects())["to"] = _destination(desk)


def _rename_source(desk: Desk) -> None:
    if desk.redirects():
        desk.chance.choice(desk.redirects())["from"] = f"/New/{desk.new('page')}"


def _drop_redirect(desk: Desk) -> None:
    if desk.redirects():
        desk.redirects().remove(desk.chance.choice(desk.redirects()))


def _color(desk: Desk) -> None:
    name = desk.chance.choice(["primaryColor", "infoColor", "dangerColor"])
    light, dark = desk.chance.sample(_COLORS, 2)
    desk.settings().setdefault("styling", {})[name] = {"light": light, "dark": dark}


def _style(desk: Desk) -> None:
    styling = desk.settings().setdefault("styling", {})
    styling["theme"] = desk.chance.choice(["clean", "muted", "bold", "gradient"])
    styling["font"] = desk.chance.choice(["Inter", "Lato", "Ubuntu"])


def _announce(desk: Desk) -> None:
    desk.settings()["announcement"] = desk.chance.choice(
        [None, {"enabled": True, "style": "warning", "message": desk.new("News")}]
    )


def _switch(desk: Desk) -> None:
    name = desk.chance.choice(["pdf", "feedback", "pagination", "trademark"])
    desk.settings()[name] = {"enabled": desk.chance.random() < 0.5}


def _link(desk: Desk) -> None:
    links = desk.settings().setdefault("header", {}).setdefault("links", [])
    new: dict[str, Any] = {"title": desk.new("Link"), "to": {"page": "changelog", "in": desk.key()}}
    if desk.chance.random() < 0.5:
        new["condition"] = GATES[0]
    links[:] = desk.chance.choice([[*links, new][-8:], links[1:], links[::-1]])


def _copyright(desk: Desk) -> None:
    desk.settings().setdefault("footer", {})["copyright"] = desk.chance.choice([None, desk.new("©")])


def _override(desk: Desk) -> None:
    own: dict[str, Any] = desk.chance.choice(
        [
            {"styling": {"theme": "bold"}},
            {"announcement": {"enabled": True, "style": "info", "message": desk.new("Old version")}},
            {"styling": {"primaryColor": {"light": _COLORS[0], "dark": _COLORS[1]}}, "pdf": {"enabled": False}},
            {"title": desk.new("Another title")},
            {"header": {"linkColor": {"light": _COLORS[1], "dark": _COLORS[2]}}},
        ]
    )
    key = desk.key()
    before = desk.overrides().get(key)
    desk.overrides()[key] = {**(before if isinstance(before, dict) else {}), **own}


def _reset(desk: Desk) -> None:
    overrides = desk.overrides()
    if overrides:
        key = desk.chance.choice(list(overrides))
        whole = overrides[key] == "reset" or desk.chance.random() < 0.5
        overrides[key] = "reset" if whole else dict.fromkeys(overrides[key])


def _claim(desk: Desk) -> None:
    claims = desk.document["visitors"].setdefault(desk.chance.choice(["claims", "unsigned"]), {})
    claims[desk.new("claim")] = dict(FLAG)


def _drop_claim(desk: Desk) -> None:
    for group in ("claims", "unsigned"):
        claims = desk.document["visitors"].get(group, {})
        extra = [name for name in claims if name.startswith("claim-")]
        if extra:
            del claims[extra[0]]
            return


def _redescribe_claim(desk: Desk) -> None:
    claims = desk.document["visitors"]["claims"]
    claims["partner"] = {**FLAG, "description": desk.new("Partner, says the token")}


def _settings(desk: Desk) -> None:
    settings = desk.document.setdefault("settings", {})
    settings["title"] = desk.new("Site")
    settings["agents_context"] = desk.chance.choice(["included", "excluded"])


def _visibility(desk: Desk) -> None:
    settings = desk.document.setdefault("settings", {})
    settings["visibility"] = desk.chance.choice(["public", "unlisted", "share-link", "visitor-auth"])


EDITS: tuple[Callable[[Desk], None], ...] = (
    _retitle, _describe, _icon, _repath_section, _swap_paths, _repath_variant, _gate, _hide, _order_variants,
    _order_items, _default_section, _default_variant, _new_group, _relocate, _drop_group, _new_variant, _drop_variant,
    _new_section, _drop_section, _respace, _redirect, _retarget, _rename_source, _drop_redirect, _color, _style,
    _announce, _switch, _link, _copyright, _override, _reset, _claim, _drop_claim, _redescribe_claim, _settings,
    _visibility,
)  # fmt: skip


BEYOND = frozenset({_order_items, _relocate, _new_group, _drop_group})
"""Edits of the order of groups, and of what stands in which: the document has hardly anything for these."""


def edited(desk: Desk, deeds: int) -> tuple[dict[str, Any], list[str]]:
    """Given a desk, do so many things to its document; return the new document and what was done."""
    desk.document = deepcopy(desk.document)
    offered = [edit for edit in EDITS if not (desk.documented and edit in BEYOND)]
    done = [desk.chance.choice(offered) for _ in range(deeds)]
    for edit in done:
        edit(desk)
    _mended(desk)
    return desk.document, [edit.__name__.strip("_") for edit in done]


def _mended(desk: Desk) -> None:
    """No visitor may land on what is gated or hidden, and no section be without a variant that all may see."""
    for thing in [*desk.sections(), *(one for section in desk.sections() for one in section["variants"])]:
        if thing.get("default"):
            thing.pop("condition", None)
            thing.pop("hidden", None)


def patches(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[Patch]:
    """Given two documents, return the patches that make the one of the other, as small as their paths allow."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() - after.keys():
            yield Patch("remove", (*path, key))
        for key, value in after.items():
            if key not in before:
                yield Patch("set", (*path, key), value)
            else:
                yield from patches(before[key], value, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and _alike(before, after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from patches(one, other, (*path, index))
    elif before != after or type(before) is not type(after):
        if isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before and before:
            yield from (Patch("add", path, value) for value in after[len(before) :])
        else:
            yield Patch("set", path, after)


def _alike(before: list[Any], after: list[Any]) -> bool:
    """Whether the entries of two lists are the same things in the same order."""

    def name(entry: Any) -> Any:
        return next((entry[key] for key in ("section", "group", "variant") if key in entry), None)

    return all(isinstance(one, dict) and isinstance(other, dict) and name(one) == name(other)
               for one, other in zip(before, after, strict=True))  # fmt: skip
