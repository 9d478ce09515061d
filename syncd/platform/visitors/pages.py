"""Pages of a site as HTML and as Markdown, each rendered once for all visitors to whom it looks the same."""

import hmac
import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from fastapi.responses import Response

from syncd.layout.evaluation.visible import CLOSED_TO_ROBOTS, depends_on_reader
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.platform.cache import Cache
from syncd.platform.content.visible_text import read_visible_body
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import PageFound, find_first_page
from syncd.platform.visitors.frames import (
    build_feedback_path,
    build_frame,
    build_pdf_path,
    build_scope,
    find_space_locale,
    read_contents,
)
from syncd.platform.visitors.kept.page_keys import PageKeys
from syncd.platform.visitors.offers.refusals import STRICT_HEADERS
from syncd.platform.visitors.page_links import VisitorLinks
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.blocks import BlockContext, CodeMemory, OutlineEntry, RenderedDocument, render_document
from syncd.web.blocks.labels import find_block_labels
from syncd.web.pages.contents import select_lines
from syncd.web.pages.cover import build_cover
from syncd.web.pages.lists import render_missing
from syncd.web.pages.shell import PageLayout, PageView, render_page
from syncd.web.pages.wording import find_words
from syncd.web.rendering import Html
from syncd.web.site import FeedItem, SitePage, list_updates, render_feed
from syncd.web.site.head import PageHead, render_head

FEED = "rss.xml"
"""What stands behind the path of a page with updates at the address of its feed."""
_HTML = (b"content-type", b"text/html; charset=utf-8")
_UPDATE = re.compile(r"\{%-?\s{0,100}update\b")
_REMEMBERED_BYTES = 64 * 1024 * 1024
_FLAGS = {
    "title": "title",
    "description": "description",
    "table_of_contents": "tableOfContents",
    "outline": "outline",
    "pagination": "pagination",
    "metadata": "metadata",
}


@dataclass(frozen=True)
class RenderedPage:
    """A page as bytes of HTML, with the tag by which a browser asks whether it has changed."""

    html: bytes
    etag: str
    site_space: str = ""
    page: str = ""

    @classmethod
    def of(cls, html: bytes, found: PageFound | None = None) -> "RenderedPage":
        """Return a page from its HTML, with the ids of the site-space and the page that were found."""
        place = (found.place.site_space.id, found.entry.node.id) if found is not None else ()
        return cls(html, f'"{sha256(html).hexdigest()[:32]}"', *place)


class PageResponse(Response):
    """A page as an answer, whose headers are bytes already: no other answer is given as often."""

    def __init__(self, page: RenderedPage, status: int, cache_control: str, *, is_indexed: bool) -> None:
        self.status_code = status
        self.background = None
        self.body = b"" if status == 304 else page.html
        of_body = [] if status == 304 else [_HTML, (b"content-length", b"%d" % len(self.body))]
        headers = _list_page_headers(cache_control, is_indexed=is_indexed)
        self.raw_headers = [*headers, (b"etag", page.etag.encode()), *of_body]


@lru_cache(maxsize=8)
def _list_page_headers(cache_control: str, *, is_indexed: bool) -> Sequence[tuple[bytes, bytes]]:
    robots = {} if is_indexed else {"X-Robots-Tag": "noindex"}
    headers = {**STRICT_HEADERS, "Cache-Control": cache_control, "Vary": "Cookie", **robots}
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


PageKey = tuple[str, str, str, str]
_ORIGIN_BYTES = 16


@dataclass
class PageMemory:
    """Pages that were rendered: by what their site is, who reads them, and their address. Safe in several threads."""

    highlighted: MutableMapping[str, str] = field(default_factory=CodeMemory)
    _pages: Cache[PageKey, RenderedPage] = field(
        default_factory=lambda: Cache(_REMEMBERED_BYTES, weigh=lambda page: len(page.html))
    )

    def find_page(self, visit: SiteVisit, path: str, origin: str) -> RenderedPage | None:
        """Return the page at a path as it was rendered last, None when something of it may be another now."""
        return self._pages.get(_build_key(visit, path, origin))

    def keep_page(self, visit: SiteVisit, path: str, origin: str, page: RenderedPage) -> None:
        """Keep a page, which depends on nothing but the site, its reader and its address."""
        self._pages.put(_build_key(visit, path, origin), page)


def _build_key(visit: SiteVisit, path: str, origin: str) -> PageKey:
    return visit.site.fingerprint, visit.visitor_class, path, origin


@dataclass(frozen=True)
class PageRenderer:
    """Renders the pages of one visit."""

    storage: Storage
    memory: PageMemory
    visit: SiteVisit

    def find_kept(self, found: PageFound, origin: str, path: str, *, is_hurried: bool = False) -> RenderedPage | None:
        """Return a page that was rendered before this server began, or before another text of its site changed.

        Shape: `is_hurried` is for the event loop, which must not look through a whole tree.
        """
        keys = PageKeys(self.visit, found.place.site_space, found.outline)
        if not self.visit.is_for_everybody or (is_hurried and not keys.are_cheap):
            return None
        html = self.storage.kept_pages.find_page(keys.compute_keys(found.entry))
        return None if html is None else self._finish(found, html, origin, path)

    def render(self, found: PageFound, origin: str, path: str) -> RenderedPage:
        """Return the page of a site that a visitor reads, and keep it where it is the same for the next one."""
        html, links = self._render_html(found)
        if links.was_shared:
            return RenderedPage.of(self._put_origin(html, origin), found)
        self._keep(found, html, links)
        return self._finish(found, html, origin, path)

    def render_ahead(self, found: PageFound) -> Sequence[bytes]:
        """Render a page that is kept nowhere yet, for whoever reads it later, and return its keys."""
        keys = self._compute_keys(found)
        if self.visit.is_for_everybody and not self.storage.kept_pages.has_page(keys):
            html, links = self._render_html(found)
            if not links.was_shared:
                self._keep(found, html, links)
        return keys

    def _compute_keys(self, found: PageFound) -> tuple[bytes, bytes]:
        return PageKeys(self.visit, found.place.site_space, found.outline).compute_keys(found.entry)

    def _keep(self, found: PageFound, html: bytes, links: VisitorLinks) -> None:
        """Keep a page on disk: only what anybody may read is ever there."""
        if self.visit.is_for_everybody:
            own, wide = self._compute_keys(found)
            key = wide if links.has_left_space else own
            self.storage.kept_pages.keep_page(key, self.visit.base, html)

    def _finish(self, found: PageFound, html: bytes, origin: str, path: str) -> RenderedPage:
        page = RenderedPage.of(self._put_origin(html, origin), found)
        self.memory.keep_page(self.visit, path, origin, page)
        return page

    def _put_origin(self, html: bytes, origin: str) -> bytes:
        return html.replace(self._origin_mark.encode(), origin.encode())

    @cached_property
    def _origin_mark(self) -> str:
        """What stands for the scheme and host while nobody has asked yet; no writer can know it."""
        mark = hmac.digest(self.storage.secret, b"origin of pages", "sha256")[:_ORIGIN_BYTES]
        return f"https://{mark.hex()}.invalid"

    def _render_html(self, found: PageFound) -> tuple[bytes, VisitorLinks]:
        entry, site_space = found.entry, found.place.site_space
        text = self._read_text(entry)
        links = VisitorLinks(self.storage, self.visit, site_space, found.outline, entry)
        rendered = self._render_document(found, text, links)
        view = replace(
            self._place_page(site_space, found.outline, entry),
            body=rendered.html,
            cover=build_cover(
                entry.node.fields.get("cover") or {}, entry.node.fields.get("layout") or {}, links.resolve
            ),
            outline=rendered.outline,
            head=self._describe_page(found, self._origin_mark, has_feed=bool(self._list_updates(found, text))),
            is_indexed=is_indexed(self.visit, found.outline, entry),
        )
        return render_page(build_frame(self.visit, site_space), view).encode(errors="replace"), links

    def render_feed(self, found: PageFound, origin: str) -> str | None:
        """Return the feed of a page with updates that the visitor may read; None for a page without."""
        entry, site_space = found.entry, found.place.site_space
        text = self._read_text(entry)
        updates = self._list_updates(found, text)
        if not updates:
            return None
        links = VisitorLinks(self.storage, self.visit, site_space, found.outline, entry)
        updates = self._list_updates(found, text, self._render_document(found, text, links).outline)
        address = origin + self.visit.build_path(site_space, quote(entry.path))
        page = SitePage(address, entry.node.title, str(entry.node.fields.get("description") or ""))
        language = find_space_locale(self.visit, site_space)
        return render_feed(page, updates, feed=f"{address.rstrip('/')}/{FEED}", language=language)

    def _read_text(self, entry: TreeEntry) -> str:
        return self.storage.blobs.get(entry.node.body or "").decode(errors="replace")

    def _render_document(self, found: PageFound, text: str, links: VisitorLinks) -> RenderedDocument:
        context = BlockContext(
            labels=find_block_labels(find_space_locale(self.visit, found.place.site_space)),
            resolve=links.resolve,
            read_reusable=links.read_reusable,
            read_specification=links.read_specification,
            variables=replace(read_variables(found.outline, found.entry), claims=self.visit.claims),
            highlighted=self.memory.highlighted,
            loads_foreign_pictures=True,
        )
        return render_document(to_document(split_after_title(text)[1]), context)

    def _list_updates(self, found: PageFound, text: str, outline: Sequence[OutlineEntry] = ()) -> Sequence[FeedItem]:
        """The updates on a page, with every condition decided."""
        if not _UPDATE.search(text):
            return ()
        body = split_after_title(text)[1]
        if depends_on_reader(body):
            body = read_visible_body(found.outline, found.entry, self.storage.blobs.get, self.visit.claims)
        return list_updates(to_document(body), outline)

    def render_words(self, site_space: sa.Row[Any], outline: Outline, title: str, body: Html) -> RenderedPage:
        """Return a page of the platform's own, in the frame of a site-space."""
        contents = select_lines(read_contents(self.visit, site_space, outline))
        scope = build_scope(self.visit, site_space)
        view = PageView(title, body, contents=contents, scope=scope, is_indexed=False)
        html = render_page(build_frame(self.visit, site_space), view)
        return RenderedPage.of(html.encode(errors="replace"))

    def render_missing(self, site_space: sa.Row[Any], outline: Outline, path: str) -> RenderedPage:
        """Return the page that says that there is no page at an address, and where to go on."""
        words = find_words(find_space_locale(self.visit, site_space))
        frame = build_frame(self.visit, site_space)
        listing = f"{build_scope(self.visit, site_space)}/{frame.listing}"
        body = render_missing(words, frame.home, listing=listing, search=frame.search, path=path)
        return self.render_words(site_space, outline, words.not_found, body)

    def _describe_page(self, found: PageFound, origin: str, *, has_feed: bool) -> Html:
        """What the head of a page says to whoever links to it."""
        entry, site_space = found.entry, found.place.site_space
        first = find_first_page(self.visit, found.outline)
        is_first = first is not None and first.node.id == entry.node.id
        address = origin + self.visit.build_path(site_space, "" if is_first else quote(entry.path))
        own = f"{origin}{self.visit.build_path(site_space, quote(entry.path))}".rstrip("/")
        return render_head(
            PageHead(
                entry.node.title,
                self.visit.site.row.title,
                str(entry.node.fields.get("description") or ""),
                canonical=address,
                language=find_space_locale(self.visit, site_space),
                changed=str(entry.node.fields.get("updatedAt") or ""),
                markdown=f"{own}.md" if entry.path else "",
                feed=f"{own}/{FEED}" if has_feed else "",
            )
        )

    def _place_page(self, site_space: sa.Row[Any], outline: Outline, entry: TreeEntry) -> PageView:
        """The page with its place in the table of contents, still without its content."""
        contents = read_contents(self.visit, site_space, outline)
        number = contents.numbers_by_path.get(entry.node.id, -1)
        before, after = contents.find_neighbours(number) if number >= 0 else (None, None)
        fields = entry.node.fields
        return PageView(
            entry.node.title,
            Html(),
            description=str(fields.get("description") or ""),
            emoji=str(fields.get("emoji") or ""),
            icon=str(fields.get("icon") or ""),
            contents=select_lines(contents, number),
            scope=build_scope(self.visit, site_space),
            breadcrumbs=contents.find_ancestors(number) if number >= 0 else (),
            before=before,
            after=after,
            pdf=build_pdf_path(self.visit, site_space, entry.node.id),
            feedback=build_feedback_path(self.visit, site_space, entry.node.id),
            last_change=str(fields.get("updatedAt") or "")[:10],
            layout=_read_layout(fields.get("layout")),
        )


def is_indexed(visit: SiteVisit, outline: Outline, entry: TreeEntry) -> bool:
    """Return whether search engines may list a page: the site is public, and neither it nor a page above is closed."""
    here: TreeEntry | None = entry
    while here is not None and here.parent != here.node.id:
        if any(here.node.fields.get(name) for name in CLOSED_TO_ROBOTS):
            return False
        here = outline.entries.get(here.parent)
    return visit.may_be_indexed


def _read_layout(layout: object) -> PageLayout:
    given = layout if isinstance(layout, dict) else {}
    shown = {name: given.get(member) is not False for name, member in _FLAGS.items()}
    return PageLayout(**shown, is_wide=given.get("width") == "wide")
