"""`example`: the files that come with syncd for people to copy: the whole configuration, and systemd's units."""

from pathlib import Path

import typer

from syncd.layout.lint.near import Near, meant

EXAMPLES = {
    "config": "config.example.toml",
    "syncd.service": "systemd/syncd.service",
    "syncd@.service": "systemd/syncd@.service",
    "syncd-platform.service": "systemd/syncd-platform.service",
}
_PACKAGE = Path(__file__).parents[1]


def example_text(name: str) -> str:
    """Given a name of `EXAMPLES`, return the text of the file that came with this version of syncd."""
    # A wheel has the files inside of the package; in a checkout they lie at the top, where people look for them.
    installed = _PACKAGE / "examples"
    home = installed if installed.is_dir() else _PACKAGE.parent
    return (home / EXAMPLES[name]).read_text(encoding="utf-8")


def print_example(name: str) -> None:
    """Given a name, print that file. Raises: BadParameter when there is no such file."""
    if name not in EXAMPLES:
        hint = meant(Near(EXAMPLES).to(name)) or f"there are {', '.join(EXAMPLES)}"
        raise typer.BadParameter(f"there is no example of {name[:80]}; {hint}")
    print(example_text(name), end="")
