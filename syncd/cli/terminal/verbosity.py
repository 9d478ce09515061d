"""How much is printed: `-q` and `-v` in front of a command, for this process."""

from typing import Literal

Verbosity = Literal["quiet", "normal", "verbose"]
_chosen: Verbosity = "normal"


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
