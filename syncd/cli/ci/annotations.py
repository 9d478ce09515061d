"""What CI services read from a job's output: annotations, and the summary of a job in Markdown."""

import re
from collections.abc import Mapping

from syncd.cli.terminal.text import safe


def annotation(level: str, message: str, place: Mapping[str, str]) -> str:
    """Given error, warning or notice, a message and where it belongs (file, line, col, title), return GitHub's line.

    Source: GitHub, workflow commands: a message escapes `%` and line ends, a property also `:` and `,`.
    """
    where = ",".join(f"{name}={_property(value)}" for name, value in place.items() if value)
    return f"::{level} {where}::{_data(message)}" if where else f"::{level}::{_data(message)}"


def code(text: str) -> str:
    """Given a name from outside, return it as code of a Markdown table, where it means nothing."""
    return f"`{safe(text).replace('`', chr(39)).replace('|', '¦')}`"


def prose(text: str) -> str:
    """Given a sentence from outside, return it as text of a Markdown table, where nothing in it is markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", safe(text))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
