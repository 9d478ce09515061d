"""Merge the lines of pages that both sides changed.

Moving a file rewrites the links to it on one side, and an editor may write other line ends. Neither must count as a
change of its line, so texts in conflict, or beside files that moved, are merged again with links and line ends as the
base would write them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from syncd.errors import FileInvalid
from syncd.layout.compare.reformat import ends_with_crlf, match_line_ends, set_line_ends
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets, follow_moves
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.variables import VARIABLES, parse_variables, render_variables
from syncd.plan.merge.mappings import merge_mappings
from syncd.plan.merge.pages import (
    NOT_TEXT,
    SAME_LINES,
    SIDES,
    Decision,
    Page,
    Side,
    TextSource,
    Version,
    find_longer_side,
)
from syncd.repo.repository import Repository
from syncd.repo.values import MergedText
from syncd.sync.merge.texts import follow_links, store_texts

READ_MAX: Final = 1_000_000
"""Bytes up to which two texts are compared line by line."""

Moves = Mapping[Side, Mapping[str, str]]
"""Where each side has the base's files that it moved."""


def merge_lines(
    repository: Repository, to_merge: Sequence[Decision], moves: Moves, decisions: Iterable[Decision]
) -> list[MergedText]:
    """Return the three-way merge, line by line, of each text that a decision leaves to be merged, in order.

    Shape: where a side moved files, each text, and else one in conflict, is merged once more with every link and line
    end as the base would write it; the links of that result are then written for the paths that all `decisions` give,
    and its line ends as the side has them that changed them. A first result without conflicts stays unless its links
    lead elsewhere. One with conflicts has ours' line ends throughout, and on both sides links for those paths.
    """
    texts = repository.merge_texts([list_blobs(decision.page) for decision in to_merge])
    known = {
        number: found
        for number, (text, decision) in enumerate(zip(texts, to_merge, strict=True))
        if (text.conflicts or any(moves.values())) and (found := _rewrite_as_base(repository, decision.page, moves))
    }
    merged = dict(zip(known, _merge_rewritten(repository, known, to_merge), strict=True))
    finals = {
        decision.page.former_path: decision.path
        for decision in decisions
        if decision.text is not TextSource.NONE and (decision.page.base is not None or decision.page.mover is not None)
    }
    clean = {number: text.oid for number, text in merged.items() if not text.conflicts}
    done = {
        number: _follow_line_ends(
            repository, to_merge[number].page, _rewrite_links_for_place(repository.read(oid), to_merge[number], finals)
        )
        for number, oid in clean.items()
    }
    for number, oid in zip(done, store_texts(repository, list(done.values())), strict=True):
        path, former = to_merge[number].path, texts[number]
        if former.conflicts or _resolve_links(repository, oid, path) != _resolve_links(repository, former.oid, path):
            texts[number] = MergedText(oid, False, b"")
    torn = {number: to_merge[number] for number, text in enumerate(texts) if text.conflicts}
    trios = _write_for_place(repository, torn, moves, finals)
    for number, text in zip(trios, repository.merge_texts(list(trios.values())), strict=True):
        texts[number] = text if text.conflicts else texts[number]
    for number, decision in torn.items():
        if oid := _merge_variables(repository, decision.page):
            texts[number] = MergedText(oid, False, b"")
    return mark_conflicts(
        repository, [trios.get(number, list_blobs(one.page)) for number, one in enumerate(to_merge)], texts
    )


def merge_new_texts(repository: Repository, page: Page) -> str:
    """Return the blob of a file that both sides added: that of the side which has all lines of the other, or variables
    of both; "" where they differ otherwise."""
    assert page.ours is not None
    assert page.theirs is not None
    side = _find_longer_side(repository, page.ours, page.theirs)
    version = page.at(side) if side is not None else None
    return version.oid if version is not None else _merge_variables(repository, page)


def is_one_text(repository: Repository, ours: Version, theirs: Version) -> bool:
    """Return whether one of two texts has all lines of the other."""
    return _find_longer_side(repository, ours, theirs) is not None


def explain_conflict(text: MergedText) -> str:
    """Return why what both sides changed does not merge; "" where it does. Git marks no lines in what is no text."""
    if not text.conflicts:
        return ""
    return SAME_LINES if b"<<<<<<<" in text.text else NOT_TEXT


def mark_conflicts(
    repository: Repository, trios: Sequence[tuple[str, str, str]], texts: Sequence[MergedText]
) -> list[MergedText]:
    """Return merged texts in which markers stand around lines that differ, and not around those of which only the line
    ends do.

    Shape: `texts` are what Git makes of the blobs in `trios`, base, ours and theirs; those in conflict get the line
    ends of ours.
    """
    found = list(texts)
    matched = {
        number: blobs
        for number, (trio, text) in enumerate(zip(trios, texts, strict=True))
        if text.conflicts and (blobs := _match_line_ends(repository, trio)) != trio
    }
    for number, text in zip(matched, repository.merge_texts(list(matched.values())), strict=True):
        if text.conflicts:
            found[number] = text
    return found


def _match_line_ends(repository: Repository, trio: tuple[str, str, str]) -> tuple[str, str, str]:
    """The blobs of base, ours and theirs, with the line ends of ours."""
    base, ours, theirs = (repository.read(oid) if oid else b"" for oid in trio)
    both = [match_line_ends(ours, text) for text in (base, theirs)]
    is_text = b"\0" not in base + ours + theirs and max(map(len, (base, ours, theirs))) <= READ_MAX
    if not is_text or both == [base, theirs]:
        return trio
    former, other = store_texts(repository, both)
    return former if trio[0] else "", trio[1], other


def has_same_words(repository: Repository, page: Page, moves: Moves) -> bool:
    """Return whether one side deleted a page in which the other changed line ends alone, and links to moved files."""
    base, left = page.base, page.ours or page.theirs
    is_deleted = base is not None and left is not None and None in (page.ours, page.theirs)
    if not is_deleted or base is None or left is None or base.oid == left.oid or not is_markdown(left.path):
        return False
    if not (base.is_regular and left.is_regular):
        return False
    former = repository.read(base.oid)
    text = _write_as_base(repository, left, moves["ours" if page.ours is not None else "theirs"], at=base.path)
    return text is not None and set_line_ends(text, is_crlf=False) == set_line_ends(former, is_crlf=False)


def list_blobs(page: Page) -> tuple[str, str, str]:
    """Return the blob ids of a page in base, ours and theirs, "" where there is none."""
    base, ours, theirs = (version.oid if version is not None else "" for version in (page.base, page.ours, page.theirs))
    return base, ours, theirs


def _find_longer_side(repository: Repository, ours: Version, theirs: Version) -> Side | None:
    """The side whose text has all lines of the other one; None when neither has, or they are no text."""
    one, other = (repository.read(version.oid) for version in (ours, theirs))
    is_text = b"\0" not in one + other and max(len(one), len(other)) <= READ_MAX
    return find_longer_side(one, other) if is_text else None


def _merge_variables(repository: Repository, page: Page) -> str:
    """The blob of a space's variables, merged name by name; "" for any other file, for one that syncd would
    write otherwise, or where both sides gave a variable other values."""
    if not f"/{page.path}".endswith(f"/{VARIABLES}"):
        return ""
    found = []
    for oid in list_blobs(page):
        text = repository.read(oid).decode("utf-8", "replace") if oid else ""
        try:
            variables = parse_variables(text)
        except FileInvalid:
            return ""
        if variables and render_variables(variables) != text:
            return ""  # a comment, or an order of lines that somebody chose
        found.append(variables)
    merged = merge_mappings(*found)
    return store_texts(repository, [render_variables(merged).encode()])[0] if merged is not None else ""


def _resolve_links(repository: Repository, oid: str, path: str) -> list[tuple[str, str] | None]:
    """The target of each link in a text that lies at a path."""
    return [resolve_address(target.text, at=path) for target in find_targets(repository.read(oid).decode())]


def _rewrite_as_base(repository: Repository, page: Page, moves: Moves) -> tuple[bytes, bytes] | None:
    """Both texts with links and line ends as the base would write them; None where that changes nothing, or the file is
    no page."""
    base, ours, theirs = page.base, page.ours, page.theirs
    if base is None or ours is None or theirs is None or not is_markdown(base.path):
        return None
    texts = repository.read(ours.oid), repository.read(theirs.oid)
    if max(map(len, texts)) > READ_MAX:
        return None
    is_crlf = ends_with_crlf(repository.read(base.oid))
    one, other = (
        _write_as_base(repository, version, moves[side], at=base.path)
        for side, version in zip(SIDES, (ours, theirs), strict=True)
    )
    if one is None or other is None:
        return None
    one, other = (
        text if ends_with_crlf(text) is is_crlf else set_line_ends(text, is_crlf=is_crlf) for text in (one, other)
    )
    return (one, other) if (one, other) != texts or any(moves.values()) else None


def _write_as_base(repository: Repository, version: Version, moves: Mapping[str, str], *, at: str) -> bytes | None:
    """The text of a side with links as the base, which has the page at a path, would write them; None where it is no
    text."""
    back = {later: former for former, later in moves.items()}
    try:
        return follow_moves(repository.read(version.oid).decode(), back, at=version.path, to=at).encode()
    except UnicodeDecodeError:
        return None


def _follow_line_ends(repository: Repository, page: Page, text: bytes) -> bytes:
    """A merged text with the line ends of the side that changed them, or of ours when both did."""
    base, ours, theirs = (ends_with_crlf(repository.read(oid)) for oid in list_blobs(page))
    return text if base is ours is theirs else set_line_ends(text, is_crlf=theirs if ours is base else ours)


def _write_for_place(
    repository: Repository, decisions: Mapping[int, Decision], moves: Moves, finals: Mapping[str, str]
) -> dict[int, tuple[str, str, str]]:
    """The blobs of pages in base, ours and theirs, with links written for the paths that were decided."""
    ends = [
        {moved.get(former, former): path for former, path in finals.items()}
        for moved in ({}, moves["ours"], moves["theirs"])
    ]
    texts: dict[tuple[int, int], bytes] = {}
    for number, decision in decisions.items():
        versions = (decision.page.base, decision.page.ours, decision.page.theirs)
        for at, (version, there) in enumerate(zip(versions, ends, strict=True)):
            text = follow_links(repository, version, there, to=decision.path) if version is not None else None
            if text is not None:
                texts[number, at] = text
    oids = dict(zip(texts, store_texts(repository, list(texts.values())), strict=True))
    found: dict[int, tuple[str, str, str]] = {}
    for number, decision in decisions.items():
        base, ours, theirs = (oids.get((number, at), oid) for at, oid in enumerate(list_blobs(decision.page)))
        found[number] = base, ours, theirs
    return found


def _merge_rewritten(
    repository: Repository, known: Mapping[int, tuple[bytes, bytes]], to_merge: Sequence[Decision]
) -> list[MergedText]:
    blobs = iter(store_texts(repository, [text for both in known.values() for text in both]))
    return repository.merge_texts(
        [(list_blobs(to_merge[number].page)[0], next(blobs), next(blobs)) for number in known]
    )


def _rewrite_links_for_place(text: bytes, decision: Decision, finals: Mapping[str, str]) -> bytes:
    """A text whose links are written for the base's path, with links written for the decided path."""
    assert decision.page.base is not None
    moved = {former: path for former, path in finals.items() if former != path}
    return follow_moves(text.decode(), moved, at=decision.page.base.path, to=decision.path).encode()
