"""What a variant has of its own: of the settings that its visitors see, those that its site does not have."""

from collections.abc import Mapping, Set
from typing import Any

from syncd.layout.site.read.customization import agrees, leaf_of, leaves
from syncd.layout.site.read.members import Of, importable
from syncd.model.customization_override import GROUPS


def own_settings(effective: Mapping[str, Any], site: Mapping[str, Any], titles: Set[str | None]) -> dict[str, Any]:
    """Given what a variant's visitors see and its site's settings, return what a file declares as an override.

    Shapes: a title that is one of `titles`, or the site's, is not its own; what the platform replaces as a whole, such
    as an announcement, is there as a whole.
    """
    shown = said(effective, "override")
    if shown.get("title") in {*titles, site.get("title")}:
        shown.pop("title", None)
    return _differing(shown, site)


def said(settings: Mapping[str, Any], of: Of) -> dict[str, Any]:
    """Given settings as the platform has them, return what of it a file may declare, without what says nothing."""
    found: dict[str, Any] = {}
    for name, value in leaves(settings).items():
        if value is None or value == {} or not importable(of, name):
            continue
        here = found
        *parents, last = name.split(".")
        for parent in parents:
            here = here.setdefault(parent, {})
        here[last] = value
    return found


def _differing(own: Mapping[str, Any], site: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in own.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and name in GROUPS:
            if below := _differing(value, site, here):
                found[name] = below
        elif not agrees(value, leaf_of(site, here)):
            found[name] = value
    return found
