"""Bytes to an OpenAPI description: JSON or YAML, read without surprises and within limits, then checked."""

from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from syncd.errors import FileInvalid
from syncd.layout.yaml.yaml import load
from syncd.platform.specs.checker import DEPTH_MAX, SpecProblem, find_problems

BYTES_MAX = 8 * 1024 * 1024
"""Of a description in JSON, and of what is fetched at all."""
YAML_BYTES_MAX = 2 * 1024 * 1024
"""Of a description in YAML, which takes about a hundred times as long to read: seconds for this much."""
JSON, YAML = "application/json", "application/yaml"


@dataclass(frozen=True)
class ParsedSpec:
    """What became of a text. Shape: `media_type` is what it is written in; it can be used when `problems` is empty."""

    media_type: str
    problems: tuple[SpecProblem, ...]


def parse_spec(content: bytes) -> ParsedSpec:
    """Return the media type of an OpenAPI description, and what is wrong with it."""
    media_type, parsed = _parse_text(content)
    if isinstance(parsed, SpecProblem):
        return ParsedSpec(media_type, (parsed,))
    return ParsedSpec(media_type, tuple(find_problems(parsed)))


def load_description(content: bytes) -> dict[str, Any]:
    """Return an OpenAPI description that was found to be good; {} for a text that is none."""
    _, parsed = _parse_text(content)
    return parsed if isinstance(parsed, dict) else {}


def _parse_text(content: bytes) -> tuple[str, Any]:
    """The media type of a text, and what it says, or what is wrong with it."""
    if len(content) > BYTES_MAX:
        return JSON, SpecProblem("", f"is larger than {BYTES_MAX} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return JSON, SpecProblem("", "is not UTF-8")
    if text.lstrip()[:1] == "{":
        media_type, parsed = JSON, _parse_json(text)
        # YAML's flow style begins like JSON; a text that says nothing as JSON may be that.
        if isinstance(parsed, SpecProblem) and len(content) <= YAML_BYTES_MAX:
            other = _parse_yaml(text)
            media_type, parsed = (JSON, parsed) if isinstance(other, SpecProblem) else (YAML, other)
    else:
        media_type, parsed = YAML, _parse_yaml(text)
    return media_type, parsed


def _parse_json(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False, allow_partial=False)
    except ValueError as error:
        return SpecProblem("", f"is not JSON that can be read: {str(error)[:200]}")


def _parse_yaml(text: str) -> Any:
    try:
        return load(text, at="specification", bytes_max=YAML_BYTES_MAX, depth_max=DEPTH_MAX)
    except FileInvalid as error:
        return SpecProblem("", f"line {error.line}, column {error.column}: {error.reason}"[:300])
