"""Split a text in conflict into hunks and the text between them, and find the lines of each hunk on both sides.

`syncd resolve` shows them; the merge itself does not need them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from syncd.plan.merge.pages import SIDES, Side

# Not splitlines, which ends a line at a lone carriage return as well; Git does not.
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_OURS, _BASE, _MIDDLE, _THEIRS = b"<<<<<<< ", b"||||||| base", b"=======", b">>>>>>> "


@dataclass(frozen=True)
class Hunk:
    """Lines that both sides changed; `base` is None where the text is new on both sides. `number` counts from 1.

    Shape: a hunk that a person has edited between its markers has the number 0, since it is none of those found.
    """

    number: int
    base: bytes | None
    ours: bytes
    theirs: bytes

    def at(self, side: Side) -> bytes:
        """Return the lines of a side."""
        return self.ours if side == "ours" else self.theirs


TextPiece = bytes | Hunk
"""A piece of a text: lines without conflict, or a hunk."""


@dataclass(frozen=True)
class Labels:
    """What the two sides are called behind the markers."""

    ours: str = "ours"
    theirs: str = "theirs"


def split_hunks(text: bytes, labels: Labels, sides: Mapping[Side, bytes]) -> tuple[TextPiece, ...]:
    """Return the parts of a text with conflict markers: plain lines and hunks; `sides` has both sides' complete texts.

    Shape: what only looks like a marker belongs to a side: `=======` underlines a heading, too. Markers that are not
    complete are text. Joined, the parts are the text again.
    """
    parts: list[TextPiece] = []
    plain: list[bytes] = []
    lines = _LINE.findall(text)
    at = number = 0
    while at < len(lines):
        end = _find_end(lines, at, labels)
        hunk = _read_hunk(lines[at + 1 : end], number + 1, sides) if end else None
        if hunk is None:
            plain.append(lines[at])
            at += 1
            continue
        parts += [b"".join(plain), hunk]
        plain, number, at = [], number + 1, end + 1
    if not plain and parts and isinstance(last := parts[-1], Hunk):  # Git adds a newline to a last line without one
        parts[-1] = replace(
            last, ours=_strip_line_end(last.ours, sides["ours"]), theirs=_strip_line_end(last.theirs, sides["theirs"])
        )
    return (*parts, b"".join(plain))


def _strip_line_end(lines: bytes, text: bytes) -> bytes:
    return lines if text.endswith(b"\n") else lines.removesuffix(b"\n").removesuffix(b"\r")


def join_hunks(parts: Iterable[TextPiece], labels: Labels) -> bytes:
    """Return the text of parts, with markers around every hunk that is left."""
    return b"".join(part if isinstance(part, bytes) else _render_hunk(part, labels) for part in parts)


def replace_hunks(parts: Sequence[TextPiece], choices: Mapping[int, bytes]) -> tuple[TextPiece, ...]:
    """Return parts with some hunks replaced, by number, by the lines that were chosen."""
    return tuple(choices.get(part.number, part) if isinstance(part, Hunk) else part for part in parts)


def list_hunks(parts: Iterable[TextPiece]) -> list[Hunk]:
    """Return the hunks that are left in parts."""
    return [part for part in parts if isinstance(part, Hunk)]


def has_markers(parts: Iterable[TextPiece], labels: Labels) -> bool:
    """Return whether hunks are left in parts, or a marker that a person has overlooked."""
    # The marker in the middle tells nothing: it may be the underline of a heading.
    signs = {_OURS + labels.ours.encode(), _BASE, _THEIRS + labels.theirs.encode()}
    return any(line.rstrip() in signs for line in _LINE.findall(join_hunks(parts, labels)))


def number_hunks(parts: Iterable[TextPiece], found: Sequence[Hunk]) -> tuple[TextPiece, ...]:
    """Return parts in which the hunks that are left have the numbers that they had among all that were `found`."""
    rest = list(found)
    numbered: list[TextPiece] = []
    for part in parts:
        if isinstance(part, Hunk):
            same = [hunk for hunk in rest if (hunk.base, hunk.ours, hunk.theirs) == (part.base, part.ours, part.theirs)]
            rest = rest[rest.index(same[0]) + 1 :] if same else rest
            part = Hunk(same[0].number if same else 0, part.base, part.ours, part.theirs)
        numbered.append(part)
    return tuple(numbered)


def find_lines(parts: Sequence[TextPiece], side: Side, text: bytes) -> dict[int, tuple[int, int]]:
    """Return the lines that each hunk has in the text of a side, by the hunk's number.

    Shape: the first line, counted from 0, and the one after the last.
    """
    places: list[tuple[Hunk, int, int]] = []
    merged: list[bytes] = []
    for part in parts:
        start = len(merged)
        merged += _LINE.findall(part if isinstance(part, bytes) else part.at(side))
        if isinstance(part, Hunk):
            places.append((part, start, len(merged)))
    # With a side's lines in every hunk, the text still has what only the other side changed elsewhere: lines are not
    # at the same numbers as in the side's own text.
    there = _LineMap(SequenceMatcher(None, merged, _LINE.findall(text)).get_opcodes()).find_line
    return {hunk.number: (there(start), there(start) + end - start) for hunk, start, end in places}


def split_lines(text: bytes) -> list[bytes]:
    """Return the lines of a text with their ends."""
    return _LINE.findall(text)


@dataclass(frozen=True)
class _LineMap:
    """Where the lines of one text are in another that is much alike."""

    steps: Sequence[tuple[str, int, int, int, int]]

    def find_line(self, line: int) -> int:
        """Return the line of the second text that corresponds to one of the first."""
        for tag, start, end, to, _ in self.steps:
            if start <= line < end:
                return to + (line - start if tag == "equal" else 0)
        return self.steps[-1][4] if self.steps else 0


def _find_end(lines: Sequence[bytes], at: int, labels: Labels) -> int:
    """The line that ends the hunk that begins here; 0 where none does."""
    if lines[at].rstrip() != _OURS + labels.ours.encode():
        return 0
    last = _THEIRS + labels.theirs.encode()
    return next((end for end in range(at + 1, len(lines)) if lines[end].rstrip() == last), 0)


def _read_hunk(lines: Sequence[bytes], number: int, sides: Mapping[Side, bytes]) -> Hunk | None:
    """The hunk between two markers; None where the marker in the middle is missing."""
    signs = [line.rstrip() for line in lines]
    begin = signs.index(_BASE) if _BASE in signs else -1
    found = [
        Hunk(number, b"".join(lines[begin + 1 : at]), b"".join(lines[:begin]), b"".join(lines[at + 1 :]))
        if begin >= 0
        else Hunk(number, None, b"".join(lines[:at]), b"".join(lines[at + 1 :]))
        for at in range(begin + 1, len(lines))
        if signs[at] == _MIDDLE
    ]
    # Every `=======` may be the marker or the underline of a heading: it is the marker if what it separates is, whole,
    # in the texts of both sides. Git has ended a last line that has no end there.
    likely = (hunk for hunk in found if all(hunk.at(side) in sides[side] + b"\n" for side in SIDES))
    return next(likely, found[0] if found else None)


def _render_hunk(hunk: Hunk, labels: Labels) -> bytes:
    end = b"\r\n" if b"\r\n" in hunk.ours + hunk.theirs else b"\n"

    def end_line(lines: bytes) -> bytes:
        return lines if not lines or lines.endswith(b"\n") else lines + end

    base = _BASE + end + end_line(hunk.base) if hunk.base is not None else b""
    begin, last = _OURS + labels.ours.encode() + end, _THEIRS + labels.theirs.encode() + end
    return begin + end_line(hunk.ours) + base + _MIDDLE + end + end_line(hunk.theirs) + last
