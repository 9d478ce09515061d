"""Where redirects lead: the search finds the circles that a naive walk finds, and every chain's end."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.graph import find_hops, follow_hops, list_own_hosts
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.model.redirect import make_source_key

HOST = (("docs.acme.example", "/v"),)
STEPS = st.dictionaries(st.integers(0, 12), st.integers(0, 16), max_size=12).map(
    lambda found: {str(key): str(value) for key, value in found.items()}
)


def redirects(targets: Mapping[str, Mapping[str, object]], *, hosts: tuple[tuple[str, str], ...] = HOST) -> SiteFile:
    items = {}
    for line, (source, to) in enumerate(targets.items(), start=1):
        place = Place("site.yaml", line)
        item = Item("redirect", make_source_key(source), {"source": source, "to": to}, place)
        items[item.ref] = item
    return SiteFile("site.yaml", "o", "s", items, hosts=hosts)


def here(path: str) -> dict[str, str]:
    return {"url": f"https://docs.acme.example/v{path}"}


def naive(steps: Mapping[str, str], start: str) -> tuple[str, frozenset[str]]:
    """Where a walk from a start ends, and the circle that it ends in."""
    walked = [start]
    while walked[-1] in steps:
        walked.append(steps[walked[-1]])
        if walked[-1] in walked[:-1]:
            first = walked.index(walked[-1])
            return walked[-1], frozenset(walked[first:])
    return walked[-1], frozenset()


@given(STEPS)
@settings(deadline=None, max_examples=50)
def test_the_search_finds_what_a_walk_from_every_redirect_finds(steps: dict[str, str]) -> None:
    trails = follow_hops(steps)
    walks = {start: naive(steps, start) for start in steps}
    assert {frozenset(loop) for loop in trails.loops} == {circle for _, circle in walks.values() if circle}
    assert len(trails.loops) == len({frozenset(loop) for loop in trails.loops})
    for loop in trails.loops:
        assert all(steps[one] == other for one, other in zip(loop, (*loop[1:], loop[0]), strict=True))
    assert trails.ends == {start: end for start, (end, circle) in walks.items() if not circle}
    circling = {key for loop in trails.loops for key in loop}
    assert trails.lost.keys() == {start for start, (_, circle) in walks.items() if circle} - circling
    assert all(entry in circling for entry in trails.lost.values())


def test_addresses_of_the_site_itself_are_known_by_host_and_base_path() -> None:
    file = redirects(
        {
            "/a": here("/b"),
            "/b": {"url": "HTTP://Docs.Acme.example/v/C/?x=1#y"},
            "/c": {"section": "home"},
            "/d": {"url": "https://docs.acme.example/other/a"},
            "/e": {"url": "https://elsewhere.example/v/a"},
            "/f": {"url": "https://[broken/v/a"},
            "/%67": here("/%61"),
        }
    )
    assert find_hops(SiteMap(file, hosts=list_own_hosts(file))) == {"/a": "/b", "/b": "/c", "/g": "/a"}
    assert not find_hops(SiteMap(file))


def test_a_loop_is_printed_with_every_redirect_in_it() -> None:
    file = redirects({"/x": here("/b"), "/a": here("/b"), "/b": here("/c"), "/c": here("/a")})
    found = [(one.line, one.message) for one in check_site(file) if one.code == "SY305"]
    assert found == [
        (1, "/x leads into a redirect loop at /b"),
        (2, "redirect loop: /a -> https://docs.acme.example/v/b -> https://docs.acme.example/v/c -> /a"),
    ]


def test_a_chain_is_one_warning_that_flattens_all_of_it() -> None:
    end = {"url": "https://acme.example/"}
    file = redirects({"/b": here("/c"), "/a": here("/b"), "/c": end, "/z": here("/c")})
    first, second = (one for one in check_site(file) if one.code == "SY306")
    assert (first.line, first.message) == (
        2,
        "/a -> https://docs.acme.example/v/b -> https://docs.acme.example/v/c -> https://acme.example/; "
        "point /a and /b at https://acme.example/",
    )
    assert [(one.line, one.fix.value if one.fix else None) for one in first.list_all()] == [(2, end), (1, end)]
    assert (second.line, second.covered) == (4, ())
    silenced = replace(file, silenced={("site.yaml", 1): frozenset({"SY306"})})
    assert [one.covered for one in check_site(silenced) if one.code == "SY306"] == [(), ()]


def test_an_address_that_is_passed_through_as_it_is_counts_like_any_other() -> None:
    raw = {"raw": {"kind": "external", "url": "https://docs.acme.example/v/a"}}
    messages = [one.message for one in check_site(redirects({"/a": raw})) if one.code == "SY305"]
    assert messages == ["redirect loop: /a -> /a"]
    chain = check_site(redirects({"/b": raw, "/a": {"section": "home"}}))
    assert [one.message for one in chain if one.code == "SY306"] == [
        "/b -> https://docs.acme.example/v/a -> section home; point /b at section home"
    ]


@pytest.mark.parametrize("count", [2000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_long_chain_is_walked_without_depth_and_without_a_message_of_that_length(count: int) -> None:
    targets = {f"/{number}": here(f"/{number + 1}") for number in range(count)}
    found = check_site(redirects({**targets, f"/{count}": {"url": "https://acme.example/"}}))
    chains = [one for one in found if one.code == "SY306"]
    assert len(chains) == 1
    assert len(chains[0].list_all()) == count
    assert all(
        one.fix is not None and one.fix.value == {"url": "https://acme.example/"} for one in chains[0].list_all()
    )
    assert len(chains[0].message) < 1000
    circle = check_site(redirects({**targets, f"/{count}": here("/5")}))
    assert sum("redirect loop:" in one.message for one in circle) == 1
    assert sum(one.code == "SY305" for one in circle) == 6
