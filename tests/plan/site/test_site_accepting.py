"""What somebody changed on the platform is written where the site file speaks of it, and nothing else is."""

from typing import Any

from syncd.layout.site.read.file import read_site_file
from syncd.model.ref import AREAS, Ref
from syncd.plan.site.drift.accept import AcceptedDrift, accept_drift
from syncd.plan.site.live_state import IdOf, LiveSite
from syncd.plan.site.steps import FieldChange, Line, SitePlan

TEXT = """\
version: 1
site: { org: o, id: s }
spaces: { guides: space1, other: space2 }
settings:
  title: Ours   # known to everybody
visitors:
  claims: { beta: { type: boolean, description: Ours. } }
structure:
  items:
    - section: guides
      title: Guides
      path: guides
      variants: [{ variant: en, space: guides, path: en, default: true }]
redirects:
  - { from: /a, to: { section: guides } }   # one
  - { from: [/b, /c], to: { section: guides } }
redirect_files: [more.csv]
customization:
  site:
    styling: { theme: clean }
"""
CSV = "source,destination\n/d,section:guides\n"
PAGE = {"kind": "site-page", "siteSpaceId": IdOf(Ref("variant:guides/en")), "pageId": "p1"}


def accepted(
    *drift: tuple[str, str, Any], of: str = "drift", areas: tuple[str, ...] = AREAS, text: str = TEXT
) -> AcceptedDrift:
    texts = {"site.yaml": text, "more.csv": CSV}
    file, findings = read_site_file(text, path="site.yaml", others={"more.csv": CSV})
    assert file is not None
    assert not [one for one in findings if one.severity == "error"]
    lines = [
        Line("report", Ref(ref), (FieldChange(name, value, None, of),) if name else (), gone="" if name else of)  # type: ignore[arg-type]
        for ref, name, value in drift
    ]
    live = LiveSite(pages={"space1": {"get/started": "p1"}})
    return accept_drift(file, texts, live, SitePlan("s", tuple(lines)), areas=frozenset(areas))  # type: ignore[arg-type]


def changed(found: AcceptedDrift) -> list[str]:
    """The lines that a file has now and did not have."""
    return [line for line in found.texts["site.yaml"].splitlines() if line not in TEXT.splitlines()]


def test_values_are_written_in_the_words_of_the_file_and_comments_stay() -> None:
    found = accepted(
        ("site:", "title", "Theirs"),
        ("visitors:", "claims.beta", {"type": "boolean", "description": "Theirs."}),
        ("section:guides", "title", "Their guides"),
        ("variant:guides/en", "space", "other"),
        ("redirect:/a", "destination", PAGE),
        ("customization:", "styling.theme", "bold"),
    )
    assert found.left == ()
    assert changed(found) == [
        "  title: Theirs   # known to everybody",
        "  claims: { beta: { type: boolean, description: Theirs. } }",
        "      title: Their guides",
        "      variants: [{ variant: en, space: other, path: en, default: true }]",
        "  - { from: /a, to: { page: get/started, in: guides/en } }   # one",
        "    styling: { theme: bold }",
    ]


def test_what_cannot_be_written_is_left_to_a_person_and_named() -> None:
    external = {"kind": "external", "url": "https://example.org"}
    found = accepted(
        ("redirect:/b", "destination", external),
        ("redirect:/d", "destination", external),
        ("variant:guides/en", "space", "nowhere"),
    )
    assert found.texts == {}
    assert found.fields == ()
    assert [sentence.partition(":/")[0] for sentence in found.left[:2]] == ["redirect", "redirect"]
    assert "several sources share" in found.left[0]
    assert "more.csv" in found.left[1]
    assert "nowhere" in found.left[2]


def test_a_conflict_another_area_and_what_the_file_says_already_change_nothing() -> None:
    assert accepted(("site:", "title", "Theirs"), of="conflict").texts == {}
    assert accepted(("site:", "title", "Theirs"), areas=("redirects",)).texts == {}
    assert accepted(("section:guides", "title", "Guides")).texts == {}


def gone(*refs: str, text: str = TEXT, of: str = "drift") -> AcceptedDrift:
    """What becomes of the files when somebody has deleted these."""
    return accepted(*((ref, "", None) for ref in refs), text=text, of=of)


def test_redirects_that_were_deleted_are_taken_out_wherever_they_stand() -> None:
    found = gone("redirect:/a", "redirect:/c", "redirect:/d")
    assert [line for line in TEXT.splitlines() if line not in found.texts["site.yaml"].splitlines()] == [
        "  - { from: /a, to: { section: guides } }   # one",
        "  - { from: [/b, /c], to: { section: guides } }",
    ]
    assert "  - { from: [/b], to: { section: guides } }" in found.texts["site.yaml"]
    assert found.texts["more.csv"] == "source,destination\n"
    assert found.words == ("redirect /a (deleted)", "redirect /c (deleted)", "redirect /d (deleted)")
    assert "from" not in gone("redirect:/a", "redirect:/b", "redirect:/c").texts["site.yaml"]
    assert gone("redirect:/a", of="conflict").texts == {}


PARTS = TEXT.replace(
    "redirects:\n",
    """\
    - group: more
      title: More
      items:
        - section: api
          title: API
          path: api
          variants: [{ variant: en, space: other, path: en, default: true }]
redirects:
""",
    1,
).replace(
    "    styling: { theme: clean }\n",
    "    styling: { theme: clean }\n  overrides: { api/en: { styling: { theme: bold } } }\n",
)


def test_a_section_that_was_deleted_is_taken_out_with_its_own_settings() -> None:
    found = gone("section:api", text=PARTS)
    assert found.left == ()
    assert "API" not in found.texts["site.yaml"]
    assert "api/en" not in found.texts["site.yaml"]
    assert "group: more" in found.texts["site.yaml"]
    assert "group: more" not in gone("section:api", "group:more", text=PARTS).texts["site.yaml"]


def test_what_something_else_counts_on_is_left_to_a_person() -> None:
    for refs, why in ((("section:guides",), "guides"), (("group:more",), "section api stands in group more")):
        found = gone(*refs, text=PARTS)
        assert found.texts == {}
        assert why in found.left[0]
    found = gone("redirect:/a", "section:guides", text=PARTS)
    assert found.fields == ("redirect:/a",)
