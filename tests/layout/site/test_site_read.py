"""The site file: what is right becomes things with their places, what is wrong is told all at once where it stands."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import Limits, Place, SiteFile
from syncd.layout.site.read.file import list_named_files, read_site_file
from syncd.layout.site.read.shape import TOP
from syncd.model.ref import ROOT, Ref
from tests.growing import assert_linear
from tests.layout.site.example import OTHERS, PATH, SITE_FILE

HEAD = "version: 1\nsite: { org: o, id: s }\n"


def read(text: str, *, path: str = "site.yaml", others: Mapping[str, str] | None = None) -> SiteFile:
    """A file that is all right."""
    file, findings = read_site_file(text, path=path, others=others or {})
    assert findings == ()
    assert file is not None
    return file


def wrong(text: str, *, path: str = "site.yaml", others: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """What is wrong below a head that is all right."""
    return read_site_file(HEAD + text, path=path, others=others or {})[1]


def pointed(text: str, finding: Finding) -> str:
    """The part of a text that a finding points at."""
    line = text.split("\n")[finding.line - 1]
    return line[finding.column - 1 : finding.column - 1 + finding.width]


def test_the_whole_format_is_read_without_a_finding() -> None:
    file = read(SITE_FILE, path=PATH, others=OTHERS)
    assert check_site(file) == ()
    assert (file.organization, file.site, file.holding) == ("org_lumen", "site_8fQ", "spc0000000000000empty")
    assert file.managed == {"settings", "visitors", "structure", "redirects", "customization"}
    assert file.policy.limits["redirects"] == Limits(10, 20, 30)
    assert file.orders[ROOT] == (
        Ref("section:start"),
        Ref("group:products"),
        Ref("section:developers"),
        Ref("section:allies"),
    )
    assert file.orders[Ref("group:products")] == (Ref("section:wallet"), Ref("section:identity"))
    developers = file.items[Ref("section:developers")]
    assert (developers.was, developers.fields["icon"], str(developers.where("path"))) == (
        ("api",),
        "code",
        "docs/site.yaml:65:13",
    )
    v3 = file.items[Ref("variant:developers/v3")]
    assert (v3.parent, v3.fields["space"]) == ("section:developers", "spc0000000000000apiv3")
    assert file.items[Ref("section:allies")].protect
    assert file.items[Ref("override:wallet/fr")].fields == {"reset": True}
    assert file.items[Ref("override:developers/v1")].fields["title"] is None
    site = file.items[Ref("customization:")]
    assert site.fields["styling.primaryColor.light"] == "#534AB7"
    assert site.fields["header.links"][0]["to"] == {"page": "changelog", "in": "start/en"}
    assert site.places["header.links.1.condition"].width == len("visitor.claims.ally == true")
    assert file.silenced == {(PATH, 69): frozenset({"SY202"})}
    assert set(file.absent) == {"/beta-program"}
    assert file.redirect_files == ("docs/redirects/2025-move.csv",) == list_named_files(SITE_FILE, path=PATH)


def test_every_top_level_key_is_in_the_whole_example() -> None:
    assert all(f"\n{key}:" in SITE_FILE for key in TOP)


def test_absent_null_and_a_value_are_three_things() -> None:
    file = read(HEAD + "structure:\n  items:\n    - { section: a, icon: null, title: Aa, variants: [] }\n")
    assert file.items[Ref("section:a")].fields == {"icon": None, "title": "Aa"}
    assert file.managed == {"structure"}


def test_an_unmanaged_order_is_no_order() -> None:
    text = "structure:\n  order: unmanaged\n  items:\n    - { group: g, items: [] }\n    - { section: a, title: Aa }\n"
    assert read(HEAD + text).orders == {"group:g": ()}


def test_a_redirect_keeps_its_pin_and_its_former_address() -> None:
    file = read(
        HEAD + "redirects:\n  - { from: /New%2dPath, to: { section: a }, id: rd_1, was: [/older], protect: true }\n"
    )
    item = file.items[Ref("redirect:/new-path")]
    assert (item.id, item.was, item.protect) == ("rd_1", ("/older",), True)
    assert item.fields == {"source": "/New%2dPath", "to": {"section": "a"}}


def test_what_is_declared_twice_is_kept_aside() -> None:
    file = read(HEAD + "redirects:\n  - { from: [/a, /A], to: { section: x } }\n")
    assert [item.fields["source"] for item in file.repeated] == ["/A"]


@pytest.mark.parametrize(
    ("text", "code", "at", "message"),
    [
        ("titel: x\n", "SY003", "titel", 'unknown key "titel"; did you mean "site"?'),
        ("settings: { title: 2024 }\n", "SY004", "2024", 'title 2024 is a number; quote it: "2024"'),
        (
            "settings: { title: 2024-05-01 }\n",
            "SY004",
            "2024-05-01",
            'title 2024-05-01 is a date; quote it: "2024-05-01"',
        ),
        ("settings: { title: No }\n", "SY004", "No", 'title No is a boolean to other readers of YAML; quote it: "No"'),
        ("settings: { title: true }\n", "SY004", "true", 'title true is a boolean; quote it: "true"'),
        *(
            (f"settings: {{ adaptive_content: {word} }}\n", "SY004", word, f"{word} is no boolean here; write {value}")
            for word, value in {"on": "true", "y": "true", "off": "false"}.items()
        ),
        ("settings:\n  title:\n", "SY004", "title", "title has no value; it must be text"),
        ("settings: { visibility: pubic }\n", "SY004", "pubic", 'did you mean "public"?'),
        ('settings:\n  title: "Docs\n', "SY001", '"', "this quoted text is not closed"),
        ("settings:\n\ttitle: Docs\n", "SY001", "\t", "a tab cannot indent"),
        ("settings: { hostname: a.b }\n", "SY003", "hostname", "the host name cannot be set through the API"),
        ("settings: { name: a }\n", "SY003", "name", 'unknown key "name"; did you mean "title"?'),
        ("settings: [a]\n", "SY004", "[a]", "settings is a list; it must be a mapping"),
        ("redirects: null\n", "SY004", "null", "redirects cannot be null; it must be a list"),
        ("redirects:\n  - { from: /a, to: { sectoin: b } }\n", "SY003", "sectoin", 'did you mean "section"?'),
        ("redirects:\n  - { from: /a, to: { url: x }, status: 301 }\n", "SY003", "status", "no status in the API"),
        ("redirects:\n  - { from: [/a, /b], to: { url: x }, id: 'r' }\n", "SY004", "'r'", "only beside a single from"),
        ("redirects:\n  - { to: { url: x } }\n", "SY004", "{ to: { url: x } }", "this redirect has no from"),
        ("policy: { prune: owned }\n", "SY004", "owned", "prune: owned is the older form, for redirects only"),
        ("policy: { prune: { redirects: some } }\n", "SY004", "some", 'prune.redirects is "some"; it must be never,'),
        ("policy: { limits: { structure: { max_delete: no } } }\n", "SY004", "no", "must be a whole number"),
        ("spaces: { a: '' }\n", "SY004", "''", "space a has no id"),
        (
            "structure:\n  items:\n    - { variant: v, title: V, space: s }\n",
            "SY003",
            "title",
            "variant titles cannot be set",
        ),
        ("structure:\n  items:\n    - { variant: v }\n", "SY004", "v", 'variant "v" has no space'),
        (
            "structure:\n  items:\n    - { section: a, variants: [{ section: b }] }\n",
            "SY003",
            "b",
            "cannot stand in a section",
        ),
        (
            "structure:\n  items: [{ title: Aa }]\n",
            "SY003",
            "{ title: Aa }",
            "says not which section or group or variant",
        ),
        ("customization: { overrides: { a/b: all } }\n", "SY004", "all", 'or "reset" to take all of it away'),
        ("customization: { site: { header.links: [] } }\n", "SY003", "[]", 'unknown key "header.links"'),
        ("visitors: { claims: { a: boolean } }\n", "SY004", "boolean", "must be a mapping such as { type: boolean }"),
        ("redirect_files: [../x.csv]\n", "SY004", "../x.csv", "leads out of the repository"),
        ("redirect_files: [a/*.csv]\n", "SY004", "a/*.csv", "list the files one by one"),
        ("redirect_files: [/etc/x.csv]\n", "SY004", "/etc/x.csv", "no path relative to the site file"),
        ("redirect_files: [.git/x.csv]\n", "SY004", ".git/x.csv", "leads into Git's own files"),
        ("redirect_files: [x.toml]\n", "SY004", "x.toml", "of no known kind"),
        ("redirect_files: [x.csv]\n", "SY001", "x.csv", "x.csv is named here and is not there"),
        ("redirect_files: [x.csv, x.csv]\n", "SY002", "x.csv", "is listed twice"),
        ("settings: { title: Aa, title: Bb }\n", "SY002", "title", '"title" is set twice (first at line 3)'),
    ],
)
def test_a_mistake_is_told_where_it_stands(text: str, code: str, at: str, message: str) -> None:
    found = [one for one in wrong(text) if one.code == code]
    assert found, wrong(text)
    assert pointed(HEAD + text, found[0]) == at
    assert message in found[0].message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("site: { org: o, id: s }\n", 1, "version is missing"),
        ("version: 2\nsight: x\n", 1, "version 2 needs a newer syncd"),
        ("version: '1'\nsite: { org: o, id: s }\n", 1, "version has to be 1"),
        ("version: 1.0\nsite: { org: o, id: s }\n", 1, "version has to be 1"),
        ("version: true\nsite: { org: o, id: s }\n", 1, "version has to be 1"),
        ("version: 1\n", 1, "site.id is missing"),
        ("version: 1\nsite: { org: o }\n", 2, "site.id is missing"),
        ("version: 1\nsite: { org: o, id: '' }\n", 2, "site.id is missing"),
        ("- a\n", 1, "this is no site file"),
        ("", 1, "this is no site file"),
    ],
)
def test_the_head_says_for_whom_the_file_is(text: str, line: int, message: str) -> None:
    file, findings = read_site_file(text, path="site.yaml", others={})
    assert (findings[0].code, findings[0].line) == ("SY005", line)
    assert message in findings[0].message
    assert (file is None) == ("newer" in message or "no site file" in message)


@pytest.mark.parametrize("text", ["a: [", "a: &b 1", "a: \x00", "a: " + "[" * 20, "[" * 100_000])
def test_what_is_no_yaml_is_one_finding(text: str) -> None:
    file, findings = read_site_file(text, path="site.yaml", others={})
    assert file is None
    assert [one.code for one in findings] == ["SY001"]


def test_all_mistakes_are_told_at_once_in_order() -> None:
    text = "settings: { titel: x, visibility: y }\nredirects:\n  - { from: 3, to: x }\npolicy: { prune: all }\n"
    found = wrong(text)
    assert [(one.line, one.code) for one in found] == [
        (3, "SY003"),
        (3, "SY004"),
        (5, "SY004"),
        (5, "SY004"),
        (6, "SY004"),
    ]
    assert list(found) == sorted(found)


def test_a_comment_silences_its_line_or_the_next() -> None:
    text = (
        "redirects:\n  # syncd: ignore SY306, SY307\n  - { from: /a, to: { section: a } }\n"
        "  - { from: /b, to: { section: a } } # syncd: ignore SY310\n"
    )
    silenced = read(HEAD + text).silenced
    assert silenced == {
        ("site.yaml", 5): frozenset({"SY306", "SY307"}),
        ("site.yaml", 6): frozenset({"SY310"}),
    }


def test_what_stands_in_a_text_is_no_comment() -> None:
    text = (
        "structure:\n  items:\n    - section: a\n      title: 'Say # syncd: ignore SY999'\n"
        '      "path": "say # syncd: ignore SY999" # syncd: ignore SY307\n'
        "      description: |\n        # syncd: ignore SY998\n      # syncd: ignore SY308\n      icon: gear\n"
        "redirect_files: [more.yaml]\n"
    )
    more = "- { from: /a, to: { section: a }, note: 'x # syncd: ignore SY999' } # syncd: ignore SY309\n"
    file, _ = read_site_file(HEAD + text, path="site.yaml", others={"more.yaml": more})
    assert file is not None
    assert file.silenced == {
        ("site.yaml", 7): frozenset({"SY307"}),
        ("site.yaml", 11): frozenset({"SY308"}),
        ("more.yaml", 1): frozenset({"SY309"}),
    }


def test_an_unknown_alias_stands_for_itself() -> None:
    file = read(
        HEAD + "structure:\n  items:\n    - { section: a, title: Aa, variants: [{ variant: v, space: nobody }] }\n"
    )
    assert file.items[Ref("variant:a/v")].fields["space"] == "nobody"


def test_own_hosts_are_addresses_with_or_without_a_path() -> None:
    file = read("version: 1\nsite: { org: o, id: s, hosts: [Docs.Example.org, https://example.org/docs/] }\n")
    assert file.hosts == (("docs.example.org", ""), ("example.org", "docs"))


CSV = (
    "Source,Destination,Note\n/a,section:x\n\n# syncd: ignore SY306\n"
    '/b,"https://x.example/?a,b","so ""they"" say"\n/c,page:get/started@x/en\n/d,/e\n/f\n/g,nothing\n"/h,section:x\n'
)


def test_csv_has_a_redirect_a_line() -> None:
    text = HEAD + "redirect_files: [more.csv]\n"
    file, findings = read_site_file(text, path="docs/site.yaml", others={"docs/more.csv": CSV})
    assert file is not None
    assert {item.fields["source"]: item.fields["to"] for item in file.items.values()} == {
        "/a": {"section": "x"},
        "/b": {"url": "https://x.example/?a,b"},
        "/c": {"page": "get/started", "in": "x/en"},
    }
    assert file.items[Ref("redirect:/c")].where("to") == Place("docs/more.csv", 6, 4, 21)
    assert file.silenced == {("docs/more.csv", 5): frozenset({"SY306"})}
    assert [(one.line, one.column, one.code) for one in findings] == [
        (7, 4, "SY303"),
        (8, 1, "SY004"),
        (9, 4, "SY303"),
        (10, 1, "SY001"),
    ]
    assert "site.hosts" in findings[0].hint


def test_the_columns_of_csv_may_be_named_below_a_comment() -> None:
    text, csv = HEAD + "redirect_files: [more.csv]\n", "\ufeff# from 2025\n\nsource,destination\n/source,section:x\n"
    assert read(text, others={"more.csv": csv}).items.keys() == {"redirect:/source"}


def test_a_path_leads_to_the_sites_own_host_where_that_is_known() -> None:
    text = "version: 1\nsite: { org: o, id: s, hosts: example.org/docs }\nredirect_files: [_redirects]\n"
    file = read(text, others={"_redirects": "# ours\n/a  /b  301 # moved\n/c\thttps://x.example/#y\n"})
    assert [item.fields["to"] for item in file.items.values()] == [
        {"url": "https://example.org/docs/b"},
        {"url": "https://x.example/#y"},
    ]


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("/a", "/a"),
        ("/a https://x.example 200", "200"),
        ("/a https://x.example 301!", "301!"),
        ("/a b", "b"),
        ("/a https://x.example 301 Country=de", "Country=de"),
        ("/a /b", "/b"),
        ("/a page:x", "page:x"),
    ],
)
def test_a_line_that_means_more_than_the_api_can_is_refused(line: str, at: str) -> None:
    found = wrong("redirect_files: [_redirects]\n", others={"_redirects": line})
    assert [pointed(line, one) for one in found] == [at]
    assert found[0].path == "_redirects"


def test_a_list_in_yaml_is_read_like_the_list_in_the_file() -> None:
    others = {"more.yaml": "- { from: /a, to: { section: x } }\n- { from: /b, too: x }\n"}
    file, findings = read_site_file(HEAD + "redirect_files: [more.yaml]\n", path="site.yaml", others=others)
    assert file is not None
    assert list(file.items) == ["redirect:/a", "redirect:/b"]
    assert [(one.path, one.line, one.column, one.code) for one in findings] == [("more.yaml", 2, 15, "SY003")]


def test_there_are_at_most_ten_redirect_files() -> None:
    names = ", ".join(f"{number}.csv" for number in range(12))
    found = wrong(f"redirect_files: [{names}]\n", others={f"{number}.csv": "" for number in range(12)})
    assert [(one.code, one.message) for one in found] == [("SY004", "there are more than 10 redirect files")]


YAML_ITEM = "  - {{ from: /old/section/path-{0}, to: {{ page: getting-started/quick-{0}, in: pay/en }} }}\n"
CSV_ITEM = "/old/section/path-{0},page:getting-started/quick-{0}@pay/en\n"


@pytest.mark.parametrize("kind", ["yaml", "csv"])
def test_thousands_of_redirects_are_read_in_linear_time(kind: str) -> None:
    def read_many(count: int) -> None:
        items = "".join(map((YAML_ITEM if kind == "yaml" else CSV_ITEM).format, range(count)))
        if kind == "yaml":
            assert len(read(f"{HEAD}redirects:\n{items}").items) == count
        else:
            assert len(read(f"{HEAD}redirect_files: [a.csv]\n", others={"a.csv": items}).items) == count

    assert_linear(read_many, 250)


def test_a_merge_that_was_not_settled_is_named_where_it_begins() -> None:
    text = "version: 1\n<<<<<<< HEAD\nsettings: { title: A }\n=======\nsettings: { title: B }\n>>>>>>> topic\n"
    (finding,) = read_site_file(text, path="site.yaml", others={})[1]
    assert (finding.code, finding.line, finding.message) == ("SY001", 2, "a merge was not settled here")


def test_a_destination_that_is_a_text_says_how_to_write_it() -> None:
    text = "version: 1\nredirects:\n  - { from: /a, to: /b }\n  - { from: /c, to: https://example.org/ }\n"
    hints = [
        one.hint
        for one in read_site_file(text, path="site.yaml", others={})[1]
        if one.message.startswith("to is the text")
    ]
    assert "{ page: PATH, in: SECTION/VARIANT }" in hints[0]
    assert hints[1] == "write { url: https://example.org/ }"


BOMBS: dict[str, Callable[[int], str]] = {
    "unknown keys": lambda size: "".join(f"k{n}: 1\n" for n in range(size)),
    "repeated keys": lambda size: "a: 1\n" * size,
    "long names": lambda size: "customization: { site: { ? " + "x" * 30 * size + " : { " + "a: {}, " * 10 + "} } }\n",
    "deep names": lambda size: (
        "customization:\n  site:\n"
        + "".join(" " * (4 + n) + f"{'y' * 1000}:\n" for n in range(10))
        + "".join(" " * 14 + f"k{n}: 1\n" for n in range(size))
    ),
    "long choices": lambda size: "settings: { visibility: " + "pub" * 30 * size + " }\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_hostile_file_is_refused_in_linear_time(bomb: str) -> None:
    def refused(size: int) -> None:
        assert wrong(BOMBS[bomb](size))

    assert_linear(refused, 1_250)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str, other: str) -> None:
    lines = SITE_FILE.split("\n")
    at = len(text) % len(lines)
    changed = "\n".join([*lines[:at], text, *lines[at + 1 :]])
    read_site_file(changed, path=PATH, others=dict.fromkeys(OTHERS, other))
