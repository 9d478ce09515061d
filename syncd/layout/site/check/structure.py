"""Rules about sections, groups, variants and spaces: SY101 to SY107, SY110."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from syncd.layout.lint.finding import Finding
from syncd.layout.lint.suggestions import NearMisses
from syncd.layout.site.read.customization import find_links
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.read.rules import report_finding
from syncd.layout.site.read.shape import GROUP, KEY_PATTERN, SECTION, SETTINGS, VARIANT, Keys
from syncd.model.ref import ROOT, Ref
from syncd.model.wording import format_count, format_first

_KEY = re.compile(KEY_PATTERN)
_KEY_WORDS = "1 to 63 of a-z, 0-9 and -, and starts with a letter or digit"
_RESERVED = "new"
SHAPES: Mapping[str, Keys] = {"site": SETTINGS, "group": GROUP, "section": SECTION, "variant": VARIANT}
_DEEP = 2
NAME_MAX = 200
"""Characters of a name for which a likeness is searched: the search takes time for long ones."""


def check_structure(file: SiteFile) -> Iterator[Finding]:
    """Yield the mistakes in the structure of a site file and in its spaces."""
    for item in file.of("section", "group", "variant"):
        yield from _check_key(file, item)
    yield from _check_lengths(file)
    below = _group_children(file)
    yield from _check_paths(file, below)
    yield from _check_shape(file, below)
    yield from _check_defaults(file, below)
    yield from _check_spaces(file, below)
    yield from _check_references(file)


def quote_name(text: str) -> str:
    """Return a name from the file in quotes, shortened where nobody would read all of it."""
    return f'"{text if len(text) <= 80 else f"{text[:79]}…"}"'


def index_names(names: Iterable[str]) -> NearMisses:
    """Return the names that exist in a form that finds the nearest one; very long names are left out, as no typing
    mistakes.
    """
    return NearMisses(sorted(name for name in names if len(name) <= NAME_MAX))


def suggest_name(near: NearMisses, wrong: str) -> str:
    """Return what to add to the message about a wrong name: the nearest of the names that exist, or ""."""
    found = near.find(wrong) if len(wrong) <= NAME_MAX else None
    return f"; did you mean {quote_name(found)}?" if found else ""


def _group_children(file: SiteFile) -> Mapping[str, list[Item]]:
    below: dict[str, list[Item]] = defaultdict(list)
    for item in file.of("section", "group", "variant"):
        below[item.parent].append(item)
    return below


def _check_key(file: SiteFile, item: Item) -> Iterator[Finding]:
    key = item.key.rpartition("/")[2] if item.kind == "variant" else item.key
    if not _KEY.fullmatch(key):
        yield report_finding("SY101", item.place, f"{quote_name(key)} is no key; a key is {_KEY_WORDS}")
    elif key == _RESERVED:
        yield report_finding("SY101", item.place, f"the key {quote_name(key)} is reserved")
    other = file.items.get(Ref.of("section", item.key)) if item.kind == "group" else None
    if other is not None:
        both = sorted((other, item), key=lambda one: one.place)
        message = (
            f"key {quote_name(key)} is used by a {both[0].kind} (line {both[0].place.line}) and a {both[1].kind} "
            f"(line {both[1].place.line})"
        )
        yield report_finding("SY101", both[1].place, message)


def check_repeated(file: SiteFile) -> Iterator[Finding]:
    """Yield a finding for each declaration, other than a redirect, whose key an earlier one has."""
    for item in file.repeated:
        if item.kind != "redirect":
            first = file.items[item.ref]
            noun = "the override for" if item.kind == "override" else f"the {item.kind}"
            message = f"{noun} {quote_name(item.key)} is declared twice (first at line {first.place.line})"
            yield report_finding("SY101", item.place, message)


def _check_lengths(file: SiteFile) -> Iterator[Finding]:
    for item in file.of("site", "group", "section", "variant"):
        shape = SHAPES[item.kind]
        for name, value in item.fields.items():
            least, most = (shape[name].least or 0, shape[name].most) if name in shape else (0, None)
            if isinstance(value, str) and not least <= len(value) <= (most or len(value)):
                needed = f"{least} to {most}" if least else f"at most {most}"
                length = f"{format_count(len(value), 'character')} long" if value else "empty"
                yield report_finding(
                    "SY102", item.where(name), f"{item.kind} {name} is {length}; the API takes {needed}"
                )


def _check_paths(file: SiteFile, below: Mapping[str, list[Item]]) -> Iterator[Finding]:
    """Paths are unique among all sections of the site, and among the variants of one section."""
    variants = ([one for one in items if one.kind == "variant"] for items in below.values())
    for family in (list(file.of("section")), *variants):
        taken: dict[str, Item] = {}
        for item in family:
            path = item.fields.get("path")
            if not isinstance(path, str) or not path:
                continue
            first = taken.setdefault(path.casefold(), item)
            if first is not item:
                there = f"{quote_name(str(first.fields['path']))} (line {first.where('path').line})"
                yield report_finding("SY103", item.where("path"), f"path {quote_name(path)} collides with {there}")


def _check_shape(file: SiteFile, below: Mapping[str, list[Item]]) -> Iterator[Finding]:
    for item in file.of("section"):
        if not any(child.kind == "variant" for child in below.get(item.ref, ())):
            message = f"section {quote_name(item.key)} has no variant; a section is created from a space"
            yield report_finding(
                "SY106", item.place, message, "add variants: [{ variant: KEY, space: ALIAS, default: true }]"
            )
    for item in file.of("group"):
        if _find_depth(file, item) > _DEEP:
            yield report_finding(
                "SY106", item.place, f"group {quote_name(item.key)} is {_DEEP + 1} deep; groups nest {_DEEP} deep"
            )
    if file.of("section", "group"):
        for item in below.get(ROOT, ()):
            if item.kind == "variant":
                message = (
                    f"variant {quote_name(item.key)} stands beside sections; on a site with sections it belongs in one"
                )
                yield report_finding("SY106", item.place, message)


def _find_depth(file: SiteFile, item: Item) -> int:
    depth = 1
    while depth <= _DEEP and (parent := file.items.get(item.parent)) is not None:
        item, depth = parent, depth + 1
    return depth


def _check_defaults(file: SiteFile, below: Mapping[str, list[Item]]) -> Iterator[Finding]:
    sections = list(file.of("section"))
    yield from _check_one_default(sections, "the site", "section")
    for parent in (*sections, None):
        variants = [one for one in below.get(parent.ref if parent else ROOT, ()) if one.kind == "variant"]
        owner = f"section {quote_name(parent.key)}" if parent else "the site"
        if parent or not sections:
            yield from _check_one_default(variants, owner, "variant")


def _check_one_default(family: list[Item], owner: str, noun: str) -> Iterator[Finding]:
    marked = [item for item in family if item.fields.get("default") is True]
    if len(marked) > 1:
        listed = [f"{item.key.rpartition('/')[2]} ({item.where('default').line})" for item in marked]
        message = f"{owner} has {len(marked)} default {noun}s: {format_first(listed, 5)}"
        yield report_finding("SY104", marked[1].where("default"), message, "keep default: true on one of them")
    elif not marked and len(family) > 1:
        message = f"{owner} has {len(family)} {noun}s and none is the default"
        yield report_finding(
            "SY104", family[0].place, message, f"add default: true to the {noun} that visitors see first"
        )
    for item in marked:
        for name, word in (("condition", "has a condition"), ("hidden", "is hidden")):
            if item.fields.get(name):
                message = f"the default {noun} of {owner} {word}: visitors would land on what they cannot see"
                if name == "hidden":
                    message = f"the default {noun} of {owner} {word}: the navigation does not show where visitors land"
                yield report_finding("SY105", item.where(name), message)


def _check_spaces(file: SiteFile, below: Mapping[str, list[Item]]) -> Iterator[Finding]:
    ids = set(file.spaces.values())
    near = index_names(file.spaces)
    used = {item.fields.get("space") for item in file.of("variant")} | {file.holding}
    uses = [(item.fields.get("space"), item.where("space")) for item in file.of("variant")]
    uses += [(file.holding, file.places.get("structure.holding_space", Place(file.path)))] if file.holding else []
    for space, place in uses:
        if isinstance(space, str) and space not in ids:
            message = f"space alias {quote_name(space)} is not declared under spaces:{suggest_name(near, space)}"
            yield report_finding("SY107", place, message)
    for alias in file.spaces:
        if not _KEY.fullmatch(alias):
            place = file.space_places.get(alias, Place(file.path))
            yield report_finding(
                "SY101", place, f"{quote_name(alias)} is no alias of a space; an alias is {_KEY_WORDS}"
            )
    alias_of = {id: alias for alias, id in file.spaces.items()}
    for items in below.values():
        yield from _check_twice([one for one in items if one.kind == "variant"], alias_of)
    for alias, id in file.spaces.items():
        if id not in used:
            place = file.space_places.get(alias, Place(file.path))
            yield report_finding("SY107", place, f"space alias {quote_name(alias)} is not used", severity="warning")


def _check_twice(variants: Iterable[Item], alias_of: Mapping[str, str]) -> Iterator[Finding]:
    shown: dict[str, Item] = {}
    for item in variants:
        space = item.fields.get("space")
        first = shown.setdefault(space, item) if isinstance(space, str) else item
        if first is not item:
            known = f"{first.key.rpartition('/')[2]} (line {first.place.line})"
            alias = quote_name(alias_of.get(space or "", space or ""))
            message = f"space {alias} is shown twice here: variant {known} has it already"
            yield report_finding("SY107", item.where("space"), message)


def _check_references(file: SiteFile) -> Iterator[Finding]:
    """What is named anywhere has to be declared: a key means nothing without its entry."""
    known = {"section": {item.key for item in file.of("section")}, "variant": {item.key for item in file.of("variant")}}
    near = {kind: index_names(keys) for kind, keys in known.items()}
    for kind, key, place in _list_references(file):
        if isinstance(key, str) and key not in known[kind]:
            hint = "" if known[kind] else f"declare the {kind} under structure:"
            yield report_finding(
                "SY110", place, f"no {kind} {quote_name(key)} is declared{suggest_name(near[kind], key)}", hint
            )


def _list_references(file: SiteFile) -> Iterator[tuple[str, object, Place]]:
    """Every key of a section or variant outside of the structure."""
    for item in file.of("override"):
        yield "variant", item.key, item.place
    for item in file.of("customization", "override"):
        for to, place in find_links(item):
            yield from ((kind, key, place) for kind, _, key in _list_names(to))
    for item in file.of("redirect"):
        for kind, name, key in _list_names(item.fields.get("to")):
            yield kind, key, item.places.get(f"to.{name}", item.where("to"))


def _list_names(to: object) -> Iterator[tuple[str, str, object]]:
    """What a destination names: of which kind it is, by which word, and its key."""
    if isinstance(to, Mapping):
        words = (("section", "section"), ("variant", "variant"), ("variant", "in"))
        yield from ((kind, word, to[word]) for kind, word in words if word in to)
