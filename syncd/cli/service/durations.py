"""Lengths of time as people type them: `90s`, `30m`, `2h`, `1d`, or several together."""

import re

import typer

_UNIT_SECONDS = (86400, 3600, 60, 1)
_DURATION = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,5})s)?")


def parse_duration(text: str) -> float:
    """Return the seconds of a text such as `1h30m`. Raises: BadParameter when it is none, or less than a second."""
    found = _DURATION.fullmatch(text.strip().lower())
    numbers = found.groups("0") if found else ()
    seconds = sum(int(number) * size for number, size in zip(numbers, _UNIT_SECONDS, strict=False))
    if not seconds:
        raise typer.BadParameter(f"{text[:40]!r} is no length of time; write 30m, 2h, 1d or 1h30m")
    return float(seconds)
