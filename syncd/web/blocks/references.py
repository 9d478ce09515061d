"""Blocks that lead elsewhere: pages, files, embeds, reusable content, integrations; and conditions."""

import json
from collections.abc import Callable, Mapping

from markupsafe import Markup

from syncd.layout.evaluation import close_loose_conditions
from syncd.layout.page.anchors import INCLUDES_DEPTH_MAX, INCLUDES_MAX
from syncd.layout.richtext.tags import TAGS
from syncd.web.blocks.code import write_diagram
from syncd.web.blocks.context import Target
from syncd.web.blocks.elements import EMPTY, check_link, find_host, is_foreign, write_element
from syncd.web.blocks.inline.icons import find_emoji
from syncd.web.blocks.inline.line import describe_ref
from syncd.web.blocks.members import (
    Node,
    collect_words,
    read_data,
    read_fragment,
    read_nodes,
    read_ref,
    read_text,
)
from syncd.web.blocks.state import RenderState, make_ref_key
from syncd.web.blocks.text_blocks import has_first_level
from syncd.web.rendering import render_template

_KILOBYTE = 1024
_PAIRED = frozenset(name for name, tag in TAGS.items() if tag.body == "blocks")
"""Tags that are no block without another one that ends it."""


def _render_page_card(state: RenderState, node: Node) -> Markup:
    data, caption = read_data(node), read_fragment(node, "caption") or []
    ref = read_ref(data)
    target = state.resolve(ref) if ref is not None else None
    words = " ".join(collect_words(caption).split())
    title = (target.title if target else "") or words or (describe_ref(ref) if ref else "")
    return _write_card(
        state,
        address=target.address if target else "",
        title=title,
        note=target.description if target else state.context.labels.no_link,
        sign=_find_sign(target),
        kind="page",
    )


def _find_sign(target: Target | None) -> str:
    code = target.emoji if target is not None else ""
    return find_emoji(code) or code if code else "→"


def _write_card(
    state: RenderState, *, address: str, title: str, note: str, sign: str, kind: str, **more: object
) -> Markup:
    link = check_link(address)
    state.words += len(title.split())
    return render_template(
        "blocks/card_link.html",
        **{"caption": EMPTY, "action": "", "is_download": False} | more,
        address=link,
        is_foreign=link is not None and is_foreign(link),
        title=title or address,
        note=note,
        sign=sign,
        kind=kind,
    )


def _render_file(state: RenderState, node: Node) -> Markup:
    data, caption = read_data(node), read_fragment(node, "caption") or []
    ref = read_ref(data)
    target = state.resolve(ref) if ref is not None else None
    title = (target.title if target else "") or _find_file_name(ref)
    size = format_size(target.size) if target and target.size is not None else ""
    note = state.context.labels.no_link if target is None else size
    name = state.context.labels.file.format(name=title)
    return _write_card(
        state,
        address=target.address if target else "",
        title=title,
        note=note,
        sign="↓",
        kind="file",
        caption=state.render_nodes(caption),
        action=name,
        is_download=True,
    )


def _find_file_name(ref: Node | None) -> str:
    words = describe_ref(ref) if ref else ""
    return words.partition("?")[0].rstrip("/").rpartition("/")[2] or words


def format_size(size: int) -> str:
    """Return a number of bytes as people read it, such as `1.5 MB`."""
    value, unit = float(max(size, 0)), "B"
    for larger in ("KB", "MB", "GB"):
        if value < _KILOBYTE:
            break
        value, unit = value / _KILOBYTE, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"


def _render_embed(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    address = check_link(read_text(data, "url"))
    host = find_host(address) if address else ""
    if host:
        state.assets.add("embeds")
    return _write_card(
        state,
        address=address or "",
        title=read_text(data, "title") or read_text(data, "url"),
        note=host if address else state.context.labels.no_link,
        sign="▶",
        kind="embed",
        caption=state.render_nodes(read_fragment(node, "caption") or []),
        action=state.context.labels.embed.format(host=host) if host else "",
    )


def _render_reusable(state: RenderState, node: Node) -> Markup:
    ref = read_ref(read_data(node))
    key = make_ref_key(ref) if ref else ""
    state.includes += 1
    is_open = (
        ref is not None
        and key not in state.trail
        and len(state.trail) < INCLUDES_DEPTH_MAX
        and state.includes <= INCLUDES_MAX
    )
    nodes = state.context.read_reusable(ref) if ref is not None and is_open else None
    if nodes is None:
        words = describe_ref(ref) if ref else read_text(read_data(node), "arguments")
        if ref is not None:
            state.note_unresolved(ref)
        return state.write_note(state.context.labels.missing_content, words)
    nodes = [one for one in nodes if isinstance(one, dict)]
    around, state.trail = (state.trail, state.shift, state.notes), (*state.trail, key)
    state.shift = max(state.shift, int(has_first_level(nodes)))
    closed = None if state.context.variables.claims is None else close_loose_conditions(nodes)
    html = state.render_nodes(state.open_file(nodes if closed is None else closed.nodes))
    state.trail, state.shift, state.notes = around
    state.has_ended = state.has_ended or (closed is not None and closed.has_ended)
    return html


def _render_integration(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    props = data.get("props")
    props = props if isinstance(props, dict) else {}
    name, part = read_text(data, "integration"), read_text(data, "block")
    if name == "mermaid" and (source := read_text(props, "content")):
        return write_diagram(state, source)
    return render_template(
        "blocks/integration.html",
        label=state.context.labels.integration.format(name="/".join(filter(None, (name, part))) or "?"),
        props={str(key): _write_value(value) for key, value in props.items()},
        address=check_link(read_text(props, "url")) if read_text(props, "url") else None,
        content=state.render_nodes(
            [*read_nodes(node), *(one for held in read_nodes(node, "fragments") for one in read_nodes(held))]
        ),
    )


def _write_value(value: object) -> str:
    """A value as people read it: text as it is, all else as JSON."""
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # nested without end
        return "…"


def _render_tag(state: RenderState, node: Node) -> Markup:
    """A tag of Markdown that is no block: as it is written, and what lies in it as it would be."""
    data = read_data(node)
    source, nodes = read_text(data, "source"), read_nodes(node)
    name = (source or read_text(data, "tag")).strip("{%} \n").partition(" ")[0].partition("\n")[0]
    if name in _PAIRED and "%}" in source[:-2]:
        note = state.context.labels.tag_in_line
    elif source and name in _PAIRED:
        note = state.context.labels.unclosed.format(end=f"{{% end{name} %}}")
    elif source and name.startswith("end") and name[3:] in TAGS:
        note = state.context.labels.unopened
    else:
        note = state.note_unknown(name)
    shown = write_element("pre", source or read_text(data, "tag"), dir="ltr")
    return state.write_note(note, shown + state.render_nodes(nodes))


def _render_condition(state: RenderState, node: Node) -> Markup:
    expression = read_text(read_data(node), "expression")
    truth = state.context.variables.evaluate_condition(expression)
    if truth is False:
        return EMPTY
    content = state.render_nodes(read_nodes(node))
    if truth:
        return content
    return render_template(
        "blocks/condition.html", note=state.context.labels.condition, expression=expression, content=content
    )


REFERENCE_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "content-ref": _render_page_card,
    "file": _render_file,
    "embed": _render_embed,
    "reusable-content": _render_reusable,
    "integration": _render_integration,
    "tag": _render_tag,
    "if": _render_condition,
}
