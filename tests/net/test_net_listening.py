"""Addresses to listen at, as people type them."""

import pytest

from syncd.errors import ConfigInvalid
from syncd.net.listening import describe_refusal, parse_listen_address


@pytest.mark.parametrize(
    ("address", "read"),
    [
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:9471", ("127.0.0.1", 9471)),
        ("[::1]:65535", ("::1", 65535)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
    ],
)
def test_an_address_is_read(address: str, read: tuple[str, int]) -> None:
    assert parse_listen_address(address) == read


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:99999", "a port is a number to 65535"),
        ("127.0.0.1:80x", "a port is a number to 65535"),
        ("127.0.0.1:-1", "a port is a number to 65535"),
        ("127.0.0.1:\u0663", "a port is a number to 65535"),
        ("127.0.0.1", "it has no port"),
        ("9471", "it has a port alone"),
        (":9471", "it has a port alone"),
        ("", "it has no port"),
        ("docs.example.org:80", "docs.example.org is no IP address"),
    ],
)
def test_what_is_no_address_is_refused_in_words(address: str, why: str) -> None:
    with pytest.raises(ConfigInvalid) as refusal:
        parse_listen_address(address)
    assert refusal.value.what.startswith(f"nothing can listen at {address!r}: {why}")
    assert refusal.value.hint.startswith("write ADDRESS:PORT")


def test_a_port_that_only_root_may_take_is_explained() -> None:
    refusal = describe_refusal("127.0.0.1:80", PermissionError(13, "Permission denied"))
    assert refusal.what == "nothing can listen at '127.0.0.1:80': Permission denied"
    assert "below 1024" in refusal.hint
