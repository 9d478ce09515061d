"""Decide for each file of a three-way merge which side's path and text it gets, or that it is in conflict.

A file is identified by its path in the base, so it stays the same file under every name that a side gives it. Rules:

| one side                    | the other side      | result                                                       |
|-----------------------------|---------------------|--------------------------------------------------------------|
| edits                       | deletes             | the edit: whoever deleted had not seen it                    |
| renames a page, no edit     | deletes             | deleted: a rename says nothing of the text                   |
| renames any other file      | deletes             | the new name: the platform knows only pages by an id         |
| changes line ends alone     | deletes             | deleted: the platform knows no line ends                     |
| lets links follow a move    | deletes             | deleted: nobody wrote anything in it                         |
| takes it out of the table   | deletes             | the file: it is no page any more, and that side's own        |
| renames                     | edits               | both: the new text at the new path                           |
| renames                     | renames             | our path, and a note                                         |
| edits                       | edits               | the lines are merged; where that fails, a conflict           |
| changes line ends alone     | edits               | the edit, with the new line ends                             |
| adds                        | adds at that path   | one file if one has all lines of the other; else a conflict  |
| adds a page below another   | moves that, adds    | one file, where the side has it that moved the page above,   |
|                             | it there            | if one has all lines of the other, and its title; else two   |
| moves a file to a path      | moves another there | a conflict of both files                                     |
| adds a file at a path       | moves another there | a conflict of both files                                     |

Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from posixpath import dirname
from typing import Literal

from syncd.layout.tree.paths import GITBOOK, is_markdown, make_collision_key

Side = Literal["ours", "theirs"]
EntryPaths = frozenset[str]
"""Every path that one file has, in the base and on both sides."""
SIDES: tuple[Side, Side] = ("ours", "theirs")

# Shown to people, and compared to tell the kinds of conflict apart.
SAME_LINES = "both sides changed the same lines"
NOT_TEXT = "both sides changed it, and it is not text that can be merged"
TWO_NEW = "both sides added it, with different content"
SAME_PLACE = "two pages would come to lie at one path"
TITLES = "both sides gave it another title in the table of contents"
LINKED = "a page in conflict links to it"
_OF_TEXTS = (SAME_LINES, NOT_TEXT, TWO_NEW)
_REGULAR = "100"


@dataclass(frozen=True)
class Version:
    """One file on one side."""

    path: str
    oid: str
    mode: str

    @property
    def is_regular(self) -> bool:
        """Whether this is a file with bytes of its own, and no symbolic link or submodule."""
        return self.mode.startswith(_REGULAR)


@dataclass(frozen=True)
class Page:
    """One file, a page or any other, as base, ours and theirs have it; None where a side has none.

    Shape: where both sides added the same page below one that a side moved, `mover` is that side; so is theirs where it
    moved the page to another space, and ours within its own.
    """

    base: Version | None
    ours: Version | None
    theirs: Version | None
    mover: Side | None = None

    @property
    def path(self) -> str:
        """Where people look for it: where ours has it, else where theirs or the base does."""
        version = self.ours or self.theirs or self.base
        return version.path if version is not None else ""

    @property
    def former_path(self) -> str:
        """Where it lay before a side moved it, or a page above it."""
        version = self.base or (self.at(other_side(self.mover)) if self.mover is not None else None)
        return version.path if version is not None else self.path

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it has on a side."""
        return tuple(dict.fromkeys(version.path for version in (self.base, self.ours, self.theirs) if version))

    def at(self, side: Side) -> Version | None:
        """Return the version of a side."""
        return self.ours if side == "ours" else self.theirs

    def is_edited(self, side: Side) -> bool:
        """Return whether a side changed the content of the file; whether it can be run is none."""
        version = self.at(side)
        return version is not None and (
            self.base is None or (version.oid, version.is_regular) != (self.base.oid, self.base.is_regular)
        )


class TextSource(Enum):
    """Whose text a page gets."""

    OURS = "ours"
    THEIRS = "theirs"
    MERGED = "merged"
    NONE = "none"


@dataclass(frozen=True)
class Decision:
    """What becomes of a page: its path and text, or in `why` the reason of a conflict; `note` is for people.

    Shape: `oid` is the blob of the text, once it is known. `titles` are those in base, ours and theirs where both sides
    gave the page another one; "" where the base lacks it.
    """

    page: Page
    path: str = ""
    text: TextSource = TextSource.NONE
    mode: str = ""
    oid: str = ""
    why: str = ""
    note: str = ""
    titles: tuple[str, str, str] | None = None

    @property
    def is_revived(self) -> bool:
        """Whether one side deleted it, and it stays for what the other wrote."""
        page = self.page
        return self.text is not TextSource.NONE and page.base is not None and None in (page.ours, page.theirs)

    @property
    def target(self) -> Version | None:
        """What the page is to be; None when it is to go."""
        return Version(self.path, self.oid, self.mode) if self.text is not TextSource.NONE else None

    @property
    def is_text_decided(self) -> bool:
        """Whether a person has to choose a place alone: both sides have the page, and their texts are merged."""
        return self.why == SAME_PLACE and bool(self.oid) and None not in (self.page.ours, self.page.theirs)

    def choose(self, side: Side) -> Version | None:
        """Return what the page is to be when a person chose a side: as it is there, with the mode that was decided."""
        version, other = self.page.at(side), self.page.at(other_side(side))
        are_files = version is not None and other is not None and version.is_regular and other.is_regular
        return replace(version, mode=self.mode) if version is not None and are_files else version


def other_side(side: Side) -> Side:
    """Return the other side."""
    return "theirs" if side == "ours" else "ours"


def decide_page(page: Page, *, entry_changes: Collection[Side] = (), has_same_words: bool = False) -> Decision:
    """Return what becomes of a page that a side changed.

    Shape: `entry_changes` are the sides that gave it another title, or took it out of the table of contents.
    `has_same_words` says of a page that one side deleted that the other wrote nothing in it. Where the text is
    MERGED, merging its lines may still find a conflict.
    """
    ours, theirs = page.ours, page.theirs
    if ours is None or theirs is None:
        # deleted on one side, or added on one side
        return _decide_one_sided(page, entry_changes, has_same_words=has_same_words)
    path, note = _choose_path(page, ours, theirs)
    return _choose_text(Decision(page, path, note=note), ours, theirs)


def _choose_path(page: Page, ours: Version, theirs: Version) -> tuple[str, str]:
    """Where a page lies that both sides have, and a note for people."""
    base = page.base
    if page.mover == "theirs":
        # added on both sides, below a page that theirs moved; or in another space now, whose table of contents lists it
        return theirs.path, _format_move(base, theirs, ours) if base is not None else ""
    if base is None or theirs.path in (base.path, ours.path):
        # moved on our side only, or nowhere, or alike on both
        return ours.path, ""
    if ours.path == base.path:
        # moved on their side only
        return theirs.path, ""
    # moved on both sides, to two places: one has to win, and ours is where the writer looks for it
    return ours.path, _format_move(base, ours, theirs)


def _format_move(base: Version, taken: Version, left: Version) -> str:
    return f"{base.path}: moved on both sides; it is {taken.path}, not {left.path}"


def _choose_text(decision: Decision, ours: Version, theirs: Version) -> Decision:
    """Whose text a page gets that both sides have, and its mode."""
    page, base = decision.page, decision.page.base
    are_regular = all(version.is_regular for version in (ours, theirs, base or ours))
    # Both sides' changes of the mode count beside those of the text; but what makes a link goes with the link's text.
    mode = theirs.mode if base is not None and ours.mode == base.mode else ours.mode
    kept = replace(decision, text=TextSource.OURS, oid=ours.oid, mode=mode if are_regular else ours.mode)
    taken = replace(decision, text=TextSource.THEIRS, oid=theirs.oid, mode=mode if are_regular else theirs.mode)
    if (ours.oid, ours.is_regular) == (theirs.oid, theirs.is_regular) or not page.is_edited("theirs"):
        # edited on our side only, or alike on both
        return kept
    if not page.is_edited("ours"):
        # edited on their side only
        return taken
    # edited on both sides, or added on both
    return replace(kept, text=TextSource.MERGED) if are_regular else replace(kept, why=NOT_TEXT)


def separate_conflicts(
    decisions: Iterable[Decision], together: Iterable[tuple[Page, Page]] = ()
) -> tuple[list[Decision], list[list[Decision]]]:
    """Return the decisions that can be carried out, and groups of those that a person has to make together.

    Shape: two pages with one final path are in conflict; paths that some file system takes for the same are one path,
    and so are a file and a folder. A page in conflict may end up at its path on either side, so it is in one group with
    all pages that have one of its paths on any side. `together` are pairs of a page in conflict and a deleted file that
    it links to; those that are there only because of a link come last in a group. Cost is linear, times a few rounds.
    """
    found = list(decisions)
    joined: list[set[int]] = [{index} for index in range(len(found))]
    where = {decision.page: index for index, decision in enumerate(found)}
    for one, other in together:
        joined[where[one]].add(where[other])
        joined[where[other]].add(where[one])
    while True:
        takers: dict[str, set[int]] = {}
        for index, decision in enumerate(found):
            for path in _list_places(decision):
                takers.setdefault(make_collision_key(path), set()).add(index)
        conflicting = {index for index, decision in enumerate(found) if decision.why}
        # A page that becomes a conflict may end up at two paths instead of one, which may bring further pages in.
        for group in (*_group_by_place(takers), *_group_by_shared_path(found, conflicting)):
            for index in group:
                joined[index] |= group
                if found[index].why in ("", TITLES):  # what would be merged beside a title lies at one path
                    found[index] = replace(found[index], why=SAME_PLACE)
        if conflicting == {index for index, decision in enumerate(found) if decision.why}:
            break
    return [decision for decision in found if not decision.why], _group_conflicts(found, joined)


def _list_places(decision: Decision) -> Iterator[str]:
    """The paths at which a page may end up."""
    if decision.why:
        yield from (version.path for version in (decision.page.ours, decision.page.theirs) if version is not None)
    elif decision.text is not TextSource.NONE:
        yield decision.path


def _group_by_shared_path(decisions: Sequence[Decision], conflicting: Collection[int]) -> Iterator[set[int]]:
    """Pages in conflict with all pages that have one of their paths on any side, or lie below it: if only some of them
    were left out, one page would overwrite another, be there twice, or be gone for a file in the place of its folder.
    """
    takers: dict[str, set[int]] = {}
    for index in conflicting:
        for path in decisions[index].page.paths:
            takers.setdefault(path, set()).add(index)
    for index, decision in enumerate(decisions) if conflicting else ():
        for path in decision.page.paths:
            while path:
                if len(group := takers.get(path, set()) | {index}) > 1:
                    yield group
                path = dirname(path)


def _group_by_place(takers: Mapping[str, set[int]]) -> Iterator[set[int]]:
    """Pages with one final path, and pages below a folder with pages that are a file at its path."""
    for key, group in takers.items():
        if len(group) > 1:
            yield group
        above = dirname(key)
        while above:
            if (others := takers.get(above, group)) != group:
                yield others | group
            above = dirname(above)


def _group_conflicts(decisions: Sequence[Decision], joined: Sequence[set[int]]) -> list[list[Decision]]:
    """The decisions in conflict, in groups that are linked with each other: first those whose texts differ."""
    seen: set[int] = set()
    groups: list[list[Decision]] = []
    for start, decision in enumerate(decisions):
        if not decision.why or start in seen:
            continue
        pending, members = [start], set[int]()
        while pending:
            index = pending.pop()
            if index not in members:
                members.add(index)
                pending += joined[index]
        seen |= members
        ranks = {index: (decisions[index].why == LINKED, decisions[index].why not in _OF_TEXTS) for index in members}
        groups.append([decisions[index] for index in sorted(members, key=lambda index: (*ranks[index], index))])
    return groups


def find_longer_side(one: bytes, other: bytes) -> Side | None:
    """Return the side whose new text has all lines of the other one, in order; None when neither has."""
    first, second = one.splitlines(), other.splitlines()
    if _contains_lines(first, second):
        return "ours"
    return "theirs" if _contains_lines(second, first) else None


def _decide_one_sided(page: Page, entry_changes: Collection[Side], *, has_same_words: bool) -> Decision:
    """A page that a side deleted, or that only one has."""
    side: Side = "ours" if page.ours is not None else "theirs"
    left = page.at(side)
    is_edited = page.is_edited(side) and not has_same_words
    is_renamed = left is not None and page.base is not None and _is_another_file(page.base.path, left.path)
    if left is None or not (page.base is None or is_edited or is_renamed or side in entry_changes):
        # deleted on both sides, or deleted on one while the other wrote nothing in it: a move alone revives no page
        return Decision(page)
    # added on one side, or deleted by somebody who had not seen what the other side wrote
    text = TextSource.OURS if side == "ours" else TextSource.THEIRS
    note = f"{left.path}: deleted on one side and changed on the other; it stays" if page.base is not None else ""
    return Decision(page, left.path, text, left.mode, left.oid, note=note)


def _is_another_file(former: str, path: str) -> bool:
    """Whether a file that is no page has another name.

    The platform renames no such file: it is sent as a new one, and whoever deleted the former name may have been asked
    to, since the API cannot.
    """
    return former != path and not (is_markdown(path) and f"/{GITBOOK}/" not in f"/{path}")


def _contains_lines(lines: Sequence[bytes], other: Sequence[bytes]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in other)
