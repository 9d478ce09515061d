"""The rules of a site file over whatever somebody may write: no crash, every finding with its place, linear time."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site, remove_silenced
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.rules import SITE_RULES
from tests.growing import assert_linear
from tests.sampling import sample_cases

GOLDEN = Path(__file__).parents[2] / "golden" / "site"
TEXTS = tuple(path.read_text(encoding="utf-8") for path in sorted(GOLDEN.rglob("*.yaml")))
HEAD = "version: 1\nsite: { org: o, id: s, hosts: [docs.acme.example] }\n"
PIECES = st.one_of(
    st.sampled_from(
        ["- ", ": ", "\n", "  ", "{", "}", "[", "]", '"', "#", "null", "~", "é", "\u2028", "\t", "&a", "*a"]
    ),
    st.text(max_size=6),
)


def checked(text: str, others: Mapping[str, str] | None = None) -> tuple[SiteFile | None, tuple[Finding, ...]]:
    file, found = read_site_file(text, path="site.yaml", others=others or {})
    return file, found if file is None else remove_silenced(file, (*found, *check_site(file)))


def broken(text: str) -> list[tuple[str, int, int]]:
    return [(one.code, one.line, one.column) for one in checked(text)[1]]


def judge(text: str) -> None:
    lines = text.split("\n")
    for one in checked(text)[1]:
        assert one.code in SITE_RULES
        assert one.message
        assert one.path == "site.yaml"
        assert 1 <= one.line <= len(lines) + 1
        assert one.column >= 1
        assert one.width >= 1
        assert "\n" not in one.message


@given(st.sampled_from(TEXTS), st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 9), PIECES), max_size=4))
@settings(deadline=None, max_examples=50)
def test_every_finding_has_a_place_whatever_somebody_wrote(text: str, edits: list[tuple[int, int, str]]) -> None:
    for at, gone, put in edits:
        start = at % (len(text) + 1)
        text = text[:start] + put + text[start + gone :]
    judge(text)


@pytest.mark.parametrize("at", sample_cases(range(0, 1200, 4), kept=set(range(0, 300, 15))))
def test_a_file_that_ends_anywhere_is_judged_without_a_crash(at: int) -> None:
    for text in TEXTS:
        judge(text[:at])


def test_comments_silence_warnings_and_never_errors() -> None:
    url = 'to: { url: "http://acme.example/" }'
    assert broken(f"{HEAD}redirects:\n  - {{ from: /a, {url} }}\n") == [("SY309", 4, 28)]
    assert broken(f"{HEAD}redirects:\n  - {{ from: /a, {url} }} # syncd: ignore SY309\n") == []
    assert broken(f"{HEAD}redirects:\n  # syncd: ignore SY309, SY306\n  - {{ from: /a, {url} }}\n") == []
    wrong = broken(f"{HEAD}redirects:\n  - {{ from: /a/, {url} }} # syncd: ignore SY301 SY309\n")
    assert [code for code, _, _ in wrong] == ["SY502", "SY301"]


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("/a/", 'use "/a"'),
        ("a//b/", 'use "/a/b"'),
        ("/a b/ü", 'use "/a%20b/%C3%BC"'),
        ("https://docs.acme.example/a/?b=c", 'use "/a"'),
        ("/a?b=c#d", 'use "/a"'),
        ("//", ""),
        ("/" + "é" * 300, ""),  # encoded, it would be too long
        ("/a%", 'write "%25" for the sign itself'),
    ],
)
def test_a_wrong_source_is_answered_with_a_right_one(source: str, hint: str) -> None:
    _, found = checked(f'{HEAD}redirects:\n  - {{ from: "{source}", to: {{ url: "https://acme.example/" }} }}\n')
    assert [(one.code, one.hint) for one in found] == [("SY301", hint)]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("/%C3%A9cole", "matching ignores case"),
        ("/%c3%89cole", "a character equals its percent-encoding"),
        ("/%c3%a9COLE", "matching ignores case"),
    ],
)
def test_sources_that_the_platform_takes_for_one_are_declared_once(other: str, why: str) -> None:
    to = 'to: { url: "https://acme.example/" }'
    _, found = checked(f"{HEAD}redirects:\n  - {{ from: /%C3%89cole, {to} }}\n  - {{ from: {other}, {to} }}\n")
    assert [one.message for one in found] == [f'"{other}" equals "/%C3%89cole" (line 4); {why}']


def test_a_source_that_is_under_absent_and_declared_is_named_with_its_file() -> None:
    text = f"{HEAD}redirect_files: [old.csv]\nabsent: {{ redirects: [/b, /c] }}\n"
    text += 'redirects:\n  - { from: /c, to: { url: "https://acme.example/" } }\n'
    _, found = checked(text, {"old.csv": "/a,https://acme.example/\n/b,https://acme.example/\n"})
    assert [one.message for one in found] == [
        '"/b" is under absent: and is a redirect (old.csv:2)',
        '"/c" is under absent: and is a redirect (line 6)',
    ]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ('{ kind: external, url: "javascript:alert(1)" }', "must be an http or https address"),
        ('{ kind: external, url: "data:text/html,x" }', "must be an http or https address"),
        ('{ kind: external, url: "https://h.example:65536" }', "must be an http or https address"),
        ('{ kind: external, url: "https://h.example:0" }', "must be an http or https address"),
        ("{ kind: path, path: /b }", "the platform turns the kind path into a page"),
    ],
)
def test_a_raw_destination_that_the_platform_refuses_is_an_error(raw: str, why: str) -> None:
    _, found = checked(f"{HEAD}redirects:\n  - from: /a\n    to: {{ raw: {raw} }}\n")
    (one,) = found
    assert (one.code, one.severity, one.line, one.column) == ("SY303", "error", 5, 16)
    assert why in one.message


def sections(count: int) -> str:
    """Sections that all have one path."""
    entry = "    - {{ section: s{0}, title: T, path: same, variants: [{{ variant: v, space: a{0} }}] }}\n"
    return "structure:\n  items:\n" + "".join(map(entry.format, range(count)))


def aliases(count: int, name: str) -> str:
    """Aliases, and variants whose space is almost one of them."""
    spaces = "".join(f"  {name}{number}: id{number}\n" for number in range(count))
    variants = "".join(f"    - {{ variant: v{number}, space: {name}y{number} }}\n" for number in range(count))
    return f"spaces:\n{spaces}structure:\n  items:\n{variants}"


def circle(count: int) -> str:
    """Redirects that all lead to the next."""
    entry = '  - {{ from: /{}, to: {{ url: "https://docs.acme.example/{}" }} }}\n'
    return "redirects:\n" + "".join(entry.format(number, (number + 1) % count) for number in range(count))


HOSTILE: dict[str, Callable[[int], str]] = {
    "sections": sections,
    "aliases": lambda size: aliases(size, "x" * 79),
    "long aliases": lambda size: aliases(1, "x" * 100 * size),
    "sources": lambda size: f"redirects:\n  - to: {{ section: x }}\n    from: [{', '.join(['/same'] * 6 * size)}]\n",
    "a long source": lambda size: (
        f'redirects:\n  - {{ from: "{"/a" * 60 * size}*", to: {{ section: {"s" * 60 * size} }} }}\n'
    ),
    "a circle": lambda size: circle(3 * size),
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_no_longer_than_a_large_one(name: str) -> None:
    assert_linear(lambda size: checked(HEAD + HOSTILE[name](size)), 375)


def test_what_nobody_sees_in_a_text_is_told_and_what_languages_need_is_not() -> None:
    def found(sign: str) -> list[str]:
        structure = f'structure: {{ items: [{{ section: a, title: "a{sign}b", variants: [] }}] }}\n'
        return [one.code for one in checked(f"{HEAD}{structure}")[1] if one.code == "SY006"]

    unseen = ("\\e", "\\x7F", "\\u200B", "\\u2028", "\\u202E", "\\u2066", "\\u206A", "\\uFEFF", "\\U000E0041")
    assert [sign for sign in unseen if found(sign) != ["SY006"]] == []
    needed = ("\\t", "\\n", "\\u00AD", "\\u061C", "\\u180E", "\\u200D", "\\u200F", "\\u00A0", "\\u3000")
    assert [sign for sign in needed if found(sign)] == []
