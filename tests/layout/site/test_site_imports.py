"""Files of other tools: what they say in the words of a site file, and what cannot be said."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import FileInvalid
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.write.emit import emit_site_file
from syncd.layout.site.write.imports import ImportContext, ImportedFile, import_file

HEAD = {"version": 1, "site": {"org": "o", "id": "s"}}


def resolve(path: str) -> Mapping[str, Any] | None:
    """A site that has every page but one."""
    return None if path == "/unknown" else {"page": path.strip("/"), "in": "docs/en"}


def import_redirects(
    text: str, path: str, around: ImportContext | None = None
) -> tuple[dict[str, Any], list[tuple[int, str]]]:
    """The redirects by their sources, and the remarks by their lines."""
    found = import_file(text, path=path, around=around or ImportContext(resolve=resolve))
    valid(found)
    redirects = {one["from"]: one["to"] for one in found.document.get("redirects", ())}
    return redirects, [(one.place.line, one.what) for one in found.remarks]


def valid(found: ImportedFile) -> None:
    """What is taken makes a site file that is all right."""
    text = emit_site_file({**HEAD, **found.document})
    assert read_site_file(text, path="site.yaml", others={})[1] == ()


REDIRECTS = """\
# moved in spring
/old /new
/away https://x.example/y   # elsewhere
/blog/* /news/:splat
/q id=:id /x 301
/page /other 200
/forced /new 301!
/soon /new 302
/de /new 302 Country=de
/alone
https://a.example/c /d
/\u00c4 /new
/OLD /other
/gone /unknown
/end/ /new
/start section:docs
"""


def test_netlify_and_cloudflare() -> None:
    redirects, remarks = import_redirects(REDIRECTS, "site/_redirects")
    new = {"page": "new", "in": "docs/en"}
    assert redirects == {
        "/old": new,
        "/away": {"url": "https://x.example/y"},
        "/forced": new,
        "/soon": new,
        "/%C3%84": new,
        "/end": new,
        "/start": {"section": "docs"},
    }
    assert [line for line, _ in remarks] == [4, 5, 6, 7, 9, 10, 11, 13, 14]
    assert "many addresses" in remarks[0][1]
    assert "depends on who asks: Country=de" in remarks[4][1]


def test_a_space_has_its_redirects_below_its_own_path() -> None:
    text = (
        "root: ./docs/\nredirects:\n  old/page: new-folder/page.md\n  setup: ./install/README.md\n  start: README.md\n"
        "  away: https://x.example\n  part: a.md#b\n  none:\n"
    )
    redirects, remarks = import_redirects(text, "guides/.gitbook.yaml", ImportContext("wallet/en", "wallet"))
    assert redirects == {
        "/wallet/old/page": {"page": "new-folder/page", "in": "wallet/en"},
        "/wallet/setup": {"page": "install", "in": "wallet/en"},
        "/wallet/start": {"variant": "wallet/en"},
        "/wallet/away": {"url": "https://x.example"},
        "/wallet/part": {"page": "a", "in": "wallet/en"},
    }
    assert [line for line, _ in remarks] == [7, 8]
    with pytest.raises(FileInvalid, match="the space is not known"):
        import_file(text, path=".gitbook.yaml")
    assert import_redirects("", ".gitbook.yaml", ImportContext("a/b")) == ({}, [])


def test_a_redirect_leads_to_the_page_of_its_file_wherever_that_is() -> None:
    text = "root: ./docs/\nredirects:\n  old: contents/9/setup.md\n  start: README.md\n  none: gone.md\n"
    pages = {"docs/contents/9/setup.md": "guide/set-up", "docs/README.md": ""}
    redirects, remarks = import_redirects(text, ".gitbook.yaml", ImportContext("wallet/en", "wallet", pages=pages))
    assert redirects == {
        "/wallet/old": {"page": "guide/set-up", "in": "wallet/en"},
        "/wallet/start": {"variant": "wallet/en"},
    }
    assert [(line, "file of no page" in what) for line, what in remarks] == [(5, True)]


def test_mintlify() -> None:
    text = (
        '{\n\t"name": "Wallet \\ud83d\\ude00 \\\\u",\n\t"redirects": [\n\t\t{"source": "/a", "destination": "/b"},\n'
        '\t\t{"source": "/a/:slug*", "destination": "/b/:slug*"},\n'
        '\t\t{"source": "/c", "destination": "https:\\/\\/x.example", "permanent": false},\n'
        '\t\t{"source": "/d"}\n\t]\n}\n'
    )
    redirects, remarks = import_redirects(text, "docs.json")
    assert redirects == {"/a": {"page": "b", "in": "docs/en"}, "/c": {"url": "https://x.example"}}
    assert [line for line, _ in remarks] == [5, 6, 7]


def test_csv_and_yaml_are_taken_as_they_are() -> None:
    assert import_redirects("source,destination\n/a,section:x\n/b,c\n", "a.csv") == (
        {"/a": {"section": "x"}},
        [(3, '"c" is no destination')],
    )
    assert import_redirects("- { from: [/a, /b], to: { section: x } }\n", "a.yaml")[0] == {
        "/a": {"section": "x"},
        "/b": {"section": "x"},
    }


STRUCTURE = """\
$schema: https://docs.example/schema
site:
  title: Lumen
  structure:
    - type: section
      key: Section 1
      title: Docs
      localizedTitle: { fr: Documentation }
      path: docs
      icon: book
      default: true
      children:
        - { type: space, key: en, title: English, path: en, default: true, content: { directory: ./docs/en } }
        - type: space
          key: fr
          path: fr
          hidden: true
          condition: visitor.claims.a == true
          content: { directory: null }
    - type: section-group
      key: more
      title: 2024
      draft: true
      children:
        - { type: section, key: en, title: News, path: news, children: [] }
        - { type: external-link, key: x, title: Status, url: https://status.example }
    - { type: [odd] }
"""


def test_the_platforms_own_structure_file() -> None:
    found = import_file(STRUCTURE, path="docs.yaml", around=ImportContext(spaces={"docs/en": "spc1"}))
    valid(found)
    assert found.document == {
        "spaces": {"en": "spc1"},
        "settings": {"title": "Lumen"},
        "structure": {
            "items": [
                {
                    "section": "section-1",
                    "title": "Docs",
                    "path": "docs",
                    "icon": "book",
                    "default": True,
                    "variants": [
                        {"variant": "en", "space": "en", "path": "en", "default": True},
                        {
                            "variant": "fr",
                            "space": "fr",
                            "path": "fr",
                            "condition": "visitor.claims.a == true",
                            "hidden": True,
                        },
                    ],
                },
                {
                    "group": "more",
                    "title": "2024",
                    "items": [{"section": "en-2", "title": "News", "path": "news", "variants": []}],
                },
            ]
        },
    }
    assert [one.place.line for one in found.remarks] == [5, 8, 13, 14, 23, 25, 26, 27]


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("vercel.toml", "", "no kind that can be imported"),
        ("docs.yaml", "title: x", "declares no site"),
        ("docs.json", "[]", "is not a mapping"),
        ("docs.json", "{", "docs.json:1"),
    ],
)
def test_what_cannot_be_read_is_refused(path: str, text: str, message: str) -> None:
    with pytest.raises(FileInvalid, match=message):
        import_file(text, path=path)


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(["_redirects", "a.csv", "docs.json", "docs.yaml", ".gitbook.yaml"]), st.data())
def test_any_file_makes_a_valid_part_of_a_site_file_or_is_refused(path: str, data: st.DataObject) -> None:
    usual = {"_redirects": REDIRECTS, "docs.yaml": STRUCTURE}.get(path, '{"redirects": [{"source": "/a"}]}')
    at = data.draw(st.integers(0, len(usual)))
    text = usual[:at] + data.draw(st.text(max_size=30)) + usual[at + data.draw(st.integers(0, 30)) :]
    try:
        found = import_file(text, path=path, around=ImportContext("docs/en", resolve=resolve))
    except FileInvalid:
        return
    valid(found)
