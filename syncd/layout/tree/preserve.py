"""Preserve what only Git knows when a page or SUMMARY.md arrives from the platform."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import (
    KEY_ORDER,
    fill_layout,
    patch_frontmatter,
    read_fields,
    read_metadata,
    split_frontmatter,
)
from syncd.layout.page.links import find_targets, rewrite_addresses
from syncd.layout.tree.placement import APP
from syncd.layout.tree.summary import Entry, transform_entries, walk_entries
from syncd.layout.yaml import yaml

BROKEN = "/broken/"
"""Starts the address that the platform writes where what a link led to is gone."""
DESCRIPTION_CUT = 190
"""Characters from which a shorter description can be a longer one that was cut: platforms cut at 199 or 200."""
WORDS_MAX = 500
"""Characters before an address that are looked at for the words of its link."""

_OPTIONAL_KEYS = ("if", "tags")
"""Keys with a meaning that not every platform knows; it says nothing of a page that has none."""
_MEMBERS = {"if": "condition", "vars": "variables"}
_COMPARED_KEYS = (
    *("description", "hidden", "noIndex", "noRobotsIndex", "icon"),
    *("if", "vars", "layout", "tags", "metaLinks"),
)
_SPACE = re.compile(r"\s+")


def preserve_frontmatter(existing: str, incoming: str, *, title: str) -> str:
    """Return the incoming page with the frontmatter that only the page in Git has.

    Shape: unknown keys stay, and so do conditions and tags that the incoming text does not mention, and a description
    that it cuts; every key with an equal value keeps its bytes. A `title` in Git follows the page's. The body is the
    incoming one.
    """
    block, body = split_frontmatter(existing)
    if not block:
        return incoming
    try:
        existing_fields, incoming_fields = read_fields(existing, at=""), read_fields(incoming, at="")
    except FileInvalid:
        return incoming
    equal = _find_equal_keys(existing, incoming)
    if "title" in existing_fields and title:
        incoming_fields = {"title": title, **incoming_fields}
    changes = {
        key: incoming_fields.get(key)
        for key in existing_fields
        if key in KEY_ORDER and not (key in _OPTIONAL_KEYS and key not in incoming_fields)
    }
    changes = {
        key: value
        for key, value in {**changes, **incoming_fields}.items()
        if key not in equal or key not in existing_fields
    }
    if _is_cut(incoming_fields.get("description"), existing_fields.get("description")):
        del changes["description"]
    blank = body[: len(body) - len(body.lstrip("\r\n"))]
    return patch_frontmatter(block + blank + split_frontmatter(incoming)[1].lstrip("\r\n"), changes)


def _find_equal_keys(one: str, other: str) -> set[str]:
    """Return the keys with equal values in two pages, however they are spelled, also where one leaves out a default."""
    try:
        one_fields, other_fields = read_metadata(one, at=""), read_metadata(other, at="")
    except FileInvalid:
        return set()  # a value of the wrong kind says nothing; it only counts as itself
    equal: set[str] = set()
    for key in _COMPARED_KEYS:
        member = _MEMBERS.get(key, key)
        left, right = one_fields.get(member), other_fields.get(member)
        if key == "layout":
            left, right = fill_layout(left or {}), fill_layout(right or {})
        if (left or None) == (right or None):
            equal.add(key)
    return equal


def preserve_links(existing: str, incoming: str, works: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """Return the incoming page with working links of Git in place of broken ones, and the addresses of those.

    Shape: where the incoming text says `/broken/…` and the same words lead somewhere in Git (`works` answers that for
    an address as written), Git's address stays; the second part names each.
    """
    if BROKEN not in incoming:
        return incoming, ()
    existing_addresses, incoming_addresses = _group_addresses_by_words(existing), _group_addresses_by_words(incoming)
    found: dict[str, set[str]] = {}
    for words in existing_addresses.keys() & incoming_addresses.keys():
        if len(existing_addresses[words]) == len(incoming_addresses[words]):
            for working, broken in zip(existing_addresses[words], incoming_addresses[words], strict=True):
                if broken.startswith(BROKEN):
                    found.setdefault(broken, set()).add(working)
    # Two links may have become the same broken address: then nobody can tell which is which, and both stay broken.
    restored = {broken: next(iter(working)) for broken, working in found.items() if len(working) == 1}
    restored = {
        broken: working for broken, working in restored.items() if not working.startswith(BROKEN) and works(working)
    }
    return (rewrite_addresses(incoming, restored.get), tuple(sorted(restored.values()))) if restored else (incoming, ())


def preserve_entries(entries: Sequence[Entry], existing: Sequence[Entry], base: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries of a revision with what only the entries in Git have.

    `base` are the entries that Git had when both sides were last equal. Shape: a link title stays while the platform
    knows none at all, or has not changed its own; a computed tree stays as it is spelled, and so does an address in
    another space, as far as it means the same.
    """
    existing_by_identity, base_by_identity = _index_entries(existing), _index_entries(base)
    has_link_titles = any(entry.link_title is not None for entry, _ in walk_entries(entries))

    def preserve(entry: Entry) -> Entry:
        identity = _identify_entry(entry)
        own, base_entry = existing_by_identity.get(identity), base_by_identity.get(identity)
        if own is None:
            return entry
        if entry.kind == "computed":
            return replace(entry, computed=own.computed)
        if own.link_title is not None or entry.link_title is not None:
            unchanged = base_entry is not None and base_entry.link_title == entry.link_title
            entry = replace(entry, link_title=own.link_title) if unchanged or not has_link_titles else entry
        return replace(entry, target=own.target) if _is_same_space(own.target, entry.target) else entry

    return transform_entries(entries, preserve)


def has_same_entries(one: Sequence[Entry], other: Sequence[Entry], *, at: str) -> bool:
    """Return whether two tables of contents of the file at a path mean the same: `./x.md` is `x.md`."""

    def list_words(entry: Entry) -> tuple[str | int | None, ...]:
        return entry.kind, entry.title, entry.anchor, entry.slug, entry.link_title, len(entry.children)

    def list_addresses(entry: Entry) -> tuple[str | None, ...]:
        path = resolve_address(entry.path, at=at) if entry.path else None
        target = resolve_address(entry.target, at=at) if entry.target else None
        return (
            path[0] if path else entry.path,
            "".join(target) if target else entry.target,
            _normalise_computed(entry.computed),
        )

    def is_same(a: Entry, b: Entry) -> bool:
        is_written_so = (a.path, a.target, a.computed) == (b.path, b.target, b.computed)
        return list_words(a) == list_words(b) and (is_written_so or list_addresses(a) == list_addresses(b))

    # Entries in reading order, each with the number of those right below it, are the whole tree.
    pairs = zip_longest((entry for entry, _ in walk_entries(one)), (entry for entry, _ in walk_entries(other)))
    return all(a and b and is_same(a, b) for a, b in pairs)


def _is_cut(short: Any, long: Any) -> bool:
    if not isinstance(short, str) or not isinstance(long, str) or not DESCRIPTION_CUT <= len(short) < len(long):
        return False
    return " ".join(long.split()).startswith(" ".join(short.split()).rstrip("… "))


def _group_addresses_by_words(text: str) -> dict[str, list[str]]:
    """Return every address by the words of its link, in order."""
    found: dict[str, list[str]] = {}
    for target in find_targets(text):
        line = max(text.rfind("\n", 0, target.start) + 1, target.start - WORDS_MAX)
        opened = max(text.rfind(sign, line, target.start) for sign in ("[", "<", "{%"))
        found.setdefault(_SPACE.sub(" ", text[max(line, opened) : target.start]), []).append(target.text)
    return found


def _index_entries(entries: Sequence[Entry]) -> Mapping[tuple[str, ...], Entry]:
    found: dict[tuple[str, ...], Entry] = {}
    for entry, _ in walk_entries(entries):
        found.setdefault(_identify_entry(entry), entry)
    return found


def _identify_entry(entry: Entry) -> tuple[str, ...]:
    """Return what identifies an entry on both sides."""
    if entry.kind == "computed":
        return "computed", _normalise_computed(entry.computed) or ""
    path = resolve_address(entry.path, at="") if entry.path else None
    return (entry.kind, path[0] if path else entry.title, entry.anchor or "")


def _normalise_computed(computed: str | None) -> str | None:
    """Return a computed tree in one spelling."""
    if computed is None:
        return None
    try:
        return json.dumps(yaml.load(computed, at=""), sort_keys=True)
    except FileInvalid:
        return computed


def _is_same_space(one: str | None, other: str | None) -> bool:
    """Return whether both lead into the same other space; the platform writes ids there, a writer may write a path."""
    spaces = [address.split("/")[:5] for address in (one, other) if address and address.startswith(APP)]
    return one != other and len(spaces) == 2 and spaces[0] == spaces[1]
