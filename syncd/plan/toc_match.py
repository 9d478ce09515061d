"""Tell which entries of three tables of contents are the same thing, although files were renamed and titles changed."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.tree.paths import slugify
from syncd.layout.tree.summary import Entry

Identity = tuple[str, str | int]
"""Names an entry on all sides: a page by its first path, everything else by a number of its own."""

TOP: Identity = ("top", "")
"""Stands above every entry that hangs below none."""


@dataclass(eq=False)
class Spot:
    """One entry of one side; `page` is the page that it is or leads to."""

    entry: Entry
    parent: "Spot | None"
    page: Identity | None
    is_page: bool
    identity: Identity = TOP
    children: list["Spot"] = field(default_factory=list)

    @property
    def above(self) -> Identity:
        """What this hangs below."""
        return self.parent.identity if self.parent is not None else TOP

    @property
    def address(self) -> Hashable:
        """Where a link leads, the same under every name of a file."""
        return self.page, self.entry.anchor or None, self.entry.target


@dataclass(eq=False)
class Outline:
    """One side's entries by identity, in reading order, and the children of each."""

    spots: dict[Identity, Spot]
    order: dict[Identity, list[Identity]]


def outlines(
    base: Iterable[Entry],
    ours: Iterable[Entry],
    theirs: Iterable[Entry],
    *,
    ours_paths: Mapping[str, str],
    theirs_paths: Mapping[str, str],
) -> tuple[Outline, Outline, Outline]:
    """Given three sides and where two of them have each of the base's files, return them with common identities.

    Shape: a page is told by its file; a group by slug or title, else by most of its children; a link by where it leads
    and its title, else by one of both; a computed tree by its YAML, else by being the only other one. Linear.
    """
    sides = (_read(base, {}), _read(ours, ours_paths), _read(theirs, theirs_paths))
    first = _number("base", sides[0])
    _recognise(first, sides[1])
    _recognise(first, sides[2])
    _recognise(_number("ours", sides[1]), sides[2])
    _number("theirs", sides[2])
    one, two, three = map(_outline, sides)
    return one, two, three


def _read(entries: Iterable[Entry], paths: Mapping[str, str]) -> list[Spot]:
    """The spots of one side in reading order; pages know who they are, the rest is TOP until it is recognised."""
    former = {path: base for base, path in sorted(paths.items(), reverse=True)}
    spots: list[Spot] = []
    listed: set[str] = set()
    pending: list[tuple[Entry, Spot | None]] = [(entry, None) for entry in reversed(tuple(entries))]
    while pending:
        entry, parent = pending.pop()
        page = _page(entry.path, former, paths) if entry.path is not None else None
        is_page = page is not None and entry.anchor is None and entry.path not in listed
        spot = Spot(entry, parent, page, is_page)
        if is_page and page is not None and entry.path is not None:
            spot.identity = page
            listed.add(entry.path)
        spots.append(spot)
        if parent is not None:
            parent.children.append(spot)
        pending.extend((child, spot) for child in reversed(entry.children))
    return spots


def _page(path: str, former: Mapping[str, str], paths: Mapping[str, str]) -> Identity:
    """Who the file at a path is; one at a path that another file has left is not that file."""
    base = former.get(path)
    return ("page", base) if base is not None else ("another page", path) if path in paths else ("page", path)


def _number(side: str, spots: Sequence[Spot]) -> list[Spot]:
    """Give what no other side has an identity of its own, and return it."""
    loose = [spot for spot in spots if spot.identity == TOP]
    for number, spot in enumerate(loose):
        spot.identity = (side, number)
    return loose


def _recognise(known: Sequence[Spot], spots: Sequence[Spot]) -> None:
    """Give each spot that is not recognised yet the identity of the known one that it stands for."""
    loose = [spot for spot in spots if spot.identity == TOP]
    for kind in ("group", "document", "link", "computed"):
        left = [spot for spot in known if spot.entry.kind == kind]
        right = [spot for spot in loose if spot.entry.kind == kind]
        for key, numbered in _KEYS[kind]:
            left, right = _pair(left, right, key, numbered=numbered)
        if kind == "group":
            _pair_by_children(left, right)


def _pair(
    left: Sequence[Spot], right: Sequence[Spot], key: Callable[[Spot], Hashable], *, numbered: bool
) -> tuple[list[Spot], list[Spot]]:
    """Pair by a key that is the only one on both sides, or numbered; return what is left of both."""
    ours, theirs = _keyed(left, key, numbered=numbered), _keyed(right, key, numbered=numbered)
    met: set[Identity] = set()
    for name, spot in theirs.items():
        if (twin := ours.get(name)) is not None:
            spot.identity = twin.identity
            met.add(twin.identity)
    return [spot for spot in left if spot.identity not in met], [spot for spot in right if spot.identity not in met]


def _keyed(spots: Sequence[Spot], key: Callable[[Spot], Hashable], *, numbered: bool) -> dict[Hashable, Spot]:
    keys = [key(spot) for spot in spots]
    if not numbered:
        count = Counter(keys)
        return {name: spot for name, spot in zip(keys, spots, strict=True) if count[name] == 1}
    seen: Counter[Hashable] = Counter()
    found: dict[Hashable, Spot] = {}
    for name, spot in zip(keys, spots, strict=True):
        seen[name] += 1
        found[name, seen[name]] = spot
    return found


def _pair_by_children(left: Sequence[Spot], right: Sequence[Spot]) -> None:
    """Pair groups that share more than half of the pages that both sides have in them."""
    homes = {child.identity: group for group in left for child in group.children if child.is_page}
    claims: dict[Identity, list[tuple[int, Spot]]] = {}
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


def _outline(spots: Sequence[Spot]) -> Outline:
    order: dict[Identity, list[Identity]] = {TOP: []}
    for spot in spots:
        order.setdefault(spot.above, []).append(spot.identity)
    return Outline({spot.identity: spot for spot in spots}, order)


def _words(spot: Spot) -> Hashable:
    return spot.entry.title, spot.entry.slug


def _slug(spot: Spot) -> Hashable:
    return spot.entry.slug or slugify(spot.entry.title)


def _words_and_place(spot: Spot) -> Hashable:
    above = spot.parent
    place = above and (above.page or (above.entry.kind, _words(above)))
    return place, _words(spot)


def _address_and_title(spot: Spot) -> Hashable:
    return spot.address, spot.entry.title


def _title(spot: Spot) -> Hashable:
    return spot.entry.title


def _address(spot: Spot) -> Hashable:
    return spot.address


def _yaml(spot: Spot) -> Hashable:
    return spot.entry.computed


def _kind(spot: Spot) -> Hashable:
    return spot.entry.kind


_Keys = tuple[tuple[Callable[[Spot], Hashable], bool], ...]
_LINK: _Keys = ((_address_and_title, True), (_address, False), (_title, False))
_KEYS: Mapping[str, _Keys] = {
    "group": ((_words, False), (_slug, False), (_words_and_place, True), (_words, True)),
    "document": _LINK,
    "link": _LINK,
    "computed": ((_yaml, True), (_kind, False)),
}
"""For each kind, what tells an entry, and whether several alike are told by their number; the surest first."""
