"""The way from a document to HTML: which block is rendered where."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from syncd.layout.evaluation import close_loose_conditions
from syncd.model.document import Document
from syncd.web.blocks.changes import CHANGE_BLOCKS
from syncd.web.blocks.code import CODE_BLOCKS
from syncd.web.blocks.containers import CONTAINER_BLOCKS
from syncd.web.blocks.context import BlockContext, RenderedDocument
from syncd.web.blocks.elements import EMPTY, join_markup
from syncd.web.blocks.images import IMAGE_BLOCKS
from syncd.web.blocks.inline.footnotes import write_footnotes
from syncd.web.blocks.inline.formulas import FORMULA_BLOCKS
from syncd.web.blocks.inline.line import render_line
from syncd.web.blocks.members import Node, collect_words, read_kind, read_nodes
from syncd.web.blocks.openapi.render import OPENAPI_BLOCKS
from syncd.web.blocks.raw_html import RAW_BLOCKS, render_html_runs
from syncd.web.blocks.references import REFERENCE_BLOCKS
from syncd.web.blocks.state import RenderState
from syncd.web.blocks.tables.tables import TABLE_BLOCKS
from syncd.web.blocks.text_blocks import TEXT_BLOCKS, has_first_level

_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    **TEXT_BLOCKS,
    **CHANGE_BLOCKS,
    **CODE_BLOCKS,
    **CONTAINER_BLOCKS,
    **FORMULA_BLOCKS,
    **IMAGE_BLOCKS,
    **OPENAPI_BLOCKS,
    **RAW_BLOCKS,
    **REFERENCE_BLOCKS,
    **TABLE_BLOCKS,
}


def render_document(document: Document, context: BlockContext) -> RenderedDocument:
    """Render a document to HTML for the body of a page, below the title, the only heading of level 1.

    Whatever stands in the document, this raises nothing: a node that is not known is shown as its words, with a note.
    """
    shown: Sequence[Node] = document.nodes
    if context.variables.claims is not None:
        shown = close_loose_conditions(shown).nodes
    state = RenderState(context, _render_list, shift=int(has_first_level(shown)))
    html = state.render_nodes(state.open_file(shown)) + write_footnotes(state, render_line)
    return RenderedDocument(
        html,
        tuple(state.outline),
        frozenset(state.assets),
        state.words,
        tuple(state.unresolved.values()),
        tuple(state.unknown),
    )


def _render_list(state: RenderState, nodes: Sequence[Node]) -> Markup:
    """The blocks of a list; a writer's HTML around some of them stays around them."""
    shown = render_html_runs(state, nodes, _render_list)
    return join_markup([node if isinstance(node, Markup) else _render_noted_block(state, node) for node in shown])


def _render_noted_block(state: RenderState, node: Node) -> Markup:
    """A block, and behind one of the top what the page has to say of it."""
    html = _render_block(state, node)
    return html + state.context.annotate(node) if state.depth == 1 else html


def _render_block(state: RenderState, node: Node) -> Markup:
    if state.has_ended:
        return EMPTY
    kind = read_kind(node)
    if kind in _BLOCKS:
        return _BLOCKS[kind](state, node)
    if node.get("object") in ("text", "inline"):
        return render_line(state, [node])
    return _render_unknown(state, node)


def _render_unknown(state: RenderState, node: Node) -> Markup:
    note = state.note_unknown(node.get("type") or node.get("object"))
    held = [*read_nodes(node, "fragments"), *read_nodes(node)]
    if node.get("object") == "fragment":
        return state.render_nodes(read_nodes(node))
    blocks = [one for one in held if one.get("object") in ("block", "fragment")]
    return state.write_note(note, state.render_nodes(blocks) if blocks else collect_words(node))
