"""What CI services read from a job's output: annotations, sections that fold, and the summary of a job."""

from collections.abc import Mapping


def annotation(level: str, message: str, place: Mapping[str, str]) -> str:
    """Given error, warning or notice, a message and where it belongs (file, line, col, title), return GitHub's line.

    Source: GitHub, workflow commands: a message escapes `%` and line ends, a property also `:` and `,`.
    """
    where = ",".join(f"{name}={_property(value)}" for name, value in place.items() if value)
    return f"::{level} {where}::{_data(message)}" if where else f"::{level}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
