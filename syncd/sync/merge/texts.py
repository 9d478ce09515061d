"""Write the texts of a merge, with links that lead to the files which the other side moved; split and join those in
conflict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.page.links import find_targets, follow_moves
from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.hunks import Hunk, Labels, TextPiece, join_hunks, list_hunks, replace_hunks, split_merged_text
from syncd.plan.merge.pages import SAME_LINES, SIDES, Decision, Page, Side, TextSource, Version, other_side
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.result import EntryConflict, MergeResult

Writer = Side | Literal["both"]
"""Who wrote a text: a side, or both, where its lines were merged."""

LinkMoves = Mapping[Writer, Mapping[str, str]]
"""For each writer, the final path of each file to which its links do not lead yet, by the path to which they lead."""


def split_conflict(repository: Repository, conflict: EntryConflict) -> tuple[TextPiece, ...]:
    """Return the lines of the page that is in conflict itself as plain lines and hunks; none where lines are not what
    is in conflict."""
    ours, theirs = conflict.pages[0].ours, conflict.pages[0].theirs
    if not conflict.text or ours is None or theirs is None:
        return ()
    return split_merged_text(conflict.text, {"ours": repository.read(ours.oid), "theirs": repository.read(theirs.oid)})


def list_link_moves(targets: Iterable[tuple[Decision, Version | None]]) -> LinkMoves:
    """Return where the files of each side, and of merged texts, end up, as far as it is elsewhere, given decisions with
    what each page is to be."""
    found: dict[Writer, dict[str, str]] = {"ours": {}, "theirs": {}, "both": {}}
    for decision, target in targets:
        for writer, moves in found.items():
            version = decision.target if writer == "both" else decision.page.at(writer)
            if version is not None and target is not None and version.path != target.path:
                moves[version.path] = target.path
    return found


def follow_moved_targets(
    repository: Repository,
    bindings: Sequence[Binding],
    trees: Mapping[Side, str],
    decisions: Sequence[Decision],
    moves: LinkMoves,
) -> list[Decision]:
    """Return the decisions, each text with links that lead to the same files as where it was written.

    Shape: `trees` are those of both sides, `moves` those of `list_link_moves`. In a page that the other side moved to
    another space, a link leads to the file that this has at the same address. Cost grows with the texts of a writer of
    which a file ends up elsewhere.
    """
    texts: dict[int, bytes] = {}
    for number, decision in enumerate(decisions):
        writer = _find_writer(decision, moves)
        if writer is None or not moves[writer[0]]:
            continue
        ends, mover = moves[writer[0]], _find_mover(bindings, decision.page, writer)
        if mover is not None:
            ends = {**dict(_find_own_targets(repository, trees, mover, writer[1].path, moves)), **ends}
        text = follow_links(repository, writer[1], ends, to=decision.path)
        if text is not None:
            texts[number] = text
    oids = dict(zip(texts, store_texts(repository, list(texts.values())), strict=True))
    return [replace(decision, oid=oids.get(number, decision.oid)) for number, decision in enumerate(decisions)]


def follow_links(repository: Repository, version: Version, moves: Mapping[str, str], *, to: str) -> bytes | None:
    """Return the text of a page with links that lead to where files end up; None where it stays, or is no page.

    Shape: `moves` are the final paths by those on the side that wrote the text, `to` is the page's own final path.
    """
    if not (version.is_regular and is_markdown(version.path)):
        return None
    body = repository.read(version.oid)
    try:
        text = follow_moves(body.decode(), moves, at=version.path, to=to).encode()
    except UnicodeDecodeError:
        return None
    return text if text != body else None


def store_texts(repository: Repository, texts: Sequence[bytes]) -> list[str]:
    """Write texts as blobs, and return their ids in order."""
    if not texts:
        return []
    # All of them in one tree: a process of Git for each text would take longer than the merge.
    tree = repository.write_tree(None, {str(number): text for number, text in enumerate(texts)})
    return [repository.lookup(tree, str(number)) or "" for number in range(len(texts))]


def _find_writer(decision: Decision, moves: LinkMoves) -> tuple[Writer, Version] | None:
    """Who wrote the text that a page gets, and that version; None for a deleted page."""
    if decision.target is None:
        return None
    if decision.text is TextSource.MERGED and decision.page.base is not None:
        return ("both", decision.target) if decision.oid else None
    both = ((side, decision.page.at(side)) for side in SIDES)
    found = [(side, version) for side, version in both if version is not None and version.oid == decision.oid]
    # Of two sides with one text, first the one that has it at this path, then the one that has not seen all moves.
    return min(found, key=lambda one: (one[1].path != decision.path, not moves[one[0]]), default=None)


def _find_own_targets(
    repository: Repository, trees: Mapping[Side, str], moved: tuple[Side, Version], former: str, moves: LinkMoves
) -> Iterator[tuple[str, str]]:
    """The files to which a page leads from its former path, and the one that its new space has at the same address:
    pictures go along as copies, and the platform follows no link from space to space."""
    side, version = moved
    for target in find_targets(repository.read(version.oid).decode("utf-8", "replace")):
        old, new = (resolve_address(target.text, at=path) for path in (former, version.path))
        if old and new and repository.lookup(trees[side], new[0]) is not None:
            yield old[0], moves[side].get(new[0], new[0])


def _find_mover(bindings: Sequence[Binding], page: Page, writer: tuple[Writer, Version]) -> tuple[Side, Version] | None:
    """The side that moved a page as it was to another space than that of the side that wrote its text."""
    if writer[0] == "both":
        return None
    side, path = other_side(writer[0]), writer[1].path
    moved = page.at(side)
    if page.base is None or moved is None or moved.oid != page.base.oid or not is_markdown(moved.path):
        return None
    is_in_one = any(binding.holds(path) and binding.holds(moved.path) for binding in bindings)
    return None if is_in_one else (side, moved)


def join_texts(repository: Repository, result: MergeResult) -> dict[str, bytes]:
    """Return a text with the lines of both sides, ours first, for each page whose lines alone are in conflict, by path.

    Shape: for where nobody can be asked to choose. Left out are pages whose frontmatter or title is in conflict, and
    those that a side moved.
    """
    joined = {conflict.path: _join_text(repository, conflict) for conflict in result.conflicts}
    return {path: text for path, text in joined.items() if text is not None}


def _join_text(repository: Repository, conflict: EntryConflict) -> bytes | None:
    if conflict.why != SAME_LINES or conflict.titles is not None or conflict.paths != (conflict.path,):
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
