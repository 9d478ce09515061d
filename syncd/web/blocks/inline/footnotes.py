"""Footnotes: what annotations say, and what Markdown has below a text, in one list at its end."""

import re
from collections.abc import Callable, Sequence

from markupsafe import Markup

from syncd.web.blocks.elements import EMPTY, join_markup, write_element
from syncd.web.blocks.members import Node, read_kind, read_nodes
from syncd.web.blocks.state import RenderState

REFERENCE = re.compile(r"\[\^([^\[\]\s^]{1,60})\]")
_START = re.compile(r"\[\^([^\[\]\s^]{1,60})\]:[ \n]*")
_NEXT = re.compile(r"[ \n]" + _START.pattern)


def take_footnotes(nodes: Sequence[Node]) -> tuple[list[Node], dict[str, list[Node]]]:
    """Return the blocks of a page without those that are footnotes, and the words of each of these by its label."""
    rest: list[Node] = []
    found: dict[str, list[Node]] = {}
    for node in nodes:
        leaf = _find_first_leaf(node)
        start = _START.match(leaf["text"]) if leaf is not None else None
        if leaf is None or start is None or start[1] in found:
            rest.append(node)
            continue
        first, *others = read_nodes(node)
        leaves = [leaf | {"text": leaf["text"][start.end() :]}, *read_nodes(first, "leaves")[1:]]
        _split_notes([first | {"leaves": leaves}, *others], start[1], found)
    return rest, found


def _split_notes(nodes: Sequence[Node], label: str, found: dict[str, list[Node]]) -> None:
    """Add the words of a footnote, and of those that follow in lines of the same paragraph, by their labels."""
    words: list[Node] = []
    found[label] = words
    for node in nodes:
        leaves: list[Node] = []
        for leaf in read_nodes(node, "leaves"):
            text = leaf.get("text")
            if not isinstance(text, str) or leaf.get("marks"):
                leaves.append(leaf)
                continue
            done = 0
            for start in _NEXT.finditer(text):
                if start[1] in found:
                    continue
                words.append(node | {"leaves": [*leaves, leaf | {"text": text[done : start.start()]}]})
                leaves, done, words = [], start.end(), []
                found[start[1]] = words
            leaves.append(leaf | {"text": text[done:]})
        words.append(node | {"leaves": leaves} if leaves else node)


def write_reference(state: RenderState, label: str, content: Markup = EMPTY) -> Markup:
    """Return the number of a footnote in the text, as a link to it; `content` is what it is to."""
    number, back = state.number_footnote(label)
    words = state.context.labels.footnote.format(number=number)
    link = write_element(
        "a", str(number), href=f"#{state.footnotes[label].anchor}", id=back, role="doc-noteref", aria_label=words
    )
    return content + write_element("sup", link, class_="b-footnote")


def write_footnotes(state: RenderState, render_line: Callable[[RenderState, Sequence[Node]], Markup]) -> Markup:
    """Return the list of footnotes, each with a link back to where it is spoken of."""
    if not state.footnotes and not state.notes:
        return EMPTY
    labels = state.context.labels
    items = []
    # A footnote may speak of others, which are then behind it.
    for label in state.footnote_labels:
        note, words = state.footnotes[label], state.notes.get(label)
        content = note.content if words is None else render_line(state, words)
        back = write_element("a", "↩", href=f"#{note.back}", role="doc-backlink", aria_label=labels.back)
        items.append(write_element("li", content + " " + back, id=note.anchor))
    # What the text does not speak of is a writer's slip, and still words of the page.
    unused = [words for label, words in state.notes.items() if label not in state.footnotes]
    items += [write_element("li", render_line(state, words)) for words in unused]
    title = write_element("h2", labels.footnotes, class_="b-hidden", id="_footnotes")
    return write_element(
        "section",
        title + write_element("ol", join_markup(items)),
        class_="b-footnotes",
        role="doc-endnotes",
        aria_labelledby="_footnotes",
    )


def _find_first_leaf(node: Node) -> Node | None:
    nodes = read_nodes(node) if read_kind(node) == "paragraph" else []
    leaves = read_nodes(nodes[0], "leaves") if nodes else []
    leaf = leaves[0] if leaves else None
    return leaf if leaf is not None and isinstance(leaf.get("text"), str) and not leaf.get("marks") else None
