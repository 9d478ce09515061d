"""Formulas: TeX as MathML, which browsers draw; a formula that cannot be set is shown as it is written."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

from syncd.web.blocks.elements import write_element
from syncd.web.blocks.members import Node, read_data, read_text
from syncd.web.blocks.state import RenderState

FORMULA_MAX = 2000
"""Characters; a longer formula is shown as it is written."""
_NESTED_MAX = 40
"""Braces within braces."""
_ELEMENTS = frozenset(
    {
        *("math", "menclose", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"),
        *(
            "mprescripts",
            "mroot",
            "mrow",
            "ms",
            "mspace",
            "msqrt",
            "mstyle",
            "msub",
            "msubsup",
            "msup",
            "mtable",
            "mtd",
        ),
        *("mtext", "mtr", "munder", "munderover", "none"),
    }
)
_ATTRIBUTES = frozenset(
    {
        *("accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "displaystyle", "fence"),
        *("form", "height", "linethickness", "lspace", "mathcolor", "mathbackground", "mathsize", "mathvariant"),
        *("maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel"),
        *("separator", "stretchy", "symmetric", "voffset", "width"),
    }
)
_VALUE = re.compile(r"[A-Za-z0-9 #.%+-]{1,60}")
_COMMAND = re.compile(r"\\(?:href|url|style|class|id|unicode|require)\b")


def render_formula(state: RenderState, formula: str, *, is_block: bool) -> Markup:
    """Return a formula as MathML, or as its source where it cannot be set."""
    state.words += 1
    math = _find_math(formula, "block" if is_block else "inline")
    if math is None:
        name = "pre" if is_block else "code"
        return write_element(name, formula, class_="b-formula-source", title=state.context.labels.formula)
    display = "block" if is_block else "inline"
    inner = Markup("".join(_write_children(math)))  # noqa: S704
    # The source is what a screen reader without MathML, and who copies the formula, can use.
    return write_element("math", inner, display=display, alttext=formula)


def read_formula_words(formula: str) -> str:
    """Return the signs of a formula in the order in which they are drawn, or its source where it cannot be set."""
    math = _find_math(formula, "inline")
    return formula if math is None else unescape("".join(math.itertext()))


def _find_math(formula: str, display: str) -> Element | None:
    if not formula or len(formula) > FORMULA_MAX or formula.count("{") > FORMULA_MAX or _COMMAND.search(formula):
        return None
    depth = deepest = 0
    for sign in formula:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if deepest > _NESTED_MAX:
        return None
    try:
        return convert_to_element(formula, display=display)
    except Exception:  # noqa: BLE001 - the library raises what it likes for a formula that is none
        return None


def _write_children(element: Element) -> Iterator[str]:
    # The library keeps signs as entities in its text; what is neither element nor entity is text, and stays that.
    yield str(escape(unescape(element.text or "")))
    for child in element:
        name = child.tag if child.tag in _ELEMENTS else "mrow"
        given = {key: value for key, value in child.attrib.items() if key in _ATTRIBUTES and _VALUE.fullmatch(value)}
        attributes = "".join(f' {key}="{escape(value)}"' for key, value in given.items())
        yield f"<{name}{attributes}>"
        yield from _write_children(child)
        yield f"</{name}>"
        yield str(escape(unescape(child.tail or "")))


def _render_block(state: RenderState, node: Node) -> Markup:
    formula = read_text(read_data(node), "formula")
    return write_element("div", render_formula(state, formula, is_block=True), class_="b-formula", tabindex="0")


def render_inline_formula(state: RenderState, node: Node) -> Markup:
    """Render a formula in a line."""
    return render_formula(state, read_text(read_data(node), "formula"), is_block=False)


FORMULA_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {"math": _render_block}
