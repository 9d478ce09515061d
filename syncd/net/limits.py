"""What an answer may cost: bytes on the wire, unpacked bytes, the ratio of both, and seconds in all."""

import zlib
from collections.abc import Iterable, Iterator
from time import monotonic

from syncd.net.failures import BrokenOff, Refused, TimedOut, TooLarge

HEADS_MAX = 96 * 1024
"""Bytes of an answer before its body, provisional answers included; a head of up to 32 KiB always fits."""
RATIO_FLOOR = 1 << 24
RATIO_MAX = 100
"""An answer above 16 MiB that was packed better than 100 to 1 is a bomb."""
_SLICE = 1 << 16
_FRAMES = 1 << 20


def compute_wire_limit(size: int) -> int:
    """Return how many bytes the transfer of a body may take, by the body's own limit: every chunk has a frame."""
    return 2 * size + _FRAMES


def compute_remaining(deadline: float) -> float:
    """Return the seconds until a deadline in monotonic seconds. Raises: TimedOut when it is over."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimedOut("The exchange took longer than it may.")
    return left


def read_bounded(pieces: Iterable[bytes], encoding: str, *, limit: int, deadline: float) -> Iterator[bytes]:
    """Yield the pieces of a body unpacked, as long as they keep to the limits.

    Units: `limit` in unpacked bytes, `deadline` in monotonic seconds. Shape: `encoding` is a `Content-Encoding`, gzip
    or none. Raises: TooLarge, Refused, TimedOut, BrokenOff.
    """
    size = 0
    for piece in _unpack(pieces, encoding.lower()):
        compute_remaining(deadline)
        size += len(piece)
        if size > limit:
            raise TooLarge(f"The answer is larger than {limit} bytes.")
        yield piece


def split_lines(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the lines of a body, without their ends, as they arrive.

    Raises: TooLarge for a line of more than `limit` bytes.
    """
    rest = bytearray()
    for piece in pieces:
        head, *tail = piece.split(b"\n")
        rest += head
        for following in tail:
            yield bytes(rest.removesuffix(b"\r"))
            rest = bytearray(following)
        if len(rest) > limit:
            raise TooLarge(f"A line of the answer is longer than {limit} bytes.")
    if rest:
        yield bytes(rest.removesuffix(b"\r"))


def _unpack(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces of all members of a gzip, one after the other. Source: RFC 1952, 2.2."""
    if encoding in ("", "identity"):
        yield from pieces
        return
    if encoding not in ("gzip", "x-gzip"):
        raise Refused("The answer is packed in a way that was not asked for.")
    inflate = _start_member()
    packed = unpacked = 0
    for piece in pieces:
        packed += len(piece)
        while piece:
            if inflate.eof:
                piece = piece.lstrip(b"\0")  # some writers fill up a block behind the last member
                if not piece:
                    break
                inflate = _start_member()
            try:
                slice = inflate.decompress(piece, _SLICE)
            except zlib.error:
                raise Refused("The answer cannot be unpacked.") from None
            piece = inflate.unconsumed_tail or inflate.unused_data
            unpacked += len(slice)
            if unpacked > max(RATIO_FLOOR, RATIO_MAX * packed):
                raise TooLarge("The answer unpacks to more than a hundred times its size.")
            yield slice
    yield inflate.flush()
    if packed and not inflate.eof:
        raise BrokenOff("The answer breaks off.")


def _start_member() -> "zlib._Decompress":
    return zlib.decompressobj(zlib.MAX_WBITS | 16)
