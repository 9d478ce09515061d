"""The PDF of a page, or of all pages of a site-space, with what its visitor may read and nothing else."""

from collections.abc import Sequence

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from syncd.platform.revisions.readable import select_readable
from syncd.platform.services.pdf.job import PdfContent, PdfSelection, prepare_job
from syncd.platform.services.pdf.process import answer_pdf
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import open_space_outline
from syncd.platform.visitors.frames import PDF, build_pdf_path
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.visits import SiteVisit


async def answer_site_pdf(request: Request, visit: SiteVisit, site_space_id: str, page: str) -> Response | None:
    """Answer with the PDF of a page, or of all listed pages with the page ""; None where there is none for the visitor.

    Raises: Failure 413 and 503, as `answer_pdf`.
    """
    storage: Storage = request.app.state.storage
    content = await run_in_threadpool(_open_content, storage, visit, site_space_id, page)
    if content is None:
        return None
    way = "public" if visit.is_for_everybody else "private"
    part = PdfSelection(page, only=bool(page), has_hidden=False)
    job, key = prepare_job(storage, content, part), content.build_key(part)
    answer = await answer_pdf(request, content.title, key, job, cache=f"{way}, no-cache")
    answer.headers["X-Robots-Tag"] = "noindex"
    answer.headers["Vary"] = "Cookie"
    return answer


def _open_content(storage: Storage, visit: SiteVisit, site_space_id: str, page: str) -> PdfContent | None:
    site_space = next((row for row in visit.visible_site_spaces if row.id == site_space_id), None)
    if site_space is None or not build_pdf_path(visit, site_space):
        return None
    with storage.read() as connection:
        outline = open_space_outline(connection, visit, site_space)
    shown = select_readable(outline, visit.claims, storage.blobs.get)
    entry = shown.entries.get(page)
    if page and (entry is None or not visit.may_read_page(outline, outline.entries.get(page))):
        return None
    title = visit.require_space(site_space).title if entry is None else entry.node.title
    return PdfContent(shown, title, visit.claims)


def read_pdf_address(parts: Sequence[str]) -> tuple[str, str] | None:
    """Return the ids of the site-space and the page, "" for all, that the segments of an address of a PDF name."""
    match parts:
        case [own, "v", site_space, name, *page] if own == OWN_FILES and name == PDF and len(page) <= 1:
            return site_space, page[0] if page else ""
    return None
