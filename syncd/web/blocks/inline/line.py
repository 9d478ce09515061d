"""What stands in a line: text with marks, links, and what else an inline can be."""

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from syncd.layout.evaluation import fill_braces, format_value
from syncd.layout.page.footnotes import ANNOTATION, REFERENCE
from syncd.web.blocks.context import Ref
from syncd.web.blocks.elements import EMPTY, check_link, is_foreign, join_markup, write_element
from syncd.web.blocks.images import render_inline_image
from syncd.web.blocks.inline.footnotes import write_reference
from syncd.web.blocks.inline.formulas import render_inline_formula
from syncd.web.blocks.inline.icons import render_emoji, render_icon, write_icon
from syncd.web.blocks.inline.marks import CODE, Piece, Tags, join_pieces, read_marks
from syncd.web.blocks.members import (
    Node,
    collect_words,
    read_choice,
    read_data,
    read_fragment,
    read_kind,
    read_nodes,
    read_ref,
    read_text,
)
from syncd.web.blocks.raw_html import render_html, render_html_runs
from syncd.web.blocks.state import DEPTH_MAX, RenderState

_BREAK = Markup("<br>\n")
_OPTION = re.compile(r"(?<![\w-])-+\w(?:[\w-]{0,15}(?![\w-]))?")
"""An option of a command, or how a long one begins: browsers break a line behind its hyphens."""
_PICTURES = ("inline-image", "link", "html")
"""Nodes of a line that may be a picture."""


def render_line(state: RenderState, nodes: Sequence[Node]) -> Markup:
    """Render the inline nodes of a line."""
    outer, beside = state.has_words_beside, _find_words_beside(nodes)
    state.has_words_beside = bool(beside)
    html = _render_inlines(state, nodes, beside=beside)
    state.has_words_beside = outer
    return html


def _find_words_beside(nodes: Sequence[Node]) -> frozenset[int]:
    """The nodes, by `id`, that have words beside them between two breaks of the line, their own among these."""
    if not any(read_kind(node) in _PICTURES for node in nodes):
        return frozenset()
    found: set[int] = set()
    passed: list[int] = []
    has_words = False
    for node in nodes:
        words = _join_leaves(node) if "leaves" in node else "" if _is_picture(node) else "x"
        first, *_, last = words.split("\n") if "\n" in words else (words, None)
        has_words = has_words or bool(first.strip())
        if last is not None:
            found.update(passed if has_words else ())
            passed, has_words = [], bool(last.strip())
        passed.append(id(node))
    return frozenset((*found, *(passed if has_words else ())))


def _is_picture(node: Node) -> bool:
    """Whether a node shows at most pictures; a writer's HTML says its words in nodes of their own."""
    held = read_nodes(node) if read_kind(node) == "link" else [node]
    others = [one for one in held if read_kind(one) not in ("inline-image", "html")]
    return all("leaves" in one and not _join_leaves(one).strip() for one in others)


def _join_leaves(node: Node) -> str:
    return "".join(str(leaf.get("text", "")) for leaf in read_nodes(node, "leaves"))


def _render_inlines(
    state: RenderState, nodes: Sequence[Node], around: Sequence[Tags] = (), *, beside: frozenset[int] | None = None
) -> Markup:
    """The inline nodes of a line or of a part of it; marks that stand `around` it already are not said again."""
    if state.depth >= DEPTH_MAX:
        return escape(collect_words(nodes))
    state.depth += 1
    pieces = _list_pieces(state, nodes, beside)
    state.depth -= 1
    if around:
        pieces = [([mark for mark in marks if mark not in around], html) for marks, html in pieces]
    return join_pieces(pieces)


def _list_pieces(state: RenderState, nodes: Sequence[Node], beside: frozenset[int] | None) -> list[Piece]:
    found: list[Piece] = []
    whole = state.has_words_beside
    for node in render_html_runs(state, nodes, _render_inlines):
        state.has_words_beside = whole if beside is None else id(node) in beside
        if isinstance(node, Markup):
            found.append(((), node))
        elif node.get("object") == "text" or "leaves" in node:
            for leaf in read_nodes(node, "leaves"):
                marks = read_marks(leaf.get("marks"))
                found.append((marks, _render_text(state, leaf, is_code=CODE in marks)))
        elif (kind := read_kind(node)) in _INLINES:
            found.append((read_marks(node.get("marks")), _INLINES[kind](state, node)))
        elif node.get("object") == "block":
            found.append(((), state.render_nodes([node])))
        else:
            found.append((read_marks(node.get("marks")), _render_unknown(state, node)))
        state.has_words_beside = whole
    return found


def _render_text(state: RenderState, leaf: Node, *, is_code: bool) -> Markup:
    text = leaf.get("text")
    if not isinstance(text, str):
        return EMPTY
    if "{{" in text and not is_code:
        text = fill_braces(text, state.context.variables)
    state.words += len(text.split())
    if is_code:
        return _write_code(text)
    if not state.notes.words or "[^" not in text:
        return _write_text(text)
    pieces = REFERENCE.split(text)
    html = [_write_text(pieces[0])]
    for label, behind in zip(pieces[1::2], pieces[2::2], strict=True):
        html += _write_reference(state, label), _write_text(behind)
    return join_markup(html)


def _write_text(text: str) -> Markup:
    html = escape(text)
    return html.replace("\n", _BREAK) if "\n" in text else html


def _write_code(text: str) -> Markup:
    html = _write_text(text)
    return Markup(_OPTION.sub(r'<span class="b-whole">\g<0></span>', str(html))) if "-" in text else html  # noqa: S704


def _write_reference(state: RenderState, label: str) -> Markup:
    """A footnote of Markdown; what has no words below the text stays as it is written."""
    if label not in state.notes.words:
        return escape(f"[^{label}]")
    return write_reference(state, state.number_footnote(label))


def _render_unknown(state: RenderState, node: Node) -> Markup:
    note = state.note_unknown(node.get("type") or node.get("object"))
    words = collect_words(node) or read_text(read_data(node), "text") or read_text(read_data(node), "label")
    return write_element("span", words or f"[{read_kind(node)[:60] or '?'}]", class_="b-unknown", title=note)


def write_link(state: RenderState, ref: Node | None, content: Markup, **attributes: str | None) -> Markup:
    """Return a link to what a reference leads to; the words alone, and a note, where it leads nowhere."""
    target = state.resolve(ref) if ref is not None else None
    address = check_link(target.address) if target is not None and target.address else None
    if address is None:
        return write_element("span", content, class_="b-broken", title=state.context.labels.no_link)
    rel = "noopener" if is_foreign(address) else None
    return write_element("a", content, href=address, rel=rel, **attributes)


def _render_link(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    ref = read_ref(data)
    state.links += 1
    content = _render_inlines(state, read_nodes(node), read_marks(node.get("marks")))
    state.links -= 1
    if not content.strip() and ref is not None and (target := state.resolve(ref)) is not None:
        content = escape(target.title or target.address)
    return write_link(state, ref, content, title=read_text(data, "title") or None)


def _render_mention(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    ref = read_ref(data)
    target = state.resolve(ref) if ref is not None else None
    words = read_text(data, "text") or (target.title if target else "") or collect_words(node)
    words = words or (describe_ref(ref) if ref else "") or state.context.labels.mention
    state.words += len(words.split())
    if target is None or not target.address:
        return write_element("span", words, class_="b-mention", dir="auto")
    return write_link(state, ref, escape(words), class_="b-mention")


def describe_ref(ref: Ref) -> str:
    """Return what a reference says of itself where nobody knows its title: the last of its names."""
    named = [value for key, value in ref.items() if key not in ("kind", "space") and isinstance(value, str)]
    return named[-1][:200] if named else ""


def _render_button(state: RenderState, node: Node) -> Markup:
    data, action = read_data(node), read_data(node).get("action")
    words = read_text(data, "label") or collect_words(node)
    state.words += len(words.split())
    content = write_icon(read_text(data, "icon")) + write_element("span", words)
    class_ = f"b-button b-button-{read_choice(data, 'kind', 'primary', 'secondary')}"
    ref = read_ref(data)
    if ref is None and isinstance(action, dict):
        # It leads to the page itself, whoever resolves references.
        return write_element("a", content, href=_write_action(action), class_=class_)
    return write_link(state, ref, content, class_=class_)


def _write_action(action: Node) -> str:
    """The address that does what a button does: the page reads it, with a script or without."""
    if read_choice(action, "action", "", "select") == "select":
        return f"#{quote(read_text(action, 'slug'))}"
    name = "ask" if action.get("action") == "ask" else "q"
    return f"?{urlencode({name: read_text(action, 'query')})}"


def _render_expression(state: RenderState, node: Node) -> Markup:
    expression = read_text(read_data(node), "expression")
    value = state.context.variables.evaluate(expression)
    if value is None:
        return write_element("code", expression, class_="b-expression")
    state.words += 1
    return escape(format_value(value))


def _render_annotation(state: RenderState, node: Node) -> Markup:
    content = _render_inlines(state, read_nodes(node), read_marks(node.get("marks")))
    body = read_fragment(node, "annotation-body") or [
        one for held in read_nodes(node, "fragments") for one in read_nodes(held)
    ]
    note = state.add_footnote(ANNOTATION)
    html = write_reference(state, note, content)
    note.content = state.render_nodes(body)
    return html


_INLINES: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "link": _render_link,
    "inline-image": render_inline_image,
    "inline-math": render_inline_formula,
    "emoji": render_emoji,
    "icon": render_icon,
    "mention": _render_mention,
    "button": _render_button,
    "expression": _render_expression,
    "annotation": _render_annotation,
    "html": render_html,
}
