"""The size of an image, from its first bytes."""

import re
from io import BytesIO

import imagesize

HEAD_BYTES = 1 << 18
"""Bytes of a file in which its size is looked for: nobody's image has more before it."""
PIXELS_MAX = 1 << 16
_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"<svg", b"<?xml")
"""How files begin that browsers show as images; reading others may take long."""
_BOX = b"ftyp"
"""Where AVIF has its kind, behind a length."""
_SVG = re.compile(rb"<svg\s[^<>]*>")


def read_image_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height of an image as it is shown; None for what is none, or does not say it.

    Units: pixels.
    """
    head = data[:HEAD_BYTES]
    if not head.startswith(_STARTS) and head[4:8] != _BOX:
        return None
    if head.startswith((b"<svg", b"<?xml")):
        # Elements in the image have a width and height, too.
        outermost = _SVG.search(head)
        head = head[: outermost.end()] if outermost is not None else b""
    width, height = imagesize.get(BytesIO(head))
    return (width, height) if 0 < width <= PIXELS_MAX and 0 < height <= PIXELS_MAX else None
