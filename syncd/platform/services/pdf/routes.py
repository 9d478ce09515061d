"""The PDF of a change request, or of a space: its address, and the download, which is made when somebody fetches it."""

import hmac
from urllib.parse import urlencode

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from syncd.model.pdf import PDFLink
from syncd.platform.content.view import CurrentView, RevisionView, declare_path_parameters
from syncd.platform.http import answers
from syncd.platform.http.downloads import compute_signature
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline
from syncd.platform.schema.content import spaces
from syncd.platform.services.pdf.job import PdfPart, PdfSelection, prepare_job
from syncd.platform.services.pdf.process import MEDIA, answer_pdf
from syncd.platform.storage.storage import CurrentStorage, Storage

router = create_router(tags=["pdf"])

_OF_SPACE = "/spaces/{space_id}/pdf"
_OF_REQUEST = "/spaces/{space_id}/change-requests/{change_request_id}/pdf"


@router.get(
    _OF_REQUEST,
    response_model=PDFLink,
    operation_id="getChangeRequestPDF",
    openapi_extra=declare_role("read") | declare_path_parameters(_OF_REQUEST),
)
def get_change_request_pdf(view: CurrentView, page: str = "", only: bool = False) -> JSONResponse:
    """Return the address of a PDF: of a change request's content, of a page with its subpages, or of only that page."""
    return _answer_pdf_address(view, PdfSelection(page, only))


@router.get(
    _OF_SPACE,
    response_model=PDFLink,
    operation_id="getSpacePDF",
    openapi_extra=declare_role("read", extension=True) | declare_path_parameters(_OF_SPACE),
)
def get_space_pdf(view: CurrentView, page: str = "", only: bool = False) -> JSONResponse:
    """Return the address of a PDF: of a space's main content, of a page with its subpages, or of only that page."""
    return _answer_pdf_address(view, PdfSelection(page, only))


@router.get("/downloads/{revision_id}.pdf", operation_id="downloadPDF", response_class=Response)
async def download_pdf(
    request: Request,
    storage: CurrentStorage,
    revision_id: str,
    space: str,
    expires: int,
    signature: str,
    page: str = "",
    only: bool = False,
) -> Response:
    """Answer a signed address with the PDF; the signature replaces the token.

    Raises: Failure 403 when the signature is wrong or has expired.
    """
    selection = PdfSelection(page, only)
    promised = _compute_signature(storage.secret, revision_id, space, selection, expires)
    if not hmac.compare_digest(promised.encode(), signature.encode()):
        raise Failure(403, "This address was not made by this platform.")
    if storage.now().timestamp() >= expires:
        raise Failure(403, "This address has expired. Ask for the PDF again to get a new one.")
    title, outline = await run_in_threadpool(_find_space, storage, space, revision_id)
    part = PdfPart(outline, title, selection)
    job = prepare_job(storage, title, [part])
    return await answer_pdf(request, title, part.key, job, cache="private, max-age=3600")


def _answer_pdf_address(view: RevisionView, part: PdfSelection) -> JSONResponse:
    if part.only and not part.page:
        raise Failure(400, "only: needs a page")
    if part.page:
        view.require_page(part.page)
    downloads, saved = view.context.downloads, view.revision
    signature = _compute_signature(downloads.secret, saved.id, saved.space, part, downloads.expires)
    chosen = {"page": part.page, "only": "true" if part.only else ""}
    query = {"space": saved.space, **{name: value for name, value in chosen.items() if value}}
    query |= {"expires": str(downloads.expires), "signature": signature}
    return answers.ok({"url": f"{downloads.origin}/v1/downloads/{saved.id}.pdf?{urlencode(query)}"})


def _compute_signature(secret: bytes, revision: str, space: str, part: PdfSelection, expires: int) -> str:
    return compute_signature(secret, revision, f"{space}/{part.page}/{part.only}", MEDIA, expires)


def _find_space(storage: Storage, space: str, revision: str) -> tuple[str, Outline]:
    with storage.read() as connection:
        title = connection.scalar(sa.select(spaces.c.title).where(spaces.c.id == space, spaces.c.deleted_at.is_(None)))
        if title is None:
            raise Failure(404, f"No space {space}.")
        return str(title), revisions.open_revision(connection, space, revision)
