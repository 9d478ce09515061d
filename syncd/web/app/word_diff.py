"""What changed inside of a line: words of both sides one behind the other, those of one side alone marked."""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from syncd.web.blocks.members import Node, read_nodes

TOKENS_MAX = 3_000
"""Words, spaces and signs of a line on each side; a longer line is shown as removed and added."""
SIMILAR_MIN = 0.3
"""Of two lines that are less alike, a reader sees more when each stands for itself."""
DELETED, INSERTED = "deleted", "inserted"
_LETTERS = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_LETTERS}]|[^\W{_LETTERS}]+|\s+|[^\w\s]")

Token = tuple[str, str, str]
"""What is compared: a text and its marks as JSON; or "", "" and an inline as JSON."""


def merge_lines(before: Sequence[Node], after: Sequence[Node]) -> list[Node] | None:
    """Return the inline nodes of both sides as one line; None where the sides have too little in common."""
    tokens = list(_split_tokens(before)), list(_split_tokens(after))
    if max(map(len, tokens)) > TOKENS_MAX:
        return None
    matcher = SequenceMatcher(None, *tokens, autojunk=False)
    if matcher.ratio() < SIMILAR_MIN:
        return None
    pieces: list[tuple[str, Token]] = []
    for kind, left, right in _join_changes(tokens, matcher.get_opcodes()):
        if kind == "equal":
            pieces += [("", token) for token in right]
        else:
            pieces += [(DELETED, token) for token in left] + [(INSERTED, token) for token in right]
    return list(_build_nodes(pieces))


def list_words(text: str) -> list[str]:
    """Return the words of a text, and its letters where a language has no spaces between words."""
    return [word for word in _TOKEN.findall(text) if not word.isspace()]


def mark_nodes(node: Node, mark: str) -> Node:
    """Return a node whose text is all marked, however deep it stands."""
    marked = dict(node)
    if isinstance(leaves := node.get("leaves"), list | tuple):
        marked["leaves"] = [_add_mark(leaf, mark) for leaf in leaves if isinstance(leaf, dict)]
    for name in ("nodes", "fragments"):
        if name in node:
            marked[name] = [mark_nodes(one, mark) for one in read_nodes(node, name)]
    return marked


def _add_mark(leaf: Node, mark: str) -> Node:
    marks = leaf.get("marks")
    return {**leaf, "marks": [{"object": "mark", "type": mark}, *(marks if isinstance(marks, list | tuple) else ())]}


def _split_tokens(nodes: Sequence[Node]) -> Iterator[Token]:
    for node in nodes:
        if node.get("object") != "text":
            yield "", "", json.dumps(node, sort_keys=True, default=str)
            continue
        for leaf in read_nodes(node, "leaves"):
            marks = json.dumps(leaf.get("marks") or [], sort_keys=True, default=str)
            text = leaf.get("text")
            for word in _TOKEN.findall(text) if isinstance(text, str) else ():
                yield word, marks, ""


def _join_changes(
    tokens: tuple[list[Token], list[Token]], opcodes: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[tuple[str, list[Token], list[Token]]]:
    """The steps between both sides; white space between two changes is one with them."""
    held: tuple[list[Token], list[Token]] = [], []
    for number, (kind, from_left, to_left, from_right, to_right) in enumerate(opcodes):
        left, right = tokens[0][from_left:to_left], tokens[1][from_right:to_right]
        is_between = 0 < number < len(opcodes) - 1 and all(text.isspace() for text, _, _ in right)
        if kind != "equal" or (is_between and any(held)):
            held[0].extend(left)
            held[1].extend(right)
            continue
        if any(held):
            yield "change", *held
            held = [], []
        yield "equal", left, right
    if any(held):
        yield "change", *held


def _build_nodes(pieces: Sequence[tuple[str, Token]]) -> Iterator[Node]:
    for (mark, marks, inline), group in groupby(pieces, key=lambda piece: (piece[0], piece[1][1], piece[1][2])):
        same = list(group)
        if inline:
            for _ in same:
                node = json.loads(inline)
                yield mark_nodes(node, mark) if mark else node
            continue
        leaf = {"object": "leaf", "text": "".join(token[0] for _, token in same), "marks": json.loads(marks)}
        yield {"object": "text", "leaves": [_add_mark(leaf, mark) if mark else leaf]}
