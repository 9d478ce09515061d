"""Check one space: every rule over its files, without the findings that the files ask to ignore."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from itertools import chain

from syncd.layout.lint.assets import check_assets
from syncd.layout.lint.contents import check_contents
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.head import check_heads
from syncd.layout.lint.includes import check_includes
from syncd.layout.lint.links import check_links
from syncd.layout.lint.markup import check_markup
from syncd.layout.lint.rules import RULES, find_codes
from syncd.layout.lint.settings import check_settings
from syncd.layout.lint.space import FindAddress, Page, Space, SpaceFile
from syncd.layout.lint.specifications import check_specifications
from syncd.layout.lint.suggestions import NearMisses, format_suggestion

_FAMILIES = (
    check_contents,
    check_links,
    check_includes,
    check_specifications,
    check_heads,
    check_markup,
    check_assets,
    check_settings,
)
_IGNORE = re.compile(r"<!--[ \t]*syncd-check:[ \t]*ignore[ \t]+([a-z0-9, -]{1,400}?)[ \t]*-->")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")


def check_space(
    items: Mapping[str, SpaceFile],
    *,
    only: Collection[str] | None = None,
    known: MutableMapping[str, Page] | None = None,
    find_address: FindAddress = lambda path: "",
) -> list[Finding]:
    """Return all findings of a space, by file and position; `items` are its files by path below its directory.

    Shape: with `only`, just those pages are looked at, which takes a moment where a space takes long. `known` remembers
    pages from one call to the next; the caller takes out of it what changed since. `find_address` says where pages of
    other spaces are, for hints. A comment
    `<!-- syncd-check: ignore CODE -->` ignores findings on the next line, or in the code block that it starts; for
    rules about whole files, in the file. Linear time.
    """
    space = Space(items, only=only, known=known, find_address=find_address)
    found = chain(space.problems, *(family(space) for family in _FAMILIES))
    ignored = _IgnoreComments(space)
    kept = {finding for finding in found if not ignored.is_ignored(finding)} | set(ignored.unknown)
    return sorted(finding for finding in kept if only is None or finding.path in only)


def find_conflict_marker(path: str, data: bytes) -> Finding | None:
    """Return the first place of a page where a merge was not settled; not in code, nor where a comment ignores it."""
    found = check_space({path: SpaceFile(len(data), lambda: data)}, only={path})
    return next((finding for finding in found if finding.code == "conflict-marker"), None)


class _IgnoreComments:
    """The ignore comments of all files; each file is read once for them."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.lines_by_code: dict[str, dict[str, list[range]]] = {}
        self.unknown: list[Finding] = []
        for path in space.list_markdown_paths():
            page = space.read_page(path)
            if "syncd-check:" in page.text:
                self.lines_by_code[path] = self._find_ignored_codes(page)

    def is_ignored(self, finding: Finding) -> bool:
        """Return whether its file asks to ignore a finding."""
        lines = self.lines_by_code.get(finding.path, {}).get(finding.code)
        return lines is not None and (RULES[finding.code].is_whole_file or any(finding.line in span for span in lines))

    def _find_ignored_codes(self, page: Page) -> dict[str, list[range]]:
        lines_by_code: dict[str, list[range]] = {}
        for comment in _IGNORE.finditer(page.text):
            if not page.is_prose(comment.start()):
                continue
            line = page.locate(comment.end())[0]
            for word in re.split(r"[, ]+", comment[1].strip()):
                try:
                    codes = find_codes([word])
                except KeyError:
                    self.unknown.append(_report_unknown_code(page, comment.start(1), word))
                    continue
                for code in codes:
                    lines_by_code.setdefault(code, []).append(_find_ignored_lines(page, line))
        return lines_by_code


def _report_unknown_code(page: Page, offset: int, word: str) -> Finding:
    hint = format_suggestion(NearMisses(RULES).find(word))
    return make_finding("ignore-unknown", page.path, page.locate(offset), f"there is no code {word}", hint)


def _find_ignored_lines(page: Page, line: int) -> range:
    """Return the lines that a comment covers: its own, the next that is not blank, and a code block there."""
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


def select_findings(findings: Iterable[Finding], select: set[str], ignore: set[str]) -> Iterator[Finding]:
    """Return the findings with selected codes, all when none is selected, without those with ignored codes."""
    return (finding for finding in findings if (not select or finding.code in select) and finding.code not in ignore)
