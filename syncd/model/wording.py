"""Numbers and lists in sentences."""

from collections.abc import Sequence


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `1,200 files`, `2 addresses`, `5 tries`."""
    if count != 1 and noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"


def format_first(names: Sequence[str], most: int) -> str:
    """Return the first of some names, at most so many, and how many more there are: `a, b and 3 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
