"""What changed between two documents: their blocks in one order, each as it stays, was removed, added, or changed.

Blocks are compared by their keys, which the platform makes of their content; those that differ are paired by their
words, and inside of a pair the words are compared. Work is bounded: what is too much is shown as removed and added.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from syncd.web.app.table_rows import ROW, join_rows, split_rows
from syncd.web.app.word_diff import DELETED, INSERTED, list_words, mark_nodes, merge_lines
from syncd.web.blocks.code import is_diagram, read_code_line
from syncd.web.blocks.members import Node, collect_words, read_data, read_kind, read_nodes

BLOCKS_MAX = 2_000
"""Blocks of a level that are compared; of more, only how both sides begin and end."""
PAIRS_MAX = 60
"""Removed and added blocks of one place that are tried with each other."""
_SHARED_MIN = 0.4
_LINES = frozenset({"paragraph", "heading-1", "heading-2", "heading-3"})
_AROUND = frozenset(
    {
        *("list-unordered", "list-ordered", "list-tasks", "list-item", "blockquote", "hint", "expandable", ROW),
        *("tabs", "tabs-item", "stepper", "stepper-step", "columns", "column", "updates", "update", "prompt", "if"),
    }
)
"""Blocks that hold blocks, and their parts, which stand nowhere else."""
_KINDS = {DELETED: "removed", INSERTED: "added"}


@dataclass(frozen=True)
class BlockChange:
    """One place of both documents: the block before and after, and both as one where words could be compared.

    Shape: a block that stays is on both sides with `is_same`; one side is None for what was added or removed.
    """

    before: Node | None
    after: Node | None
    merged: Node | None = None
    is_same: bool = False


def compare_blocks(before: Sequence[Node], after: Sequence[Node]) -> list[BlockChange]:
    """Return the blocks of both documents in one order."""
    found: list[BlockChange] = []
    keys = [_find_key(node) for node in before], [_find_key(node) for node in after]
    for kind, from_left, to_left, from_right, to_right in _list_steps(*keys):
        left, right = before[from_left:to_left], after[from_right:to_right]
        if kind == "equal":
            found += [BlockChange(old, new, is_same=True) for old, new in zip(left, right, strict=True)]
        else:
            found += _join_sides(_pair_blocks(left, right))
    return found


def build_merged_nodes(changes: Sequence[BlockChange]) -> list[Node]:
    """Return the blocks of one document that shows both: what changed stands in blocks `change`, numbered from 1."""
    found: list[Node] = []
    number = 0
    for change in changes:
        if change.is_same and change.after is not None:
            found.append(change.after)
            continue
        number += 1
        if change.merged is not None and change.after is not None:
            found.append(_wrap_block(change.merged, "changed", number, change.after))
            continue
        if change.before is not None:
            found.append(_wrap_block(change.before, "removed", number, None))
        if change.after is not None:
            found.append(_wrap_block(change.after, "added", 0 if change.before is not None else number, change.after))
    return found


def build_side_nodes(changes: Sequence[BlockChange]) -> list[Node]:
    """Return the blocks of one document with both sides beside each other, each place a block `change-row`."""
    found: list[Node] = []
    number = 0
    for change in changes:
        number += not change.is_same
        sides = []
        for name, node, other, kind in (
            ("before", change.before, INSERTED, "removed"),
            ("after", change.after, DELETED, "added"),
        ):
            shown = _drop_marked(change.merged, other) if change.merged is not None else node
            kind = "changed" if change.merged is not None else kind
            blocks = [] if shown is None else [shown if change.is_same else _wrap_block(shown, kind, 0, node)]
            sides.append({"object": "fragment", "fragment": name, "nodes": blocks})
        data = {"number": 0 if change.is_same else number}
        row: Node = {"object": "block", "type": "change-row", "data": data, "fragments": sides}
        found.append(row | ({"key": change.after["key"]} if change.after and "key" in change.after else {}))
    return found


def _wrap_block(node: Node, kind: str, number: int, keyed: Node | None) -> Node:
    key = {"key": keyed["key"]} if keyed is not None and "key" in keyed else {}
    data = {"kind": kind, "number": number}
    return {"object": "block", "type": "change", "data": data, "nodes": [_unfold_block(node)], **key}


def _unfold_block(node: Node) -> Node:
    """A block that is shown as a whole, for what has changed must not hide in what is closed."""
    if read_kind(node) != "expandable":
        return node
    return {**node, "data": {**read_data(node), "defaultExpanded": True}}


def _find_key(node: Node) -> str:
    """What is equal for equal blocks: the key without the number that tells equal ones apart."""
    key = node.get("key")
    return key.partition("-")[0] if isinstance(key, str) else repr(node)


def _list_steps(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    if max(len(left), len(right)) <= BLOCKS_MAX:
        yield from SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        return
    shortest = min(len(left), len(right))
    start = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    rest = range(1, shortest - start + 1)
    end = next((at - 1 for at in rest if left[-at] != right[-at]), shortest - start)
    yield "equal", 0, start, 0, start
    yield "replace", start, len(left) - end, start, len(right) - end
    yield "equal", len(left) - end, len(left), len(right) - end, len(right)


def _pair_blocks(left: Sequence[Node], right: Sequence[Node]) -> Iterator[BlockChange]:
    """Removed and added blocks of one place, in order; those that are alike as pairs."""
    at = 0
    for old in left:
        found = next((n for n in range(at, min(len(right), at + PAIRS_MAX)) if _are_alike(old, right[n])), None)
        if found is None:
            yield BlockChange(old, None)
            continue
        yield from (BlockChange(None, new) for new in right[at:found])
        yield BlockChange(old, right[found], _merge_blocks(old, right[found]))
        at = found + 1
    yield from (BlockChange(None, new) for new in right[at:])


def _join_sides(changes: Iterable[BlockChange]) -> Iterator[BlockChange]:
    """What was removed and what was added behind it as one change."""
    waiting: BlockChange | None = None
    for change in changes:
        if waiting is not None and change.before is None:
            yield BlockChange(waiting.before, change.after)
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = change if change.after is None else None
        if waiting is None:
            yield change
    if waiting is not None:
        yield waiting


def _are_alike(old: Node, new: Node) -> bool:
    if read_kind(old) != read_kind(new):
        return False
    words = Counter(list_words(collect_words(old))), Counter(list_words(collect_words(new)))
    total = words[0].total() + words[1].total()
    return total == 0 or 2 * (words[0] & words[1]).total() >= _SHARED_MIN * total


def _merge_blocks(old: Node, new: Node) -> Node | None:
    """One block that says what both do; None where they differ in more than words."""
    kind = read_kind(new)
    if kind == "table":
        (around, rows), (new_around, new_rows) = split_rows(old), split_rows(new)
        return join_rows(new, _merge_nodes(rows, new_rows)) if repr(around) == repr(new_around) else None
    old, new = _unfold_block(old), _unfold_block(new)
    if read_data(old) != read_data(new):
        return None
    if kind == "code":
        lines = _merge_code(read_nodes(old), read_nodes(new))
        return None if lines is None or is_diagram(new) else {**new, "nodes": lines}
    if kind in _LINES:
        line = merge_lines(read_nodes(old), read_nodes(new))
        return None if line is None else {**new, "nodes": line}
    sides = [
        {str(one.get("fragment")): read_nodes(one) for one in read_nodes(node, "fragments")} for node in (old, new)
    ]
    if kind not in _AROUND or sides[0].keys() != sides[1].keys():
        return None
    merged = {**new, "nodes": _merge_nodes(read_nodes(old), read_nodes(new))} if "nodes" in new else dict(new)
    if sides[1]:
        merged["fragments"] = [
            {**one, "nodes": _merge_nodes(sides[0][str(one.get("fragment"))], read_nodes(one))}
            for one in read_nodes(new, "fragments")
        ]
    return merged


def _merge_code(old: Sequence[Node], new: Sequence[Node]) -> list[Node] | None:
    """The lines of both sides; None where a node is more than a line."""
    texts = [read_code_line(line) for line in old], [read_code_line(line) for line in new]
    if any("\n" in text for side in texts for text in side):
        return None
    found: list[Node] = []
    for kind, from_left, to_left, from_right, to_right in _list_steps(*texts):
        if kind == "equal":
            found += new[from_right:to_right]
        else:
            found += ({**line, "change": DELETED} for line in old[from_left:to_left])
            found += ({**line, "change": INSERTED} for line in new[from_right:to_right])
    return found


def _merge_nodes(old: Sequence[Node], new: Sequence[Node]) -> list[Node]:
    return [block for change in compare_blocks(old, new) for block in _list_inner_blocks(change)]


def _list_inner_blocks(change: BlockChange) -> Iterator[Node]:
    """Blocks in others; each that differs says so in its member `change`."""
    if change.is_same and change.after is not None:
        yield change.after
    elif change.merged is not None:
        yield change.merged | {"change": "changed"}
    else:
        for node, mark in ((change.before, DELETED), (change.after, INSERTED)):
            if node is not None:
                yield _mark_block(node, mark)


def _mark_block(node: Node, mark: str) -> Node:
    """A block of one side in another block: nothing may stand around a part such as the item of a list, so that the
    text in it is marked; what has no text that could be stands in a block `change`.
    """
    kind = read_kind(node)
    if kind in _LINES or node.get("object") != "block":
        return mark_nodes(node, mark) | {"change": mark}
    if kind not in _AROUND:
        return _wrap_block(node, _KINDS[mark], 0, None) | {"change": mark}
    marked = {**_unfold_block(node), "change": mark}
    for name in ("nodes", "fragments"):
        if name in node:
            marked[name] = [_mark_inner(one, mark) for one in read_nodes(node, name)]
    return marked


def _mark_inner(node: Node, mark: str) -> Node:
    if node.get("object") != "fragment":
        return _mark_block(node, mark)
    return {**node, "nodes": [_mark_block(one, mark) for one in read_nodes(node)]}


def _drop_marked(node: Node, mark: str) -> Node:
    """A merged block as one side has it: without what is marked as the other side's."""
    kept = dict(node)
    if "leaves" in node:
        kept["leaves"] = [leaf for leaf in read_nodes(node, "leaves") if not _has_mark(leaf, mark)]
    if read_kind(node) == "table":
        return join_rows(node, [_drop_marked(row, mark) for row in split_rows(node)[1] if row["change"] != mark])
    for name in ("nodes", "fragments"):
        if name in node:
            kept[name] = [_drop_marked(one, mark) for one in read_nodes(node, name) if one.get("change") != mark]
    return kept


def _has_mark(leaf: Node, mark: str) -> bool:
    return any(one.get("type") == mark for one in read_nodes(leaf, "marks"))
