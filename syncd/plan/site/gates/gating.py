"""Who may see what: narrowed before anything else happens, widened when everything else has (W1, W2 and W12)."""

from collections.abc import Iterator, Mapping, Set
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.condition import find_condition_claims
from syncd.model.ref import SITE
from syncd.plan.site.call import Call
from syncd.plan.site.differ import Diff, FieldDiff
from syncd.plan.site.part import Draft, draft_step
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Wave
from syncd.plan.site.structure.decisions import Structure

AUDIENCE = ("public", "unlisted", "share-link", "visitor-auth")
"""Who may read a site, widest first."""
SETTINGS = {
    "title": "title",
    "visibility": "visibility",
    "basename": "basename",
    "proxy": "proxy",
    "adaptive_content": "adaptiveContent",
    "agents_context": "agentsContext",
}
"""The site's own settings, and what the API calls them."""


def draft_audiences(sides: Sides, structure: Structure, visitors: Diff | None) -> Iterator[Draft]:
    """Yield the requests that narrow and widen the audience of existing sections and variants.

    Shape: `visitors` is the diff of the claims; a condition that reads a new claim waits until the site has it (W2).
    """
    new_claims = [] if visitors is None else [name for name, found in visitors.act.items() if found.before is None]
    for item in sides.items("section", "variant"):
        diff = structure.diffs.get(item.ref)
        if diff is None:
            continue
        narrow, widen = _split_audience(diff)
        if narrow:
            found = narrow.get("condition")
            reads_new = found is not None and not find_claims_read(found.after).isdisjoint(new_claims)
            yield _draft_audience(sides, item, Wave.SCHEMA_EXPAND if reads_new else Wave.NARROW, narrow)
        if widen:
            yield _draft_audience(sides, item, Wave.WIDEN, widen)


def draft_settings(sides: Sides, diff: Diff) -> Iterator[Draft]:
    """Yield the requests that change the site itself, first those that narrow its audience."""
    waves: dict[Wave, dict[str, FieldDiff]] = {}
    for name, found in diff.act.items():
        waves.setdefault(_choose_wave(name, found), {})[name] = found
    for wave, parts in waves.items():
        sent = {name: found.after for name, found in parts.items()}
        if "adaptive_content" in sent:
            sent["adaptive_content"] = {"enabled": bool(sent["adaptive_content"])}
        body = {SETTINGS[name]: value for name, value in sent.items()}
        yield draft_step(sides, wave, Call.SITE_UPDATE, SITE, body, _list_sets(parts))


def is_exchange(diff: Diff) -> bool:
    """Return whether a variant changes its condition and its space in one request.

    The new condition is not for those who could read what is there, nor the old one for those who shall read the rest.
    """
    found = diff.act.get("condition")
    return "space" in diff.act and found is not None and bool(found.before) and bool(found.after)


def _choose_wave(name: str, found: FieldDiff) -> Wave:
    if name == "visibility" and found.before in AUDIENCE and found.after in AUDIENCE:
        return Wave.NARROW if AUDIENCE.index(found.after) > AUDIENCE.index(found.before) else Wave.WIDEN
    if name == "adaptive_content" and found.after:
        return Wave.SCHEMA_EXPAND
    return Wave.NARROW if name == "agents_context" and found.after == "excluded" else Wave.WIDEN


def _split_audience(diff: Diff) -> tuple[dict[str, FieldDiff], dict[str, FieldDiff]]:
    narrow: dict[str, FieldDiff] = {}
    widen: dict[str, FieldDiff] = {}
    for name in ("hidden",) if is_exchange(diff) else ("condition", "hidden"):
        if name in diff.act:
            (narrow if diff.act[name].after else widen)[name] = diff.act[name]
    return narrow, widen


def _draft_audience(sides: Sides, item: Item, wave: Wave, parts: Mapping[str, FieldDiff]) -> Draft:
    call = Call.SECTION_UPDATE if item.kind == "section" else Call.VARIANT_UPDATE
    body = {name: bool(found.after) if name == "hidden" else found.after or None for name, found in parts.items()}
    return draft_step(sides, wave, call, item.ref, body, _list_sets(parts))


def _list_sets(parts: Mapping[str, FieldDiff]) -> dict[str, Any]:
    return {name: found.after for name, found in parts.items()}


def find_claims_read(condition: Any) -> Set[str]:
    """Return the names of the claims that a condition reads, such as `unsigned.beta`; none for an invalid one."""
    try:
        paths = find_condition_claims(condition) if isinstance(condition, str) else frozenset()
    except ValueError:
        return frozenset()
    return {
        f"unsigned.{path[1]}" if path[0] == "unsigned" and path[1:] else f"claims.{path[0]}" for path in paths if path
    }
