"""Addresses: which may be reached, and which spellings are read at all."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.net.addresses import is_allowed
from syncd.net.failures import Refused
from syncd.net.targets import parse_redirect, parse_target
from tests.net.hostile import HIDDEN_HOSTS, MISSPELT, NEVER, NOT_PUBLIC, PUBLIC

PRIVATE = ("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fc00::1", "::ffff:10.0.0.1")


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_what_is_not_public_is_not_allowed(address: str) -> None:
    assert not is_allowed(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_is_allowed(address: str) -> None:
    assert is_allowed(address)
    assert is_allowed(address, private=True)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_networks_are_allowed_when_the_operator_says_so(address: str) -> None:
    assert is_allowed(address, private=True)


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_not_allowed_even_then(address: str) -> None:
    assert not is_allowed(address, private=True)


@given(st.ip_addresses())
def test_what_python_takes_for_private_is_never_public(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    known = ip.is_private or ip.is_multicast or ip.is_reserved or ip.is_loopback or ip.is_link_local
    mapped = isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip in ipaddress.ip_network("64:ff9b::/96"))
    assert mapped or not (known and is_allowed(str(ip)))


@pytest.mark.parametrize("host", HIDDEN_HOSTS)
def test_a_host_that_a_resolver_reads_as_an_address_is_refused_or_is_that_address(host: str) -> None:
    try:
        found = parse_target(f"http://{host}/").host
    except Refused:
        return
    assert found == "127.0.0.1"


@pytest.mark.parametrize("url", MISSPELT)
def test_an_address_in_a_strange_spelling_is_refused(url: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_target(url)
    assert "example" not in str(refused.value)
    assert "u:word" not in str(refused.value)


def test_an_address_is_written_as_http_wants_it() -> None:
    target = parse_target("HTTPS://Bücher.Example.:443/a%20b/ü?q=ä&x=[1]#part")
    assert (target.is_secure, target.host, target.port) == (True, "xn--bcher-kva.example", 443)
    assert target.path == "/a%20b/%C3%BC?q=%C3%A4&x=[1]"
    assert target.url == "https://xn--bcher-kva.example/a%20b/%C3%BC?q=%C3%A4&x=[1]"
    assert parse_target("http://[2606:2800:220:1::1]:8080").authority == "[2606:2800:220:1::1]:8080"
    assert parse_target("http://127.0.0.1.:80/").origin == "http://127.0.0.1"


def test_an_address_may_be_relative_to_another() -> None:
    base = parse_target("https://a.example/b/c?d")
    assert parse_target("e?f", base=base).url == "https://a.example/b/e?f"
    assert parse_target("//b.example:8443/", base=base).origin == "https://b.example:8443"
    assert parse_redirect(parse_target("http://a.example/"), "https://a.example/").is_secure
    for location in ("http://a.example/", "//u:p@a.example/", "file:///etc/passwd", "https://0x7f.1/"):
        with pytest.raises(Refused):
            parse_redirect(base, location)
