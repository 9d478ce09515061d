"""What Git has and the platform does not know of: kept when a page or SUMMARY.md comes anew from there."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import ORDER, fields, full_layout, metadata, patch, split
from syncd.layout.page.links import resolve, rewrite, targets
from syncd.layout.tree.placement import APP
from syncd.layout.tree.summary import Entry, transform, walk
from syncd.layout.yaml import yaml

BROKEN = "/broken/"
"""Starts the address that the platform writes where what a link led to is gone. Source: gitsync §1.9."""
DESCRIPTION_CUT = 190
"""Characters from which a shorter description can be a longer one that was cut: platforms cut at 199 or 200."""
WORDS_MAX = 500
"""Characters before an address that are looked at for the words of its link."""

_EXTENSIONS = ("if", "tags")
"""Keys with a meaning that not every platform knows; it says nothing of a page that has none."""
_MEMBERS = {"if": "condition", "vars": "variables"}
_TELLING = ("description", "hidden", "noIndex", "noRobotsIndex", "icon", "if", "vars", "layout", "metaLinks")
_SPACE = re.compile(r"\s+")


def keep_front(former: str, incoming: str, *, title: str) -> str:
    """Given a page as Git has it, and as a platform tells it, return the latter with what the platform cannot know.

    Shapes: unknown keys stay, and so do conditions and tags that the incoming text does not mention, and a description
    that it cuts; every key that says the same keeps its bytes. A `title` in Git follows the page's. The body is the
    incoming one.
    """
    block, body = split(former)
    if not block:
        return incoming
    try:
        here, there = fields(former, at=""), fields(incoming, at="")
    except FileInvalid:
        return incoming
    same = _agreeing(former, incoming)
    if "title" in here and title:
        there = {"title": title, **there}
    changes = {key: there.get(key) for key in here if key in ORDER and not (key in _EXTENSIONS and key not in there)}
    changes = {key: value for key, value in {**changes, **there}.items() if key not in same or key not in here}
    if _is_cut(there.get("description"), here.get("description")):
        del changes["description"]
    blank = body[: len(body) - len(body.lstrip("\r\n"))]
    return patch(block + blank + split(incoming)[1].lstrip("\r\n"), changes)


def _agreeing(one: str, other: str) -> set[str]:
    """The keys under which two pages say the same, however they spell it, or whether they say what goes unsaid."""
    try:
        here, there = metadata(one, at=""), metadata(other, at="")
    except FileInvalid:
        return set()  # a value of the wrong kind says nothing; it only counts as itself
    same: set[str] = set()
    for key in _TELLING:
        member = _MEMBERS.get(key, key)
        left, right = here.get(member), there.get(member)
        if key == "layout":
            left, right = full_layout(left or {}), full_layout(right or {})
        if (left or None) == (right or None):
            same.add(key)
    return same


def keep_links(former: str, incoming: str, works: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """Given a page as Git has it and as it arrives, return the latter without links that broke on the way, and those.

    Shapes: where the incoming text says `/broken/…` and the same words lead somewhere in Git, which `works` tells of
    an address as written, Git's address stays; the second part names each.
    """
    if BROKEN not in incoming:
        return incoming, ()
    here, there = _by_words(former), _by_words(incoming)
    found: dict[str, set[str]] = {}
    for words in here.keys() & there.keys():
        if len(here[words]) == len(there[words]):
            for good, lost in zip(here[words], there[words], strict=True):
                if lost.startswith(BROKEN):
                    found.setdefault(lost, set()).add(good)
    healed = {lost: next(iter(good)) for lost, good in found.items() if len(good) == 1}
    healed = {lost: good for lost, good in healed.items() if not good.startswith(BROKEN) and works(good)}
    return (rewrite(incoming, healed.get), tuple(sorted(healed.values()))) if healed else (incoming, ())


def keep_entries(entries: Sequence[Entry], here: Sequence[Entry], seen: Sequence[Entry]) -> tuple[Entry, ...]:
    """Given entries of a revision, those of Git, and those of Git when it last said what the platform did, merge them.

    Shapes: a link title stays while the platform knows none at all, or has not changed its own; a computed tree stays
    as it is spelled, and so does an address in another space, as far as it says the same.
    """
    ours, base = _by_place(here), _by_place(seen)
    knows = any(entry.link_title is not None for entry, _ in walk(entries))

    def keep(entry: Entry) -> Entry:
        mine, former = ours.get(_place(entry)), base.get(_place(entry))
        if mine is None:
            return entry
        if entry.kind == "computed":
            return replace(entry, computed=mine.computed)
        if mine.link_title is not None or entry.link_title is not None:
            unchanged = former is not None and former.link_title == entry.link_title
            entry = replace(entry, link_title=mine.link_title) if unchanged or not knows else entry
        return replace(entry, target=mine.target) if _is_same_space(mine.target, entry.target) else entry

    return transform(entries, keep)


def same_entries(one: Sequence[Entry], other: Sequence[Entry], *, at: str) -> bool:
    """Given two tables of contents of the file at a path, return whether they say the same: `./x.md` is `x.md`."""

    def plain(entry: Entry) -> Entry:
        path = resolve(entry.path, at=at) if entry.path else None
        target = resolve(entry.target, at=at) if entry.target else None
        return replace(
            entry,
            path=path[0] if path else entry.path,
            target="".join(target) if target else entry.target,
            computed=_value(entry.computed),
        )

    return transform(one, plain) == transform(other, plain)


def _is_cut(short: Any, long: Any) -> bool:
    if not isinstance(short, str) or not isinstance(long, str) or not DESCRIPTION_CUT <= len(short) < len(long):
        return False
    return " ".join(long.split()).startswith(" ".join(short.split()).rstrip("… "))


def _by_words(text: str) -> dict[str, list[str]]:
    """Every address by the words of its link, in order."""
    found: dict[str, list[str]] = {}
    for place in targets(text):
        line = max(text.rfind("\n", 0, place.start) + 1, place.start - WORDS_MAX)
        opened = max(text.rfind(sign, line, place.start) for sign in ("[", "<", "{%"))
        found.setdefault(_SPACE.sub(" ", text[max(line, opened) : place.start]), []).append(place.text)
    return found


def _by_place(entries: Sequence[Entry]) -> Mapping[tuple[str, ...], Entry]:
    found: dict[tuple[str, ...], Entry] = {}
    for entry, _ in walk(entries):
        found.setdefault(_place(entry), entry)
    return found


def _place(entry: Entry) -> tuple[str, ...]:
    """What an entry is known by on both sides."""
    if entry.kind == "computed":
        return "computed", _value(entry.computed) or ""
    path = resolve(entry.path, at="") if entry.path else None
    return (entry.kind, path[0] if path else entry.title, entry.anchor or "")


def _value(computed: str | None) -> str | None:
    """A computed tree in one spelling."""
    if computed is None:
        return None
    try:
        return json.dumps(yaml.load(computed, at=""), sort_keys=True)
    except FileInvalid:
        return computed


def _is_same_space(here: str | None, there: str | None) -> bool:
    """Whether both lead into the same other space, which the platform tells by ids and a writer by a path."""
    spaces = [address.split("/")[:5] for address in (here, there) if address and address.startswith(APP)]
    return here != there and len(spaces) == 2 and spaces[0] == spaces[1]
