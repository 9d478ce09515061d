"""Texts that have the lines of both sides where both changed the same ones, for where nobody can be asked to choose."""

from syncd.layout.page.frontmatter import split_frontmatter
from syncd.plan.merge.hunks import Hunk, Labels, TextPiece, join_hunks, list_hunks, replace_hunks
from syncd.plan.merge.pages import SAME_LINES, SIDES
from syncd.repo.repository import Repository
from syncd.sync.merge.result import EntryConflict, MergeResult
from syncd.sync.merge.texts import split_conflict


def join_texts(repository: Repository, result: MergeResult) -> dict[str, bytes]:
    """Return a text with the lines of both sides, ours first, for each page whose lines alone are in conflict, by path.

    Shape: left out are pages whose frontmatter is in conflict, and those that a side moved.
    """
    joined = {conflict.path: _join_text(repository, conflict) for conflict in result.conflicts}
    return {path: text for path, text in joined.items() if text is not None}


def _join_text(repository: Repository, conflict: EntryConflict) -> bytes | None:
    if conflict.why != SAME_LINES or conflict.paths != (conflict.path,):
        return None
    pieces = split_conflict(repository, conflict)
    hunks = list_hunks(pieces)
    heads = {_find_head(pieces, {hunk.number: hunk.at(side) for hunk in hunks}) for side in SIDES}
    return _choose(pieces, {hunk.number: _join_lines(hunk) for hunk in hunks}) if hunks and len(heads) == 1 else None


def _join_lines(hunk: Hunk) -> bytes:
    end = b"" if not hunk.ours or hunk.ours.endswith(b"\n") else b"\n"
    return hunk.ours + end + hunk.theirs


def _find_head(pieces: tuple[TextPiece, ...], choices: dict[int, bytes]) -> str:
    return split_frontmatter(_choose(pieces, choices).decode("utf-8", "surrogateescape"))[0]


def _choose(pieces: tuple[TextPiece, ...], choices: dict[int, bytes]) -> bytes:
    return join_hunks(replace_hunks(pieces, choices), Labels())
