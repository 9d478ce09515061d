"""Rules about addresses: links, images and includes that lead nowhere, elsewhere, or only on some computers."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.space import Page, Space
from syncd.layout.page.links import Target, relative, resolve
from syncd.layout.tree.draft import ASSETS
from syncd.layout.tree.paths import collision_key, is_markdown, shown
from syncd.layout.tree.summary import walk

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|\?")
_INCLUDE = re.compile(r'\{%[ \t]*include[ \t]+"$')
_OWN = re.compile(r"/(?:pages|files)/")
_LOOK_BACK = 40


def check_links(space: Space) -> Iterator[Finding]:
    """Given a space, return what is wrong with the addresses in its pages, includes and table of contents."""
    links = _Links(space)
    for page in space.published():
        for target in page.targets:
            yield from links.check(page, target)
    if space.decided:
        page = space.page(space.summary)
        for entry, _ in walk(space.draft.entries):
            if entry.kind == "link" and entry.target:
                start = _in_line(page, entry.line, entry.target)
                yield from links.check(page, Target(start, start, entry.target))


def _in_line(page: Page, line: int, address: str) -> int:
    """Where an address stands in a line, or where the line starts."""
    start = page.offset(line)
    found = page.text.find(address, start)
    return found if found >= 0 and page.place(found)[0] == line else start


class _Links:
    def __init__(self, space: Space) -> None:
        self.space = space
        self.near = Near(space.items)
        self.root = space.draft.settings.below("")

    def check(self, page: Page, target: Target) -> Iterator[Finding]:
        """Given an address in a page, return what is wrong with it."""
        address, place = target.text, page.place(target.start)
        if address.lower().startswith("data:"):
            yield finding("data-uri", page.path, place, "the address holds the content itself, which is dropped")
        elif address.startswith("#"):
            yield from self.anchor(page, page, address[1:], place)
        elif _SCHEME.match(address):
            return
        elif address.startswith("/"):
            yield from self.rooted(page, address, place)
        else:
            yield from self.relative(page, target, place)

    def rooted(self, page: Page, address: str, place: tuple[int, int]) -> Iterator[Finding]:
        """An address that starts at the root of nothing in particular."""
        if address.startswith("/broken/"):
            message = f"the platform could not resolve this link: {shown(address)}"
            yield finding("link-broken", page.path, place, message, "link to a page that exists")
        elif not _OWN.match(address):
            inner = re.split("[#?]", unquote(address), maxsplit=1)[0].strip("/")
            if (found := self.at(self.root + inner)) is not None:
                hint = f"write {relative(found, at=page.path)}"
                yield finding("link-absolute", page.path, place, f"{shown(address)} starts at the root", hint)

    def relative(self, page: Page, target: Target, place: tuple[int, int]) -> Iterator[Finding]:
        found = resolve(target.text, at=page.path)
        if found is None:
            if not target.text.startswith("\\"):
                near = self.near.to(re.split("[#?]", unquote(target.text), maxsplit=1)[0].replace("../", ""))
                hint = f"did you mean {relative(near, at=page.path)}?" if near else ""
                yield finding("link-outside", page.path, place, f"{shown(target.text)} leaves the space", hint)
            return
        path, suffix = found
        here = self.at(path)
        if here is None:
            yield self.missing(page, target, path, place)
        elif not here.startswith(self.root):
            yield finding("link-outside", page.path, place, f"{shown(target.text)} leaves the root of the space")
        elif is_markdown(here) and not here.startswith(self.root + ASSETS):
            yield from self.to_page(page, target, here, suffix, place)

    def to_page(self, page: Page, target: Target, here: str, suffix: str, place: tuple[int, int]) -> Iterator[Finding]:
        space = self.space
        if space.decided and here not in space.listed and here not in space.draft.includes and here != space.summary:
            yield finding("link-unlisted", page.path, place, f"{shown(here)} is not listed in {space.summary}")
        elif "#" in suffix:
            yield from self.anchor(page, space.page(here), suffix.partition("#")[2], place)

    def at(self, path: str) -> str | None:
        """Given a path, return the file that lies there, with or without its ending, or for a folder."""
        stem = path.rstrip("/")
        for name in (path, f"{stem}.md", f"{stem}/README.md" if stem else "README.md"):
            if name in self.space.items:
                return name
        return None

    def missing(self, page: Page, target: Target, path: str, place: tuple[int, int]) -> Finding:
        """What to say of an address that nothing lies at."""
        address = shown(target.text)
        if _INCLUDE.search(page.text[max(0, target.start - _LOOK_BACK) : target.start]):
            hint = meant(self.near.to(path))
            return finding("include-missing", page.path, place, f"there is no reusable content at {address}", hint)
        for name in (path, f"{path}.md", f"{path}/README.md"):
            other = self.space.spellings.get(collision_key(name))
            if other is not None:
                message = f"{address} is spelled otherwise than the file {shown(other)}"
                return finding("link-case", page.path, place, message, f"write {relative(other, at=page.path)}")
        if path in self.space.folders:
            hint = "link to a page in it, or add a README.md"
            return finding("link-broken", page.path, place, f"{address} is a folder without a page", hint)
        near = self.near.to(path)
        hint = f"did you mean {relative(near, at=page.path)}?" if near else ""
        if "\\" in path:
            hint = "write / between folders"
        return finding("link-broken", page.path, place, f"there is no file at {address}", hint)

    def anchor(self, page: Page, there: Page, anchor: str, place: tuple[int, int]) -> Iterator[Finding]:
        wanted = unquote(anchor)
        if not wanted or wanted in there.anchors or anchor in there.anchors:
            return
        where = "this page" if there is page else shown(there.path)
        near = Near(there.anchors).to(wanted)
        message = f"{where} has no heading #{wanted[:80]}"
        yield finding("link-anchor", page.path, place, message, f"did you mean #{near}?" if near else "")
