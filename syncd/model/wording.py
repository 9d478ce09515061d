"""Numbers in sentences."""


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `1,200 files`, `2 addresses`."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"
