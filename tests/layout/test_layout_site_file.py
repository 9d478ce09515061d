"""The site file says what it means, or exactly where it does not."""

import pytest

from syncd.errors import FileInvalid
from syncd.layout.site_file import parse_site_file, source_key

HEAD = "version: 1\nsite: { org: o, id: s }\n"


def test_every_key_is_read() -> None:
    text = HEAD + (
        "policy: { prune: never, allow_empty: true }\n"
        "redirects:\n"
        "  - { from: /a, to: { section: api } }\n"
        "  - { from: [/b, /c], to: { page: x/y, in: api/en }, note: DOC-1 }\n"
        "absent: { redirects: [/old] }\n"
    )
    file = parse_site_file(text, at="site.yaml")
    assert (file.organization, file.site, file.prune, file.allow_empty) == ("o", "s", "never", True)
    assert [(r.source, dict(r.to), r.where) for r in file.redirects] == [
        ("/a", {"section": "api"}, "site.yaml:5:7"),
        ("/b", {"page": "x/y", "in": "api/en"}, "site.yaml:6:7"),
        ("/c", {"page": "x/y", "in": "api/en"}, "site.yaml:6:7"),
    ]
    assert file.absent == ("/old",)
    assert file.managed


def test_a_missing_key_is_not_managed() -> None:
    assert not parse_site_file(HEAD, at="site.yaml").managed


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("redirects:\n  - { from: /a/, to: { section: s } }\n", 4, "end with a slash"),
        ("redirects:\n  - { from: a, to: { section: s } }\n", 4, "start with a slash"),
        ("redirects:\n  - { from: '/a*', to: { section: s } }\n", 4, "wildcard"),
        ("redirects:\n  - { from: '/a?b=1', to: { section: s } }\n", 4, "query"),
        ('redirects:\n  - { from: "/a\\n", to: { section: s } }\n', 4, "percent-encoded"),
        ("redirects:\n  - { from: /a, to: { section: s, url: 'https://x' } }\n", 4, "exactly one"),
        ("redirects:\n  - { from: /a, to: { page: x } }\n", 4, "exactly one"),
        ("redirects:\n  - { from: /a, to: { url: 'javascript:x' } }\n", 4, "no http(s) address"),
        ("redirects:\n  - { from: /a, to: { section: s } }\n  - { from: /A, to: { section: t } }\n", 5, "twice"),
        ("redirects:\n  - { from: /a, to: { section: s } }\nredirect: []\n", 5, "unknown key"),
        ("redirects: yes\n", 3, "must be a list"),
        ("policy: { prune: everything }\n", 3, "never, owned or all"),
    ],
)
def test_a_mistake_is_named_with_its_line(body: str, line: int, words: str) -> None:
    with pytest.raises(FileInvalid) as caught:
        parse_site_file(HEAD + body, at="site.yaml")
    assert caught.value.line == line
    assert words in caught.value.what


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(FileInvalid) as caught:
        parse_site_file("version: 2\nsite: { org: o }\nwhat: 1\n", at="site.yaml")
    assert len(caught.value.hint.splitlines()) == 2


@pytest.mark.parametrize(
    ("one", "other"), [("/A/b", "/a/B"), ("/%41", "/a"), ("/x%2f", "/X%2F"), ("/%7Euser", "/~user")]
)
def test_sources_that_the_platform_matches_alike_have_one_key(one: str, other: str) -> None:
    assert source_key(one) == source_key(other)
