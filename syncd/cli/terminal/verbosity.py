"""How much is printed, and how: `-q` and `-v` in front of a command and its `--json`, for this process."""

from typing import Literal

Verbosity = Literal["quiet", "normal", "verbose"]
_chosen: Verbosity = "normal"
_has_json_errors = False


def set_verbosity(verbosity: Verbosity) -> None:
    """Let everything that is printed from now on follow what a person asked for."""
    global _chosen
    _chosen = verbosity


def is_quiet() -> bool:
    """Return whether only what is wrong, and what was asked for, is printed."""
    return _chosen == "quiet"


def is_verbose() -> bool:
    """Return whether everything is listed, and each run says what it cost."""
    return _chosen == "verbose"


def set_json_errors(*, is_json: bool) -> None:
    """Let errors that a command prints before it goes on be lines of JSON, or text."""
    global _has_json_errors
    _has_json_errors = is_json


def has_json_errors() -> bool:
    """Return whether a command has `--json`, so that errors are lines of JSON."""
    return _has_json_errors
