"""What a plan has seen, as one digest an area: when it differs, somebody was there in the meantime."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from syncd.layout.site.read.customization import find_leaf
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREA, CUSTOMIZATION, ROOT, SITE, Area, Kind, Ref
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.match.match import Matches, match_items

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str)


def take_snapshot(file: SiteFile, live: LiveSite, lock: SiteLock) -> dict[Area, str]:
    """Return a digest of each managed area: of all ids in it, and of the values that are declared.

    What the file does not declare may change without making a plan stale. An area's digest needs nothing of `live` but
    what belongs to that area, and for overrides the site-spaces.
    """
    return digest_areas(file, live, match_items(file, live, lock))


def digest_areas(file: SiteFile, live: LiveSite, matches: Matches) -> dict[Area, str]:
    """Return the digest of each managed area from items that are matched already."""
    seen: dict[Area, Iterable[Any]] = {
        "settings": _pick_values(live.site, file, SITE),
        "visitors": [live.schema],
        "structure": chain(
            _list_items(file, live, matches, ("group", "section", "variant")), _list_orders(file, live, matches)
        ),
        "redirects": _list_items(file, live, matches, ("redirect",)),
        "customization": _list_settings(file, live, matches),
    }
    return {area: _compute_digest(value) for area, value in seen.items() if area in file.managed}


def _list_items(file: SiteFile, live: LiveSite, matches: Matches, kinds: tuple[Kind, ...]) -> Iterator[Any]:
    for existing in sorted(live.of(*kinds), key=lambda existing: existing.id):
        yield existing.id, existing.parent, _pick_values(existing.fields, file, matches.refs.get(existing.id, ROOT))


def _list_orders(file: SiteFile, live: LiveSite, matches: Matches) -> list[Any]:
    parents = [
        ROOT if ref == ROOT else matches.found[ref].id for ref in file.orders if ref == ROOT or ref in matches.found
    ]
    return [[id, list(live.orders.get(id, ()))] for id in parents]


def _list_settings(file: SiteFile, live: LiveSite, matches: Matches) -> list[Any]:
    item = file.items.get(CUSTOMIZATION)
    site = [[name, find_leaf(live.customization, name)] for name in sorted(item.fields)] if item is not None else []
    overrides = []
    for one in file.items.values():
        variant = matches.found.get(Ref.of("variant", one.key))
        if AREA[one.kind] == "customization" and one.kind == "override" and variant is not None:
            shown = live.overrides.get(variant.id, {})
            own = shown if "reset" in one.fields else {name: find_leaf(shown, name) for name in sorted(one.fields)}
            overrides.append([variant.id, own])
    return [site, overrides]


def _pick_values(live: Mapping[str, Any], file: SiteFile, ref: Ref) -> list[Any]:
    item = file.items.get(ref)
    names = {"to": "destination"}
    return [] if item is None else [[name, live.get(names.get(name, name))] for name in sorted(item.fields)]


def _compute_digest(values: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for value in values:
        digest.update(f"{_ENCODER.encode(value)}\n".encode(errors="surrogatepass"))
    return f"sha256:{digest.hexdigest()}"
