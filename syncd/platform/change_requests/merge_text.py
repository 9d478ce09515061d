"""Three-way merge of a text: frontmatter by key, the rest by line; where both changed the same, `theirs` stays."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from syncd.errors import FileInvalid
from syncd.layout.page import frontmatter
from syncd.platform.revisions.diff import pair_unique_items

PAIRS_MAX = 250_000
"""Pairs of equal lines that are tried between two lines that each text has once. With more, all between the two counts
as changed: a text of few different lines, each many times, makes the matcher work for minutes.
"""
_LONG = 200
"""Lines from which on the matcher leaves out popular ones."""


@dataclass(frozen=True, slots=True)
class MergedText:
    """A merged text, and whether the sides contradicted each other."""

    text: str
    has_conflict: bool


def merge_text(base: str, ours: str, theirs: str) -> MergedText:
    """Return the three-way merge of a page's text: block by block where it can be, else line by line."""
    if ours in (base, theirs):
        return MergedText(theirs, False)
    if theirs == base:
        return MergedText(ours, False)
    return _merge_page(base, ours, theirs) or merge_lines(base, ours, theirs)


def merge_lines(base: str, ours: str, theirs: str) -> MergedText:
    """Return the three-way merge of a text, line by line; where both sides changed the same lines, theirs win."""
    old, left, right = base.split("\n"), ours.split("\n"), theirs.split("\n")
    merged: list[str] = []
    conflict = False
    for was, mine, other in _split_chunks(old, left, right):
        if mine in (was, other):
            merged += other
        elif other == was:
            merged += mine
        else:
            merged += other
            conflict = True
    return MergedText("\n".join(merged), conflict)


def _merge_page(base: str, ours: str, theirs: str) -> MergedText | None:
    heads, bodies = zip(*(frontmatter.split_frontmatter(text) for text in (base, ours, theirs)), strict=True)
    if heads[1] in (heads[0], heads[2]):
        head, conflict = heads[2], False
    elif heads[2] == heads[0]:
        head, conflict = heads[1], False
    else:
        try:
            head, conflict = _merge_frontmatter(*heads)
        except FileInvalid:
            # Frontmatter that is no YAML has no keys to merge by; lines will do.
            return None
    body = merge_lines(*bodies)
    return MergedText(head + body.text, conflict or body.has_conflict)


def _merge_frontmatter(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    was, mine, other = (frontmatter.read_fields(text, at="frontmatter") for text in (base, ours, theirs))
    changed = [key for key in {**was, **mine} if was.get(key) != mine.get(key) and mine.get(key) != other.get(key)]
    take = {key: mine.get(key) for key in changed if was.get(key) == other.get(key)}
    return frontmatter.patch_frontmatter(theirs, take), len(take) < len(changed)


def _split_chunks(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield the three texts piece by piece; what all three share stands between pieces where they differ."""
    at, mine, other = 0, 0, 0
    for start, left, right, length in _find_shared_runs(base, ours, theirs):
        yield list(base[at:start]), list(ours[mine:left]), list(theirs[other:right])
        at, mine, other = start + length, left + length, right + length
        kept = list(base[start:at])
        yield kept, kept, kept
    yield list(base[at:]), list(ours[mine:]), list(theirs[other:])


def _find_shared_runs(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of base lines that both sides kept: where each starts in base, ours and theirs, and its length."""
    lefts, rights = (_slide_gaps(_find_kept_runs(base, side), base, side) for side in (ours, theirs))
    left, right = next(lefts, None), next(rights, None)
    while left and right:
        start = max(left[0], right[0])
        end = min(left[0] + left[2], right[0] + right[2])
        if start < end:
            yield start, left[1] + start - left[0], right[1] + start - right[0], end - start
        if left[0] + left[2] <= end:
            left = next(lefts, None)
        else:
            right = next(rights, None)


def _slide_gaps(
    runs: Iterator[tuple[int, int, int]], base: Sequence[str], side: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """Yield the runs with each insertion and each removal between two of them as far up as it reads the same.

    A paragraph that both sides inserted at one place would else begin with its empty line in one and end with it in the
    other, and stand twice.
    """
    placed: list[tuple[int, int, int]] = []
    for start, at, length in (*runs, (len(base), len(side), 0)):
        up = 0
        if placed:
            before, mine, kept = placed.pop()
            removed, added = start - before - kept, at - mine - kept
            if not removed or not added:
                up = _count_lines_up(side[mine:at], added) if added else _count_lines_up(base[before:start], removed)
            placed.append((before, mine, kept - up))
        placed.append((start - up, at - up, length + up))
    return (run for run in placed if run[2])


def _count_lines_up(lines: Sequence[str], count: int) -> int:
    """How many lines up the last ones can be taken out of some lines with the same outcome; of none, all others."""
    kept = len(lines) - count
    return next((up for up in range(kept) if lines[kept - 1 - up] != lines[-1 - up]), kept)


def _find_kept_runs(base: Sequence[str], side: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of lines that a side kept of the base: start in base, start in the side, length."""
    # The common ends are cut off first: an edit of a long page then compares a few lines only.
    limit = min(len(base), len(side))
    head = next((at for at in range(limit) if base[at] != side[at]), limit)
    limit -= head
    tail = next((at for at in range(limit) if base[-1 - at] != side[-1 - at]), limit)
    if head:
        yield 0, 0, head
    yield from _find_runs_between(base[: len(base) - tail], side[: len(side) - tail], head)
    if tail:
        yield len(base) - tail, len(side) - tail, tail


def _find_runs_between(base: Sequence[str], side: Sequence[str], start: int) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of lines that two texts share behind an index.

    Lines that each text has exactly once are paired first, since no other line can be meant; then what is between. An
    empty line says nothing, even where there is only one.
    """
    at, mine = start, start
    words = ([line or (name, at) for at, line in enumerate(text[start:])] for name, text in (("b", base), ("s", side)))
    leading = [(left + start, right + start) for left, right in pair_unique_items(*words)]
    for left, right in (*leading, (len(base), len(side))):
        if at < left and mine < right and _count_pairs(base[at:left], side[mine:right]) <= PAIRS_MAX:
            for match in SequenceMatcher(None, base[at:left], side[mine:right]).get_matching_blocks()[:-1]:
                yield at + match.a, mine + match.b, match.size
        if left < len(base):
            yield left, right, 1
        at, mine = left + 1, right + 1


def _count_pairs(base: Sequence[str], side: Sequence[str]) -> int:
    """How many pairs of equal lines there are to choose from, without the lines that the matcher leaves out."""
    counts = Counter(side)
    popular = len(side) // 100 + 1 if len(side) >= _LONG else len(side)
    return sum(count * counts[line] for line, count in Counter(base).items() if counts[line] <= popular)
