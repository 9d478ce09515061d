"""The rules of `syncd check`: each finds what it is for, where it is, and nothing in a good space."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.lint.check import check_space, select_findings
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.rules import RULES, find_codes
from syncd.layout.lint.space import SpaceFile
from tests.growing import assert_linear

SUMMARY = "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
GOOD: dict[str, str | bytes] = {
    "README.md": "# Home\n\nSee [setup](guide/setup.md#first-step), "
    "![x](.gitbook/assets/x%20\\(1\\).png) and [g](guide/).\n",
    "SUMMARY.md": SUMMARY,
    "guide/README.md": "---\ndescription: Short\nvars:\n  colour: red\n---\n\n# Guide\n\n"
    '<code class="expression">space.vars.name</code> <code class="expression">page.vars.colour</code>\n',
    "guide/setup.md": '# Setup\n\n## First step\n\n{% include "../.gitbook/includes/note.md" %}\n\n`<person>` &lt;b>\n',
    ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nMind [the home page](../../README.md).\n",
    ".gitbook/assets/x (1).png": b"\x89PNG one",
    ".gitbook/vars.yaml": "name: syncd\n",
    ".gitbook/tags.yaml": "- tag: new\n  label: New\n",
    ".gitbook.yaml": "redirects:\n  old/setup: guide/setup.md\n",
    "LICENSE.md": "Do as you like.\n",
    "node_modules/left-pad/README.md": "# left-pad\n",
}
CONFLICT = "<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n"


def items(files: Mapping[str, str | bytes]) -> dict[str, SpaceFile]:
    bodies = {path: body.encode() if isinstance(body, str) else body for path, body in files.items()}
    return {path: SpaceFile(len(body), lambda body=body: body) for path, body in bodies.items()}  # type: ignore[misc]


def found(files: Mapping[str, str | bytes | None]) -> list[Finding]:
    """What is found in the good space with these files in it, None for one that is taken out."""
    changed = {path: body for path, body in {**GOOD, **files}.items() if body is not None}
    return check_space(items(changed))


def page(text: str) -> dict[str, str | bytes | None]:
    return {"guide/setup.md": f"# Setup\n\n## First step\n\n{text}"}


def openapi(specification: str) -> dict[str, str | bytes | None]:
    """A page that shows GET /pets of a specification."""
    at = "../.gitbook/assets/api.yaml"
    block = f'{{% openapi src="{at}" path="/pets" method="get" %}}\n[api.yaml]({at})\n{{% endopenapi %}}\n'
    return {**page(block), ".gitbook/assets/api.yaml": specification}


HERE = "guide/setup.md"
EXAMPLES: list[tuple[str, Mapping[str, str | bytes | None], tuple[str, int, int]]] = [
    ("link-broken", page("See [x](missing.md).\n"), (HERE, 5, 9)),
    ("link-broken", page("![x](../.gitbook/assets/y.png)\n"), (HERE, 5, 6)),
    ("link-broken", page("[x](/broken/pages/abc)\n"), (HERE, 5, 5)),
    ("link-broken", page('<a href="..\\README.md">x</a>\n'), (HERE, 5, 10)),
    ("link-broken", {"guide/setup.md": "---\ncover: y.png\n---\n\n# Setup\n\n## First step\n"}, (HERE, 2, 8)),
    ("link-broken", {"SUMMARY.md": SUMMARY + "* [File](missing.pdf)\n"}, ("SUMMARY.md", 6, 10)),
    ("link-case", page("[x](../readme.md)\n"), (HERE, 5, 5)),
    ("link-case", {"SUMMARY.md": SUMMARY.replace("setup.md", "Setup.md")}, ("SUMMARY.md", 5, 13)),
    ("link-anchor", page("[x](../README.md#nowhere)\n"), (HERE, 5, 5)),
    ("link-anchor", page("[x](#first-stop)\n"), (HERE, 5, 5)),
    ("link-anchor", page("[x](#setup)\n"), (HERE, 5, 5)),
    ("link-anchor", {"SUMMARY.md": SUMMARY + "* [Later](guide/setup.md#nowhere)\n"}, ("SUMMARY.md", 6, 25)),
    ("link-outside", page("[x](../../other/page.md)\n"), (HERE, 5, 5)),
    ("link-absolute", page("[x](/guide/README.md)\n"), (HERE, 5, 5)),
    ("link-unlisted", page("[x](../LICENSE.md)\n"), (HERE, 5, 5)),
    ("include-missing", page('{% include "../.gitbook/includes/nte.md" %}\n'), (HERE, 5, 13)),
    ("include-cycle", {".gitbook/includes/note.md": '{% include "note.md" %}\n'}, (".gitbook/includes/note.md", 1, 13)),
    ("openapi-invalid", openapi('openapi: 3.1.0\npaths: {"/pets": {get: {summary: x}}\n'), (HERE, 5, 17)),
    ("openapi-invalid", openapi("- one\n"), (HERE, 5, 17)),
    ("openapi-unread", openapi("openapi: 3.1.0\npaths: &all {}\n"), (HERE, 5, 17)),
    ("openapi-operation", openapi("swagger: '2.0'\npaths: {/pets: {post: {summary: x}}}\n"), (HERE, 5, 52)),
    ("summary-invalid", {"SUMMARY.md": SUMMARY + "\nSome prose.\n"}, ("SUMMARY.md", 7, 1)),
    ("summary-missing", {"SUMMARY.md": SUMMARY + "* [Gone](gone.md)\n"}, ("SUMMARY.md", 6, 10)),
    ("summary-missing", {"SUMMARY.md": SUMMARY + "* [Gone](gone.md#part)\n"}, ("SUMMARY.md", 6, 10)),
    ("summary-outside", {"SUMMARY.md": SUMMARY + "* [Else](../else.md)\n"}, ("SUMMARY.md", 6, 10)),
    ("summary-twice", {"SUMMARY.md": SUMMARY + "* [Again](README.md)\n"}, ("SUMMARY.md", 6, 11)),
    ("summary-absent", {"SUMMARY.md": None}, ("SUMMARY.md", 1, 1)),
    ("page-unlisted", {"guide/extra.md": "# Extra\n"}, ("guide/extra.md", 1, 1)),
    ("page-unlisted", {"new/a.md": "# A\n", "new/deep/b.md": "# B\n"}, ("new/a.md", 1, 1)),
    ("page-empty", {HERE: "# Setup\n", "README.md": "# Home\n\n![](<.gitbook/assets/x (1).png>)\n"}, (HERE, 1, 1)),
    ("title-missing", {"guide/setup.md": "Words.\n\n# Setup\n\n## First step\n"}, (HERE, 3, 1)),
    ("title-missing", {"guide/setup.md": "Words.\n\n## First step\n"}, (HERE, 1, 1)),
    ("title-differs", {"guide/setup.md": "# Set it up\n\n## First step\n"}, (HERE, 1, 1)),
    ("frontmatter-invalid", {HERE: "---\ndescription: Note: this\n---\n\n# Setup\n\n## First step\n"}, (HERE, 2, 18)),
    ("frontmatter-invalid", {HERE: "---\nlayout:\n\twidth: wide\n---\n\n# Setup\n\n## First step\n"}, (HERE, 3, 1)),
    ("frontmatter-invalid", {HERE: "---\nhidden: true\n\n# Setup\n\n## First step\n"}, (HERE, 1, 1)),
    ("frontmatter-invalid", {HERE: "\n---\nhidden: true\n---\n\n# Setup\n\n## First step\n"}, (HERE, 1, 1)),
    ("frontmatter-type", {HERE: "---\nhidden: perhaps\n---\n\n# Setup\n\n## First step\n"}, (HERE, 2, 1)),
    ("frontmatter-comment", {HERE: "---\ndescription: Issue #1\n---\n\n# Setup\n\n## First step\n"}, (HERE, 2, 20)),
    ("description-long", {HERE: f"---\ndescription: {'x' * 201}\n---\n\n# Setup\n\n## First step\n"}, (HERE, 2, 1)),
    ("not-utf8", {HERE: b"# Setup\n\n## First step\n\n\xff\n"}, (HERE, 5, 1)),
    ("nul-character", {HERE: b"# Setup\n\n## First step\n\n\xc3\xa4\0\n"}, (HERE, 5, 2)),
    ("angle-text", page("opened by <person>, `<code>` and \\<escaped>\n"), (HERE, 5, 11)),
    ("block-unclosed", page('{% hint style="info" %}\nWords.\n'), (HERE, 5, 1)),
    ("block-unclosed", page("{% endtabs %}\n"), (HERE, 5, 1)),
    ("block-unclosed", page("<details>\n\n<summary>More</summary>\n"), (HERE, 5, 1)),
    ("condition-inline", page("For you {% if visitor.claims.isStaff %}only{% endif %}.\n"), (HERE, 5, 9)),
    ("condition-inline", page("{%- if visitor.claims.isStaff -%}\nOnly.\n{%- endif -%}\n"), (HERE, 5, 1)),
    ("condition-inline", page("<div>{% if visitor.claims.isStaff %}x{% endif %}</div>\n"), (HERE, 5, 6)),
    ("condition-inline", page("{% if a %}\nA.\n{% else %}\nB.\n{% endif %}\n"), (HERE, 7, 1)),
    ("tag-lines", page('{% @mermaid/diagram\ncontent="x" %}\n'), (HERE, 5, 1)),
    ("data-uri", page("![x](data:image/png;base64,AAAA)\n"), (HERE, 5, 6)),
    ("conflict-marker", page(CONFLICT), (HERE, 5, 1)),
    ("conflict-marker", {"LICENSE.md": CONFLICT}, ("LICENSE.md", 1, 1)),
    ("conflict-in-code", page(f"```diff\n{CONFLICT}```\n"), (HERE, 6, 1)),
    ("variable-undefined", page('<code class="expression">space.vars.nme</code>\n'), (HERE, 5, 26)),
    ("variable-undefined", page('{% if page.vars.colour == "red" %}\nRed.\n{% endif %}\n'), (HERE, 5, 7)),
    ("variables-invalid", {".gitbook/vars.yaml": "name:\n  - list\n"}, (".gitbook/vars.yaml", 1, 1)),
    ("tags-invalid", {".gitbook/tags.yaml": "tag: new\n"}, (".gitbook/tags.yaml", 1, 1)),
    ("settings-invalid", {".gitbook.yaml": "redirect:\n  a: b.md\n"}, (".gitbook.yaml", 1, 1)),
    ("settings-unseen", {".gitbook.yaml": "root: ./\n\u200bredirects:\n  a: README.md\n"}, (".gitbook.yaml", 2, 1)),
    ("redirects-empty", {".gitbook.yaml": "root: ./\nredirects:\n"}, (".gitbook.yaml", 2, 1)),
    ("redirect-missing", {".gitbook.yaml": "redirects:\n  old: gone.md\n"}, (".gitbook.yaml", 2, 3)),
    ("redirect-form", {".gitbook.yaml": "redirects:\n  /old: ./guide/setup.md\n"}, (".gitbook.yaml", 2, 3)),
    ("redirect-shadowed", {".gitbook.yaml": "redirects:\n  Guide/Setup: README.md\n"}, (".gitbook.yaml", 2, 3)),
    (
        "asset-duplicate",
        {".gitbook/assets/x.png": b"\x89PNG one", **page("![](../.gitbook/assets/x.png)\n")},
        (".gitbook/assets/x (1).png", 1, 1),
    ),
    ("asset-unused", {".gitbook/assets/y.png": b"two"}, (".gitbook/assets/y.png", 1, 1)),
    (
        "page-long",
        {"guide/README.md": b"# Guide\n\n" + b"x" * 1_000_001, ".gitbook/vars.yaml": None},
        ("guide/README.md", 1, 1),
    ),
    ("asset-large", {".gitbook/assets/x (1).png": b"x" * 1_000_001}, (".gitbook/assets/x (1).png", 1, 1)),
    (
        "name-unsafe",
        {"guide/a:b.md": "# Odd\n\nText.\n", "SUMMARY.md": SUMMARY + "* [Odd](guide/a:b.md)\n"},
        ("guide/a:b.md", 1, 1),
    ),
    (
        "name-collision",
        {"guide/SETUP.md": "# Other\n\nText.\n", "SUMMARY.md": SUMMARY + "* [Other](guide/SETUP.md)\n"},
        ("guide/SETUP.md", 1, 1),
    ),
    (
        "lfs-pointer",
        {".gitbook/assets/x (1).png": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"},
        (".gitbook/assets/x (1).png", 1, 1),
    ),
    ("ignore-unknown", page("<!-- syncd-check: ignore link-brokn -->\nWords.\n"), (HERE, 5, 26)),
]


@pytest.mark.parametrize(("code", "files", "place"), EXAMPLES)
def test_a_rule_finds_what_it_is_for_and_nothing_else(
    code: str, files: Mapping[str, str | bytes | None], place: tuple[str, int, int]
) -> None:
    assert [(one.code, (one.path, one.line, one.column)) for one in found(files)] == [(code, place)]


def test_a_redirect_names_the_side_that_starts_with_a_slash() -> None:
    redirects = "redirects:\n  old: ./a.md\n  /older: a.md\n"
    files = {"SUMMARY.md": "* [A](a.md)\n", "a.md": "# A\n", ".gitbook.yaml": redirects}
    found = [one for one in check_space(items(files)) if one.code == "redirect-form"]
    assert [(one.line, one.message, one.hint) for one in found] == [
        (2, "'./a.md' starts with ./", "write a.md"),
        (3, "'/older' starts with /", "write older"),
    ]


def test_a_good_space_has_no_findings() -> None:
    assert found({}) == []


def test_every_rule_has_an_example() -> None:
    # A file of more than 100 MiB is said to be one below.
    assert {code for code, _, _ in EXAMPLES} == RULES.keys() - {"asset-huge"}


def test_a_specification_is_told_once_a_page_with_the_place_of_its_mistake() -> None:
    block = str(openapi("")[HERE]).partition("step\n\n")[2]
    broken = openapi("openapi: 3.1.0\npaths:\n  /pets:\n\tget: {}\n")
    (one,) = found({**broken, HERE: f"{broken[HERE]!s}\n{block}"})
    assert (one.code, one.message) == ("openapi-invalid", ".gitbook/assets/api.yaml:4:1: a tab cannot indent")
    assert found(openapi('{"swagger": "2.0", "paths": {"/pets": {"get": {"summary": "x"}}}}')) == []


@pytest.mark.parametrize(
    ("paths", "hint"),
    [
        ("{/pets: {post: {summary: x}, parameters: []}}", "it has POST there"),
        ("{/pet: {get: {summary: x}}}", "did you mean get /pet?"),
        ("{/pets: {$ref: '#/components/pathItems/Pets'}}", "it has PUT there"),
        ("[]", ""),
    ],
)
def test_a_missing_operation_is_told_with_what_is_there(paths: str, hint: str) -> None:
    (one,) = found(openapi(f"openapi: 3.1.0\npaths: {paths}\ncomponents: {{pathItems: {{Pets: {{put: {{a: b}}}}}}}}\n"))
    assert (one.code, one.message) == ("openapi-operation", "'.gitbook/assets/api.yaml' has no operation GET '/pets'")
    assert one.hint == hint


def test_many_missing_operations_of_a_large_specification_cost_what_they_are() -> None:
    def check(size: int) -> None:
        block = '{% openapi src="api.yaml" path="/none" method="get" %}\n'
        paths = "".join(f"  /p{number}: {{get: {{}}}}\n" for number in range(size))
        check_space(items({"README.md": f"# A\n\n{block * size}", "api.yaml": f"openapi: 3.1.0\npaths:\n{paths}"}))

    assert_linear(check, 100)


def test_each_tag_of_a_cycle_of_includes_is_told_and_content_that_two_include_is_no_cycle() -> None:
    folder = ".gitbook/includes"
    files: dict[str, str | bytes | None] = {
        f"{folder}/note.md": '{% include "a.md" %}\n\n{% include "b.md" %}\n',
        f"{folder}/a.md": '{% include "b.md" %}\n',
        f"{folder}/b.md": "Words.\n",
    }
    assert found(files) == []
    found_now = found({**files, f"{folder}/b.md": 'Words.\n\n{% include "note.md" %}\n'})
    assert [(one.code, one.path, one.line) for one in found_now] == [
        ("include-cycle", f"{folder}/a.md", 1),
        ("include-cycle", f"{folder}/b.md", 3),
        ("include-cycle", f"{folder}/note.md", 1),
    ]
    names = [f"'{folder}/{name}.md'" for name in ("a", "b", "note", "a")]
    assert found_now[0].message == f"this includes itself: {' includes '.join(names)}"


def test_a_huge_file_is_found_without_being_read() -> None:
    def read() -> bytes:
        raise AssertionError

    huge = {**items(GOOD), ".gitbook/assets/x (1).png": SpaceFile(101 << 20, read)}
    assert [one.code for one in check_space(huge)] == ["asset-huge"]


@pytest.mark.parametrize(
    ("code", "files", "hint"),
    [
        ("link-broken", page("[x](../guid/setup.md)\n"), "did you mean setup.md?"),
        ("link-broken", page("[x](setpu.md)\n"), "did you mean setup.md?"),
        ("link-case", page("[x](../readme.md)\n"), "write ../README.md"),
        ("link-case", page("[x](cafe\u0301.md)\n") | {"guide/caf\u00e9.md": "# C\n"}, "write caf\u00e9.md"),
        (
            "link-case",
            page("[x](caf\u00e9.md)\n") | {"guide/cafe\u0301.md": "# C\n"},
            r"in the directory of the space: git mv $'guide/cafe\xcc\x81.md' 'guide/café.md'",
        ),
        (
            "link-case",
            {"SUMMARY.md": f"{SUMMARY}* [C](caf\u00e9.md)\n", "cafe\u0301.md": "# C\n"},
            r"in the directory of the space: git mv $'cafe\xcc\x81.md' 'café.md'",
        ),
        ("link-anchor", page("[x](#first-stop)\n"), "did you mean #first-step?"),
        ("link-anchor", page("[x](#setup)\n"), "name a heading below the title"),
        ("link-absolute", page("[x](/guide/)\n"), "write README.md"),
        ("link-outside", page("[x](../../README.md)\n"), ""),
        ("include-missing", page('{% include "../.gitbook/includes/nte.md" %}\n'), "note.md"),
        ("summary-missing", {"SUMMARY.md": SUMMARY.replace("setup.md", "stup.md")}, "guide/setup.md"),
        ("variable-undefined", page('<code class="expression">space.vars.nme</code>\n'), "did you mean name?"),
        ("frontmatter-invalid", {HERE: "---\na: b: c\n---\n# Setup\n## First step\n"}, "quote the value"),
        ("ignore-unknown", page("<!-- syncd-check: ignore link-brokn -->\nWords.\n"), "link-broken"),
    ],
)
def test_a_hint_names_what_was_probably_meant(code: str, files: Mapping[str, str | bytes | None], hint: str) -> None:
    (one,) = [one for one in found(files) if one.code == code]
    assert hint in one.hint


def test_a_title_that_differs_is_told_as_readers_see_it() -> None:
    [one] = found({HERE: "# Set it up\n\n## First step\n"})
    assert one.message == "readers see 'Setup', the title in SUMMARY.md, not the heading 'Set it up'"


@pytest.mark.parametrize(
    "text",
    [
        "`[x](missing.md)` and ``<person>``\n",
        "```\n<person> [x](missing.md) {% hint %}\n```\n",
        "    <person> [x](missing.md)\n",
        "<!-- <person> [x](missing.md)\n\n{% hint %} -->\n",
        "<pre><code>&lt; <T> {% tabs %}\n</code></pre>\n",
        "$$a <b> c$$ and 1 < 2 > 0, `List<String>`, <https://example.org>, <me@example.org>\n",
        '<figure><img src="https://example.org/x.png" alt=""><figcaption><p>x</p></figcaption></figure>\n',
        "[spaces](<../.gitbook/assets/x (1).png>)\n",
        '[x](https://example.org/y.md#z "t") [m](mailto:a@b.c) [s](https://app.gitbook.com/s/abc/y)\n',
        '{% tabs %}\n{% tab title="A" %}\n{% hint style="info" %}\nx\n{% endhint %}\n{% endtab %}\n{% endtabs %}\n',
        '{% embed url="https://example.org" %}\n\n{% embed url="https://example.org" %}\nCaption\n{% endembed %}\n',
        "{% unknown %}\n\n{% raw %}x{% endraw %}\n",
        '<h2 id="own">x</h2>\n\n[x](#own) [y](README.md) [z](.) [q](./) [n](../guide)\n',
        "Heading\n=======\n\nText\n",
        "[x](/pages/abc) ![y](/files/def)\n",
    ],
)
def test_what_is_right_is_left_alone(text: str) -> None:
    assert [one for one in found(page(text)) if one.code != "asset-unused"] == []


def test_a_comment_silences_the_next_line_the_block_there_or_the_file() -> None:
    ignore = "<!-- syncd-check: ignore {} -->\n"
    assert found(page(ignore.format("link-broken, angle-text") + "[x](missing.md) <person>\n")) == []
    assert found(page(ignore.format("conflict") + f"\n```diff\n{CONFLICT}```\n")) == []
    assert found({"guide/extra.md": "# Extra\n\nText.\n\n" + ignore.format("page-unlisted")}) == []
    later = found(page(ignore.format("link-broken") + "Words.\n[x](missing.md)\n"))
    assert [one.code for one in later] == ["link-broken"]
    in_code = found(page("```\n" + ignore.format("link-broken") + "```\n[x](missing.md)\n"))
    assert [one.code for one in in_code] == ["link-broken"]


def test_a_table_of_contents_below_another_root_is_read_there() -> None:
    files = {f"docs/{path}": body for path, body in GOOD.items() if path != ".gitbook.yaml"}
    settings = {".gitbook.yaml": "root: ./docs/\nredirects:\n  old: guide/setup.md\n"}
    assert check_space(items({**files, **settings})) == []
    outside = {**files, **settings, "docs/README.md": "# Home\n\n[x](../CONTRIBUTING.md)\n", "CONTRIBUTING.md": "x"}
    codes = [one.code for one in check_space(items(outside)) if one.code != "asset-unused"]
    assert codes == ["link-outside"]


def test_a_link_to_another_space_is_told_the_address_of_its_page() -> None:
    known = {"../api/use.md": "https://app.gitbook.com/s/1/use"}
    text = {HERE: "# Setup\n\n## First step\n\n[x](../../api/use.md#top)\n"}
    (one,) = [
        one
        for one in check_space(items({**GOOD, **text}), find_address=lambda path: known.get(path, ""))
        if one.code == "link-outside"
    ]
    assert one.hint == "write https://app.gitbook.com/s/1/use#top"


def test_findings_are_chosen_by_code_or_by_first_word() -> None:
    everything = found(page("[x](missing.md) <person> [y](../readme.md)\n"))
    assert [one.code for one in select_findings(everything, find_codes(["link"]), set())] == [
        "link-broken",
        "link-case",
    ]
    assert [one.code for one in select_findings(everything, set(), find_codes(["link-case", "angle"]))] == [
        "link-broken"
    ]
    with pytest.raises(KeyError):
        find_codes(["lnk"])


HOSTILE = ("<", "[", "{% hint %}", "{% @a/b\n", "`a``", "](x", "<!--", "<details>", "<a ", "{%", "$$", "---\n", "#")


@pytest.mark.parametrize("sign", [*HOSTILE[:6], *(pytest.param(sign, marks=pytest.mark.long) for sign in HOSTILE[6:])])
def test_time_grows_with_the_text_and_no_faster(sign: str) -> None:
    assert_linear(lambda times: found(page(sign * times)), 500)


_PATHS = ("README.md", "SUMMARY.md", "guide/a.md", ".gitbook.yaml", ".gitbook/vars.yaml", ".gitbook/includes/i.md")
_PIECES = st.sampled_from(
    [
        *HOSTILE,
        "\n",
        "* [a](guide/a.md)\n",
        "* ",
        "## ",
        "[a](b.md)",
        "redirects:\n",
        " a: b\n",
        "\t",
        "\r\n",
        "\0",
        "é",
    ]
)
MANUAL = Path(__file__).parents[2] / "syncd" / "manual"
_TEXTS = st.lists(_PIECES, max_size=30).map("".join).map(str.encode) | st.binary(max_size=60)


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from(_PATHS), _TEXTS))
def test_no_bytes_stop_the_check(files: dict[str, bytes]) -> None:
    for one in check_space(items(files)):
        assert one.line >= 1
        assert one.column >= 1
        assert one.code in RULES


def test_real_documentation_has_only_findings_that_are_true(corpora: Path | None) -> None:
    top = corpora / "learn-go-with-tests" if corpora is not None else MANUAL
    paths = [path for path in top.rglob("*") if path.is_file() and "/.git/" not in path.as_posix()]
    files = {path.relative_to(top).as_posix(): SpaceFile(path.stat().st_size, path.read_bytes) for path in paths}
    found = sorted(one.code for one in check_space(files) if one.severity != "info")
    if corpora is None:
        assert found == []
        return
    assert found == [
        *("asset-duplicate", "asset-unused", "link-absolute", "link-anchor", "link-outside"),
        *("link-unlisted", "page-unlisted"),
    ]


def test_an_expression_that_is_shown_as_code_uses_no_variable() -> None:
    shown = '`<code class="expression">space.vars.none</code>` and `{% if page.vars.none %}`\n'
    assert [one.code for one in found(page(shown))] == []
    used = '<code class="expression">space.vars.none</code>\n'
    assert [one.code for one in found(page(used))] == ["variable-undefined"]


def test_a_markdown_file_that_is_offered_as_a_file_is_no_page() -> None:
    offered = {".gitbook/assets/prompt.md": "Do it.\n", **page('{% file src="../.gitbook/assets/prompt.md" %}\n')}
    assert [one.code for one in found(offered)] == []
