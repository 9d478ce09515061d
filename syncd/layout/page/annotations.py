"""Footnotes of Markdown as annotations, which is what readers of documents know of them.

Source: "Annotations" of the product's documentation: the sign of a footnote stands right behind the word that it is to.
What the product writes is a link to the footnote's id, and the sign behind that.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

from syncd.layout.page.footnotes import ANNOTATION, REFERENCE, is_code_leaf, make_footnote_ids, take_footnotes
from syncd.layout.richtext.nodes import (
    Node,
    collect_text,
    is_nodes,
    make_fragment,
    make_inline,
    make_paragraph,
    make_text,
    read_url,
)

CHARACTERS_MAX = 1_000_000
"""Characters of all annotations of a file, beyond which signs of footnotes stay as they are written."""
DEPTH_MAX = 3
"""Annotations to words of other annotations."""
_WORD = re.compile(r"\S+\Z")
_BODY = f"{ANNOTATION}-body"


def annotate_footnotes(nodes: Sequence[Node]) -> list[Node]:
    """Return the blocks of a file with annotations in the place of footnotes; those that nothing speaks of stay, at
    the end.

    Shape: nodes are changed in place. Headings stay as they are, since their words are their anchors.
    """
    rest, words = take_footnotes(nodes)
    if not words:
        return rest
    annotator = _Annotator(words)
    annotator.annotate(rest, ())
    unused = [
        make_paragraph(words[label]) | {"key": f"unused-{label}"} for label in words if label not in annotator.used
    ]
    return [*rest, *unused]


class _Annotator:
    def __init__(self, words: Mapping[str, list[Node]]) -> None:
        self.words = words
        self.used: set[str] = set()
        self._sizes = {label: len(collect_text(nodes)) + 1 for label, nodes in words.items()}
        self._left = CHARACTERS_MAX
        self._count = 0

    def annotate(self, nodes: Sequence[Node], trail: tuple[str, ...]) -> None:
        """Annotate all lines in blocks; `trail` has the footnotes around them."""
        pending: list[Sequence[Node]] = [nodes]
        while pending:
            for node in pending.pop():
                kind, held = str(node.get("type")), node.get("nodes")
                if kind in ("code", ANNOTATION) or kind.startswith("heading-"):
                    continue
                if is_nodes(held) and any("leaves" in one for one in held):
                    node["nodes"] = held = list(self._annotate_line(held, trail))
                pending += (one for one in (held, node.get("fragments")) if is_nodes(one))

    def _annotate_line(self, nodes: Sequence[Node], trail: tuple[str, ...]) -> Iterator[Node]:
        """The nodes of a line; what an annotation is to stands in it, and not before it."""
        before: Node | None = None
        for node in nodes:
            for piece, label in self._split(node, trail):
                if label is None:
                    if before is not None:
                        yield before
                    before = piece
                    continue
                head, held = _take_annotated(before)
                if head is not None:
                    yield head
                before = None
                yield self._make_annotation(held or [make_text(label)], label, trail)
        if before is not None:
            yield before

    def _split(self, node: Node, trail: tuple[str, ...]) -> Iterator[tuple[Node, str | None]]:
        """The parts of a node of a line between signs of footnotes, and behind each the label of the sign there."""
        leaves: list[Node] = []
        for leaf in node.get("leaves", ()):
            text = leaf.get("text")
            if not isinstance(text, str) or is_code_leaf(leaf):
                leaves.append(leaf)
                continue
            pieces = REFERENCE.split(text)
            kept = pieces[0]
            for label, behind in zip(pieces[1::2], pieces[2::2], strict=True):
                if not self._take(label, trail):
                    kept += f"[^{label}]{behind}"
                    continue
                if kept or leaves:
                    yield node | {"leaves": [*leaves, *([leaf | {"text": kept}] if kept else [])]}, None
                yield node, label
                leaves, kept = [], behind
            leaves += [leaf | {"text": kept}] if kept else []
        if leaves or not node.get("leaves"):
            yield node | ({"leaves": leaves} if leaves else {}), None

    def _take(self, label: str, trail: tuple[str, ...]) -> bool:
        """Return whether a sign becomes an annotation."""
        if label not in self.words or label in trail or len(trail) >= DEPTH_MAX or self._left < self._sizes[label]:
            return False
        self._left -= self._sizes[label]
        self.used.add(label)
        return True

    def _make_annotation(self, held: list[Node], label: str, trail: tuple[str, ...]) -> Node:
        self._count += 1
        body = make_paragraph(deepcopy(self.words[label])) | {"key": f"footnote-{self._count}"}
        self.annotate([body], (*trail, label))
        return make_inline(ANNOTATION, {}, held) | {"fragments": [make_fragment(_BODY, [body], type=_BODY)]}


def _take_annotated(node: Node | None) -> tuple[Node | None, list[Node]]:
    """What stands before a sign, without what the annotation is to, and that: the last word, or all of an inline."""
    if node is None or "leaves" not in node:
        is_link = node is not None and node.get("type") == "link" and _leads_to_footnote(node)
        return None, [] if node is None else node["nodes"] if is_link else [node]
    *leaves, last = node["leaves"]
    word = _WORD.search(str(last.get("text", "")))
    if word is None:
        return node, []
    head = [*leaves, *([last | {"text": last["text"][: word.start()]}] if word.start() else [])]
    return node | {"leaves": head} if head else None, [node | {"leaves": [last | {"text": word[0]}]}]


def _leads_to_footnote(link: Node) -> bool:
    address = read_url(link.get("data", {}).get("ref")) or ""
    return address.startswith(f"#{make_footnote_ids('')[0]}")
