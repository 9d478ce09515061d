"""The PDF of a change request, or of a space: its address, and the download, which is made when somebody fetches it."""

import hmac
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

import syncd
from syncd.model.pdf import PDFLink
from syncd.platform import answers, revisions
from syncd.platform.auth import needs
from syncd.platform.cache import Cache
from syncd.platform.content_schema import spaces
from syncd.platform.downloads import sign
from syncd.platform.failures import Failure
from syncd.platform.outline import Outline
from syncd.platform.pdf.gathering import Gathering, Part
from syncd.platform.routing import room
from syncd.platform.storage import Storage, Stored
from syncd.platform.viewing import View, Viewed, described

router = room(tags=["pdf"])

PATIENCE_S = 90
"""For the whole PDF; its process has less computing time than that."""
AT_ONCE = 2
WAIT_S = 30
WAITING_MAX = 2
"""Requests that wait for a slot; each keeps one of the platform's threads, which all others need, too."""
_REMEMBERED_BYTES = 64 * 1024 * 1024

_OF_SPACE = "/spaces/{space_id}/pdf"
_OF_REQUEST = "/spaces/{space_id}/change-requests/{change_request_id}/pdf"
_MEDIA = "application/pdf"
_slots = threading.BoundedSemaphore(AT_ONCE)
_places = threading.BoundedSemaphore(AT_ONCE + WAITING_MAX)
_made: Cache[tuple[Any, ...], bytes] = Cache(_REMEMBERED_BYTES, weigh=len)


@router.get(
    _OF_REQUEST,
    response_model=PDFLink,
    operation_id="getChangeRequestPDF",
    openapi_extra=needs("read") | described(_OF_REQUEST),
)
def get_change_request_pdf(view: Viewed, page: str = "", only: bool = False) -> JSONResponse:
    """Given a change request, return where its content, a page of it with its subpages, or only a page is as PDF."""
    return _addressed(view, Part(page, only))


@router.get(
    _OF_SPACE,
    response_model=PDFLink,
    operation_id="getSpacePDF",
    openapi_extra=needs("read", extension=True) | described(_OF_SPACE),
)
def get_space_pdf(view: Viewed, page: str = "", only: bool = False) -> JSONResponse:
    """Given a space, return where its main content, a page of it with its subpages, or only a page is as PDF."""
    return _addressed(view, Part(page, only))


@router.get("/downloads/{revision_id}.pdf", operation_id="downloadPDF", response_class=Response)
def download_pdf(
    storage: Stored,
    revision_id: str,
    space: str,
    expires: int,
    signature: str,
    page: str = "",
    only: bool = False,
) -> Response:
    """Given an address that this platform made, return the PDF; the signature stands for the token."""
    promised = _signature(storage.secret, revision_id, space, Part(page, only), expires)
    if not hmac.compare_digest(promised.encode(), signature.encode()):
        raise Failure(403, "This address was not made by this platform.")
    if storage.now().timestamp() >= expires:
        raise Failure(403, "This address has expired. Ask for the PDF again to get a new one.")
    with storage.read() as connection:
        title = connection.scalar(sa.select(spaces.c.title).where(spaces.c.id == space, spaces.c.deleted_at.is_(None)))
        if title is None:
            raise Failure(404, f"No space {space}.")
        outline = revisions.outline(connection, space, revision_id)
    data = _pdf(storage, outline, str(title), Part(page, only))
    headers = {
        "Content-Disposition": f"inline; filename*=UTF-8''{quote(str(title), safe='')}.pdf",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, max-age=3600",
    }
    return Response(data, media_type=_MEDIA, headers=headers)


def _addressed(view: View, part: Part) -> JSONResponse:
    if part.only and not part.page:
        raise Failure(400, "only: needs a page")
    if part.page:
        view.page(part.page)
    downloads, saved = view.look.downloads, view.revision
    signature = _signature(downloads.secret, saved.id, saved.space, part, downloads.expires)
    chosen = {"page": part.page, "only": "true" if part.only else ""}
    query = {"space": saved.space, **{name: value for name, value in chosen.items() if value}}
    query |= {"expires": str(downloads.expires), "signature": signature}
    return answers.ok({"url": f"{downloads.origin}/v1/downloads/{saved.id}.pdf?{urlencode(query)}"})


def _signature(secret: bytes, revision: str, space: str, part: Part, expires: int) -> str:
    return sign(secret, revision, f"{space}/{part.page}/{part.only}", _MEDIA, expires)


def _pdf(storage: Storage, outline: Outline, title: str, part: Part) -> bytes:
    key = (outline.root, title, part)
    known = _made.get(key)
    if known is not None:
        return known
    with _slot(), tempfile.TemporaryDirectory(prefix="syncd-pdf-") as directory:
        job = Gathering(storage, outline, Path(directory)).job(title, part)
        return _made.put(key, _laid_out(json.dumps(job).encode(), directory))


@contextmanager
def _slot() -> Iterator[None]:
    """Let two PDFs be made at a time, which take a processor for seconds, and a few more wait. Raises: Failure 503."""
    with ExitStack() as stack:
        for room, patience in ((_places, 0), (_slots, WAIT_S)):
            if not room.acquire(timeout=patience):
                raise Failure(503, "Too many PDFs are being made. Try again in a minute.")
            stack.callback(room.release)
        yield


def _laid_out(job: bytes, directory: str) -> bytes:
    # Nothing of our environment, which may hold secrets; only where the program itself is.
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**kept, "PYTHONPATH": str(Path(syncd.__file__).parent.parent), "HOME": directory}
    command = [sys.executable, "-m", "syncd.platform.pdf.worker", directory]
    try:
        done = subprocess.run(
            command, input=job, env=environment, cwd=directory, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failure(413, "This PDF takes too long. Ask for a page of it.") from None
    if done.returncode != 0 or not done.stdout.startswith(b"%PDF"):
        raise Failure(413, "This cannot be laid out within the limits of a PDF. Ask for a page of it.")
    return done.stdout
