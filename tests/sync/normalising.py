"""A server that keeps pages in a form of its own: what a public platform was measured to do to them on a round trip."""

import re
from collections.abc import Callable, Iterator

from syncd.layout.page.frontmatter import read_fields, split_frontmatter
from syncd.layout.yaml import yaml

FILES: dict[str, str | bytes] = {
    "README.md": "# Home\n\nWelcome. See [options](options.md).\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Options](options.md)\n* [Errors](errors.md)\n",
    "options.md": "# Options\n\n* first\n* second\n",
    "errors.md": "# Errors\n\nNone.\n",
}
"""A space in which such a server finds something to change."""
DESCRIPTION_MAX = 200
_ORDER = ("description", "hidden", "icon", "cover")
_PLACEHOLDER = re.compile(r"</?(?:person|space|org|name|thing)>")
_EMPHASIS = re.compile(r"(?<![*\w\\])\*(?![*\s])([^*\n]+?)(?<![*\s])\*(?![*\w])")
_CODE = re.compile(r"(`+)(?:(?!\1).)*?\1")
_ROW = re.compile(r"\s*\|.*\|\s*")
_APART = re.compile(r"\s*(?:#|>|\||[*+-]\s|\d+[.)]\s|\{%|<|\[|$)")


def reformat_page(text: str) -> str:
    """The page with nothing changed but its form."""
    head, body = split_frontmatter(text)
    return _head(head, text) + _body(body)


def lossy(text: str) -> str:
    """The page in another form, without placeholders in angle brackets and with a description that was cut."""
    head, body = split_frontmatter(text)
    return _head(head, text, cut=DESCRIPTION_MAX) + _body(_without(body))


def typographic(text: str) -> str:
    """The page in another form, with the quotation marks of a printer and entities for signs."""
    head, body = split_frontmatter(text)
    quoted = _outside_code(body, lambda part: re.sub(r'"([^"\n]*)"', "“\\1”", part).replace("&amp;", "&"))
    return _head(head, text) + _body(quoted)


def _head(head: str, text: str, *, cut: int | None = None) -> str:
    if not head:
        return ""
    said = read_fields(text, at="page")
    if cut is not None and isinstance(said.get("description"), str):
        said["description"] = said["description"][:cut]
    ordered = {key: said[key] for key in (*(k for k in said if k not in _ORDER), *(k for k in _ORDER if k in said))}
    inner = re.sub(r'^(\w+): "(.*)"$', r"\1: '\2'", yaml.dump(ordered), flags=re.MULTILINE)
    return f"---\n{inner}---\n"


def _body(body: str) -> str:
    blocks = list(_blocks(body))
    return "\n" * body.startswith("\n") + "\n\n".join(blocks) + "\n" if blocks else body


def _blocks(body: str) -> Iterator[str]:
    """The page block by block: wrapped lines joined, lists with stars, tables padded, code as it is."""
    for kind, lines in _runs(body.split("\n")):
        if kind == "code":
            yield "\n".join(lines)
        elif kind == "table":
            yield "\n".join(_table(lines))
        elif kind == "list":
            yield "\n".join(_inline(re.sub(r"^(\s*)[-+]\s", r"\1* ", line)) for line in lines)
        elif kind == "line":
            yield _inline(lines[0])
        else:
            yield _inline(" ".join(line.strip() for line in lines))


def _runs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    kind, run = "", list[str]()
    fence = ""
    for line in lines:
        if fence:
            run.append(line)
            if line.strip() == fence:
                yield "code", run
                kind, run, fence = "", [], ""
            continue
        found = re.match(r"```+|~~~+", line)
        now = (
            "code"
            if found
            else "blank"
            if not line.strip()
            else "table"
            if _ROW.fullmatch(line)
            else "list"
            if re.match(r"\s*[*+-]\s", line) or (kind == "list" and line.startswith(" "))
            else "line"
            if _APART.match(line)
            else "prose"
        )
        if now != kind or now == "line":
            if run and kind != "blank":
                yield kind, run
            run = []
        kind = now
        run.append(line)
        fence = found[0] if found else ""
    if run and kind != "blank":
        yield kind, run


def _table(lines: list[str]) -> list[str]:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(len(rows[0]))]
    padded = []
    for number, row in enumerate(rows):
        fill = "-" if number == 1 else " "
        cells = (_inline(cell).ljust(width, fill) for cell, width in zip(row, widths, strict=False))
        padded.append("| " + " | ".join(cells) + " |")
    return padded


def _inline(line: str) -> str:
    return _outside_code(line, lambda part: _EMPHASIS.sub(r"_\1_", part.replace("\\~", "~").replace("~", "\\~")))


def _without(body: str) -> str:
    pieces: list[str] = []
    fence = ""
    for line in body.split("\n"):
        if found := re.match(r"```+", line):
            fence = "" if fence else found[0]
        pieces.append(line if fence or found else _outside_code(line, lambda part: _PLACEHOLDER.sub("", part)))
    return "\n".join(pieces)


def _outside_code(line: str, change: Callable[[str], str]) -> str:
    pieces: list[str] = []
    done = 0
    for found in _CODE.finditer(line):
        pieces += [change(line[done : found.start()]), found[0]]
        done = found.end()
    return "".join([*pieces, change(line[done:])])
