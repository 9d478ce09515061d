"""Redirect files: many redirects beside a site file, as a list in YAML, as CSV, or as `_redirects`.

A destination is `section:KEY`, `variant:SECTION/VARIANT`, `page:PATH@SECTION/VARIANT`, an address, or a path that
starts with a slash, which is below the first of the site's own hosts. What is noted for people stands in the third
column, and in `_redirects` as a comment: behind the redirect, or in a line of its own directly above it.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import basename, dirname, join, normpath
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import Item, Place
from syncd.layout.site.read.reader import Reader, shorten_text
from syncd.layout.site.read.redirects import read_redirects
from syncd.layout.site.read.rules import report_finding
from syncd.model.redirect import make_source_key
from syncd.model.wording import format_count

LINES_MAX = 100_000
BYTES_MAX = 8 << 20
YAML_BYTES_MAX = 4 << 20
PERMANENT = frozenset({"301", "302", "303", "307", "308"})
"""Statuses that send visitors elsewhere; the API has no choice among them."""
_TOKEN = re.compile(r"\S+")
_COMMENT = re.compile(r"(?:^|\s)#(.*)")
_TO_SYNCD = re.compile(r"(?:^|\s)#?\s*syncd:")
"""Where a comment begins to be a word to syncd."""
Resolve = Callable[[str], Mapping[str, Any] | None]
"""From a path on the site to a destination in a site file's words; None where nobody knows."""
_GLOB = re.compile(r"[*?\[\]{}]")
_FORMS = "write section:KEY, variant:SECTION/VARIANT, page:PATH@SECTION/VARIANT or https://…"


def find_file_path(name: str, *, beside: str) -> str:
    """Return the path, from the repository's root, of a file that a site file names; `beside` is the site file's path.

    Raises: ValueError, with the reason, for a name that is no single file of the repository.
    """
    if _GLOB.search(name):
        raise ValueError("names no single file; list the files one by one")
    if not name or name.startswith("/") or "\\" in name or not name.isprintable():
        raise ValueError("is no path relative to the site file")
    path = normpath(join(dirname(beside), name))
    if path == ".." or path.startswith("../"):
        raise ValueError("leads out of the repository")
    if any(part.lower() == ".git" for part in path.split("/")):
        raise ValueError("leads into Git's own files")
    if find_file_kind(path) == "":
        raise ValueError("is of no known kind: .yaml, .yml, .csv or _redirects")
    return path


def find_file_kind(path: str) -> str:
    """Return the kind of a redirect file by its name: `yaml`, `csv` or `_redirects`; "" for any other."""
    name = basename(path).lower()
    if name.endswith((".yaml", ".yml")):
        return "yaml"
    return "csv" if name.endswith(".csv") else "_redirects" if name.endswith("_redirects") else ""


def read_redirect_file(
    text: str, *, path: str, home: str = "", resolve: Resolve | None = None
) -> tuple[list[Item], list[Finding]]:
    """Return the redirects in a redirect file, and what is wrong in it.

    Shape: a destination that is only a path leads to what `resolve` finds there, else to the same path on the host
    `home`.
    """
    if len(text) > BYTES_MAX:
        return [], [report_finding("SY001", Place(path), f"is larger than {BYTES_MAX} bytes", "split the file")]
    kind = find_file_kind(path)
    if kind == "yaml":
        reader = Reader(text, path)
        root = reader.parse_document(bytes_max=YAML_BYTES_MAX)
        entries = reader.read_sequence(root, "a redirect file")
        return list(read_redirects(reader, entries)), reader.findings
    lines = _LineReader(path, home, resolve)
    if text.count("\n") > LINES_MAX:
        return [], [report_finding("SY001", Place(path), f"has more than {LINES_MAX} lines", "split the file")]
    items = list(lines.read_csv(text) if kind == "csv" else lines.read_redirects(text))
    return items, lines.findings


class _LineReader:
    """Reads one redirect a line."""

    def __init__(self, path: str, home: str, resolve: Resolve | None) -> None:
        self.path, self.home, self.resolve = path, home, resolve
        self.findings: list[Finding] = []

    def read_csv(self, text: str) -> Iterator[Item]:
        """Source, destination and maybe a note; the first line that is no comment may name the columns."""
        first = True
        for number, line in _split_lines(text):
            names, first = first, False
            cells = _split_cells(line)
            if cells is None:
                self.add_finding("SY001", number, 1, line, "a quote is not closed in this line", "close it")
            elif names and cells[0][0].strip().lower() == "source":
                continue
            elif len(cells) not in (2, 3):
                message = f"this line has {format_count(len(cells), 'column')}"
                self.add_finding(
                    "SY004", number, 1, line, message, "write source,destination or source,destination,note"
                )
            else:
                yield from self.read_redirect(number, cells[0], cells[1], cells[2][0] if len(cells) > 2 else "")

    def read_redirects(self, text: str) -> Iterator[Item]:
        """Source, destination and maybe a status, separated by spaces, as Netlify and Cloudflare have it."""
        notes = find_notes(text)
        for number, line in _split_lines(text):
            tokens = [(found[0], found.start() + 1) for found in _TOKEN.finditer(re.sub(r"\s#.*", "", line))]
            if len(tokens) < 2:
                self.add_finding("SY004", number, 1, line, "this line has no destination", "write SOURCE DESTINATION")
            elif len(tokens) > 3 or (len(tokens) == 3 and tokens[2][0] not in PERMANENT):
                said, column = next((token for token in tokens[2:] if token[0] not in PERMANENT), tokens[-1])
                message = f'"{shorten_text(said)}" has no meaning in the API, which only sends visitors on'
                self.add_finding("SY004", number, column, said, message, "write SOURCE DESTINATION, and at most 301")
            else:
                yield from self.read_redirect(number, tokens[0], tokens[1], notes.get(number, ""))

    def read_redirect(self, number: int, source: tuple[str, int], target: tuple[str, int], note: str) -> Iterator[Item]:
        place = Place(self.path, number, source[1], max(1, len(source[0])))
        there = Place(self.path, number, target[1], max(1, len(target[0])))
        to = parse_destination(target[0], home=self.home)
        if to is None and self.resolve is not None and is_site_path(target[0]):
            to = self.resolve(target[0])
        if to is None:
            message = f'"{shorten_text(target[0])}" is no destination'
            if target[0].startswith("/"):
                message, hint = f"{message}: the site's own address is not known", "add site.hosts to the site file, or"
                self.findings.append(report_finding("SY303", there, message, f"{hint} {_FORMS}"))
            else:
                self.findings.append(report_finding("SY303", there, message, _FORMS))
            return
        fields: dict[str, Any] = {"source": source[0], "to": to}
        yield Item("redirect", make_source_key(source[0]), fields, place, {"source": place, "to": there}, note=note)

    def add_finding(self, code: str, number: int, column: int, text: str, message: str, hint: str) -> None:
        self.findings.append(report_finding(code, Place(self.path, number, column, max(1, len(text))), message, hint))


def parse_destination(text: str, *, home: str = "") -> Mapping[str, Any] | None:
    """Return a destination in one word as a site file has it under `to`; None when it is none."""
    kind, colon, rest = text.partition(":")
    if text.startswith(("https://", "http://")):
        return {"url": text}
    if kind in ("section", "variant") and colon and rest:
        return {kind: rest}
    if kind == "page":
        page, _, variant = rest.rpartition("@")
        return {"page": page, "in": variant} if page and variant else None
    if home and is_site_path(text):
        return {"url": f"https://{home}{text}"}
    return None


def is_site_path(text: str) -> bool:
    """Return whether a destination in one word is a path on the site itself, without a part to fill in."""
    return text.startswith("/") and not text.startswith("//") and "*" not in text and "/:" not in text


def find_notes(text: str) -> dict[int, str]:
    """Return the comments of a `_redirects` file, by the line that each is about: its own, or the next."""
    found: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if "#" in line and (comment := _COMMENT.search(line)):
            about = number if line[: comment.start()].strip() else number + 1
            found[about] = _TO_SYNCD.split(comment[1])[0].strip()
    return found


def _split_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, with their numbers; one that starts with # is a comment."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.removesuffix("\r")
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _split_cells(line: str) -> list[tuple[str, int]] | None:
    """The columns of a line of CSV, each with where its text starts; None when a quote is left open."""
    if '"' not in line:
        cells, column = [], 1
        for cell in line.split(","):
            bare = cell.strip()
            cells.append((bare, column + len(cell) - len(cell.lstrip())))
            column += len(cell) + 1
        return cells
    try:
        row = next(csv.reader([line], strict=True, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return None
    if len(row) > 3:
        return [(cell, 1) for cell in row]
    at, found = 0, []
    for cell in row:
        at = max(at, line.find(cell.split('"')[0], at))
        found.append((cell.strip(), at + 1))
        at += len(cell)
    return found
