"""Lines and unpacked pieces of a body, however it comes in pieces."""

import gzip
from collections.abc import Iterator
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.net.failures import BrokenOff, Refused, TooLarge
from syncd.net.limits import RATIO_FLOOR, read_bounded, split_lines

BODIES = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"data: 1", b"\n\n"]), max_size=12).map(b"".join)


@given(BODIES, st.integers(1, 5))
def test_lines_are_the_same_in_pieces_of_any_size(body: bytes, size: int) -> None:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    *lines, rest = body.split(b"\n")
    expected = [line.removesuffix(b"\r") for line in [*lines, *([rest] if rest else [])]]
    assert list(split_lines(pieces, 100)) == expected


def test_a_line_without_an_end_is_given_up() -> None:
    received = 0

    def drip() -> Iterator[bytes]:
        nonlocal received
        yield b"first\n"
        while True:
            received += 1
            yield b"x" * 10

    lines = split_lines(drip(), 35)
    assert next(lines) == b"first"
    with pytest.raises(TooLarge, match="longer than 35 bytes"):
        next(lines)
    assert received == 4


def unpack(body: bytes, *, size: int = 1 << 16, limit: int = 1 << 30) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(read_bounded(pieces, "gzip", limit=limit, deadline=monotonic() + 60))


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.integers(1, 70), st.integers(0, 9))
def test_all_members_of_a_packed_body_are_read(members: list[bytes], size: int, padding: int) -> None:
    packed = b"".join(map(gzip.compress, members)) + bytes(padding)
    assert unpack(packed, size=size) == b"".join(members) == gzip.decompress(packed)


def test_further_members_keep_to_the_limits_of_the_first() -> None:
    first, bomb = gzip.compress(b"a" * 100), gzip.compress(bytes(RATIO_FLOOR))
    with pytest.raises(TooLarge, match="a hundred times its size"):
        unpack(first + bomb)
    with pytest.raises(TooLarge, match="larger than 150 bytes"):
        unpack(first + first, limit=150)
    with pytest.raises(BrokenOff):
        unpack(first + first[:-1])
    with pytest.raises(Refused, match="cannot be unpacked"):
        unpack(first + b"no member")
