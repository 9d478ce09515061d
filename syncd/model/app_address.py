"""Where people read what the platform shows: the `app` address of an object, checked before a terminal gets it."""

import re
from collections.abc import Mapping
from typing import Any

_ADDRESS = re.compile(r"https?://[!#-&*-;=?-~]{1,2000}")
"""Visible ASCII without quotes, parentheses and angle brackets: safe on a terminal and as the target of a link."""


def find_app_address(urls: Mapping[str, Any]) -> str:
    """Return the address where people read an object, among all its addresses; "" when the platform names none."""
    found = urls.get("app")
    return found if isinstance(found, str) and _ADDRESS.fullmatch(found) else ""
