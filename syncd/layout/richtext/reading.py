"""Markdown as a document: the blocks of a page, what lies in them, and the tags that stand around them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.common.utils import mdTrim
from markdown_it.token import Token

from syncd.layout.markdown.inline import normalise_address
from syncd.layout.richtext import tags
from syncd.layout.richtext.anchors import add_anchors
from syncd.layout.richtext.expressible import (
    HEADINGS,
    find_extras,
    is_expressible,
    is_valid_anchor,
    normalise_label,
    parse_syntax,
)
from syncd.layout.richtext.grammar import SPACE, needs_space, parse_markdown
from syncd.layout.richtext.html.blocks import read_html_block
from syncd.layout.richtext.html.details import CLOSE, read_details
from syncd.layout.richtext.html.elements import read_html_tag
from syncd.layout.richtext.inline.reading import read_inlines
from syncd.layout.richtext.json_nodes import FENCE_INFO, read_json_fence, read_overlay
from syncd.layout.richtext.nodes import (
    BLOCK_DEPTH_MAX,
    Node,
    add_keys,
    make_block,
    make_fragment,
    make_inline,
    make_paragraph,
    make_text,
)
from syncd.layout.richtext.plain_page import CHARACTERS_MAX, NODES_MAX, TooLarge, make_plain_page
from syncd.layout.richtext.tables import read_pipe_table
from syncd.model.document import Document

_OPAQUE = frozenset({"html", "tag", "definition", "math"})
"""Blocks that hold foreign text; what of it could not be written back as it is, is kept as JSON."""


def to_document(markdown: str) -> Document:
    """Return the document of a page's or comment's Markdown, without front matter.

    Shape: a leading heading stays a heading. Every block has a key that follows from its content, every heading its
    anchor in `meta`. Unknown blocks, marks and members that `to_markdown` kept come back exactly. A page beyond the
    bounds of `plain_page` is one block of code with its Markdown; so no page takes more than a second or two.
    """
    reader = _DocumentReader()
    try:
        nodes = add_anchors(reader.read(_parse_tokens(markdown)), reader.kept)
    except TooLarge:
        nodes = [make_plain_page(markdown)]
    members: Node = {"object": "document", "data": {}, "nodes": tuple(add_keys(nodes, reader.kept))}
    # What was read is as deep as the parser lets it be; what was kept as JSON may be deeper than a document can.
    return Document.model_validate(members) if reader.kept else Document.model_construct(**members)


def _parse_tokens(markdown: str) -> list[Token]:
    if len(markdown) > CHARACTERS_MAX or markdown.count("\n") > NODES_MAX:
        raise TooLarge
    return parse_markdown(markdown if markdown.endswith("\n") else f"{markdown}\n")


@dataclass
class _RawTag:
    """A tag, or an HTML block, before it is known what it stands for."""

    source: str
    name: str = ""
    """Of a tag; "" for HTML and for a tag with all up to its end."""
    html: bool = False


@dataclass
class _OpenContainer:
    """A container that is open: its token, and what lies in it."""

    token: Token | None = None
    items: list[Node | _RawTag] = field(default_factory=list)


@dataclass
class _TagLevel:
    """The blocks between a tag and its end, and how deep blocks of tags are nested in them."""

    nodes: deque[Node] = field(default_factory=deque)
    height: int = 0

    def take_in(self, inner: "_TagLevel") -> None:
        """Add the blocks of another level behind these; only the shorter side is moved, however often that is done."""
        if len(inner.nodes) > len(self.nodes):
            inner.nodes.extendleft(reversed(self.nodes))
            self.nodes = inner.nodes
        else:
            self.nodes.extend(inner.nodes)
        self.height = max(self.height, inner.height)


class _DocumentReader:
    def __init__(self) -> None:
        self.frames = [_OpenContainer()]
        self.kept: dict[int, Node] = {}
        self.tight: set[int] = set()
        """Paragraphs (by `id`) of a list without blank lines."""
        self.height: dict[int, int] = {}
        """How deep blocks of tags are nested in a block (by `id`)."""
        self.remembered: list[Node] = []
        """Every block whose `id` is a key above: the id of one that was freed would be that of another."""

    def read(self, tokens: Sequence[Token]) -> list[Node]:
        table = -1
        for at, token in enumerate(tokens):
            if token.type == "table_open":
                table = at
            elif token.type == "table_close":
                self.add(read_pipe_table(tokens[table:at]))
                table = -1
            elif table < 0:
                self.read_token(token, tokens[at - 1])
        return self.nest_tags(self.frames[0].items)

    def add(self, item: Node | _RawTag) -> None:
        self.frames[-1].items.append(item)

    def read_token(self, token: Token, before: Token) -> None:
        match token.type:
            case "inline":
                self.read_words(token, before)
            case "bullet_list_open" | "ordered_list_open" | "list_item_open" | "blockquote_open":
                self.frames.append(_OpenContainer(token))
            case "bullet_list_close" | "ordered_list_close" | "list_item_close" | "blockquote_close":
                self.close_container()
            case "fence" | "code_block":
                self.add(self.read_code(token))
            case "hr":
                self.add(make_block("divider"))
            case "html_block":
                self.add(_RawTag(token.content.lstrip(" \t").rstrip("\n"), html=True))
            case "tag":
                self.add(_RawTag(token.content, token.meta["name"]))
            case "math_block":
                self.add(self.keep_if_inexpressible(make_block("math", {"formula": token.content})))
            case "definition":
                self.read_definition(token)

    def read_words(self, token: Token, before: Token) -> None:
        if before.type != "heading_open":
            nodes = read_inlines(_drop_guard_space(token))
            if nodes == [make_text("")]:
                return
            made = make_paragraph(nodes)
            if before.hidden:
                self.tight.add(self.remember(made))
        else:
            underlined = not before.markup.startswith("#")
            children = _drop_guard_space(token) if underlined else token.children
            nodes, level = read_inlines(children), int(before.tag[1:])
            data: Node = {"level": level} if level > len(HEADINGS) else {}
            made = make_block(f"heading-{min(level, len(HEADINGS))}", data, nodes)
            if anchor := _take_anchor(nodes):
                data["id"] = anchor
        self.add(made)

    def read_code(self, token: Token) -> Node:
        info = mdTrim(token.info)
        if (
            info == FENCE_INFO
            and (kept := read_json_fence(token.content.removesuffix("\n"))) is not None
            and not is_expressible(kept)
        ):
            self.kept[id(kept)] = kept
            return kept
        syntax = parse_syntax(info)
        data: Node = {"syntax": syntax} if syntax else {}
        if info != syntax:
            data["info"] = info
        lines = token.content.removesuffix("\n").split("\n") if token.content else []
        return make_block("code", data, [make_block("code-line", {}, [make_text(line)]) for line in lines])

    def read_definition(self, token: Token) -> None:
        """Keep a definition, also one that links of the page use: they are written with it as they were."""
        title = {"title": token.meta["title"]} if token.meta["title"] else {}
        label, url = normalise_label(token.meta["label"]), normalise_address(token.meta["url"])
        self.add(self.keep_if_inexpressible(make_block("definition", {"label": label, "url": url} | title)))

    def remember(self, node: Node) -> int:
        """Return the id of a block, which stays its own until the whole document is read."""
        self.remembered.append(node)
        return id(node)

    def keep_if_inexpressible(self, node: Node) -> Node:
        """The node; when it could not be written back as it is, it is kept as JSON from now on."""
        if node["type"] in _OPAQUE and not is_expressible(node):
            self.kept[id(node)] = node
        return node

    def close_container(self) -> None:
        frame = self.frames.pop()
        token = frame.token
        nodes = self.nest_tags(frame.items)
        if token is None or token.type == "blockquote_open":
            made = make_block("blockquote", {}, nodes)
        elif token.type == "list_item_open":
            checked = {"checked": token.meta["checked"]} if "checked" in token.meta else {}
            made = make_block("list-item", checked, nodes)
        else:
            made = self.make_list(token, nodes)
        self.height[self.remember(made)] = max((self.height.get(id(node), 0) for node in nodes), default=0)
        self.add(made)

    def make_list(self, token: Token, items: list[Node]) -> Node:
        data: Node = {}
        type = "list-ordered" if token.type == "ordered_list_open" else "list-unordered"
        if type == "list-unordered" and all("checked" in item["data"] for item in items):
            type = "list-tasks"
        if "start" in token.attrs:
            data["start"] = int(token.attrs["start"])
        if len(items) > 1 or any(len(item["nodes"]) > 1 for item in items):
            held = [node for item in items for node in item["nodes"] if node.get("type") == "paragraph"]
            if any(id(node) not in self.tight and id(node) not in self.kept for node in held):
                data["loose"] = True
        return make_block(type, data, items)

    def nest_tags(self, items: Sequence[Node | _RawTag]) -> list[Node]:
        """The blocks of a container: what lies between a tag and its end is in the block of the tag."""
        pairs = _pair_tags(items)
        levels = [_TagLevel()]
        opened: list[int] = []
        for at, item in enumerate(items):
            if isinstance(item, dict):
                self.append_block(levels[-1], item)
            elif at in pairs:
                opened.append(at)
                levels.append(_TagLevel())
            elif opened and at == pairs[opened[-1]]:
                inner, start = levels.pop(), items[opened.pop()]
                self.enclose(levels[-1], start, inner, item)
            else:
                self.append_block(levels[-1], self.read_single(item))
        return list(levels[0].nodes)

    def enclose(self, level: _TagLevel, start: Node | _RawTag, inner: _TagLevel, end: _RawTag) -> None:
        """Add the block of a tag with what lies in it; what is nested too deep stays beside its tags."""
        height = 1 + inner.height
        if isinstance(start, dict) or height > BLOCK_DEPTH_MAX:
            self.append_block(level, start if isinstance(start, dict) else self.make_opaque(start))
            level.take_in(inner)
            self.append_block(level, self.make_opaque(end))
            return
        nodes = list(inner.nodes)
        made = _make_details(start, nodes) if start.html else _make_tag_block(start, nodes, end)
        self.height[self.remember(made)] = height
        self.append_block(level, made)

    def append_block(self, level: _TagLevel, node: Node) -> None:
        """Add a block; a comment before it that keeps members for it goes into it."""
        nodes = level.nodes
        kept = read_overlay(_read_html(nodes[-1])) if nodes else None
        if kept is not None and id(node) not in self.kept and isinstance(kept.get("data", {}), dict):
            merged = node | kept | {"data": node["data"] | kept.get("data", {})}
            if is_expressible(merged) and find_extras(merged) == kept:
                nodes.pop()
                node.update(merged)
        nodes.append(node)
        level.height = max(level.height, self.height.get(id(node), 0))

    def read_single(self, sign: _RawTag) -> Node:
        if sign.html:
            made = read_html_block(sign.source) or self.make_opaque(sign)
            # A paragraph in HTML needs no blank line beside it.
            self.tight.add(self.remember(made))
            return made
        known = sign.name in tags.TAGS and tags.TAGS[sign.name].body != "blocks"
        found = tags.read_liquid_tag(sign.source) if known or sign.name.startswith("@") else None
        return make_block(*found) if found else self.make_opaque(sign)

    def make_opaque(self, sign: _RawTag) -> Node:
        return self.keep_if_inexpressible(
            make_block(*(("html", {"html": sign.source}) if sign.html else ("tag", {"source": sign.source})))
        )


def _pair_tags(items: Sequence[Node | _RawTag]) -> dict[int, int]:
    """For the place of each tag that opens something, the place of what ends it; pairs nest."""
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    count: dict[str, int] = {}
    for at, item in enumerate(items):
        if isinstance(item, dict):
            continue
        name = _find_opened_name(items, at, item)
        if name:
            opened.append((name, at))
            count[name] = count.get(name, 0) + 1
        elif count.get(ends := _find_ended_name(item)):
            while True:
                name, start = opened.pop()
                count[name] -= 1
                if name == ends:
                    found[start] = at
                    break
    return found


def _find_opened_name(items: Sequence[Node | _RawTag], at: int, item: _RawTag) -> str:
    if not item.html:
        return item.name if item.name in tags.TAGS and tags.TAGS[item.name].body != "none" else ""
    behind = items[at + 1] if at + 1 < len(items) else None
    second = behind.source if isinstance(behind, _RawTag) and behind.html else None
    return CLOSE if item.source.startswith("<details") and read_details(item.source, second) else ""


def _find_ended_name(item: _RawTag) -> str:
    if item.html:
        return CLOSE if item.source.strip() == CLOSE else ""
    is_bare = item.source.strip("{%} \t\n") == item.name
    return item.name.removeprefix("end") if item.name.startswith("end") and is_bare else ""


def _make_tag_block(start: _RawTag, inner: list[Node], end: _RawTag) -> Node:
    found = tags.read_liquid_tag(start.source)
    if found is not None and start.name != "code":
        type, data = found
        if tags.TAGS[start.name].body == "caption":
            return make_block(type, data, fragments=[make_fragment("caption", inner)])
        return make_block(type, data, inner)
    if found is not None and len(inner) == 1 and inner[0].get("type") == "code":
        ((type, data), code) = found, inner[0]
        merged = code | {"data": code["data"] | data}
        if (
            data
            and not data.keys() & {"syntax", "info"}
            and not code["data"].keys() - {"syntax", "info"}
            and is_expressible(merged)
        ):
            return merged
    return make_block("tag", {"tag": start.source, "end": end.source}, inner)


def _make_details(start: _RawTag, inner: list[Node]) -> Node:
    behind = _read_html(inner[0]) if inner else None
    is_open, title, both = read_details(start.source, behind) or (False, [make_text("")], False)
    held = [("expandable-title", [make_paragraph(title)]), ("expandable-body", inner[both:])]
    return make_block(
        "expandable",
        {"defaultExpanded": True} if is_open else {},
        fragments=[make_fragment(name, nodes, type=name) for name, nodes in held],
    )


def _read_html(node: Node) -> str:
    return (
        str(node["data"].get("html", "")) if node.get("type") == "html" and isinstance(node.get("data"), dict) else ""
    )


def _drop_guard_space(token: Token) -> list[Token]:
    """The tokens of a paragraph or underlined heading, without the space before a tag that would make it HTML."""
    children = token.children or []
    behind = next((at for at, child in enumerate(children) if child.markup != SPACE), 0)
    guarded = behind > 0 and children[behind].type == "html_inline" and needs_space(token.content)
    return children[1:] if guarded else children


def _take_anchor(nodes: list[Node]) -> str | None:
    """The id that stands at the end of a heading, taken off its nodes; None when none stands there alone."""
    if len(nodes) < 2 or nodes[-1] != make_inline("html", {"html": "</a>"}) or nodes[-2].get("type") != "html":
        return None
    found = read_html_tag(nodes[-2]["data"]["html"])
    anchor = (found[1].get("id") if found and found[0] == "a" else None) or ""
    if found is None or found[1] != {"href": f"#{anchor}", "id": anchor} or not is_valid_anchor(anchor):
        return None
    return anchor if _take_space(nodes, nodes[:-2]) else None


def _take_space(nodes: list[Node], before: list[Node]) -> bool:
    """Take the end off the nodes, with the space before it; whether there is one, or nothing before it."""
    leaves = before[-1].get("leaves") if before else None
    if before and not (leaves and not leaves[-1]["marks"] and leaves[-1]["text"].endswith(" ")):
        return False
    if leaves:
        leaves[-1]["text"] = leaves[-1]["text"][:-1]
        if not leaves[-1]["text"]:
            leaves.pop()
        if not leaves:
            before.pop()
    nodes[:] = before or [make_text("")]
    return True
