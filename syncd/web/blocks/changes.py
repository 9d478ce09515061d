"""Blocks that show a difference: what was added, removed or changed, and both sides beside each other."""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from syncd.web.blocks.elements import write_element
from syncd.web.blocks.members import Node, read_choice, read_data, read_fragment, read_nodes, read_number, read_text
from syncd.web.blocks.state import RenderState

_WORDS = {"deleted": "block_removed", "inserted": "block_added", "changed": "block_changed"}


def find_change_word(state: RenderState, node: Node) -> str:
    """Return what a difference says of a part of a block, such as "Removed"; "" where it says nothing."""
    return str(getattr(state.context.labels, _WORDS.get(read_text(node, "change"), ""), ""))


def _render_change(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    kind = read_choice(data, "kind", "changed", "added", "removed")
    label = getattr(state.context.labels, f"block_{kind}")
    # Said in words, too: a colour says nothing to who does not see it.
    word = write_element("span", label, class_="b-change-word")
    return write_element(
        "div",
        word + state.render_nodes(read_nodes(node)),
        class_=f"b-change b-{kind}",
        id=_write_id(data),
        role="group",
        aria_label=label,
    )


def _render_row(state: RenderState, node: Node) -> Markup:
    cells = [
        write_element("div", state.render_nodes(read_fragment(node, name) or []), class_=f"b-side b-side-{name}")
        for name in ("before", "after")
    ]
    return write_element("div", cells[0] + cells[1], class_="b-sides", id=_write_id(read_data(node)))


def _write_id(data: Node) -> str | None:
    number = read_number(data, "number")
    return f"_change-{number:.0f}" if number else None


CHANGE_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "change": _render_change,
    "change-row": _render_row,
}
