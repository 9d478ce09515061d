"""Conditions that are no block: tags `{% if … %}` without an end, within a line, or in a writer's HTML; and tags such
as `{% else %}`, which the platform does not have.

Nobody can tell for whom what follows them is. So a reader sees nothing of it, as of any condition that cannot be
decided.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.layout.richtext.tag_lines import ELSE_TAGS

DocumentNode = dict[str, Any]

_NAMES = f"(?P<name>if|{ELSE_TAGS})"
_TAG = re.compile(
    rf"\{{%-?\s{{0,100}}(?:{_NAMES}\b(?P<condition>(?:[^%{{]|%(?!\}})|\{{(?!%)){{0,2000}})|endif\b[^%{{]{{0,100}})(?:-?%\}}|\Z)"
)
_BEGIN = re.compile(rf"\{{%-?\s{{0,100}}{_NAMES}\b")


@dataclass(frozen=True)
class ClosedNodes:
    """Nodes without what stands behind conditions that are no block.

    Shape: `conditions` has these; `has_ended` says that one of them goes on to the end of the document.
    """

    nodes: list[DocumentNode]
    conditions: list[str]
    has_ended: bool


def close_loose_conditions(nodes: Sequence[DocumentNode]) -> ClosedNodes:
    """Return the nodes of a document without what stands behind a condition that is no block.

    Shape: within a line, what is left out ends with `{% endif %}`, or else with the line. What begins a line, or is a
    tag by itself, goes on to the end of the document when nothing ends it; what stands behind `{% else %}`, to the end
    of the block of its condition. Code stays as it is.
    """
    if not any(map(_has_loose_condition, nodes)):
        return ClosedNodes(list(nodes), [], has_ended=False)
    closing = _Closing()
    kept = closing.close_blocks(nodes)
    return ClosedNodes(kept, closing.conditions, closing.has_ended)


def _has_loose_condition(node: DocumentNode) -> bool:
    if node.get("object") == "text":
        return any(_BEGIN.search(text) for text in map(_read_words, node.get("leaves") or ()) if "{%" in text)
    if (written := _read_written(node)) and _BEGIN.search(written):
        return True
    return any(map(_has_loose_condition, _list_inner(node)))


def _list_inner(node: DocumentNode) -> Iterator[DocumentNode]:
    if node.get("type") != "code":
        for name in ("fragments", "nodes"):
            yield from (one for one in node.get(name) or () if isinstance(one, dict))


def _read_words(leaf: DocumentNode) -> str:
    """The words of a leaf; "" for code."""
    is_code = any(mark.get("type") == "code" for mark in leaf.get("marks") or ())
    return "" if is_code else str(leaf.get("text") or "")


def _read_written(node: DocumentNode) -> str:
    """What a node keeps as it is written: a tag that is no block, or HTML."""
    data = node.get("data") or {}
    return str(data.get({"tag": "source", "html": "html"}.get(str(node.get("type")), ""), ""))


def _read_condition(tag: re.Match[str]) -> str:
    condition = (tag["condition"] or "").strip(" \t\n-")
    return f"{tag['name']} {condition}".strip() if _is_else(tag) else condition


def _is_else(tag: re.Match[str]) -> bool:
    return tag["name"] not in (None, "if")


@dataclass
class _Closing:
    """What is left of a document, in reading order."""

    conditions: list[str] = field(default_factory=list)
    has_ended: bool = False
    depth: int = 0
    """Conditions of a line that nothing has ended yet."""
    has_words: bool = False
    """Whether something of the line is left."""
    blocks: int = 0
    """Blocks of conditions around what is looked at."""
    is_behind_else: bool = False
    """Whether the rest of such a block is for others."""

    def close_blocks(self, nodes: Sequence[DocumentNode]) -> list[DocumentNode]:
        """The blocks that are left."""
        kept = []
        for node in nodes:
            if self.has_ended or self.is_behind_else:
                break
            written = _read_written(node)
            if (found := _BEGIN.search(written)) and self._counts(found):
                tag = _TAG.search(written, found.start())
                self.conditions.append(_read_condition(tag) if tag else "")
                self.is_behind_else = _is_else(found)
                if self.is_behind_else:
                    continue
                # A block of HTML ends where its condition does; a tag that is no block has no end.
                self.has_ended = node.get("type") == "tag" or "endif" not in written
                continue
            kept.append(self._close_block(node))
        return kept

    def _close_block(self, node: DocumentNode) -> DocumentNode:
        if node.get("type") == "code" or not any(map(_has_loose_condition, _list_inner(node))):
            return node
        held = {name: node[name] for name in ("fragments", "nodes") if isinstance(node.get(name), list | tuple)}
        is_condition = node.get("type") == "if"
        self.blocks += is_condition
        closed = node | {name: self._close_inner(inner) for name, inner in held.items()}
        self.blocks -= is_condition
        self.is_behind_else = self.is_behind_else and not is_condition
        return closed

    def _counts(self, tag: re.Match[str]) -> bool:
        """Whether a tag may hide something: `{% else %}` without a condition around it is text."""
        return bool(self.blocks) or not _is_else(tag)

    def _close_inner(self, nodes: Sequence[DocumentNode]) -> list[DocumentNode]:
        if not any(one.get("object") == "text" for one in nodes):
            return self.close_blocks(nodes)
        self.depth, self.has_words = 0, False
        kept = self._close_line(nodes)
        goes_on = self.depth > 0 and not self.has_words and not self.is_behind_else
        self.has_ended = self.has_ended or goes_on
        return kept

    def _close_line(self, nodes: Sequence[DocumentNode]) -> list[DocumentNode]:
        kept = []
        for node in nodes:
            was_open = not self.depth
            if node.get("object") == "text":
                leaves = [leaf | {"text": self._close_words(leaf)} for leaf in node.get("leaves") or ()]
                kept.append(node | {"leaves": leaves})
                continue
            if (found := _BEGIN.search(_read_written(node))) and self._counts(found):
                self.is_behind_else = self.is_behind_else or (was_open and _is_else(found))
                self.depth += was_open or not _is_else(found)
                continue
            held = {name: node[name] for name in ("fragments", "nodes") if isinstance(node.get(name), list | tuple)}
            node = node | {name: self._close_line(inner) for name, inner in held.items()}
            if was_open:
                self.has_words = True
                kept.append(node)
        return kept

    def _close_words(self, leaf: DocumentNode) -> str:
        text = str(leaf.get("text") or "")
        kept, at = [], 0
        for tag in _TAG.finditer(_read_words(leaf)):
            if not self.depth:
                if not self._counts(tag):
                    continue
                kept.append(text[at : tag.start()])
            self.has_words = self.has_words or any(one.strip() for one in kept)
            at = tag.end()
            if self.depth and _is_else(tag):
                continue
            is_end = tag["name"] is None
            if not is_end:
                self.conditions += [_read_condition(tag)] if not self.depth else []
                self.is_behind_else = self.is_behind_else or _is_else(tag)
            self.depth = max(0, self.depth - 1) if is_end else self.depth + 1
        kept += [text[at:]] if not self.depth else []
        self.has_words = self.has_words or any(one.strip() for one in kept)
        return "".join(kept)
