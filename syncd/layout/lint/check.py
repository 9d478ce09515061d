"""Check one space: every rule over its files, without what the files themselves ask to be ignored."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from syncd.layout.lint.assets import check_assets
from syncd.layout.lint.contents import check_contents
from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.head import check_heads
from syncd.layout.lint.links import check_links
from syncd.layout.lint.markup import check_markup
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.rules import RULES, matching
from syncd.layout.lint.settings import check_settings
from syncd.layout.lint.space import Item, Page, Space

_FAMILIES = (check_contents, check_links, check_heads, check_markup, check_assets, check_settings)
_IGNORE = re.compile(r"<!--[ \t]*syncd-check:[ \t]*ignore[ \t]+([a-z0-9, -]{1,400}?)[ \t]*-->")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")


def check(items: Mapping[str, Item]) -> list[Finding]:
    """Given the files of a space, by their path below its directory, return all findings, by file and position.

    Shapes: a comment `<!-- syncd-check: ignore CODE -->` silences the next line, or the code block that it starts; and
    for rules about whole files, the file. Linear time.
    """
    space = Space(items)
    found = chain(space.problems, *(family(space) for family in _FAMILIES))
    quiet = _Quiet(space)
    return sorted({one for one in found if not quiet.silences(one)} | set(quiet.unknown))


class _Quiet:
    """What the comments of the files silence; a file is read for it once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.asked: dict[str, dict[str, list[range]]] = {}
        self.unknown: list[Finding] = []
        for path in space.markdown():
            page = space.page(path)
            if "syncd-check:" in page.text:
                self.asked[path] = self._read(page)

    def silences(self, one: Finding) -> bool:
        """Given a finding, return whether its file asks to ignore it."""
        lines = self.asked.get(one.path, {}).get(one.code)
        return lines is not None and (RULES[one.code].whole or any(one.line in span for span in lines))

    def _read(self, page: Page) -> dict[str, list[range]]:
        asked: dict[str, list[range]] = {}
        for comment in _IGNORE.finditer(page.text):
            if not page.is_prose(comment.start()):
                continue
            line = page.place(comment.end())[0]
            for word in re.split(r"[, ]+", comment[1].strip()):
                try:
                    codes = matching([word])
                except KeyError:
                    self.unknown.append(_unknown(page, comment.start(1), word))
                    continue
                for code in codes:
                    asked.setdefault(code, []).append(_silenced(page, line))
        return asked


def _unknown(page: Page, offset: int, word: str) -> Finding:
    hint = meant(Near(RULES).to(word))
    return finding("ignore-unknown", page.path, page.place(offset), f"there is no code {word}", hint)


def _silenced(page: Page, line: int) -> range:
    """The lines that a comment in a line silences: its own, the next that holds anything, and a code block there."""
    lines = page.lines
    here = line
    while here < len(lines) and not lines[here].strip():
        here += 1
    if here < len(lines) and (fence := _FENCE.match(lines[here])):
        end = here + 1
        while end < len(lines) and not lines[end].lstrip(" \t>").startswith(fence[1]):
            end += 1
        return range(line, end + 2)
    return range(line, here + 2)


def chosen(findings: Iterable[Finding], select: set[str], ignore: set[str]) -> Iterator[Finding]:
    """Given findings and codes, return those that are asked for: all, when none is selected, but for those ignored."""
    return (one for one in findings if (not select or one.code in select) and one.code not in ignore)
