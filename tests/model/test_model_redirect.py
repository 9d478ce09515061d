"""The key of a redirect's source: the same for each way to write it, and for nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.redirect import make_source_key

LETTERS = "aZ9-._~\u00e9\u00c9\u00df\u0130\u0390\ud800/% ?"


@settings(deadline=None, max_examples=100)
@given(st.text(st.sampled_from(LETTERS.replace("%", "")), min_size=1, max_size=12))
def test_it_is_the_same_for_each_way_to_write_a_source(text: str) -> None:
    plain = "/" + text
    octets = [part.encode(errors="surrogatepass") for part in text.split("/")]
    encoded = "/" + "/".join("".join(f"%{octet:02x}" for octet in part) for part in octets)
    assert make_source_key(plain) == make_source_key(encoded)


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(st.sampled_from(LETTERS), max_size=12), st.text(max_size=20)))
def test_it_is_its_own_key_and_plain_text(text: str) -> None:
    key = make_source_key(text)
    assert make_source_key(key) == key
    assert key.isascii()
    assert key.isprintable()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/%C3%89cole", "/%c3%a9cole", True),
        ("/\u00c9cole", "/%C3%A9cole", True),
        ("/Stra%C3%9Fe", "/STRASSE", True),
        ("/%FF%fe", "/%ff%FE", True),
        ("/%7Euser", "/~USER", True),
        ("/a%2Fb", "/a/b", False),
        ("/\u00e9", "/e\u0301", False),
        ("/a", "/a/", False),
        ("/%FF", "/%EF%BF%BD", False),
    ],
)
def test_two_sources_are_one_when_a_visitor_would_say_so(one: str, other: str, same: bool) -> None:
    assert (make_source_key(one) == make_source_key(other)) is same
