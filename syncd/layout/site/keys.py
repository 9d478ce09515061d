"""Keys: the name under which the platform matches a redirect's source."""

import re

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def source_key(source: str) -> str:
    """Given a redirect's source, return the key under which the platform matches it: escapes normal, case folded."""
    return (_ESCAPE.sub(_normal, source) if "%" in source else source).casefold()


def _normal(escape: re.Match[str]) -> str:
    letter = chr(int(escape[1], 16))
    return letter if letter in _UNRESERVED else escape[0].upper()
