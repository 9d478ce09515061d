"""Customization: what a real site answered is kept whole, and overrides are laid over it value by value."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from syncd.model.customization import SiteCustomizationSettings
from syncd.model.customization_override import SiteSpaceCustomizationOverride, amend_override, apply_override
from syncd.model.customization_write import SiteCustomizationWrite


def test_what_a_real_site_answered_can_be_written_back_unchanged(corpora: Path | None) -> None:
    if corpora is None:
        return
    answered = json.loads((corpora / "evolve-site" / "customization.json").read_text(encoding="utf-8"))
    assert SiteCustomizationSettings.model_validate(answered).wire() == answered
    assert SiteCustomizationWrite.model_validate(answered).wire() == answered


def test_members_that_nobody_knows_come_back_from_what_is_observed() -> None:
    raw = {"styling": {"theme": "clean", "sparkle": {"on": True}}, "header": {"links": []}, "future": [1, None]}
    assert SiteCustomizationSettings.model_validate(raw).wire() == raw


_SITE: dict[str, Any] = {
    "styling": {"theme": "clean", "corners": "rounded", "sidebar": {"background": "default", "list": "pill"}},
    "favicon": {"emoji": "1f4c4"},
    "header": {"links": [], "logo": {"light": "https://a.example/l", "dark": "https://a.example/d"}},
}


def _given(**change: Any) -> dict[str, Any]:
    return SiteSpaceCustomizationOverride.model_validate(change).wire()


def test_omitted_is_unchanged_and_null_goes_back_to_the_site() -> None:
    own = amend_override({}, _given(styling={"theme": "bold", "sidebar": {"list": "line"}}, favicon={}))
    assert apply_override(_SITE, own) == {
        **_SITE,
        "styling": {"theme": "bold", "corners": "rounded", "sidebar": {"background": "default", "list": "line"}},
        "favicon": {},
    }
    own = amend_override(own, _given(styling={"corners": "straight", "theme": None}))
    assert own == {"styling": {"sidebar": {"list": "line"}, "corners": "straight"}, "favicon": {}}
    own = amend_override(own, _given(styling={"sidebar": {"list": None}, "corners": None}, favicon=None))
    assert own == {}
    assert apply_override(_SITE, own) == _SITE


def test_a_group_goes_back_to_the_site_as_a_whole_and_other_values_are_replaced_as_a_whole() -> None:
    reference = {"kind": "page", "page": "p", "space": "s"}
    own = amend_override({}, _given(styling={"theme": "bold"}, header={"primaryLink": reference}))
    own = amend_override(own, _given(styling=None, header={"primaryLink": {"kind": "url", "url": "https://a.example"}}))
    assert own == {"header": {"primaryLink": {"kind": "url", "url": "https://a.example"}}}
    assert amend_override(own, {}) == own


@pytest.mark.parametrize(
    "reference",
    [
        {"kind": "page"},
        {"kind": "page", "page": None},
        {"kind": "page", "page": "p", "file": "f"},
        {"kind": "elsewhere"},
        {"kind": "url", "url": "javascript:alert(1)"},
        {"kind": "url", "url": "https://a.example/\n"},
    ],
)
def test_a_reference_that_is_none_is_refused(reference: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _given(header={"primaryLink": reference})
