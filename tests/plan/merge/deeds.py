"""Every pair of things that two sides may do to one page, and what becomes of it: the promise that people read."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

_TEXT, _PATH, _TITLE, _PLACE, _GONE = "text", "path", "title", "place", "gone"


class Deed(Enum):
    """What a side does to one page, in the words of the manual."""

    UNTOUCHED = "leaves it as it is"
    EDITED = "edits its text"
    MOVED = "renames or moves its file"
    MOVED_AND_EDITED = "renames its file and edits its text"
    FOLDER = "makes it a folder: `x.md` becomes `x/README.md`"
    RETITLED = "gives it another title in `SUMMARY.md`"
    REORDERED = "puts it elsewhere in `SUMMARY.md`"
    DELETED = "deletes it"
    ADDED = "adds a page at the same path"

    @property
    def changes(self) -> frozenset[str]:
        """What of a page this changes."""
        return _CHANGES[self]


_CHANGES = {
    Deed.UNTOUCHED: frozenset[str](),
    Deed.EDITED: frozenset({_TEXT}),
    Deed.MOVED: frozenset({_PATH}),
    Deed.MOVED_AND_EDITED: frozenset({_PATH, _TEXT}),
    Deed.FOLDER: frozenset({_PATH}),
    Deed.RETITLED: frozenset({_TITLE}),
    Deed.REORDERED: frozenset({_PLACE}),
    Deed.DELETED: frozenset({_GONE}),
    Deed.ADDED: frozenset({_TEXT}),
}


@dataclass(frozen=True)
class Outcome:
    """What becomes of a page; `stays` is false when it is deleted, `may_be_held` says that a person may be needed."""

    words: str
    stays: bool = True
    may_be_held: bool = False


def pairs() -> Iterator[tuple[Deed, Deed]]:
    """Every pair of deeds that can befall one page; a page that is added was not there to do anything else to."""
    there = [deed for deed in Deed if deed is not Deed.ADDED]
    yield from ((one, other) for one in there for other in there)
    yield Deed.ADDED, Deed.ADDED


def outcome(ours: Deed, theirs: Deed) -> Outcome:
    """Given what each side did to a page since both had it in common, return what becomes of it."""
    if Deed.ADDED in (ours, theirs):
        return Outcome(
            "One page, when the texts are equal or one has all lines of the other; else it is held.", may_be_held=True
        )
    one, other = ours.changes, theirs.changes
    if _GONE in one | other:
        rest = (one | other) - {_GONE}
        if rest & {_TEXT, _TITLE}:
            return Outcome("It stays as it was changed: who deleted it had not seen the new words.")
        return Outcome("It is gone.", stays=False)
    both = one & other
    words = [words for change, words in _BOTH.items() if change in both]
    if ours is theirs is Deed.FOLDER:
        return Outcome("The same on both sides.")
    if one != other or not both:
        words.insert(0, _apart(one, other))
    return Outcome(" ".join(filter(None, words)), may_be_held=bool(both & {_TEXT, _TITLE}))


_BOTH = {
    _TEXT: "The texts are merged; it is held when both changed the same lines.",
    _PATH: "The file is where the branch has it, and a note says so.",
    _TITLE: "It is held, unless both titles are the same.",
    _PLACE: "It is where the branch has it, and a note says so.",
}


def _apart(one: frozenset[str], other: frozenset[str]) -> str:
    """What is said of changes that do not touch each other."""
    if not one and not other:
        return "Nothing happens."
    if not one or not other:
        return "The change is taken."
    return "Both changes are taken." if not one & other else ""


def table_lines() -> list[str]:
    """Return the table of every pair as lines of Markdown; who did which is the same, but where it is said."""
    lines = ["| One side | The other side | What becomes of the page |", "| --- | --- | --- |"]
    told: set[frozenset[Deed]] = set()
    for one, other in pairs():
        if frozenset((one, other)) not in told:
            told.add(frozenset((one, other)))
            lines.append(f"| {one.value} | {other.value} | {outcome(one, other).words} |")
    return lines
