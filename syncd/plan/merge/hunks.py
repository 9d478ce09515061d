"""Split a text in conflict into hunks and the text between them, and find the lines of each hunk on both sides.

`syncd resolve` shows them; the merge itself does not need them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from syncd.plan.merge.pages import Side

# Not splitlines, which ends a line at a lone carriage return as well; Git does not.
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_SIZE = 7
"""Signs of a marker, where no line of a text looks like one."""
_BEGIN = re.compile(rb"(<{7,}) ours\s*")
_TITLE = "title: "


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
Titles = tuple[str, str, str]
"""The titles of a page in base, ours and theirs; "" where the base lacks it."""


@dataclass(frozen=True)
class Labels:
    """What the two sides are called behind the markers, and how many signs a marker has."""

    ours: str = "ours"
    theirs: str = "theirs"
    size: int = _SIZE

    @property
    def begin(self) -> bytes:
        """The marker before the lines of ours."""
        return b"<" * self.size + b" " + self.ours.encode()

    @property
    def base(self) -> bytes:
        """The marker before the lines of the base."""
        return b"|" * self.size + b" base"

    @property
    def middle(self) -> bytes:
        """The marker before the lines of theirs."""
        return b"=" * self.size

    @property
    def end(self) -> bytes:
        """The marker behind the lines of theirs."""
        return b">" * self.size + b" " + self.theirs.encode()


def measure_markers(text: bytes) -> int:
    """Return how many signs the markers of a merged text have, in which the sides are called `ours` and `theirs`.

    Shape: they are longer than all lines of the text that look like the first one.
    """
    return max((len(found[1]) for line in _LINE.findall(text) if (found := _BEGIN.fullmatch(line))), default=_SIZE)


def split_merged_text(text: bytes, sides: Mapping[Side, bytes]) -> tuple[TextPiece, ...]:
    """Return the parts of a text as it was merged, with markers that call its sides `ours` and `theirs`."""
    return split_hunks(text, Labels(size=measure_markers(text)), sides)


def put_title_first(pieces: Sequence[TextPiece], titles: Titles) -> tuple[TextPiece, ...]:
    """Return the pieces of a text behind a first hunk with the page's titles, and an empty line."""
    base, ours, theirs = (f"{_TITLE}{title}\n".encode() for title in titles)
    later = (replace(piece, number=piece.number + 1) if isinstance(piece, Hunk) else piece for piece in pieces)
    return (Hunk(1, base if titles[0] else None, ours, theirs), b"\n", *later)


def drop_title(pieces: Sequence[TextPiece]) -> tuple[TextPiece, ...]:
    """Return the pieces of a text without those that `put_title_first` has put before them; hunks keep their
    numbers."""
    return tuple(pieces[2:])


def cut_title(text: bytes) -> tuple[str, bytes]:
    """Return the title in the first line of a text, and the text behind it and the empty line that follows; "" where
    there are no such lines."""
    first, empty, *rest = [*_LINE.findall(text), b"", b""]
    word = first.decode("utf-8", "replace").rstrip()
    return (word.removeprefix(_TITLE), b"".join(rest)) if word.startswith(_TITLE) and not empty.strip() else ("", text)


def split_hunks(text: bytes, labels: Labels, sides: Mapping[Side, bytes]) -> tuple[TextPiece, ...]:
    """Return the parts of a text with conflict markers: plain lines and hunks; `sides` has both sides' complete texts.

    Shape: markers that are not complete, or have another number of signs, are text. Joined, the parts are the text
    again.
    """
    parts: list[TextPiece] = []
    plain: list[bytes] = []
    lines = _LINE.findall(text)
    at = number = 0
    while at < len(lines):
        end = _find_end(lines, at, labels)
        hunk = _read_hunk(lines[at + 1 : end], number + 1, labels) if end else None
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
    signs = {labels.begin, labels.base, labels.end}
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
    if lines[at].rstrip() != labels.begin:
        return 0
    return next((end for end in range(at + 1, len(lines)) if lines[end].rstrip() == labels.end), 0)


def _read_hunk(lines: Sequence[bytes], number: int, labels: Labels) -> Hunk | None:
    """The hunk between two markers; None where the marker in the middle is missing."""
    signs = [line.rstrip() for line in lines]
    if labels.middle not in signs:
        return None
    middle = signs.index(labels.middle)
    ours, theirs = lines[:middle], lines[middle + 1 :]
    if labels.base not in signs[:middle]:
        return Hunk(number, None, b"".join(ours), b"".join(theirs))
    begin = signs.index(labels.base)
    return Hunk(number, b"".join(ours[begin + 1 :]), b"".join(ours[:begin]), b"".join(theirs))


def _render_hunk(hunk: Hunk, labels: Labels) -> bytes:
    end = b"\r\n" if b"\r\n" in hunk.ours + hunk.theirs else b"\n"

    def end_line(lines: bytes) -> bytes:
        return lines if not lines or lines.endswith(b"\n") else lines + end

    base = labels.base + end + end_line(hunk.base) if hunk.base is not None else b""
    ours, theirs = labels.begin + end + end_line(hunk.ours), end_line(hunk.theirs) + labels.end + end
    return ours + base + labels.middle + end + theirs
