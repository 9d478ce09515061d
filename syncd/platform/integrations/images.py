"""The images of an integration: sent as base64, kept as blobs, shown by a signed address."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from syncd.layout.page.image_size import read_image_size
from syncd.model.integration import IMAGE_MAX
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.http.failures import Failure

_KINDS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))
"""How each kind begins. SVG is not among them: it may carry a script."""


@dataclass(frozen=True)
class IntegrationImage:
    """An image as it is kept."""

    data: bytes
    kind: str

    def build_row(self, oid: str) -> dict[str, str]:
        """Return what the database keeps of this image: the id of its blob, and its format."""
        return {"oid": oid, "kind": self.kind}


def decode_image(text: str, *, at: str) -> IntegrationImage:
    """Return the image in a base64 text; `at` names the member that holds it.

    Raises: Failure 400 when it is no PNG, JPEG, GIF or WebP image, or one of more than 1 MiB.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Failure(400, f"{at}: not base64") from None
    kind = next((kind for start, kind in _KINDS if data.startswith(start)), None)
    if kind is None or read_image_size(data) is None:
        raise Failure(400, f"{at}: not a PNG, JPEG, GIF or WebP image")
    if len(data) > IMAGE_MAX:
        raise Failure(400, f"{at}: more than {IMAGE_MAX} bytes")
    return IntegrationImage(data, kind)


def build_image_url(downloads: DownloadSigner, image: Any, name: str) -> str:
    """Return an address that shows a stored image for a limited time."""
    kind = image["kind"]
    return downloads.sign_url(image["oid"], name=f"{name}.{kind}", content_type=f"image/{kind}")
