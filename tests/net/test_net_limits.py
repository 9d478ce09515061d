"""Lines of a body, however it comes in pieces."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.net.failures import TooLarge
from syncd.net.limits import split_lines

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
