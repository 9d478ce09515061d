"""One spelling for what people space as they like: braces, commas, blank lines and the ends of lines.

Comments, quotes, indentation, the order of items and columns that somebody aligned stay as they are.
"""

import re
from collections.abc import Iterator

from syncd.errors import FileInvalid
from syncd.layout.site.read.redirect_files import YAML_BYTES_MAX
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import Node, Tree

_COMMA = re.compile(r" *,( *)")
_COLON = re.compile(r" *:( *)")


class _Unformattable(Exception):
    """The collection is written in a way that has no other spelling here."""


def format_site_file(text: str, *, path: str) -> str:
    """Return a YAML file in canonical spacing; doing so again changes nothing, and its value is the same.

    Shape: collections on one line are `{ key: value, key: value }` and `[a, b]`; two or more spaces behind a comma or
    colon align columns and stay; lines have no spaces at their end; one blank line is the most; the file ends with one
    line end.
    Raises: FileInvalid when the file cannot be read.
    """
    tree = compose_tree(text, at=path, bytes_max=YAML_BYTES_MAX)
    spaced = _space_values(tree)
    result = _trim_lines(compose_tree(spaced, at=path, bytes_max=2 * YAML_BYTES_MAX))
    before, after = tree.root, compose_tree(result, at=path, bytes_max=2 * YAML_BYTES_MAX).root
    if (before.plain_value if before else None) != (after.plain_value if after else None):
        raise FileInvalid("is written in a way that cannot be formatted", path=path)
    return result


def _space_values(tree: Tree) -> str:
    parts: list[str] = []
    at = 0
    for node in _list_outermost(tree.root):
        end = node.end
        if "\n" not in tree.text[node.start : end]:
            try:
                parts += [tree.text[at : node.start], _format_flow(tree.text, node)]
            except _Unformattable:
                continue
            at = end
    return "".join([*parts, tree.text[at:]])


def _list_outermost(root: Node | None) -> Iterator[Node]:
    """The collections in flow style that are in no other, in the order of the text."""
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node.style == "{":
            yield node
        elif node.style == "-":
            waiting += reversed(list(node.value.values() if isinstance(node.value, dict) else node.value))


def _format_flow(text: str, node: Node) -> str:
    if node.style != "{":
        return text[node.start : node.end]
    opening, listed = text[node.start], isinstance(node.value, list)
    if opening != ("[" if listed else "{"):
        raise _Unformattable
    children = list(node.value if listed else node.value.values())
    parts: list[str] = []
    at = node.start + 1
    for child in children:
        begin = child.start if child.key is None else child.key.start
        if parts:
            parts.append("," + _format_gap(_COMMA, text[at:begin]))
        elif text[at:begin].strip(" \t"):
            raise _Unformattable
        parts.append(_format_member(text, child))
        at = max(child.end, begin)
        if child.key is not None and child.start == child.end:
            at = child.key.end + len(_format_colon(text, child))
    if text[at : node.end - 1].strip(" \t,"):
        raise _Unformattable
    inner = "".join(parts)
    return f"[{inner}]" if listed else f"{{ {inner} }}" if inner else "{}"


def _format_member(text: str, child: Node) -> str:
    if child.key is None:
        return _format_flow(text, child)
    key = text[child.key.start : child.key.end]
    if child.start == child.end:
        return key + _format_colon(text, child).strip(" ")
    return f"{key}:{_format_gap(_COLON, text[child.key.end : child.start])}{_format_flow(text, child)}"


def _format_colon(text: str, child: Node) -> str:
    """What stands between a key and a value that is nothing."""
    assert child.key is not None
    found = _COLON.match(text, child.key.end)
    return found[0].rstrip(" ") if found else ""


def _format_gap(pattern: re.Pattern[str], between: str) -> str:
    found = pattern.fullmatch(between)
    if found is None:
        raise _Unformattable
    return found[1] if len(found[1]) > 1 else " "


def _trim_lines(tree: Tree) -> str:
    """Blank lines and the ends of lines, except in text that goes over several lines."""
    text, kept = tree.text, _find_kept_lines(tree)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines: list[str] = []
    blank = True
    for number, line in enumerate(text.split("\n"), start=1):
        if number in kept:
            lines.append(line.removesuffix("\r"))
            blank = False
        elif bare := line.rstrip(" \t\r"):
            lines.append(bare)
            blank = False
        elif not blank:
            lines.append("")
            blank = True
    if blank and lines:
        lines.pop()
    result = newline.join(lines)
    # Where the last text goes on until the end of the file, a line end would be part of it.
    return result if not result or text.count("\n") + 1 in kept else result + newline


def _find_kept_lines(tree: Tree) -> frozenset[int]:
    """The numbers of the lines over which text goes on."""
    found: set[int] = set()
    for node in tree.root.walk() if tree.root else ():
        if node.style not in ("{", "-") and "\n" in tree.text[node.start : node.end]:
            last, column = tree.locate(node.end)
            found.update(range(tree.locate(node.start)[0], last + (column > 1)))
    return frozenset(found)
