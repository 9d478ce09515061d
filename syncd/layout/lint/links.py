"""Rules about addresses: links, images and includes that lead nowhere, elsewhere, or only on some computers."""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from syncd.layout.lint.anchors import AnchorReader
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.includes import is_include
from syncd.layout.lint.space import Page, Space
from syncd.layout.lint.suggestions import NearMisses, format_space_renaming, format_suggestion
from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.page.links import Target
from syncd.layout.tree.paths import ASSETS, is_markdown, make_collision_key
from syncd.layout.tree.summary import walk_entries
from syncd.model.text import quote_name

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|\?")
_OWN = re.compile(r"/(?:pages|files)/")
_SUFFIX = re.compile("[#?]")


def check_links(space: Space) -> Iterator[Finding]:
    """Yield the findings about the addresses in pages, includes and the table of contents."""
    links = _LinkChecker(space)
    for page in space.read_published_pages():
        for target in page.targets:
            yield from links.check(page, target)
    if space.has_summary:
        page = space.read_page(space.summary)
        for entry, _ in walk_entries(space.draft.entries):
            if entry.kind == "link" and entry.target:
                start = _find_in_line(page, entry.line, entry.target)
                yield from links.check(page, Target(start, start, entry.target))
            elif entry.path and entry.anchor and entry.path in space.files:
                place = page.locate(_find_in_line(page, entry.line, f"#{entry.anchor}"))
                yield from links.check_anchor(page, space.read_page(entry.path), entry.anchor, place)


def _find_in_line(page: Page, line: int, address: str) -> int:
    """Return the offset of an address in a line, or of the line's start."""
    start = page.find_line_start(line)
    found = page.text.find(address, start)
    return found if found >= 0 and page.locate(found)[0] == line else start


class _LinkChecker:
    def __init__(self, space: Space) -> None:
        self.space = space
        self.near = NearMisses(space.files)
        self.anchors = AnchorReader(space)
        self.root = space.draft.settings.add_root("")

    def check(self, page: Page, target: Target) -> Iterator[Finding]:
        """Yield the findings about an address in a page."""
        address, place = target.text, page.locate(target.start)
        if address.lower().startswith("data:"):
            yield make_finding("data-uri", page.path, place, "the address holds the content itself, which is dropped")
        elif address.startswith("#"):
            yield from self.check_anchor(page, page, address[1:], place)
        elif _SCHEME.match(address):
            return
        elif address.startswith("/"):
            yield from self.check_rooted(page, address, place)
        else:
            yield from self.check_relative(page, target, place)

    def check_rooted(self, page: Page, address: str, place: tuple[int, int]) -> Iterator[Finding]:
        """Check an address that starts with a slash."""
        if address.startswith("/broken/"):
            message = f"the platform could not resolve this link: {quote_name(address)}"
            yield make_finding("link-broken", page.path, place, message, "link to a page that exists")
        elif not _OWN.match(address):
            inner = re.split("[#?]", unquote(address), maxsplit=1)[0].strip("/")
            if (found := self.find_file(self.root + inner)) is not None:
                hint = f"write {make_relative(found, at=page.path)}"
                yield make_finding("link-absolute", page.path, place, f"{quote_name(address)} starts at the root", hint)

    def check_relative(self, page: Page, target: Target, place: tuple[int, int]) -> Iterator[Finding]:
        found = resolve_address(target.text, at=page.path)
        if found is None:
            if not target.text.startswith("\\"):
                message = f"{quote_name(target.text)} leaves the space"
                yield make_finding("link-outside", page.path, place, message, self.suggest_outside(page, target))
            return
        path, suffix = found
        file = self.find_file(path)
        if file is None:
            yield self.report_missing(page, target, path, place)
        elif not file.startswith(self.root):
            yield make_finding(
                "link-outside", page.path, place, f"{quote_name(target.text)} leaves the root of the space"
            )
        elif is_markdown(file) and not file.startswith(self.root + ASSETS):
            yield from self.check_page_link(page, file, suffix, place)

    def suggest_outside(self, page: Page, target: Target) -> str:
        """Return the hint for an address outside of the space: that of another space's page, or what is like it."""
        path, suffix = _SUFFIX.split(target.text, maxsplit=1)[0], _SUFFIX.search(target.text)
        address = self.space.find_address(normpath(join(dirname(page.path), unquote(path))))
        if address:
            return f"write {address}{target.text[suffix.start() :] if suffix else ''}"
        near = self.near.find(unquote(path).replace("../", ""))
        return f"did you mean {make_relative(near, at=page.path)}?" if near else ""

    def check_page_link(self, page: Page, file: str, suffix: str, place: tuple[int, int]) -> Iterator[Finding]:
        space = self.space
        if (
            space.has_summary
            and file not in space.listed_paths
            and file not in space.draft.includes
            and file != space.summary
        ):
            yield make_finding(
                "link-unlisted", page.path, place, f"{quote_name(file)} is not listed in {space.summary}"
            )
        elif "#" in suffix:
            yield from self.check_anchor(page, space.read_page(file), suffix.partition("#")[2], place)

    def find_file(self, path: str) -> str | None:
        """Return the file at a path, with or without its extension, or the page of a folder; None when there is
        none."""
        stem = path.rstrip("/")
        for name in (path, f"{stem}.md", f"{stem}/README.md" if stem else "README.md"):
            if name in self.space.files:
                return name
        return None

    def report_missing(self, page: Page, target: Target, path: str, place: tuple[int, int]) -> Finding:
        """Return the finding for an address where no file is."""
        address = quote_name(target.text)
        if is_include(page, target):
            hint = format_suggestion(self.near.find(path))
            return make_finding("include-missing", page.path, place, f"there is no reusable content at {address}", hint)
        for name in (path, f"{path}.md", f"{path}/README.md"):
            other = self.space.spellings.get(make_collision_key(name))
            if other is not None:
                message = f"{address} is spelled otherwise than the file {quote_name(other)}"
                hint = format_space_renaming(other) or f"write {make_relative(other, at=page.path)}"
                return make_finding("link-case", page.path, place, message, hint)
        if path in self.space.folders:
            hint = "link to a page in it, or add a README.md"
            return make_finding("link-broken", page.path, place, f"{address} is a folder without a page", hint)
        near = self.near.find(path)
        hint = f"did you mean {make_relative(near, at=page.path)}?" if near else ""
        if "\\" in path:
            hint = "write / between folders"
        return make_finding("link-broken", page.path, place, f"there is no file at {address}", hint)

    def check_anchor(self, page: Page, target_page: Page, anchor: str, place: tuple[int, int]) -> Iterator[Finding]:
        decoded = unquote(anchor)
        known = self.anchors.find_anchors(target_page) if decoded else frozenset()
        if not decoded or decoded in known or anchor in known:
            return
        if self.anchors.may_have_others(target_page):
            return
        if target_page is page and self.anchors.has_where_included(page, decoded):
            return
        where = "this page" if target_page is page else quote_name(target_page.path)
        if decoded in target_page.title_anchors:
            message, hint = f"the title of {where} has no anchor", "name a heading below the title, or no anchor"
        else:
            near = NearMisses(known).find(decoded)
            message, hint = f"{where} has no heading #{decoded[:80]}", f"did you mean #{near}?" if near else ""
        yield make_finding("link-anchor", page.path, place, message, hint)
