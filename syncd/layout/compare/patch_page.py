"""Carry an edit of a server's form of a page over to the writer's form of it, where the two do not mean the same."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.compare.alignment import occurrences, pairs
from syncd.layout.compare.compose_blocks import Part, part_of, weave
from syncd.layout.compare.tokens import Meaning, meaning
from syncd.layout.page.frontmatter import patch

TOKENS_MAX = 1_500
"""Words and signs of a passage that are merged word by word; a longer one is a clash."""

COMPARISONS_MAX = 2_500
"""Pairs of blocks in one passage whose words are compared, to find which stands for which."""

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\s+|[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True)
class Transferred:
    """The writer's page with the edit in it; `clashes` are lines of the writer's page whose words the edit replaced
    although the server's form of them had lost something."""

    body: bytes
    clashes: tuple[int, ...] = ()


class _Unit(NamedTuple):
    """Blocks of the server's form, and the blocks of the writer's that they stand for; `same` if they mean the same."""

    server: range
    writer: range
    same: bool


def transferred(writer: bytes, before: bytes, after: bytes, *, at: str) -> Transferred:
    """Given a page as its writer has it, and the server's form of it before and after an edit, return the edited page.

    Shape: what the edit did not touch keeps the writer's bytes, also where the server had lost some of it; where it
    touched such a passage both are merged word by word, and where they touch the same words the edit has its way.
    """
    try:
        one, base, other = (meaning(text.decode(), at=at) for text in (writer, before, after))
    except UnicodeDecodeError:
        return Transferred(after, (1,))
    if one is None or base is None or other is None:
        return Transferred(after, (1,))
    if base.says(other):
        return Transferred(writer)
    carrier = _Carrier(one, base, other)
    text = weave(list(carrier.parts()), one, other, head=carrier.head())
    return Transferred(text.encode(), tuple(carrier.clashes))


class _Carrier:
    def __init__(self, writer: Meaning, before: Meaning, after: Meaning) -> None:
        self.writer, self.before, self.after = writer, before, after
        self.kept = dict(pairs(before.facts(), after.facts()))
        self.units = list(_units(before, writer))
        self.moved = self._moved()
        self.dropped: list[_Unit] = []
        self.added: list[int] = []
        self.clashes: list[int] = []

    def head(self) -> str:
        """The writer's frontmatter with each key that the edit changed."""
        was, now, mine = self.before.front, self.after.front, self.writer.front
        if was == now:
            return self.writer.head
        if not (isinstance(was, dict) and isinstance(now, dict) and isinstance(mine, dict)):
            self.clashes += [] if mine in (was, now) else [1]
            return self.after.head
        edited = [key for key in {**was, **now} if was.get(key) != now.get(key)]
        if any(mine.get(key) not in (was.get(key), now.get(key)) for key in edited):
            self.clashes.append(1)
        try:
            return patch(self.writer.head, {key: now.get(key) for key in edited})
        except FileInvalid:
            return self.after.head

    def parts(self) -> Iterator[Part]:
        """The blocks of the edited page; between units that the edit left alone stands what it made of the others."""
        done = 0
        touched: list[_Unit] = []
        for unit in (*self.units, None):
            if unit is not None and (not unit.server or not self._stands(unit)):
                touched.append(unit)
                continue
            start = len(self.after.blocks) if unit is None else self.kept[unit.server[0]]
            yield from self._run(touched, range(done, start))
            touched = []
            if unit is not None:
                done = start + len(unit.server)
                same = len(unit.server) == len(unit.writer)
                for place in unit.writer:
                    yield self._mine(place, start + place - unit.writer.start if same else None)
        new = _bag(_source(self.after, range(place, place + 1)) for place in self.added)
        for unit in self.dropped:
            if _has_most(new, _bag([_source(self.before, unit.server)])):
                self._clash(unit.writer)

    def _moved(self) -> dict[int, int]:
        """Blocks of the edited page that stood elsewhere before, each with the writer's block that it stands for."""
        there = {unit.server[0]: unit.writer[0] for unit in self.units if len(unit.server) == len(unit.writer) == 1}
        here, now = self.before.facts(), self.after.facts()
        came = sorted(set(range(len(now))) - set(self.kept.values()))
        went = [place for place in there if place not in self.kept]
        found = occurrences([now[place] for place in came], [here[place] for place in went])
        return {came[one]: there[went[other]] for one, other in found}

    def _clash(self, places: range) -> None:
        self.clashes.append(self.writer.blocks[places.start].start + 1 + self.writer.head.count("\n"))

    def _stands(self, unit: _Unit) -> bool:
        """Whether the edit left the blocks of a unit as they were, one below the other."""
        first = self.kept.get(unit.server[0])
        return first is not None and all(
            self.kept.get(place) == first + place - unit.server[0] for place in unit.server
        )

    def _mine(self, place: int, wanted: int | None = None) -> Part:
        return Part(part_of(self.writer, place), place, wanted)

    def _new(self, places: range, instead: range = range(0)) -> Iterator[Part]:
        slots = instead if len(instead) == len(places) else [None] * len(places)
        for place, slot in zip(places, slots, strict=True):
            if place in self.moved:
                yield Part(part_of(self.writer, self.moved[place]), None, place)
            else:
                self.added.append(place)
                yield Part(part_of(self.after, place), slot, place)

    def _run(self, units: list[_Unit], now: range) -> Iterator[Part]:
        """What became of units that do not all stand; blocks that the server had lost as a whole are kept around it."""
        held = [index for index, unit in enumerate(units) if unit.server]
        first, last = (held[0], held[-1] + 1) if held else (len(units), len(units))
        yield from (self._mine(place) for unit in units[:first] for place in unit.writer)
        yield from self._edited(units[first:last], now) if held else self._new(now)
        yield from (self._mine(place) for unit in units[last:] for place in unit.writer)

    def _edited(self, units: Sequence[_Unit], now: range) -> Iterator[Part]:
        was = range(units[0].server.start, units[-1].server.stop)
        if all(unit.same for unit in units):
            yield from self._new(now, range(units[0].writer.start, units[-1].writer.stop))
        elif len(was) == len(now):
            shift = now.start - was.start
            for unit in units:
                here = range(unit.server.start + shift, unit.server.stop + shift)
                yield from self._passage(unit.server, unit.writer, here)
        else:
            yield from self._passage(was, range(units[0].writer.start, units[-1].writer.stop), now)

    def _passage(self, was: range, mine: range, now: range) -> Iterator[Part]:
        then, wanted, own = _facts(self.before, was), _facts(self.after, now), _facts(self.writer, mine)
        if then == wanted:
            yield from (self._mine(place) for place in mine)
        elif own in ([], then, wanted) or not now:
            if not now and own not in ([], then):
                self.dropped.append(_Unit(was, mine, False))
            yield from self._new(now, mine)
        else:
            merged = merged_words(_source(self.before, was), _source(self.writer, mine), _source(self.after, now))
            if merged is None:
                self._clash(mine)
                yield from self._new(now)
            else:
                yield Part(merged, mine.start if len(mine) == 1 else None, now.start if len(now) == 1 else None)


def merged_words(base: str, one: str, other: str) -> str | None:
    """Given a passage and two edits of it, return it with both, word by word; None when they touch the same words.

    Shape: white space is as in the first edit, unless the second one changed it.
    """
    rows = [_TOKEN.findall(text) for text in (base, one, other)]
    if max(map(len, rows)) > TOKENS_MAX:
        return None
    first, second = (_Edits(rows[0], row) for row in rows[1:])
    changes = sorted([*first.changes(1), *second.changes(2)])
    if any(_clash(rows[0], above, below) for above, below in pairwise(changes)):
        return None
    result: list[str] = []
    done = 0
    for change in (*changes, _Change(len(rows[0]), len(rows[0]), 0, ())):
        kept = range(done, change.start)
        result += [_kept(rows[0][place], first.same[place], second.same[place]) for place in kept]
        result += change.tokens
        done = change.end
    return "".join(result)


class _Change(NamedTuple):
    """Places of the base that one side replaced, and by what."""

    start: int
    end: int
    side: int
    tokens: tuple[str, ...]

    def has_words(self, base: Sequence[str]) -> bool:
        return any(token[0].isalnum() for token in (*base[self.start : self.end], *self.tokens))


def _clash(base: Sequence[str], above: _Change, below: _Change) -> bool:
    """Whether two changes are of different sides and touch; words with nothing but white space between them touch."""
    if above.side == below.side:
        return False
    between = "".join(base[above.end : below.start])
    return below.start <= above.end or (not between.strip() and above.has_words(base) and below.has_words(base))


class _Edits:
    """How one sequence of words and signs became another; any white space is as good as another."""

    def __init__(self, base: Sequence[str], edited: Sequence[str]) -> None:
        one, other = ([" " if token.isspace() else token for token in row] for row in (base, edited))
        self.edited = edited
        self.codes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        self.same = {
            start + offset: edited[first + offset]
            for word, start, end, first, _ in self.codes
            if word == "equal"
            for offset in range(end - start)
        }

    def changes(self, side: int) -> Iterator[_Change]:
        """What was replaced by what, in order."""
        for word, start, end, first, last in self.codes:
            if word != "equal":
                yield _Change(start, end, side, tuple(self.edited[first:last]))


def _kept(base: str, one: str, other: str) -> str:
    return one if other == base else other


def _units(server: Meaning, writer: Meaning) -> Iterator[_Unit]:
    """Given both forms of a page, return what stands for what, in order."""
    here = there = 0
    for one, other in (*pairs(server.facts(), writer.facts()), (len(server.blocks), len(writer.blocks))):
        yield from _unlike(server, writer, range(here, one), range(there, other))
        if one < len(server.blocks):
            yield _Unit(range(one, one + 1), range(other, other + 1), True)
        here, there = one + 1, other + 1


def _unlike(server: Meaning, writer: Meaning, here: range, there: range) -> Iterator[_Unit]:
    """What stands for what among blocks that do not mean the same: by place, else by the words that they share."""
    found = list(there) if len(here) == len(there) else _likest(server, writer, here, there)
    if len(found) < len(here) or not here:
        yield _Unit(here, there, False)
        return
    done = there.start
    for place, counterpart in zip(here, found, strict=True):
        if counterpart > done:
            yield _Unit(range(place, place), range(done, counterpart), False)
        yield _Unit(range(place, place + 1), range(counterpart, counterpart + 1), False)
        done = counterpart + 1
    if done < there.stop:
        yield _Unit(range(here.stop, here.stop), range(done, there.stop), False)


def _likest(server: Meaning, writer: Meaning, here: range, there: range) -> list[int]:
    """For each of the server's blocks the next of the writer's that has most of its words, as far as there is one."""
    found: list[int] = []
    if len(here) * len(there) > COMPARISONS_MAX:
        return found
    done = there.start
    for place in here:
        fits = (at for at in range(done, there.stop) if _shares(server, place, writer, at))
        counterpart = next(fits, None)
        if counterpart is None:
            return []
        found.append(counterpart)
        done = counterpart + 1
    return found


def _shares(one: Meaning, place: int, other: Meaning, there: int) -> bool:
    """Whether most words of a block are in another one."""
    return _has_most(_bag([part_of(other, there)]), _bag([part_of(one, place)]))


def _bag(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in _WORD.findall(text))


def _has_most(found: Counter[str], words: Counter[str]) -> bool:
    return 2 * (words & found).total() > words.total()


def _facts(page: Meaning, places: range) -> list[object]:
    return [page.blocks[place].facts for place in places]


def _source(page: Meaning, places: range) -> str:
    if not places:
        return ""
    first, last = page.blocks[places[0]], page.blocks[places[-1]]
    return page.source(first.start, last.end)
