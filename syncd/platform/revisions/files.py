"""File downloads, and the media type and dimensions of files."""

import hmac
import mimetypes
import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query
from fastapi.responses import FileResponse, Response, StreamingResponse

from syncd.layout.page.image_size import read_image_size
from syncd.platform.http.downloads import compute_signature
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.storage.storage import CurrentStorage

router = create_router(prefix="/downloads", tags=["files"])

CONTENT_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")
"""A media type without parameters; nothing else may become a header."""

_RUN_TYPE = re.compile(
    r"(?:text|application)/(?:x-)?(?:javascript(?:1\.[0-5])?|ecmascript|jscript|livescript)|text/css"
)
_UNKNOWN = "application/octet-stream"
_INLINE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
"""Types that a browser may display; anything that could carry a script is only offered for saving."""
# Only the built-in table: the system's own tables differ from machine to machine.
_TYPES = mimetypes.MimeTypes()
for _name in ("image/webp", "image/avif", "font/woff2"):
    _TYPES.add_type(_name, f".{_name.partition('/')[2]}")


@router.get("/{oid}/{name:path}", name="download_file")
def download_file(
    storage: CurrentStorage,
    oid: str,
    name: str,
    expires: int,
    signature: str,
    content_type: Annotated[str, Query(alias="type")],
) -> Response:
    """Answer a signed address with the file that it names; the signature replaces the token.

    Raises: Failure 403 when the signature is wrong or has expired, 404 when the file is gone.
    """
    if not hmac.compare_digest(
        compute_signature(storage.secret, oid, name, content_type, expires).encode(), signature.encode()
    ):
        raise Failure(403, "This address was not made by this platform.")
    if storage.now().timestamp() >= expires:
        raise Failure(403, "This address has expired. Read the file again to get a new one.")
    if not storage.blobs.has(oid):
        raise Failure(404, "The file is not here.")
    # The file may be a stranger's: no browser may run a script in it with the rights of this origin.
    way = "inline" if content_type in _INLINE_TYPES else "attachment"
    headers = {
        "Content-Disposition": f"{way}; {_format_filename(name)}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, max-age=3600, immutable",
    }
    content_type = choose_served_type(content_type)
    file = storage.blobs.find_file(oid)
    if file is not None:
        return FileResponse(file, media_type=content_type, headers=headers)
    length, pieces = storage.blobs.stream(oid)
    return StreamingResponse(pieces, media_type=content_type, headers=headers | {"Content-Length": str(length)})


def choose_served_type(content_type: str) -> str:
    """Return the media type with which content of others is answered: no browser takes it for a script or a style.

    Pages of this origin may load scripts and styles of this origin; a file of a writer is never one of them.
    Source: WHATWG MIME Sniffing, "JavaScript MIME type".
    """
    kind = content_type.partition(";")[0].strip().lower()
    return "text/plain" if _RUN_TYPE.fullmatch(kind) else content_type


def _format_filename(name: str) -> str:
    quoted = quote(name)
    return f'filename="{name}"' if quoted == name else f"filename*=utf-8''{quoted}"


def guess_content_type(name: str) -> str:
    """Return the media type that the ending of a file's name stands for."""
    return _TYPES.guess_type(f"x{name}", strict=False)[0] or _UNKNOWN


def build_file_fields(data: bytes, *, content_type: str) -> dict[str, Any]:
    """Return the members of a File that follow from its content. Units: `size` in bytes, `dimensions` in pixels."""
    fields: dict[str, Any] = {"contentType": content_type, "size": len(data)}
    size = read_image_size(data) if content_type.startswith("image/") else None
    return fields | ({"dimensions": {"width": size[0], "height": size[1]}} if size is not None else {})
