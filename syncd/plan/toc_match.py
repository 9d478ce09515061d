"""Match the entries of three tables of contents, although files were renamed and titles changed."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.tree.paths import slugify
from syncd.layout.tree.summary import Entry

Identity = tuple[str, str | int]
"""Identifies an entry on all sides: a page by its path in the base, any other entry by a number."""

TOP: Identity = ("top", "")
"""The parent of every entry at the top level."""


@dataclass(eq=False)
class OutlineEntry:
    """One entry of one side; `page` is the page that it is or leads to."""

    entry: Entry
    parent: "OutlineEntry | None"
    page: Identity | None
    is_page: bool
    identity: Identity = TOP
    children: list["OutlineEntry"] = field(default_factory=list)

    @property
    def parent_identity(self) -> Identity:
        """What this hangs below."""
        return self.parent.identity if self.parent is not None else TOP

    @property
    def link_address(self) -> Hashable:
        """Where a link leads, the same under every name of a file."""
        return self.page, self.entry.anchor or None, self.entry.target


@dataclass(eq=False)
class Outline:
    """One side's entries by identity, in reading order, and the children of each."""

    spots: dict[Identity, OutlineEntry]
    order: dict[Identity, list[Identity]]


def match_outlines(
    base: Iterable[Entry],
    ours: Iterable[Entry],
    theirs: Iterable[Entry],
    *,
    ours_paths: Mapping[str, str],
    theirs_paths: Mapping[str, str],
) -> tuple[Outline, Outline, Outline]:
    """Return three tables of contents with the same identity for what is the same entry on several sides.

    Shape: `ours_paths` and `theirs_paths` have where two of the sides have each of the base's files. A page is told by
    its file; a group by slug or title, of which a new one that both sides have counts first where most of its pages are
    in it, else by most of its children; a link by where it leads and its title, else by one of both; a computed tree by
    its YAML, else by being the only other one. Linear.
    """
    sides = (_read_side(base, {}), _read_side(ours, ours_paths), _read_side(theirs, theirs_paths))
    first = _number_rest("base", sides[0])
    _identify_known(first, sides[1])
    _identify_known(first, sides[2])
    _identify_renamed(first, sides[1], sides[2])
    _identify_renamed(first, sides[2], sides[1])
    _identify_known(_number_rest("ours", sides[1]), sides[2])
    _number_rest("theirs", sides[2])
    one, two, three = map(_build_outline, sides)
    return one, two, three


def _read_side(entries: Iterable[Entry], paths: Mapping[str, str]) -> list[OutlineEntry]:
    """The spots of one side in reading order; pages know who they are, the rest is TOP until it is recognised."""
    former = {path: base for base, path in sorted(paths.items(), reverse=True)}
    spots: list[OutlineEntry] = []
    listed: set[str] = set()
    pending: list[tuple[Entry, OutlineEntry | None]] = [(entry, None) for entry in reversed(tuple(entries))]
    while pending:
        entry, parent = pending.pop()
        page = _identify_page(entry.path, former, paths) if entry.path is not None else None
        is_page = page is not None and entry.anchor is None and entry.path not in listed
        spot = OutlineEntry(entry, parent, page, is_page)
        if is_page and page is not None and entry.path is not None:
            spot.identity = page
            listed.add(entry.path)
        spots.append(spot)
        if parent is not None:
            parent.children.append(spot)
        pending.extend((child, spot) for child in reversed(entry.children))
    return spots


def _identify_page(path: str, former: Mapping[str, str], paths: Mapping[str, str]) -> Identity:
    """Who the file at a path is; one at a path that another file has left is not that file."""
    base = former.get(path)
    return ("page", base) if base is not None else ("another page", path) if path in paths else ("page", path)


def _number_rest(side: str, spots: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    """Give what no other side has an identity of its own, and return it."""
    loose = [spot for spot in spots if spot.identity == TOP]
    for number, spot in enumerate(loose):
        spot.identity = (side, number)
    return loose


def _identify_known(known: Sequence[OutlineEntry], spots: Sequence[OutlineEntry]) -> None:
    """Give each spot that is not recognised yet the identity of the known one that it stands for."""
    loose = [spot for spot in spots if spot.identity == TOP]
    for kind in ("group", "document", "link", "computed"):
        left = [spot for spot in known if spot.entry.kind == kind]
        right = [spot for spot in loose if spot.entry.kind == kind]
        for key, numbered in _KEYS[kind]:
            left, right = _pair_by_key(left, right, key, numbered=numbered)
        if kind == "group":
            _pair_by_children(left, right)


def _pair_by_key(
    left: Sequence[OutlineEntry],
    right: Sequence[OutlineEntry],
    key: Callable[[OutlineEntry], Hashable],
    *,
    numbered: bool,
) -> tuple[list[OutlineEntry], list[OutlineEntry]]:
    """Pair by a key that is the only one on both sides, or numbered; return what is left of both."""
    ours, theirs = _index_by_key(left, key, numbered=numbered), _index_by_key(right, key, numbered=numbered)
    matched: set[Identity] = set()
    for name, spot in theirs.items():
        if (twin := ours.get(name)) is not None:
            spot.identity = twin.identity
            matched.add(twin.identity)
    return [spot for spot in left if spot.identity not in matched], [
        spot for spot in right if spot.identity not in matched
    ]


def _index_by_key(
    spots: Sequence[OutlineEntry], key: Callable[[OutlineEntry], Hashable], *, numbered: bool
) -> dict[Hashable, OutlineEntry]:
    keys = [key(spot) for spot in spots]
    if not numbered:
        count = Counter(keys)
        return {name: spot for name, spot in zip(keys, spots, strict=True) if count[name] == 1}
    seen: Counter[Hashable] = Counter()
    found: dict[Hashable, OutlineEntry] = {}
    for name, spot in zip(keys, spots, strict=True):
        seen[name] += 1
        found[name, seen[name]] = spot
    return found


def _pair_by_children(left: Sequence[OutlineEntry], right: Sequence[OutlineEntry]) -> None:
    """Pair groups that share more than half of the pages that both sides have in them."""
    homes = {child.identity: group for group in left for child in group.children if child.is_page}
    claims: dict[Identity, list[tuple[int, OutlineEntry]]] = {}
    for group in right:
        shares = Counter(homes[child.identity].identity for child in group.children if child.identity in homes)
        for identity, count in shares.most_common(1):
            if 2 * count > shares.total():
                claims.setdefault(identity, []).append((count, group))
    for identity, claim in claims.items():
        best = max(count for count, _ in claim)
        winners = [group for count, group in claim if count == best]
        if 2 * best > sum(count for count, _ in claim) and len(winners) == 1:
            winners[0].identity = identity


def _identify_renamed(
    base: Sequence[OutlineEntry], renaming: Sequence[OutlineEntry], other: Sequence[OutlineEntry]
) -> None:
    """Give a group of the other side that has the new title of a group and its pages the identity of that group, and
    take it from the one that has the former title: the other side made that anew, or left it behind."""
    former = {spot.identity: spot.entry.title for spot in base if spot.entry.kind == "group"}
    titles = set(former.values())
    given = {spot.identity: spot for spot in other}
    groups = [spot for spot in other if spot.identity == TOP and spot.entry.kind == "group"]
    named = _index_by_key(groups, _find_title, numbered=False)
    for spot in renaming:
        twin, left = named.get(spot.entry.title), given.get(spot.identity)
        if spot.identity not in former or spot.entry.title in titles or twin is None or left is None:
            continue
        if left.entry.title == former[spot.identity] and _count_pages(spot, twin) > _count_pages(spot, left):
            twin.identity, left.identity = spot.identity, TOP


def _count_pages(one: OutlineEntry, other: OutlineEntry) -> int:
    """How many pages two groups share."""
    return len({child.identity for child in one.children if child.is_page} & {c.identity for c in other.children})


def _build_outline(spots: Sequence[OutlineEntry]) -> Outline:
    order: dict[Identity, list[Identity]] = {TOP: []}
    for spot in spots:
        order.setdefault(spot.parent_identity, []).append(spot.identity)
    return Outline({spot.identity: spot for spot in spots}, order)


def _find_words(spot: OutlineEntry) -> Hashable:
    return spot.entry.title, spot.entry.slug


def _find_slug(spot: OutlineEntry) -> Hashable:
    return spot.entry.slug or slugify(spot.entry.title)


def _find_words_and_place(spot: OutlineEntry) -> Hashable:
    above = spot.parent
    place = above and (above.page or (above.entry.kind, _find_words(above)))
    return place, _find_words(spot)


def _find_address_and_title(spot: OutlineEntry) -> Hashable:
    return spot.link_address, spot.entry.title


def _find_title(spot: OutlineEntry) -> Hashable:
    return spot.entry.title


def _find_address(spot: OutlineEntry) -> Hashable:
    return spot.link_address


def _find_yaml(spot: OutlineEntry) -> Hashable:
    return spot.entry.computed


def _find_kind(spot: OutlineEntry) -> Hashable:
    return spot.entry.kind


_Keys = tuple[tuple[Callable[[OutlineEntry], Hashable], bool], ...]
_LINK: _Keys = ((_find_address_and_title, True), (_find_address, False), (_find_title, False))
_KEYS: Mapping[str, _Keys] = {
    "group": ((_find_words, False), (_find_slug, False), (_find_words_and_place, True), (_find_words, True)),
    "document": _LINK,
    "link": _LINK,
    "computed": ((_find_yaml, True), (_find_kind, False)),
}
"""For each kind, what tells an entry, and whether several alike are told by their number; the surest first."""
