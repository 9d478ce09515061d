"""What becomes of an address: content, or a redirect and whatever it leads to, hop by hop to the end."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from syncd.layout.site.addresses.addresses import SiteMap, Spot, unfold_address
from syncd.model.ref import Ref

End = Literal["page", "elsewhere", "nothing", "loop"]


@dataclass(frozen=True)
class Hop:
    """One redirect on the way: what it is for, where it is declared, and where it leads, in words."""

    source: str
    where: str
    to: str


@dataclass(frozen=True)
class Fate:
    """What becomes of an address.

    Shape: `at` is the content's space and file (or path, where nobody can look), an address elsewhere, or what a
    redirect leads to when that does not exist; `spot` is there for content only.
    """

    end: End
    at: str = ""
    hops: tuple[Hop, ...] = ()
    spot: Spot | None = None

    @property
    def rule(self) -> str:
        """The source of the redirect that answered first, "" without any."""
        return self.hops[0].source if self.hops else ""


def follow_address(site: SiteMap, url: str) -> Fate:
    """Return where an address of a site leads: content comes before redirects, as on the platform.

    Shape: content that cannot be looked up comes after them; an address is visited once, so that a loop ends.
    """
    hops: list[Hop] = []
    visited: set[str] = set()
    while True:
        inner = site.inner(url)
        if inner is None:
            return Fate("elsewhere", url, tuple(hops))
        if inner in visited:
            return Fate("loop", url, tuple(hops))
        visited.add(inner)
        spot = site.at(inner)
        rule = site.rules.get(f"/{inner}")
        if rule is None or (spot is not None and spot.is_known):
            return _find_content(spot, f"/{unfold_address(inner)}", hops)
        to = rule.fields.get("to") or {}
        hops.append(Hop(str(rule.fields.get("source")), str(rule.where()), format_target(to)))
        address = find_address(to)
        if not address:
            return _resolve_rule(site, to, hops)
        url = address


def format_target(to: Any) -> str:
    """Return a declared destination in words."""
    match to:
        case {"section": section}:
            return f"section {section}"
        case {"variant": variant}:
            return f"variant {variant}"
        case {"page": page, "in": variant}:
            return f"page {page} in {variant}"
        case {"url": url}:
            return str(url)
        case {"raw": raw}:
            return json.dumps(raw, ensure_ascii=False, sort_keys=True)
        case _:
            return "nothing"


def find_address(to: Any) -> str:
    """Return the address that a declared destination names, "" for one that names none."""
    match to:
        case {"url": str(url)} | {"raw": {"kind": "external", "url": str(url)}}:
            return url
        case _:
            return ""


def _resolve_rule(site: SiteMap, to: Any, hops: list[Hop]) -> Fate:
    match to:
        case {"section": section}:
            return _find_content(site.first_of(Ref.of("section", section)), format_target(to), hops)
        case {"variant": variant}:
            return _find_content(site.first_of(Ref.of("variant", variant)), format_target(to), hops)
        case {"page": str(page), "in": str(variant)}:
            return _find_content(site.page(variant, page), format_target(to), hops)
        case _:
            return Fate("elsewhere", format_target(to), tuple(hops))  # what has ids only is the platform's to resolve


def _find_content(spot: Spot | None, what: str, hops: list[Hop]) -> Fate:
    if spot is None:
        return Fate("nothing", what, tuple(hops))
    return Fate("page", f"{spot.space}:{spot.file or spot.path}", tuple(hops), spot)
