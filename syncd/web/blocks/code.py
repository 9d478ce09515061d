"""Blocks of code: coloured by classes, and remembered by what they say."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import cache

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType
from pygments.util import ClassNotFound

from syncd.layout.evaluation import hides_whole
from syncd.web.blocks.elements import EMPTY, write_element
from syncd.web.blocks.members import Node, collect_words, read_data, read_nodes, read_text
from syncd.web.blocks.state import RenderState
from syncd.web.rendering import render_template

CHARACTERS_MAX = 30_000
"""Code up to this length is coloured; what is longer is shown plainly, so that no page takes seconds."""
REMEMBERED_CHARACTERS = 32 * 1024 * 1024
_PLAIN = frozenset({"", "text", "plain", "plaintext", "txt", "none", "output"})


class CodeMemory(dict[str, str]):
    """Remembers coloured code by its key, the oldest forgotten first once all is too long."""

    def __init__(self, characters_max: int = REMEMBERED_CHARACTERS) -> None:
        super().__init__()
        self._left = characters_max

    def __setitem__(self, key: str, html: str) -> None:
        self._left -= len(html) - len(self.get(key, ""))
        super().__setitem__(key, html)
        for oldest in list(self)[:-1] if self._left < 0 else ():
            self._left += len(self.pop(oldest, ""))
            if self._left >= 0:
                break


def highlight_code(text: str, language: str, memory: MutableMapping[str, str]) -> Markup:
    """Return code as HTML in which words have the classes of their kind; plainly for a language that is not known."""
    name = language.strip().lower()
    if name in _PLAIN or len(text) > CHARACTERS_MAX:
        return escape(text)
    key = hashlib.blake2b(f"{name}\0{text}".encode(errors="surrogatepass"), digest_size=16).hexdigest()
    known = memory.get(key)
    if known is None:
        lexer = _find_lexer(name)
        known = memory[key] = str(escape(text)) if lexer is None else _write_code(lexer, text)
    return Markup(known)  # noqa: S704


@cache
def _find_class(kind: _TokenType) -> str:
    """The class of a kind of word; "" for one that looks like all text, and needs no element."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return _CLASSES.get(STANDARD_TYPES.get(kind, ""), "")


def _find_lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_by_name(name, stripnl=False)
    except ClassNotFound:
        return None


_CLASSES = {
    kind: name
    for name, kinds in {
        "word": "k kc kd kn kp kr kt ow nt",
        "name": "nf fm nc nn nd nb bp na py gh gu",
        "text": "s sa sb sc dl s2 se sh si sx sr s1 ss ld",
        "number": "m mb mf mh mi il mo l no",
        "quiet": "c ch cm cp cpf c1 cs sd gp go",
        "tag": "nv vc vg vi vm ne ni",
        "old": "gd",
        "new": "gi",
    }.items()
    for kind in kinds.split()
}
"""The class of each kind that Pygments tells apart: few, so that neighbours share an element and pages stay small."""


def _write_code(lexer: Lexer, text: str) -> str:
    """Code as HTML; plainly where the words of the language are not all of the text."""
    tokens = list(lexer.get_tokens(text))
    if "".join(value for _, value in tokens).removesuffix("\n") != text.removesuffix("\n"):
        return str(escape(text))
    return "".join(_write_tokens(tokens)).removesuffix("" if text.endswith("\n") else "\n")


def _write_tokens(tokens: Iterable[tuple[_TokenType, str]]) -> Iterator[str]:
    """Code as HTML, no element across the end of a line."""
    before, words = "", list[str]()
    for kind, value in tokens:
        label = before if value.isspace() else _find_class(kind)
        if label != before:
            yield _write_run(before, "".join(words))
            before, words = label, []
        words.append(value)
    yield _write_run(before, "".join(words))


def _write_run(label: str, words: str) -> str:
    if not words or not label:
        return str(escape(words))
    lines = (f'<span class="k-{label}">{escape(line)}</span>' if line else "" for line in words.split("\n"))
    return "\n".join(lines)


def _render_code(state: RenderState, node: Node) -> Markup:
    if hides_whole(node, state.context.variables):
        return EMPTY
    data = read_data(node)
    text, language = _read_code(node), read_text(data, "syntax") or read_text(data, "language")
    state.words += len(text.split())
    if is_diagram(node):
        return write_diagram(state, text)
    if any("change" in line for line in read_nodes(node)):
        html = _highlight_sides(read_nodes(node), language, state.context.highlighted)
    else:
        html = highlight_code(text, language, state.context.highlighted)
    return render_template(
        "blocks/code.html",
        title=read_text(data, "title"),
        label=read_text(data, "title") or language or state.context.labels.code,
        lines=html.split("\n") if data.get("lineNumbers") is True else None,
        code=html,
        is_wrapped=data.get("overflow") == "wrap",
    )


def _highlight_sides(lines: Iterable[Node], language: str, memory: MutableMapping[str, str]) -> Markup:
    """Code of both sides of a difference: each line as its side has it, marked where the other side has it not."""
    changes = [(read_text(line, "change"), read_code_line(line)) for line in lines]
    before, after = (
        iter(highlight_code("\n".join(text for kind, text in changes if kind != other), language, memory).split("\n"))
        for other in ("inserted", "deleted")
    )
    found = []
    for kind, _ in changes:
        former = Markup(next(before, "")) if kind != "inserted" else EMPTY  # noqa: S704
        latter = Markup(next(after, "")) if kind != "deleted" else EMPTY  # noqa: S704
        name = {"deleted": "del", "inserted": "ins"}.get(kind)
        found.append(write_element(name, former or latter, class_=f"b-{kind}") if name else latter)
    return Markup("\n").join(found)


def write_diagram(state: RenderState, source: str) -> Markup:
    """Return a diagram of Mermaid: its source, which a script of the page draws."""
    state.assets.add("mermaid")
    labels = state.context.labels
    return render_template("blocks/diagram.html", source=source, picture=labels.picture, label=labels.diagram)


def is_diagram(node: Node) -> bool:
    """Return whether code is the source of a diagram, which is drawn."""
    data = read_data(node)
    return (read_text(data, "syntax") or read_text(data, "language")).lower() == "mermaid"


def _read_code(node: Node) -> str:
    """The lines of code; one block of text where they are not told apart."""
    return "\n".join(map(read_code_line, read_nodes(node)))


def read_code_line(line: Node) -> str:
    """Return the text of a line of code."""
    return "".join(_list_texts(line))


def _list_texts(line: Node) -> Iterator[str]:
    if line.get("object") == "text" or "leaves" in line:
        yield from (str(leaf.get("text", "")) for leaf in read_nodes(line, "leaves"))
    for one in read_nodes(line):
        leaves = read_nodes(one, "leaves")
        yield "".join(str(leaf.get("text", "")) for leaf in leaves) if leaves else collect_words(one)


CODE_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {"code": _render_code}
