"""The size of an image, from its first bytes, whatever they are."""

import random
import zlib

import pytest

from syncd.layout.page.image_size import HEAD_BYTES, read_image_size

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (30).to_bytes(4) + (20).to_bytes(4) + b"\x08\x06\x00\x00\x00"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xc0\x00\x11\x08\x00\x14\x00\x1e\x03"


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        JPEG + bytes(9) + b"\xff\xda",
        b"GIF89a" + (30).to_bytes(2, "little") + (20).to_bytes(2, "little") + bytes(20),
        b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20px"><g/></svg>',
    ],
)
def test_images_say_their_size(data: bytes) -> None:
    assert read_image_size(data + zlib.compress(random.Random(1).randbytes(3 * HEAD_BYTES))) == (30, 20)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Words\n",
        PNG[:20],
        PNG[:16] + (1 << 31).to_bytes(4) + (20).to_bytes(4),
        b'<svg viewBox="0 0 30 20"><rect width="3" height="2"/></svg>',
        b'<svg width="100%" height="100%"></svg>',
        b"<?xml version='1.0'?><html><svg2 width='3' height='2'/></html>",
        b"P6 " + b"1" * 10_000_000,
        b"\xff\xd8\xff" + b"\xe1\0\2\xff" * 2_000_000,
        b"\0\0\0\x10ftypavif\0\0\0\0" + b"\0\0\0\x08free" * 1_000_000,
    ],
)
def test_what_does_not_say_its_size_has_none(data: bytes) -> None:
    assert read_image_size(data) is None
