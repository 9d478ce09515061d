"""The customization of a site as its pages use it: from the leaves of a site file to settings with plain addresses."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from syncd.layout.site.read.customization import overlay_leaves
from syncd.model.customization import SiteCustomizationSettings

FindAddress = Callable[[Mapping[str, Any]], str]
"""Where a declared destination leads; "" for one that leads nowhere."""
_DESTINATIONS = ("to", "primaryLink")
_SAFE = re.compile(r"(?:https?://|mailto:|tel:|[/#](?!/))[^\x00-\x20\x7f\\]*", re.IGNORECASE)
_DEPTH_MAX = 16


def read_settings(leaves: Mapping[str, Any], find_address: FindAddress) -> SiteCustomizationSettings:
    """Return the settings that the leaves of a site file declare; each destination is a plain address.

    Shape: one group, such as `header`, with a value of the wrong kind is left out; the rest holds.
    """
    return resolve_settings(overlay_leaves({}, leaves), find_address)


def resolve_settings(given: Mapping[str, Any], find_address: FindAddress) -> SiteCustomizationSettings:
    """Return settings as the platform keeps them, with a plain address in the place of each destination.

    Shape: one group with a value of the wrong kind is left out; the rest holds.
    """
    settings = _resolve_links(given, find_address)
    while True:
        try:
            return SiteCustomizationSettings.model_validate(settings)
        except ValidationError as error:
            wrong = {one["loc"][0] for one in error.errors()}
            settings = {name: value for name, value in settings.items() if name not in wrong}


def find_locale(settings: SiteCustomizationSettings) -> str:
    """Return the language of a site's own words, such as `en`."""
    found = settings.internationalization
    return found.locale if found is not None and found.locale.replace("-", "").isalnum() else "en"


def is_safe_address(address: str) -> bool:
    """Return whether an address may stand in a link: of the web, of mail, or within the site; never a program."""
    return bool(_SAFE.fullmatch(address))


def _resolve_links(value: Any, find_address: FindAddress, depth: int = 0) -> Any:
    if depth == _DEPTH_MAX:
        return None
    if isinstance(value, Mapping):
        return {
            name: _make_reference(inner, find_address)
            if name in _DESTINATIONS
            else _resolve_links(inner, find_address, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_resolve_links(inner, find_address, depth + 1) for inner in value]
    return value


def _make_reference(to: Any, find_address: FindAddress) -> dict[str, Any] | None:
    address = find_address(to) if isinstance(to, Mapping) else ""
    return {"kind": "url", "url": address} if is_safe_address(address) else None
