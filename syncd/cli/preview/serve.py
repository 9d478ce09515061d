"""Answer the requests of a browser that looks at a preview."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from posixpath import splitext

from syncd.cli.preview.live import LivePreview, PreviewState
from syncd.cli.preview.search import PreviewSearch, has_word_files
from syncd.layout.site.addresses.follow import Fate, follow_address
from syncd.net.page_values import HTML, POLICY, EventStream, PageRequest, PageResponse, RefusedRequest
from syncd.sync.publish.content import FILES, READ_ERRORS, SiteContent
from syncd.sync.publish.frames import build_frame, find_redirect_address, find_spot_address, read_space_settings
from syncd.sync.publish.render import PageRenderer
from syncd.web.pages.contents import format_contents_json
from syncd.web.pages.customization import find_locale
from syncd.web.pages.diagrams import DIAGRAM_FRAME, FRAME_POLICY
from syncd.web.pages.icon import render_icon
from syncd.web.pages.lists import (
    render_all_pages,
    render_changes,
    render_departure,
    render_missing,
    render_problems,
    write_paragraph,
)
from syncd.web.pages.preview import PreviewStrip, render_strip
from syncd.web.pages.shell import SiteFrame
from syncd.web.pages.style_sheet import render_style_sheet
from syncd.web.pages.wording import find_words
from syncd.web.rendering import Html

FILE_BYTES_MAX = 64 << 20
_CSS, _JS, _JSON, _SVG = "text/css", "text/javascript", "application/json", "image/svg+xml"
_STATIC = {".css": f"{_CSS}; charset=utf-8", ".js": f"{_JS}; charset=utf-8", ".html": HTML}
_FILE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".bmp": "image/bmp",
    ".svg": _SVG,
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".pdf": "application/pdf",
    **dict.fromkeys((".txt", ".md", ".csv", ".yaml", ".yml", ".json", ".toml", ".log"), "text/plain; charset=utf-8"),
}
_PAGE_POLICY = f"{POLICY}; frame-src 'self'"
"""What a page may do that may have diagrams, which a frame draws."""
_FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""What a file of the repository may do in a browser that opens it: be seen. Nothing of it runs."""


@dataclass
class PreviewHandler:
    """Answers requests from what a live preview knows; `label` says what is shown."""

    live: LivePreview
    label: str
    renderer: PageRenderer = field(default_factory=PageRenderer)
    _search: PreviewSearch = field(default_factory=PreviewSearch)

    def answer(self, request: PageRequest) -> PageResponse | EventStream:
        """Return the answer to a request. Raises: RefusedRequest."""
        if request.method == "POST":
            raise RefusedRequest(405, "a preview is only looked at")
        state = self.live.read_state()
        if request.path == FILES or request.path.startswith(f"{FILES}/"):
            return self._answer_file(state, request)
        return self._answer_page(state, request.path)

    def _answer_file(self, state: PreviewState, request: PageRequest) -> PageResponse | EventStream:
        match request.path.removeprefix(FILES).split("/")[1:]:
            case ["events"]:
                return EventStream(self.live, request.query.get("seen", ""))
            case ["icon.svg"]:
                return PageResponse(self._render_icon(state.site).encode(), content_type=_SVG, policy=_FILE_POLICY)
            case ["problems"]:
                return self._answer_problems(state)
            case ["changes"]:
                return self._answer_changes(state)
            case ["spaces", number, file]:
                return self._answer_scope(state, _find_name(state.site, number), file, request.query)
            case ["search", file] if len(state.site.spaces) > 1:
                return PageResponse(self._search.format_site_file(state.site, file).encode(), content_type=_JSON)
            case ["files", number, *parts]:
                return _answer_asset(state.site, _find_name(state.site, number), "/".join(parts))
            case [file]:
                return _answer_static(file)
            case _:
                raise RefusedRequest(404, "there is no such file")

    def _answer_scope(self, state: PreviewState, name: str, file: str, query: Mapping[str, str]) -> PageResponse:
        """A file that belongs to one space: its style sheet, its table of contents, its index for the search."""
        contents = state.site.read_contents(name)
        words = find_words(find_locale(read_space_settings(state.site, name)))
        match file:
            case "theme.css":
                style = render_style_sheet(read_space_settings(state.site, name))
                return PageResponse(style.encode(), content_type=_STATIC[".css"])
            case "contents.json":
                return PageResponse(format_contents_json(contents).encode(), content_type=_JSON)
            case "search.json":
                return PageResponse(self._search.format_index(state.site, name).encode(), content_type=_JSON)
            case _ if file.startswith("words"):
                return PageResponse(self._search.format_words(state.site, name, file).encode(), content_type=_JSON)
            case "contents":
                searched = query.get("q", "")
                title = f"{words.search}: {searched}" if searched else words.all_pages
                return self._answer_words(state, name, title, render_all_pages(contents, searched))
            case _:
                raise RefusedRequest(404, "there is no such file")

    def _answer_page(self, state: PreviewState, path: str) -> PageResponse:
        site = state.site
        fate = follow_address(site.site, path)
        if fate.hops:
            return self._answer_redirect(state, fate)
        spot = fate.spot
        if spot is not None and spot.space in site.spaces:
            file = spot.file or site.spaces[spot.space].first_file
            if file:
                return self._answer_content(state, spot.space, file)
        if (moved := _find_moved(site, path)) is not None:
            return _build_redirect(moved)
        if path == "/" and (first := next(filter(None, _list_starts(site)), "")):
            return _build_redirect(first)  # the repository lacks the space that readers see first
        name = spot.space if spot is not None and spot.space in site.spaces else next(iter(site.spaces))
        words = find_words(find_locale(read_space_settings(state.site, name)))
        listing = f"{site.find_scope(name)}/contents"
        body = render_missing(words, "/", listing=listing, search=listing, path=path)
        return self._answer_words(state, name, words.not_found, body, 404)

    def _answer_content(self, state: PreviewState, name: str, file: str) -> PageResponse:
        findings = state.findings.get(name, {}).get(file, ())
        strip = self._render_strip(state, state.site.spaces[name].locate(file))
        frame = _build_frame(state, name)
        try:
            html = self.renderer.render_file(state.site, name, file, findings, frame=frame, strip=strip)
        except READ_ERRORS:
            text = write_paragraph(f"{file} cannot be read; it may be a link, or gone.")
            return self._answer_words(state, name, "This page cannot be read", text, 404)
        return PageResponse(html.encode(), cache="no-store", policy=_PAGE_POLICY)

    def _answer_redirect(self, state: PreviewState, fate: Fate) -> PageResponse:
        """Follow a redirect of the site file within the site; say where one leads that leaves it."""
        address = find_spot_address(state.site, fate.spot)
        if address:
            # A browser remembers a permanent redirect, and this one may be another after the next save.
            return _build_redirect(address)
        where = fate.hops[-1].where
        name = next(iter(state.site.spaces))
        if fate.end == "elsewhere":
            return self._answer_words(state, name, "Redirect", render_departure(fate.at, where))
        reason = "goes round in circles" if fate.end == "loop" else f"leads to {fate.at}, which is not there"
        text = write_paragraph(f"The redirect at {where} {reason}.")
        return self._answer_words(state, name, "This redirect leads nowhere", text, 404)

    def _answer_problems(self, state: PreviewState) -> PageResponse:
        listed = state.list_findings()
        addresses = {
            state.site.spaces[name].locate(path): state.site.find_page_address(name, path)
            for name, by_path in state.findings.items()
            for path in by_path
        }
        note = "" if state.is_checked else "Pages are being checked; more may be found."
        if not listed and state.is_checked:
            note = "Nothing to mend."
        body = render_problems(listed, addresses, note)
        return self._answer_words(state, next(iter(state.site.spaces)), "Problems", body)

    def _answer_changes(self, state: PreviewState) -> PageResponse:
        addresses = {}
        for name, space in state.site.spaces.items():
            for path in space.paths:
                if space.locate(path) in state.platform.pages:
                    addresses[space.locate(path)] = state.site.find_page_address(name, path)
        body = render_changes(state.platform.pages, addresses, state.platform.ref)
        return self._answer_words(state, next(iter(state.site.spaces)), "Not yet on the platform", body)

    def _answer_words(self, state: PreviewState, name: str, title: str, body: Html, status: int = 200) -> PageResponse:
        frame, strip = _build_frame(state, name), self._render_strip(state, "")
        html = self.renderer.render_words(state.site, name, title, body, frame=frame, strip=strip)
        return PageResponse(html.encode(), status, cache="no-store")

    def _render_strip(self, state: PreviewState, path: str) -> Html:
        counts = Counter[str](finding.severity for found in state.list_findings().values() for finding in found)
        platform, problem = state.platform, state.trouble
        if state.site.problem is not None:
            problem = problem or f"The site file is not followed: {state.site.problem.what}"
        strip = PreviewStrip(
            self.label,
            counts if state.is_checked or counts else None,
            platform.ref,
            len(platform.pages),
            platform.pages.get(path, "same") if path and platform.ref else "",
            problem,
            f"{FILES}/problems",
            f"{FILES}/changes",
        )
        return render_strip(strip)

    def _render_icon(self, site: SiteContent) -> str:
        return render_icon(site.title, read_space_settings(site, next(iter(site.spaces))))


def _build_frame(state: PreviewState, name: str) -> SiteFrame:
    frame = build_frame(state.site, name, str(state.version))
    return replace(frame, has_words=has_word_files(state.site, name))


def _find_name(site: SiteContent, number: str) -> str:
    """The name of a space by its number. Raises: RefusedRequest when there is none."""
    name = next((name for name, known in site.numbers.items() if str(known) == number), None)
    if name is None:
        raise RefusedRequest(404, "there is no such space")
    return name


def _find_moved(site: SiteContent, path: str) -> str | None:
    """Where a redirect in the `.gitbook.yaml` of a space leads from an address; None without one."""
    for name, space in site.spaces.items():
        prefix = site.find_page_address(name, space.first_file).strip("/")
        inner = path.strip("/")
        if prefix and not inner.startswith(f"{prefix}/"):
            continue
        target = space.draft.settings.redirects.get(inner.removeprefix(prefix).strip("/"))
        if target and (address := find_redirect_address(site, name, target)):
            return address
    return None


def _list_starts(site: SiteContent) -> Iterator[str]:
    """The address of the start page of each space."""
    return (site.find_page_address(name, space.first_file) for name, space in site.spaces.items())


def _build_redirect(address: str) -> PageResponse:
    return PageResponse(b"", 302, headers=(("Location", address),), cache="no-store")


def _answer_asset(site: SiteContent, name: str, path: str) -> PageResponse:
    """A file of a space, as it is, which may be seen and does nothing.

    Raises: RefusedRequest when it is no content of the space, a link, or too large.
    """
    item = site.spaces[name].files.items.get(path)
    if item is None:
        raise RefusedRequest(404, "there is no such file")
    if item.size > FILE_BYTES_MAX:
        raise RefusedRequest(413, f"a preview shows no files above {FILE_BYTES_MAX >> 20} MiB")
    try:
        data = item.read()
    except READ_ERRORS as error:
        raise RefusedRequest(404, "this file cannot be read; it may be a link, or gone") from error
    kind = _FILE_TYPES.get(splitext(path)[1].lower())
    if kind is None:
        headers = (("Content-Disposition", "attachment"),)
        return PageResponse(data, content_type="application/octet-stream", headers=headers, policy=_FILE_POLICY)
    return PageResponse(data, content_type=kind, policy=_FILE_POLICY)


@cache
def _read_static(file: str) -> bytes | None:
    known = {one.name: one for one in files("syncd.web").joinpath("static").iterdir()}
    return known[file].read_bytes() if file in known and known[file].is_file() else None


def _answer_static(file: str) -> PageResponse:
    kind = _STATIC.get(splitext(file)[1])
    data = _read_static(file) if kind is not None else None
    if kind is None or data is None:
        raise RefusedRequest(404, "there is no such file")
    return PageResponse(data, content_type=kind, policy=FRAME_POLICY if file == DIAGRAM_FRAME else POLICY)
