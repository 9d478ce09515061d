"""Rules about the text of a page: what the platform deletes or shows as text, and what a merge left."""

import re
from collections.abc import Iterator

from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Page, Space
from syncd.layout.richtext.tag_lines import ELSE_TAGS
from syncd.layout.richtext.tags import TAGS
from syncd.layout.tree.paths import is_markdown
from syncd.model.text import quote_name

TAG_CHARACTERS = 4096
"""A tag longer than this is not looked at; the bound keeps hostile text linear."""

_NAMES = (
    "a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite "
    "code col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure "
    "font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li "
    "link main map mark math menu meta meter nav noscript object ol optgroup option output p param path picture "
    "pre progress q rect circle line polyline polygon ellipse g defs use text tspan lineargradient "
    "radialgradient stop symbol rp rt ruby s samp script section select slot small source span strike strong "
    "style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var "
    "video wbr big clippath foreignobject"
)
_HTML = frozenset(_NAMES.split())
"""Elements of HTML and SVG; whatever else stands in angle brackets is taken for words."""

_TAG = re.compile(r"(?<!\\)(?<!\]\()(?<!\]: )</?([A-Za-z][A-Za-z0-9-]*+)(?:[ \t\n][^<>]{0,2000})?/?>")
_LIQUID = re.compile(r"\{%[ \t]*+(end)?([a-z][a-z-]*+)(?=[ \t\n%])")
_LIQUID_ALL = re.compile(r"\{%[^%\n]{0,2000}%\}")
_INTEGRATION = re.compile(r"\{%[ \t\n]*+@")
_IF = re.compile(r"\{%(-?)[ \t\n]{0,100}if\b[^{}]{0,2000}%\}")
_ELSE = re.compile(rf"\{{%-?[ \t\n]{{0,100}}({ELSE_TAGS})\b[^{{}}]{{0,2000}}%\}}")
_SIGNS = " \t\r>*+-.)[]xX0123456789"
"""What may stand before a tag in its line: signs of lists and quotes."""
_DETAILS = re.compile(r"<(/?)details\b[^<>]{0,500}>", re.IGNORECASE)
_MARKER = re.compile(r"^(?:(<{7})(?: [^\n]*)?|(={7})|(>{7})(?: [^\n]*)?)\r?$", re.MULTILINE)
_BLOCKS = frozenset(name for name, tag in TAGS.items() if tag.body == "blocks")


def check_markup(space: Space) -> Iterator[Finding]:
    """Yield the findings about the text of pages, and about conflict markers in any text file."""
    for page in space.read_published_pages():
        yield from _check_angle_brackets(page)
        yield from _check_blocks(page)
        yield from _check_conditions(page)
        yield from _check_integrations(page)
    settings = (space.summary, *(path for path in space.files if path.endswith((".yaml", ".yml"))))
    for path in dict.fromkeys((*space.list_markdown_paths(), *settings)):
        if path in space.files:
            yield from _check_conflict_markers(space.read_page(path))


def _check_angle_brackets(page: Page) -> Iterator[Finding]:
    """Yield words in angle brackets that are not a tag of HTML."""
    words = page.blanked_text
    if "<" not in words:
        return
    if "{%" in words:
        words = _LIQUID_ALL.sub(lambda tag: " " * len(tag[0]), words)
    for tag in _TAG.finditer(words):
        if tag[1].lower() not in _HTML:
            hint = "put it in backticks, or write &lt;"
            message = f"{quote_name(tag[0])} is no HTML; the platform deletes it"
            yield make_finding("angle-text", page.path, page.locate(tag.start()), message, hint)


def _check_blocks(page: Page) -> Iterator[Finding]:
    """Yield blocks without an end, and ends without a block."""
    opened: list[tuple[str, int]] = []
    count: dict[str, int] = {}
    for name, closes, at in _find_block_tags(page.blanked_text):
        if not closes:
            opened.append((name, at))
            count[name] = count.get(name, 0) + 1
        elif not count.get(name):
            message = f"{_format_block_tag(name, end=True)} ends nothing"
            yield make_finding("block-unclosed", page.path, page.locate(at), message)
        else:
            while True:
                other, start = opened.pop()
                count[other] -= 1
                if other == name:
                    break
                yield _report_unclosed(page, other, start)
    for name, start in opened:
        yield _report_unclosed(page, name, start)


def _check_conditions(page: Page) -> Iterator[Finding]:
    """Yield conditions that are no block."""
    words = page.blanked_text
    if "{%" not in words:
        return
    for tag in _IF.finditer(words, page.body):
        before = words[words.rfind("\n", 0, tag.start()) + 1 : tag.start()]
        behind = words[tag.end() : tag.end() + 200].partition("\n")[0]
        if tag[1] or before.strip(_SIGNS) or behind.strip(" \t\r"):
            message = "{% if %} is no block here: everybody reads what it stands before"
            yield make_finding("condition-inline", page.path, page.locate(tag.start()), message)
    for tag in _ELSE.finditer(words, page.body):
        message = f"the platform has no {{% {tag[1]} %}}: who reads what stands before it reads this, too"
        yield make_finding("condition-inline", page.path, page.locate(tag.start()), message)


def _report_unclosed(page: Page, name: str, start: int) -> Finding:
    message = f"{_format_block_tag(name)} has no {_format_block_tag(name, end=True)}"
    return make_finding("block-unclosed", page.path, page.locate(start), message)


def _find_block_tags(words: str) -> Iterator[tuple[str, bool, int]]:
    """Return the tags that open or close a block, in order: the name, whether it closes, and the offset."""
    found = []
    if "{%" in words:
        for tag in _LIQUID.finditer(words):
            if tag[2] in _BLOCKS:
                found.append((tag[2], tag[1] is not None, tag.start()))
    if "details" in words:
        found += [("<details>", bool(tag[1]), tag.start()) for tag in _DETAILS.finditer(words)]
    return iter(sorted(found, key=lambda sign: sign[2]))


def _format_block_tag(name: str, *, end: bool = False) -> str:
    if name.startswith("<"):
        return "</details>" if end else name
    return f"{{% {'end' if end else ''}{name} %}}"


def _check_integrations(page: Page) -> Iterator[Finding]:
    words = page.blanked_text
    for tag in _INTEGRATION.finditer(words):
        end = words.find("%}", tag.start(), tag.start() + TAG_CHARACTERS)
        if end < 0 or "\n" in words[tag.start() : end]:
            message = "the tag of an integration spans several lines; it comes back as text"
            yield make_finding("tag-lines", page.path, page.locate(tag.start()), message, "write it on one line")


def _check_conflict_markers(page: Page) -> Iterator[Finding]:
    """Yield the start of each conflict that a merge left: its three markers in order."""
    if "<<<<<<<" not in page.text:
        return
    start, middle = -1, False
    for mark in _MARKER.finditer(page.text):
        if mark[1]:
            start, middle = mark.start(), False
        elif mark[2]:
            middle = start >= 0
        elif middle:
            in_code = is_markdown(page.path) and page.blanked_text[start] == " " and start >= page.body
            code = "conflict-in-code" if in_code else "conflict-marker"
            yield make_finding(code, page.path, page.locate(start), "a merge was not settled here")
            start, middle = -1, False
