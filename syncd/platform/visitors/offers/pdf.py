"""PDFs of a site, with what its visitor may read and nothing else: of a page, of a site-space, of all sections."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from syncd.platform.revisions.readable import select_readable
from syncd.platform.services.pdf.job import PdfPart, PdfSelection, prepare_job
from syncd.platform.services.pdf.process import answer_pdf
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import open_space_outline
from syncd.platform.visitors.frames import PDF, build_pdf_path
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.visits import SiteVisit, find_place, skip_default_path
from syncd.web.pages.lists import write_link
from syncd.web.pages.wording import PageWords
from syncd.web.rendering import Html

_OF_RENDERERS = ("~gitbook", PDF)
"""Where the product's renderer has the PDF of a site-space; links to it stand on many pages."""
_ID_MAX = 100


def is_pdf_address(parts: Sequence[str]) -> bool:
    """Return whether the segments of an address below a site are those of a PDF."""
    return tuple(parts[-2:]) == _OF_RENDERERS or tuple(parts) == (OWN_FILES, PDF) or _read_ids(parts) is not None


async def answer_site_pdf(request: Request, visit: SiteVisit, parts: Sequence[str]) -> Response | None:
    """Answer an address of a PDF with the file, or with where it is; None where there is none for the visitor.

    Raises: Failure 413 and 503, as `answer_pdf`.
    """
    if tuple(parts[-2:]) == _OF_RENDERERS:
        return _lead_to_pdf(visit, parts[:-2], request.query_params.get("page", ""))
    storage: Storage = request.app.state.storage
    ids = _read_ids(parts)
    shown = await run_in_threadpool(_open_parts, storage, visit, ids)
    if not shown:
        return None
    title = shown[0].title if ids is not None else str(visit.site.row.title)
    way = "public" if visit.is_for_everybody else "private"
    key = (title, tuple(part.key for part in shown))
    answer = await answer_pdf(request, title, key, prepare_job(storage, title, shown), cache=f"{way}, no-cache")
    answer.headers["X-Robots-Tag"] = "noindex"
    answer.headers["Vary"] = "Cookie"
    return answer


def render_pdf_links(visit: SiteVisit, site_space: sa.Row[Any], words: PageWords) -> Html:
    """Return the links to the PDF of a site-space and to that of the whole site, where there are such."""
    whole = f"{visit.base}/{OWN_FILES}/{PDF}" if _list_sections(visit) else ""
    links = ((build_pdf_path(visit, site_space), words.pdf_of_all), (whole, words.pdf_of_site))
    return Html().join(write_link(address, text) for address, text in links if address)


def _lead_to_pdf(visit: SiteVisit, parts: Sequence[str], page: str) -> Response | None:
    place = find_place(visit, parts)
    if place is not None and place.page_path:
        place = skip_default_path(place)
    if place is None or place.page_path or len(page) > _ID_MAX:
        return None
    address = build_pdf_path(visit, place.site_space, quote(page, safe=""))
    return RedirectResponse(quote(address, safe="/%"), 302, {"Cache-Control": "no-store"}) if address else None


def _read_ids(parts: Sequence[str]) -> tuple[str, str] | None:
    """The ids of the site-space and the page, "" for all, that the segments of an address name."""
    match parts:
        case [own, "v", site_space, name, *page] if own == OWN_FILES and name == PDF and len(page) <= 1:
            return site_space, page[0] if page else ""
    return None


def _list_sections(visit: SiteVisit) -> list[tuple[str, sa.Row[Any]]]:
    """The sections that the whole site's PDF is made of: the title of each with what its visitors see first.

    Shape: empty where fewer than two have a PDF: then that of the site-space is the whole site's.
    """
    firsts = ((section, visit.find_first(section.id)) for section in visit.structure.sections)
    found = [
        (str(section.title), row)
        for section, row in firsts
        if row is not None and not row.hidden and build_pdf_path(visit, row)
    ]
    return found if len(found) > 1 else []


def _open_parts(storage: Storage, visit: SiteVisit, ids: tuple[str, str] | None) -> list[PdfPart]:
    if ids is None:
        return [_open_part(storage, visit, row, title) for title, row in _list_sections(visit)]
    id, page = ids
    row = next((one for one in visit.visible_site_spaces if one.id == id), None)
    if row is None or not build_pdf_path(visit, row):
        return []
    part = _open_part(storage, visit, row, visit.require_space(row).title)
    if not page:
        return [part]
    entry = part.outline.entries.get(page)
    if entry is None or not visit.may_read_page(part.outline, entry):
        return []
    return [PdfPart(part.outline, entry.node.title, PdfSelection(page, only=True, has_hidden=False), visit.claims)]


def _open_part(storage: Storage, visit: SiteVisit, site_space: sa.Row[Any], title: str) -> PdfPart:
    """All listed pages of a site-space."""
    with storage.read() as connection:
        outline = open_space_outline(connection, visit, site_space)
    shown = select_readable(outline, visit.claims, storage.blobs.get)
    return PdfPart(shown, title, PdfSelection(has_hidden=False), visit.claims)
