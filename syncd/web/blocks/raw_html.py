"""HTML of somebody's Markdown: what is harmless is let through, and the words of all else stay."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape

import nh3
from markupsafe import Markup

from syncd.layout.page.anchors import SHOWN_ELEMENTS, is_html_id
from syncd.web.blocks.context import Target
from syncd.web.blocks.elements import EMPTY, check_link, check_picture, join_markup, write_element
from syncd.web.blocks.html_signs import drop_html_signs, find_html_signs
from syncd.web.blocks.members import Node, read_data, read_kind, read_text
from syncd.web.blocks.state import RenderState, find_shown_size

_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"align", "dir", "id", "lang", "title"},
    "a": {"href", "name"},
    "col": {"span", "width"},
    "colgroup": {"span"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "li": {"value"},
    "ol": {"reversed", "start", "type"},
    "td": {"colspan", "headers", "rowspan", "valign"},
    "th": {"abbr", "colspan", "headers", "rowspan", "scope", "valign"},
    "time": {"datetime"},
}
_DROPPED = frozenset({"script", "style"})
"""Elements whose content is no text for readers."""
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_PLACE = re.compile("\ue000([0-9]+)\ue001")
_LINK_OR_PICTURE = re.compile(r"<a[ >]|</a>|<img((?: [a-z]+=\"[^\"]*\")*)>")
_PICTURE_MEMBER = re.compile(r" (src|alt|width|height)=\"([^\"]*)\"")
_FIRST_LEVEL = re.compile(r"(</?h)1(?=[ >])")
_DIGITS_MAX = 5
_LEVELS_MAX = 20
"""Elements within each other of which the end is sought."""

Render = Callable[[RenderState, Sequence[Node]], Markup]


def render_html(state: RenderState, node: Node) -> Markup:
    """Render a node of HTML that stands for itself."""
    return clean_html(state, [read_text(read_data(node), "html")], [])


def render_html_runs(state: RenderState, nodes: Sequence[Node], render: Render) -> Iterator[Node | Markup]:
    """Yield nodes, each run from an HTML element to its end as the HTML of it and of all between.

    Shape: `render` renders the nodes between; all other nodes come back as they are. A run is rendered when its turn
    comes: what stands before it has its place in the outline, and the numbers of its footnotes, by then.
    """
    ends = _find_ends(nodes) if state.html_depth < _LEVELS_MAX else {}
    at = 0
    while at < len(nodes):
        end = ends.get(at, at)
        yield _render_run(state, nodes[at : end + 1], render) if end > at else nodes[at]
        at = end + 1


def clean_html(state: RenderState, sources: Sequence[str], contents: Sequence[Markup]) -> Markup:
    """Return the harmless part of HTML, with a content behind each of its sources but the last.

    Shape: the contents are trusted, and stand where text stood; where the HTML has no place for one of them, all of
    them stand one behind the other, without the HTML.
    """
    marks = [f"\ue000{number}\ue001" for number in range(len(contents))]
    # What a writer may not say, or a content could be put into the value of an attribute.
    texts = [source.replace("\ue000", "").replace("\ue001", "") for source in sources]
    whole = "".join(text + mark for text, mark in zip(texts, [*marks, ""], strict=True))
    state.words += len(unescape(drop_html_signs("".join(texts))).split())
    pictures: dict[str, Target] = {}
    html = nh3.clean(
        whole,
        tags=set(SHOWN_ELEMENTS),
        clean_content_tags=set(_DROPPED),
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_filter_attribute, state, pictures),
        link_rel="noopener",
        url_schemes={"http", "https", "mailto", "tel"},
    )
    if any(html.count(mark) != 1 for mark in marks):
        return join_markup(contents)
    html = _wrap_tables(_replace_pictures(state, pictures, _FIRST_LEVEL.sub(r"\g<1>2", html)))
    # In one pass: what looks like a place in a content is none.
    return Markup(_PLACE.sub(lambda found: contents[int(found[1])], html))  # noqa: S704


def _render_run(state: RenderState, run: Sequence[Node], render: Render) -> Markup:
    sources: list[str] = []
    contents: list[Markup] = []
    between: list[Node] = []
    opened = 0
    state.html_depth += 1
    for node in run:
        if read_kind(node) != "html":
            between.append(node)
            continue
        if between:
            opened += _count_links(sources[-1]) if sources else 0
            around = state.links
            state.links += max(0, opened)
            contents.append(render(state, between))
            state.links = around
            sources.append("")
            between = []
        if len(sources) == len(contents):
            sources.append("")
        sources[-1] += read_text(read_data(node), "html") + ("\n" if node.get("object") == "block" else "")
    state.html_depth -= 1
    return clean_html(state, sources, contents)


def _count_links(html: str) -> int:
    """How many more links begin in a writer's HTML than end in it."""
    return sum(-1 if sign.is_closing else 1 for sign in find_html_signs(html) if sign.name == "a")


def _replace_pictures(state: RenderState, pictures: Mapping[str, Target], html: str) -> str:
    """Clean HTML with a link in the place of each picture that the page does not load, and words where there is none.

    Shape: `pictures` has what addresses lead to. A picture of which nothing is said is decoration: else its address
    would be read aloud.
    """
    around, opened = state.links, 0

    def replace(found: re.Match[str]) -> str:
        nonlocal opened
        if not found[0].startswith("<img"):
            opened += -1 if found[0] == "</a>" else 1
            return found[0]
        members = {member[1]: unescape(member[2]) for member in _PICTURE_MEMBER.finditer(found[1])}
        address = members.get("src", "")
        if not address:
            words = members.get("alt", "").strip() or state.context.labels.missing_image
            return str(write_element("span", words, class_="b-missing-image"))
        target = pictures.get(address, Target(address))
        if state.loads_picture(target, address):
            is_small = state.has_words_beside and not {"width", "height"} & members.keys()
            class_ = ' class="b-inline-image b-size-line"' if is_small else ""
            return f"{found[0][:-1]}{class_}{_write_missing(members, target)}>"
        state.links = around + opened
        link = state.write_picture_link(address, members.get("alt", "").strip())
        state.links = around
        return str(link)

    return _LINK_OR_PICTURE.sub(replace, html) if "<img" in html else html


def _wrap_tables(html: str) -> str:
    """Clean HTML with each table in the box that those of Markdown have, in which a wide one is scrolled."""
    if "<table" not in html:
        return html
    pieces: list[str] = []
    at = 0
    for sign in find_html_signs(html):
        if sign.name == "table":
            end = sign.end if sign.is_closing else sign.start
            pieces += html[at:end], "</div>" if sign.is_closing else '<div class="b-table" tabindex="0">'
            at = end
    return "".join((*pieces, html[at:]))


def _write_missing(members: Mapping[str, str], target: Target) -> str:
    """The attributes of a picture that its writer leaves out; beside a width in percent, a height says nothing."""
    found = "" if "alt" in members else ' alt=""'
    given = {name: members[name] for name in ("width", "height") if name in members}
    if all(value.isdecimal() and len(value) <= _DIGITS_MAX for value in given.values()):
        size = find_shown_size({name: int(value) for name, value in given.items()}, target)
        found += "".join(f' {name}="{value}"' for name, value in size.items() if name not in given)
    return found


def _find_ends(nodes: Sequence[Node]) -> dict[int, int]:
    """For the place of HTML that opens elements, the place of the HTML that ends the last of them; linear time.

    Shape: what nothing ends is not among them.
    """
    opened: list[tuple[str, int]] = []
    ends: dict[int, int] = {}
    left: dict[int, int] = {}
    for at, node in enumerate(nodes):
        for sign in find_html_signs(read_text(read_data(node), "html")) if read_kind(node) == "html" else ():
            name = sign.name
            if name and not sign.is_closing and not sign.is_void and name not in _VOID:
                opened.append((name, at))
                left[at] = left.get(at, 0) + 1
            elif sign.is_closing and any(name == other for other, _ in opened[-_LEVELS_MAX:]):
                other = ""
                while other != name:
                    other, start = opened.pop()
                    left[start] -= 1
                    ends[start] = at
    return {start: end for start, end in ends.items() if not left[start] and end > start}


def _filter_attribute(
    state: RenderState, pictures: dict[str, Target], name: str, attribute: str, value: str
) -> str | None:
    """The value that an attribute may have: addresses lead where references of Markdown would.

    Shape: what the address of a picture leads to is added to `pictures`.
    """
    if attribute in ("href", "src"):
        target = state.resolve({"kind": "url", "url": value})
        check = check_link if attribute == "href" else check_picture
        address = check(target.address) if target is not None else None
        if target is not None and address is not None and name == "img":
            pictures[address] = target
        return address
    if attribute in ("id", "name"):
        return state.allocate_id(value) if is_html_id(value) else None
    return value


RAW_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "html": render_html,
    "definition": lambda state, node: EMPTY,
}
