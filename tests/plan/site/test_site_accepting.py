"""What somebody changed on the platform is written where the site file speaks of it, and nothing else is."""

from typing import Any

from syncd.layout.site.declared import AREAS
from syncd.layout.site.read import read_site_file
from syncd.plan.site.accepting import Accepted, accept_drift
from syncd.plan.site.facts import Live, Ref
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
PAGE = {"kind": "site-page", "siteSpaceId": Ref("variant:guides/en"), "pageId": "p1"}


def accepted(*drift: tuple[str, str, Any], of: str = "drift", areas: tuple[str, ...] = AREAS) -> Accepted:
    texts = {"site.yaml": TEXT, "more.csv": CSV}
    file, findings = read_site_file(TEXT, path="site.yaml", others={"more.csv": CSV})
    assert file is not None
    assert not [one for one in findings if one.severity == "error"]
    lines = [Line("report", ref, (FieldChange(name, value, None, of),)) for ref, name, value in drift]  # type: ignore[arg-type]
    live = Live(pages={"space1": {"get/started": "p1"}})
    return accept_drift(file, texts, live, SitePlan("s", tuple(lines)), areas=frozenset(areas))  # type: ignore[arg-type]


def changed(found: Accepted) -> list[str]:
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
