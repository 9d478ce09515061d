"""A published site over HTTP: its pages, what they load, and what machines read, all below `/sites/{name}`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from syncd.model.search import QUERY_MAX
from syncd.platform.http import addresses
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.http.time_limits import USUAL_S, limit_time, stop_with_client
from syncd.platform.revisions.files import choose_served_type
from syncd.platform.revisions.outline import Outline
from syncd.platform.revisions.readable import select_readable
from syncd.platform.revisions.tree import FILES
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import (
    NothingThere,
    PageFound,
    Redirected,
    find_destination,
    find_markdown_page,
    find_page_in_memory,
    open_space_outline,
)
from syncd.platform.visitors.frames import ASK, find_space_locale, read_contents, read_space_settings
from syncd.platform.visitors.insights import EventKey
from syncd.platform.visitors.offers.ask import answer_question, find_question_path, offer_question
from syncd.platform.visitors.offers.feedback import receive_feedback
from syncd.platform.visitors.offers.pdf import answer_site_pdf, is_pdf_address, render_pdf_links
from syncd.platform.visitors.offers.refusals import STRICT_HEADERS, answer_closed, answer_sign_in, answer_unknown
from syncd.platform.visitors.offers.static_files import answer_static
from syncd.platform.visitors.offers.visit_counts import ASKED, SEARCHED, VIEWED, VisitCounts, make_words_key
from syncd.platform.visitors.offers.visitor_cookies import find_token_in_address, keep_visitor_token, read_visitor_token
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.pages import FEED, PageMemory, PageRenderer, PageResponse, RenderedPage
from syncd.platform.visitors.search import list_results, search_site
from syncd.platform.visitors.sites import PublishedSites
from syncd.platform.visitors.texts import SiteTexts
from syncd.platform.visitors.visits import SignInNeeded, SiteVisit, VisitorToken, open_visit
from syncd.web.pages.contents import format_contents_json
from syncd.web.pages.icon import render_icon
from syncd.web.pages.lists import render_all_pages
from syncd.web.pages.search_results import format_results_json, render_results
from syncd.web.pages.style_sheet import render_style_sheet
from syncd.web.pages.wording import find_words
from syncd.web.rendering import Html

_FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""What a file of a site may do in a browser that opens it: be seen. Nothing of it runs."""
_SEEN_TYPES = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/bmp"),
        *("video/mp4", "video/webm", "audio/mpeg", "audio/wav", "audio/ogg"),
    }
)
"""Types that a browser may show; anything else is offered for saving."""
_ASK = (OWN_FILES, ASK)
_MACHINE_FILES = ("llms.txt", "llms-full.txt", "robots.txt")


@dataclass(frozen=True)
class _SiteResponder:
    """Answers the requests of one visit."""

    request: Request
    visit: SiteVisit
    parts: tuple[str, ...]

    @property
    def storage(self) -> Storage:
        """The storage of the platform."""
        storage: Storage = self.request.app.state.storage
        return storage

    @property
    def memory(self) -> PageMemory:
        """The pages that were rendered before."""
        memory: PageMemory = self.request.app.state.page_memory
        return memory

    @property
    def origin(self) -> str:
        """The scheme and host of the platform."""
        return addresses.find_origin(self.request)

    @property
    def counts(self) -> VisitCounts:
        """What visitors did since it was written last."""
        counts: VisitCounts = self.request.app.state.visit_counts
        return counts

    @property
    def path(self) -> str:
        """The path of the request on the server."""
        return str(self.request.scope["path"])

    @property
    def _renderer(self) -> PageRenderer:
        return PageRenderer(self.storage, self.memory, self.visit)

    def answer_at_once(self) -> Response | None:
        """Return the answer that takes no more than one look into a file of this machine; None for any other."""
        request = self.request
        has_query = bool(request.scope["query_string"])
        if has_query and (asked := find_question_path(self.visit, self.parts, request.query_params)) is not None:
            return RedirectResponse(asked, 302, {"Cache-Control": "no-store"})
        if is_pdf_address(self.parts) or self.parts == _ASK:
            return None
        page = self.memory.find_page(self.visit, self.path, self.origin)
        if page is None and not self._is_special and (found := find_page_in_memory(self.visit, self.parts)) is not None:
            page = self._renderer.find_kept(found, self.origin, self.path, is_hurried=True)
        return None if page is None else self.answer_html(page)

    @property
    def _is_special(self) -> bool:
        """Whether the address may be that of something else than a page."""
        first, last = (self.parts or ("",))[0], (self.parts or ("",))[-1]
        return first in (OWN_FILES, *_MACHINE_FILES) or first.startswith("sitemap") or last.endswith((".md", FEED))

    async def answer_waiting(self) -> Response:
        """Return the answer that has to be computed."""
        if is_pdf_address(self.parts):
            answer = await answer_site_pdf(self.request, self.visit, self.parts)
            return answer or await self._compute_answer(self.answer_nothing)
        if self.parts == _ASK:
            page = await answer_question(self.request, self.visit)
            if page is None:
                return await self._compute_answer(self.answer_nothing)
            self.counts.count(self.request, self.visit, make_words_key(ASKED, self.request.query_params["q"]))
            return self.answer_html(page)
        return await self._compute_answer(self.answer)

    async def answer_form(self) -> Response:
        """Return the answer to a form that the visitor sends."""
        return await receive_feedback(self.request, self.visit, self.parts) or answer_closed(self.request)

    async def _compute_answer(self, answer: Callable[[], Response]) -> Response:
        scheduler: RequestScheduler = self.request.app.state.scheduler
        with limit_time(USUAL_S):
            return await scheduler.compute(self.request, answer)

    def answer(self) -> Response:
        """Return the answer, which may read the database."""
        if self.parts[:1] == (OWN_FILES,):
            return self._answer_own_file(self.parts[1:]) or self.answer_nothing()
        if len(self.parts) == 1 and (self.parts[0] in _MACHINE_FILES or self.parts[0].startswith("sitemap")):
            found = self._answer_machine_file(self.parts[0])
            if found is not None:
                return found
        with self.storage.read() as connection:
            if self.parts and self.parts[-1].endswith(".md"):
                return self._answer_markdown(connection)
            if self.parts[-1:] == (FEED,) and (feed := self._answer_feed(connection)) is not None:
                return feed
            found_here = find_destination(connection, self.visit, self.parts)
            if isinstance(found_here, NothingThere):
                return self._answer_missing(connection, found_here)
        if isinstance(found_here, Redirected):
            return _build_redirect(found_here)
        return self.answer_html(self._render_page(found_here))

    def _render_page(self, found: PageFound) -> RenderedPage:
        """The page, and where it was not rendered yet, all others after it."""
        if (kept := self._renderer.find_kept(found, self.origin, self.path)) is not None:
            return kept
        page = self._renderer.render(found, self.origin, self.path)
        # One that is never kept, such as of an OpenAPI description of the organization, says nothing of the others.
        if self.memory.find_page(self.visit, self.path, self.origin) is not None:
            self.request.app.state.site_renderer.request(self.visit)
        return page

    def answer_html(self, page: RenderedPage, status: int = 200) -> Response:
        """Return a page as the answer, or 304 where the browser has exactly that."""
        if page.page:
            self.counts.count(self.request, self.visit, EventKey(VIEWED, page.site_space, page.page))
        if status == 200 and page.etag in self.request.headers.get("if-none-match", ""):
            status = 304
        return PageResponse(page, status, self._format_cache("no-cache"), is_indexed=self.visit.may_be_indexed)

    def _format_cache(self, way: str) -> str:
        return f"{'public' if self.visit.is_for_everybody else 'private'}, {way}"

    def _answer_text(self, text: str, media: str) -> Response:
        headers = {**STRICT_HEADERS, "Cache-Control": self._format_cache("no-cache"), "Vary": "Cookie"}
        return Response(text.encode(errors="replace"), media_type=media, headers=headers)

    def answer_nothing(self) -> Response:
        """Return what says that there is nothing at the address: within the site, where the visitor sees any of it."""
        with self.storage.read() as connection:
            return self._answer_missing(connection, NothingThere(None))

    def _answer_missing(self, connection: sa.Connection, found: NothingThere) -> Response:
        visible = self.visit.visible_site_spaces
        site_space = found.place.site_space if found.place is not None else next(iter(visible), None)
        if site_space is None:
            return answer_closed(self.request)
        return self._answer_no_page(site_space, open_space_outline(connection, self.visit, site_space))

    def _answer_no_page(self, site_space: sa.Row[Any], outline: Outline) -> Response:
        path = "" if self.parts[:1] == (OWN_FILES,) else "/".join(self.parts)
        return self.answer_html(self._renderer.render_missing(site_space, outline, path), 404)

    def _answer_markdown(self, connection: sa.Connection) -> Response:
        found = find_markdown_page(connection, self.visit, self.parts)
        if not isinstance(found, PageFound):
            return PlainTextResponse("There is no page at this address.\n", 404, STRICT_HEADERS)
        texts = SiteTexts(self.storage, self.visit, self.origin)
        text = texts.render_markdown(found.place.site_space, found.outline, found.entry)
        return self._answer_text(text, "text/markdown; charset=utf-8")

    def _answer_feed(self, connection: sa.Connection) -> Response | None:
        found = find_destination(connection, self.visit, self.parts[:-1])
        if not isinstance(found, PageFound):
            return None
        feed = self._renderer.render_feed(found, self.origin)
        return None if feed is None else self._answer_text(feed, "application/rss+xml; charset=utf-8")

    def _answer_machine_file(self, name: str) -> Response | None:
        texts = SiteTexts(self.storage, self.visit, self.origin)
        match name:
            case "llms.txt":
                return self._answer_text(texts.render_llms(), "text/plain; charset=utf-8")
            case "llms-full.txt":
                return self._answer_text(texts.render_llms_full(), "text/plain; charset=utf-8")
            case "robots.txt":
                return self._answer_text(texts.render_robots(), "text/plain; charset=utf-8")
        sitemap = texts.render_sitemap(name)
        return None if sitemap is None else self._answer_text(sitemap, "application/xml")

    def _answer_own_file(self, parts: Sequence[str]) -> Response | None:
        match parts:
            case ["icon.svg"]:
                first = self.visit.visible_site_spaces[0] if self.visit.visible_site_spaces else None
                if first is not None:
                    icon = render_icon(self.visit.site.row.title, read_space_settings(self.visit, first))
                    return self._answer_text(icon, "image/svg+xml")
            case ["v", site_space, file]:
                return self._answer_scope(site_space, file)
            case ["pages", site_space, page]:
                return self._answer_page_by_id(site_space, page)
            case ["search" | "search.json" as file]:
                return self._answer_search(is_json=file != "search")
            case ["files", site_space, file, _, _]:
                return self._answer_file(site_space, file)
            case [file]:
                return answer_static(self.request, file, STRICT_HEADERS)
        return None

    def _open_outline(self, site_space: sa.Row[Any]) -> Outline:
        with self.storage.read() as connection:
            return open_space_outline(connection, self.visit, site_space)

    def _find_site_space(self, id: str) -> sa.Row[Any] | None:
        return next((row for row in self.visit.visible_site_spaces if row.id == id), None)

    def _answer_scope(self, id: str, file: str) -> Response | None:
        """What belongs to one site-space: its style sheet and its table of contents."""
        site_space = self._find_site_space(id)
        if site_space is None:
            return None
        if file == "theme.css":
            style = render_style_sheet(read_space_settings(self.visit, site_space))
            return self._answer_text(style, "text/css; charset=utf-8")
        outline = self._open_outline(site_space)
        contents = read_contents(self.visit, site_space, outline)
        match file:
            case "contents.json":
                return self._answer_text(format_contents_json(contents), "application/json")
            case "contents":
                return self._answer_contents(site_space, outline)
        return None

    def _answer_contents(self, site_space: sa.Row[Any], outline: Outline) -> Response:
        """All pages of a site-space."""
        words = find_words(find_space_locale(self.visit, site_space))
        listed = render_all_pages(read_contents(self.visit, site_space, outline))
        links = render_pdf_links(self.visit, site_space, words)
        return self._answer_words(site_space, outline, words.all_pages, links + listed)

    def _answer_words(self, site_space: sa.Row[Any], outline: Outline, title: str, body: Html) -> Response:
        return self.answer_html(self._renderer.render_words(site_space, outline, title, body))

    def _answer_search(self, *, is_json: bool) -> Response | None:
        """What a search of all that the visitor sees of the site finds."""
        visible = [row for row in self.visit.visible_site_spaces if not row.hidden]
        if not visible:
            return None
        searched = self.request.query_params.get("q", "")[:QUERY_MAX].replace("\0", "")
        found = list_results(self.visit, search_site(self.storage, self.visit, visible, searched), searched)
        if searched.strip():
            self.counts.count(self.request, self.visit, make_words_key(SEARCHED, searched))
        words = find_words(find_space_locale(self.visit, visible[0]))
        found = [*offer_question(self.visit, visible[0], searched, words, has_results=bool(found)), *found]
        if is_json:
            return self._answer_text(format_results_json(found), "application/json")
        outline = self._open_outline(visible[0])
        title = f"{words.search}: {searched}" if searched else words.search
        return self._answer_words(
            visible[0], outline, title, render_results(found, words.no_results if searched.strip() else "")
        )

    def _answer_page_by_id(self, id: str, page: str) -> Response | None:
        site_space = self._find_site_space(id)
        if site_space is None:
            return None
        outline = self._open_outline(site_space)
        entry = outline.entries.get(page)
        if entry is None or not self.visit.may_read_page(outline, entry):
            return self._answer_no_page(site_space, outline)
        return _build_redirect(Redirected(self.visit.build_path(site_space, entry.path)))

    def _answer_file(self, id: str, file: str) -> Response | None:
        site_space = self._find_site_space(id)
        if site_space is None:
            return None
        outline = self._open_outline(site_space)
        # An address that somebody passed on opens no file of a page that is for others.
        entry = select_readable(outline, self.visit.claims, self.storage.blobs.get).entries.get(file)
        if entry is None or entry.parent != FILES or not entry.node.body or not self.storage.blobs.has(entry.node.body):
            return None
        media = choose_served_type(str(entry.node.fields.get("contentType") or "application/octet-stream"))
        way = "inline" if media in _SEEN_TYPES else "attachment"
        headers = {
            **STRICT_HEADERS,
            "Content-Security-Policy": _FILE_POLICY,
            "Content-Disposition": f"{way}; filename*=utf-8''{quote(entry.node.title, safe='')}",
            "Cache-Control": self._format_cache("max-age=31536000, immutable"),
        }
        return Response(self.storage.blobs.get(entry.node.body), media_type=media, headers=headers)


class _SitePages:
    """All below `/sites/{name}` as an ASGI application: what its visitor may see there, and forms that they send."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; a page that was rendered before waits for nothing."""
        request = Request(scope, receive, send)
        opened = await _open_site(request)
        if isinstance(opened, Response):
            await opened(scope, receive, send)
            return
        responder = _SiteResponder(request, opened[0], tuple(opened[1]))
        if request.method == "GET" and (found := responder.answer_at_once()) is not None:
            await found(scope, receive, send)
            return
        with stop_with_client(scope):
            answer = await (responder.answer_form() if request.method == "POST" else responder.answer_waiting())
            await answer(scope, receive, send)


ROUTE = Route("/sites/{name}/{path:path}", _SitePages(), methods=["GET", "POST"], include_in_schema=False)


async def _open_site(request: Request) -> Response | tuple[SiteVisit, Sequence[str]]:
    """Return the visit of a request and what of its address leads on below the site; else what the visitor is told."""
    storage: Storage = request.app.state.storage
    sites: PublishedSites = request.app.state.published_sites
    name = str(request.path_params["name"])
    site = await storage.run_read(lambda: sites.find_site(name))
    if site is None:
        return answer_closed(request)
    base, now = f"/sites/{quote(name)}", storage.now().timestamp()
    parts = tuple(part for part in str(request.path_params["path"]).split("/") if part)
    if token := find_token_in_address(request):
        refused = open_visit(site, base, parts, VisitorToken(token), now)
        if isinstance(refused, SignInNeeded):
            # Not sent to sign in: whoever comes from there with it would be sent back and forth without end.
            return answer_unknown(request, site, is_refused=True)
    if (kept := keep_visitor_token(request, name)) is not None:
        return kept
    opened = open_visit(site, base, parts, read_visitor_token(request), now)
    if opened is None:
        return answer_closed(request)
    return answer_sign_in(request, site, opened) if isinstance(opened, SignInNeeded) else opened


async def answer_visit(request: Request, visit: SiteVisit, parts: Sequence[str]) -> Response:
    """Answer a request of a visit; `parts` are the segments of its address below the site."""
    responder = _SiteResponder(request, visit, tuple(parts))
    return responder.answer_at_once() or await responder.answer_waiting()


async def answer_site_root(request: Request) -> Response:
    """Lead from `/sites/{name}` to the site, whose relative addresses begin behind a slash."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/sites/{quote(str(request.path_params['name']))}/{query}", 308)


def _build_redirect(found: Redirected) -> Response:
    address = found.address if found.is_external else quote(found.address, safe="/%#~")
    if found.is_permanent:
        return RedirectResponse(address, 301, {"Cache-Control": "public, max-age=3600"})
    return RedirectResponse(address, 302, {"Cache-Control": "no-store"})
