"""Where visitors read what: the addresses of sections, variants and pages below a site, as its file declares them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.tree.paths import number_slug, slugify
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Ref

if TYPE_CHECKING:
    from syncd.layout.tree.draft import Draft
    from syncd.layout.tree.summary import Entry

Pages = Mapping[str, Mapping[str, str]]
"""Of each space whose content is known, by its id: the file of each page, by its path as `fold_address` spells it."""

_PORTS = {"https": ":443", "http": ":80"}


@dataclass(frozen=True)
class Spot:
    """Content at an address: a page's path within a variant, "" for what its visitors see first.

    `file` is the page's file, "" where the content of the space is not known; `variant` is a ref.
    """

    variant: Ref
    space: str
    path: str
    file: str = ""

    @property
    def is_known(self) -> bool:
        """Whether somebody looked and found the page; what is seen first is there in any case."""
        return bool(self.file) or not self.path


@dataclass(frozen=True)
class SiteMap:
    """A site as its file declares it, with as much of its content as is known; `hosts` are its own addresses."""

    file: SiteFile
    pages: Pages = field(default_factory=dict)
    hosts: tuple[tuple[str, str], ...] = ()

    @cached_property
    def rules(self) -> Mapping[str, Item]:
        """The declared redirects by the key of their source."""
        return {item.key: item for item in self.file.of("redirect")}

    @cached_property
    def _own(self) -> Mapping[str, tuple[str, ...]]:
        """The base paths by host, the longest first."""
        found: dict[str, set[str]] = {}
        for host, base in self.hosts or self.file.hosts:
            found.setdefault(host.lower(), set()).add(f"/{base.strip('/')}" if base.strip("/") else "")
        return {host: tuple(sorted(bases, key=len, reverse=True)) for host, bases in found.items()}

    @cached_property
    def _sections(self) -> Mapping[str, Item]:
        return {fold_address(find_path(item)): item for item in self.file.of("section")}

    @cached_property
    def _first(self) -> Item | None:
        sections = self.file.of("section")
        return next((item for item in sections if item.fields.get("default")), sections[0] if sections else None)

    @cached_property
    def _variants(self) -> Mapping[Ref, Mapping[str, Item]]:
        found: dict[Ref, dict[str, Item]] = {}
        for item in self.file.of("variant"):
            found.setdefault(item.parent, {})[fold_address(find_path(item))] = item
        return found

    def inner(self, url: str) -> str | None:
        """Return the path of an address below the site as `fold_address` spells it.

        Shape: None for an address elsewhere; what starts with a slash is below the site in any case.
        """
        path = url if url.startswith("/") and not url.startswith("//") else self._below(url)
        return None if path is None else fold_address(re.split("[?#]", path, maxsplit=1)[0])

    def _below(self, url: str) -> str | None:
        try:
            parts = urlsplit(url)
        except ValueError:  # a broken host
            return None
        host = parts.netloc.rpartition("@")[2].lower().removesuffix(_PORTS.get(parts.scheme, ":"))
        if parts.scheme not in _PORTS:
            return None
        path = normpath(parts.path) if "/." in parts.path else parts.path
        below = (path[len(base) :] for base in self._own.get(host, ()) if path == base or path.startswith(f"{base}/"))
        return next(below, None)

    def at(self, inner: str) -> Spot | None:
        """Return the content at a path below the site; a page that cannot be looked up counts too, as one that is not
        known.
        """
        first, _, rest = inner.partition("/")
        section, named = self._sections.get(first), True
        if section is None:
            section, rest, named = self._first, inner, False
        within = self._variants.get(section.ref if section is not None else ROOT, {})
        first, _, below = rest.partition("/")
        variant = within.get(first) if first else None
        if variant is not None:
            return self._spot(variant, below, named=True)
        chosen = next((item for item in within.values() if item.fields.get("default")), None)
        chosen = chosen or next(iter(within.values()), None)
        return None if chosen is None else self._spot(chosen, rest, named=named)

    def first_of(self, ref: Ref) -> Spot | None:
        """Return what visitors of a section or variant see first."""
        item = self.file.items.get(ref)
        if item is None:
            return None
        if item.kind == "variant":
            return self._spot(item, "", named=True)
        within = self._variants.get(item.ref, {})
        chosen = next((one for one in within.values() if one.fields.get("default")), next(iter(within.values()), None))
        return None if chosen is None else self._spot(chosen, "", named=True)

    def page(self, variant: str, path: str) -> Spot | None:
        """Return the page at a path of a variant."""
        item = self.file.items.get(Ref.of("variant", variant))
        return None if item is None else self._spot(item, fold_address(path), named=True)

    def addresses(self) -> Iterator[str]:
        """Return every address that the file and the known content tell of, redirects first, each once."""
        seen = dict.fromkeys(str(item.fields.get("source")) for item in self.file.of("redirect"))
        for item in self.file.of("variant"):
            paths = self.pages.get(str(item.fields.get("space")), {})
            seen |= dict.fromkeys(self.address(item.ref, path) for path in ("", *paths))
        return iter(seen)

    def address(self, variant: Ref, path: str = "") -> str:
        """Return the address of a variant, or of a page in it, below the site; the start page of the site is `/`."""
        item = self.file.items[variant]
        return "/" + "/".join(part for part in (self._top(item), path) if part)

    def _top(self, variant: Item) -> str:
        section = self.file.items.get(variant.parent)
        parts = []
        if section is not None and section is not self._first:
            parts.append(find_path(section))
        spot = self.first_of(variant.parent) if section is not None else self.at("")
        if spot is None or spot.variant != variant.ref:
            parts.append(find_path(variant))
        return "/".join(parts)

    def _spot(self, variant: Item, path: str, *, named: bool) -> Spot | None:
        """A page of a variant; where its space is unknown, only an address that names the section can lead there."""
        space = str(variant.fields.get("space") or "")
        known = self.pages.get(space)
        if known is not None:
            file = known.get(path, "")
            return Spot(variant.ref, space, unfold_address(path), file) if file or not path else None
        return Spot(variant.ref, space, unfold_address(path)) if named or not path else None


def find_path(item: Item) -> str:
    """Return the path of a section or variant: the declared one, else the last part of its key."""
    path = item.fields.get("path")
    return str(path) if path else item.key.rpartition("/")[2]


def list_page_addresses(draft: "Draft") -> dict[str, str]:
    """Return the file of each page that a space's files declare, by the page's path in one spelling."""
    return {fold_address(path): file for file, path in list_page_paths(draft).items()}


def list_page_paths(draft: "Draft") -> dict[str, str]:
    """Return the path of each page that a space's files declare, by its file, as the platform spells it.

    Shape: a page's path joins the slugs of what it hangs below and its own, of which a later one that differs from an
    earlier one at most in case is numbered; the home page is "". A percent sign is encoded.
    Source: API document, Page.
    """
    from syncd.layout.tree.settings import derive_page_slug  # heavy, and of no use where only the site file is read

    found: dict[str, str] = {}
    taken: dict[str, set[str]] = {}

    def join(above: str, slug: str) -> str:
        if slug:
            siblings = taken.setdefault(above.casefold(), set())
            # A name on disk is not encoded: its percent sign is one.
            slug = number_slug(slug.replace("%", "%25"), siblings)
            siblings.add(slug.casefold())
        return "/".join(part for part in (above, slug) if part)

    documents = set(draft.documents)
    pending: list[tuple[Entry, str]] = [(entry, "") for entry in reversed(draft.entries)]
    while pending:
        entry, above = pending.pop()
        here = above
        if entry.path in documents and entry.path not in found and entry.anchor is None:
            here = found[entry.path] = join(above, derive_page_slug(entry.path, settings=draft.settings))
        elif entry.kind == "group":
            here = join(above, entry.slug or slugify(entry.title))
        pending += [(child, here) for child in reversed(entry.children)]
    return found


def fold_address(path: str) -> str:
    """Return a path below a site in one spelling, that of a redirect's key, without slashes at its ends."""
    return "/".join(filter(None, make_source_key(path).split("/")))


def unfold_address(inner: str) -> str:
    """Return a path that `fold_address` has spelled as people read it, in which an encoded slash stays encoded."""
    return unquote(inner.replace("%2F", "%252F"))
