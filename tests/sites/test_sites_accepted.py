"""What `validate` passes the platform takes: a hostile value is named by a rule, or every request with it is taken."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.file import read_site_file
from tests.sampling import sample_cases
from tests.sites.stage import Stage, create_stage

SEEDS = 400
TEXTS = ("Docs", "x", "", "é" * 128, "a" * 129, "a" * 257, "a\0b", "  ", "two\nlines", "\u202eb", "null")
PATHS = ("a", "B.c", "a b", "a/b", ".", "..", "é", "%41", "a" * 100, "a" * 101, "new", "-", "~_", "", "a\0")
NAMES = ("a", "a-b", "A b", "-a", "a-", "é", "a" * 100, "a" * 101, "", "a_b", "a.b")
PROXIES = (
    "example.com/docs", "https://example.com/docs", "example.com", "example.com/docs/", "example.com/a.b",
    "localhost/docs", "a.example.com/x/y", f"example.com/{'x' * 600}", "exämple.com/docs", None,
)  # fmt: skip
ICONS = ("house", "a" * 50, "a" * 51, "", None, "b c", "\0")
URLS = (
    "https://example.com/a", "http://example.com", "javascript:alert(1)", "https://", "https:// a.com", "//example.com",
    f"https://example.com/{'a' * 2030}", f"https://example.com/{'a' * 2010}", "https://[::1", "HTTPS://EXAMPLE.COM",
    "https://example.com/\u202e", "https://example.com/ü", "mailto:a@example.com", "data:text/html,x",
)  # fmt: skip
SOURCES = (
    "/a", "/a/", "a", "/", "/é", "/%C3%A9", "/%c3%a9", "/a?b", "/a*", f"/{'a' * 511}", f"/{'a' * 512}", "/A", "/a//b",
    "/%", "/%2F", "/.", "/..", "/a/../b", "/a\n", "/%00", "/%ff",
)  # fmt: skip
CONDITIONS = ("visitor.claims.partner == true", "true", "", "visitor.", "a" * 1025, None, "visitor.claims.x", "1 == 1")
CLAIMS: tuple[Any, ...] = (
    {"type": "boolean"}, {"type": "boolean", "description": "D" * 3000}, {"type": "string"},
    {"type": "boolean", "x": 1}, {}, {"type": "boolean", "description": "a\0"},
)  # fmt: skip
CLAIM_NAMES = ("partner", "p q", "a" * 300, "é", "x-y", "unsigned", "", "1a")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with create_stage(tmp_path_factory.mktemp("site")) as made:
        yield made


def some(dice: Random, pool: tuple[Any, ...], usual: Any) -> Any:
    """One of a pool, but most often what nobody would object to: one mistake hides all others of a file."""
    return dice.choice(pool) if dice.random() < 0.12 else usual


def destination(dice: Random, stage: Stage) -> dict[str, Any]:
    """Where a redirect leads."""
    space = stage.spaces[0]
    raw: tuple[dict[str, Any], ...] = (
        {"kind": "external", "url": dice.choice(URLS)},
        {"kind": "path", "spaceId": space, "path": "x"},
        {"kind": "external"},
        {"kind": "external", "url": "https://example.com", "more": 1},
        {"url": "https://example.com"},
        {},
    )
    usual = ({"section": "home"}, {"variant": "home/en"}, {"url": "https://example.com"})
    hostile = (*({"url": url} for url in URLS), *({"raw": one} for one in raw))
    found: dict[str, Any] = some(dice, hostile, dice.choice(usual))
    return found


def document(dice: Random, stage: Stage, number: int) -> dict[str, Any]:
    """A site file as JSON, which is YAML, too."""
    settings = {
        "title": some(dice, TEXTS, "Docs"),
        "basename": some(dice, NAMES, f"docs-{number}"),
        "proxy": some(dice, PROXIES, f"example.com/docs{number}"),
    }
    claims = {
        some(dice, CLAIM_NAMES, "partner"): some(dice, CLAIMS, {"type": "boolean", "description": "A partner."}),
    }
    sections = [
        {
            "section": key,
            "title": some(dice, TEXTS, "Home"),
            "path": some(dice, PATHS, key),
            "icon": some(dice, ICONS, "house"),
            "description": some(dice, (*TEXTS, None), "Words."),
            "condition": some(dice, CONDITIONS, None),
            "default": key == "home",
            "variants": [
                {"variant": "en", "space": "s0", "path": some(dice, PATHS, "en"), "default": True},
                {
                    "variant": "fr",
                    "space": "s1",
                    "path": some(dice, PATHS, "fr"),
                    "condition": some(dice, CONDITIONS, None),
                },
            ],
        }
        for key in ("home", "api")
    ]
    groups = [
        {"group": "more", "title": some(dice, TEXTS, "More"), "icon": some(dice, ICONS, "gear"), "items": sections[1:]}
    ]
    sources = dict.fromkeys(some(dice, SOURCES, f"/old-{count}") for count in range(4))
    return {
        "version": 1,
        "site": {"org": stage.organization, "id": stage.site},
        "spaces": {"s0": stage.spaces[0], "s1": stage.spaces[1], "holding": stage.holding},
        "settings": settings,
        "visitors": {"claims": claims},
        "structure": {"holding_space": "holding", "items": [sections[0], *groups]},
        "redirects": [{"from": source, "to": destination(dice, stage)} for source in sources],
    }


@pytest.mark.parametrize("seed", sample_cases(range(SEEDS), kept=(1, 50, 90, 104, 109, 140)))
def test_what_validate_passes_the_platform_takes(stage: Stage, seed: int) -> None:
    at = stage.emptied()
    text = json.dumps(document(Random(seed), at, seed), ensure_ascii=False)
    file, findings = read_site_file(text, path="site.yaml", others={})
    assert file is not None
    if any(one.severity == "error" for one in (*findings, *check_site(file))):
        return
    done = at.apply(file, place="state")
    assert not done.failed, [(one.step.ref, one.why) for one in done.failed]
    assert not done.skipped
    assert not done.left.steps, done.left.steps


def test_the_files_are_not_all_refused() -> None:
    """Else the test before would say nothing."""
    stage = Stage(Path(), None, "", "", "o", "s", ("a", "b"), "c")  # type: ignore[arg-type]
    passed = 0
    for seed in range(SEEDS):
        text = json.dumps(document(Random(seed), stage, seed), ensure_ascii=False)
        file, findings = read_site_file(text, path="site.yaml", others={})
        assert file is not None
        passed += not any(one.severity == "error" for one in (*findings, *check_site(file)))
    assert SEEDS // 10 < passed < SEEDS
