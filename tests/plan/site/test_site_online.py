"""The rules that need the platform: each says what a plan would run into, and nothing that is right."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.check.excerpt import SourceText
from syncd.cli.check.findings import LocatedFinding, Report
from syncd.cli.check.report import write_report
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.rules import SITE_RULES
from syncd.model.ref import Ref
from syncd.plan.site.live_state import Capabilities, ExistingItem, LiveSite, LockEntry, SiteLock
from syncd.plan.site.online import check_live, check_lock

GOLDEN = Path(__file__).parents[2] / "golden" / "site"
BROKEN = (GOLDEN / "online.yaml").read_text(encoding="utf-8")
SCHEMA = {
    "type": "object",
    "properties": {"partner": {"type": "boolean", "description": "Signed-in partner."}},
    "additionalProperties": False,
}
HEAD = "version: 1\nsite: { org: o, id: s }\n"


def section(id: str, path: str, **fields: Any) -> ExistingItem:
    return ExistingItem("section", id, {"title": path.title(), "path": path, "condition": None, **fields})


def variant(id: str, path: str, space: str, parent: str, **fields: Any) -> ExistingItem:
    return ExistingItem("variant", id, {"path": path, "space": space, "condition": None, **fields}, parent)


THINGS = (
    section("s-home", "home", default=True),
    variant("v-home", "en", "space-home", "s-home", default=True),
    section("s-api", "api"),
    variant("v-api", "v2", "space-gone", "s-api", default=True),
    section("s-blog", "blog"),
    variant("v-blog", "en", "space-blog", "s-blog", default=True),
)
LIVE = LiveSite(
    items={one.id: one for one in THINGS},
    schema=SCHEMA,
    pages={"space-home": {"getting-started/quickstart": "p-quick", "new/path": "p-moved"}},
    page_ids={"space-home": frozenset({"p-quick", "p-moved"})},
    spaces={"space-home": "", "space-gone": "was deleted on 2026-05-02", "space-v1": "", "space-partners": ""},
    abilities=Capabilities(kinds=frozenset({"site-section", "site-page"})),
)
MOVED = {"source": "/moved", "to": {"page": "old/path", "in": "home/en"}, "destination": {"pageId": "p-moved"}}
LOCK = SiteLock(
    "site_kvXZm",
    items={
        Ref("section:developers"): LockEntry("s-api", "created", {"path": "api"}),
        Ref("redirect:/moved"): LockEntry("r1", "created", MOVED),
    },
)
WITH_REDIRECT = replace(LIVE, items={**LIVE.items, "r1": ExistingItem("redirect", "r1", {"source": "/moved"})})


def read(text: str) -> SiteFile:
    file, findings = read_site_file(text, path="online.yaml", others={})
    assert file is not None
    assert not findings
    return file


def codes(found: tuple[Finding, ...]) -> list[str]:
    return [one.code for one in found]


def test_what_only_the_platform_knows_is_said_where_it_is_declared(capsys: pytest.CaptureFixture[str]) -> None:
    file = read(BROKEN)
    found = check_live(file, WITH_REDIRECT, LOCK)
    source = SourceText(BROKEN.encode)
    shown = [LocatedFinding(Path.cwd(), "online.yaml", one, source) for one in found]
    write_report(Report("site validate", shown, 65, SITE_RULES, "online.yaml", "", "."), "text")
    said = capsys.readouterr().out
    golden = GOLDEN / "online.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(said)
    assert said == golden.read_text(), "GOLDEN=write takes it as it is"
    assert not {(one.code, one.line, one.column) for one in found} & {
        (one.code, one.line, one.column) for one in check_site(file)
    }


def test_a_file_that_says_what_is_there_breaks_nothing() -> None:
    text = HEAD + (
        "spaces: { home-en: space-home }\nstructure:\n  items:\n    - section: home\n"
        "      title: Home\n      path: home\n"
        "      variants: [{ variant: en, space: home-en, path: en, default: true }]\n"
        "redirects:\n  - { from: /start, to: { page: getting-started/quickstart, in: home/en } }\n"
    )
    assert check_live(read(text), LIVE, SiteLock("s")) == ()


def test_a_loop_over_an_address_that_only_the_platform_knows_is_found() -> None:
    text = HEAD + 'redirects:\n  - { from: /a, to: { url: "https://docs.acme.example/v/a" } }\n'
    live = replace(LIVE, abilities=Capabilities(kinds=frozenset({"external"})), hosts=(("docs.acme.example", "/v"),))
    assert codes(check_live(read(text), live, SiteLock("s"))) == ["SY305"]
    assert check_site(read(text)) == ()


def test_what_a_plan_of_the_platform_has_frozen_is_told_where_the_file_uses_it() -> None:
    file = read(HEAD + "redirects: []\n")
    frozen = check_live(
        file, replace(LIVE, frozen=frozenset({"sites-redirects", "sites-sections", "x"})), SiteLock("s")
    )
    assert [(one.code, one.line, one.severity) for one in frozen] == [("SY504", 3, "warning")]


def test_the_lock_of_another_site_is_no_lock() -> None:
    assert codes(check_lock(read(HEAD + "redirects: []\n"), replace(LOCK, site="other"))) == ["SY503"]


CLAIMS = "visitors:\n  claims:\n    beta: { type: boolean, description: Beta. }\n"


@pytest.mark.parametrize(
    ("owned", "condition", "found"),
    [
        (True, "visitor.claims.partner == true", ["SY203"]),
        (True, None, []),
        (True, "visitor.claims.beta == true", []),
        (False, "visitor.claims.partner == true", []),  # nobody takes it away
    ],
)
def test_a_claim_that_a_condition_reads_cannot_go(owned: bool, condition: str | None, found: list[str]) -> None:
    things = {**LIVE.items, "s-blog": section("s-blog", "blog", condition=condition)}
    applied: Mapping[str, Any] = {"claims.partner": SCHEMA["properties"]} if owned else {}
    lock = SiteLock("s", items={Ref("visitors:"): LockEntry("", "created", applied)})
    assert codes(check_live(read(HEAD + CLAIMS), replace(LIVE, items=things), lock)) == found


def test_a_claim_may_go_when_the_file_changes_the_condition_that_reads_it() -> None:
    text = (
        HEAD
        + CLAIMS
        + (
            "spaces: { b: space-blog }\nstructure:\n  items:\n    - section: blog\n"
            "      title: Blog\n      path: blog\n"
            "      condition: visitor.claims.beta == true\n      variants: [{ variant: en, space: b, path: en }]\n"
        )
    )
    gated = section("s-blog", "blog", condition="visitor.claims.partner == true")
    lock = SiteLock("s", items={Ref("visitors:"): LockEntry("", "created", {"claims.partner": {}})})
    live = replace(LIVE, items={**LIVE.items, "s-blog": gated})
    assert "SY203" not in codes(check_live(read(text), live, lock))


def test_a_former_name_is_needed_until_the_rename_was_applied() -> None:
    file = read(BROKEN)
    renamed = {Ref("section:developers"): LockEntry("s-api", "created", {"path": "developers"})}
    assert codes(check_lock(file, SiteLock("site_kvXZm"))) == []
    assert codes(check_lock(file, LOCK)) == []
    assert (
        codes(check_lock(file, SiteLock("site_kvXZm", items=renamed | {Ref("section:api"): LockEntry("x", "created")})))
        == []
    )
    (one,) = check_lock(file, SiteLock("site_kvXZm", items=renamed))
    assert (one.code, one.line) == ("SY109", 19)
