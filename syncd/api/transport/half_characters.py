"""Half characters in answers: JSON can spell one half of a surrogate pair, which no file and no other JSON can hold."""

import json
from typing import Any

from syncd.model.text import replace_half_characters

PLACES_MAX = 10
"""Places that are named; of a text that is full of them nobody reads more."""


def replace_halves(body: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return JSON with U+FFFD in place of each half character, and where they were, the first few.

    Shape: a place is the name of the member, and the id of what it belongs to: `title of abc`.
    Raises: ValueError when it is not JSON in UTF-8, or is nested too deep.
    """
    places: dict[str, None] = {}
    try:
        content = _replace_in_value(json.loads(body.decode()), "", "", places)
    except RecursionError:
        raise ValueError("nested too deep") from None
    return json.dumps(content).encode(), tuple(places)[:PLACES_MAX]


def _replace_in_value(value: Any, name: str, owner: str, places: dict[str, None]) -> Any:
    if isinstance(value, str):
        whole = replace_half_characters(value)
        if whole != value:
            places[f"{name} of {owner}" if owner else name] = None
        return whole
    if isinstance(value, list):
        return [_replace_in_value(item, name, owner, places) for item in value]
    if isinstance(value, dict):
        own = value["id"] if isinstance(value.get("id"), str) else owner
        return {
            _replace_in_value(key, "the name of a member", own, places): _replace_in_value(item, key, own, places)
            for key, item in value.items()
        }
    return value
