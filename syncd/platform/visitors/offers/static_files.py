"""The files that the pages of every site load: looks, scripts, and the frame that draws diagrams."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os.path import splitext

from fastapi import Request
from fastapi.responses import Response

from syncd.platform.visitors.pages import RenderedPage
from syncd.web.pages.diagrams import DIAGRAM_FRAME, FRAME_POLICY

_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
_PACKED_FROM = 1_000
"""Bytes of a file from which on it is sent compressed."""


@dataclass(frozen=True)
class _StaticFile:
    """A file that the pages of every site load; `packed` is its gzip where that is worth while, else empty."""

    page: RenderedPage
    media: str
    packed: bytes = b""


@cache
def _list_static() -> Mapping[str, _StaticFile]:
    found = {}
    for one in files("syncd.web").joinpath("static").iterdir():
        media = _STATIC_TYPES.get(splitext(one.name)[1])
        if media is not None:
            page = RenderedPage.of(one.read_bytes())
            packed = gzip.compress(page.html, mtime=0) if len(page.html) > _PACKED_FROM else b""
            found[one.name] = _StaticFile(page, media, packed)
    return found


def answer_static(request: Request, name: str, strict: Mapping[str, str]) -> Response | None:
    """Return the answer with one of the files, compressed where that is worth while; None when there is no such file.

    Shape: `strict` has the headers that every answer of a site has.
    """
    file = _list_static().get(name)
    if file is None:
        return None
    headers = {**strict, "ETag": file.page.etag, "Cache-Control": "public, max-age=300"}
    if name == DIAGRAM_FRAME:
        headers["Content-Security-Policy"] = FRAME_POLICY
    if file.packed:
        headers["Vary"] = "Accept-Encoding"
    if file.page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.packed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.media, headers=headers)
    return Response(file.page.html, media_type=file.media, headers=headers)
