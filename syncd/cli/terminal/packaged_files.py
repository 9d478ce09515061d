"""Files that come with syncd beside its code: in a wheel inside of the package, in a checkout where people look."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
MANUAL = _PACKAGE / "manual"
"""The pages of the manual, which are part of the package."""


def read_packaged_file(path: str) -> str:
    """Return the text of a file that comes with syncd, by its path in a checkout."""
    installed = _PACKAGE / "examples"
    directory = installed if installed.is_dir() else _PACKAGE.parent
    return (directory / path).read_text(encoding="utf-8")
