"""Text for CI services: annotations in a job's output, and names and sentences in its Markdown summary."""

import re
from collections.abc import Mapping

from syncd.cli.terminal.text import escape


def format_annotation(level: str, message: str, location: Mapping[str, str]) -> str:
    """Format an annotation for GitHub.

    Shape: `level` is error, warning or notice; `location` has any of file, line, col, endColumn and title.

    Source: GitHub, workflow commands: a message escapes `%` and line ends, a property also `:` and `,`.
    """
    properties = ",".join(f"{name}={_escape_property(value)}" for name, value in location.items() if value)
    return f"::{level} {properties}::{_escape_data(message)}" if properties else f"::{level}::{_escape_data(message)}"


def format_code(text: str) -> str:
    """Format a name from outside as code in a cell of a Markdown table, without markup of its own."""
    return f"`{escape(text).replace('`', chr(39)).replace('|', '¦')}`"


def escape_markdown(text: str) -> str:
    """Escape a sentence from outside for a cell of a Markdown table, so that nothing in it is markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", escape(text))


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
