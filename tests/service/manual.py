"""The commands of the manual, so that what a test carries out is what people are told to type."""

import re
from pathlib import Path

MANUAL = Path(__file__).parents[2] / "syncd" / "manual"


def read_section(page: str, title: str) -> str:
    """Given a page and the title of a second- or third-level heading, return the text below it."""
    text = (MANUAL / page).read_text(encoding="utf-8")
    found = re.search(rf"^(##+) {re.escape(title)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no section {title!r}"
    return found[2]


def find_blocks(page: str, title: str, language: str) -> list[str]:
    """Given a section and the language of its code, return its blocks in order."""
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```", read_section(page, title), re.MULTILINE | re.DOTALL)
    assert blocks, f"{page} has no {language} in {title!r}"
    return blocks


def find_commands(page: str, title: str) -> list[str]:
    """Given a section, return the lines of its shell blocks; one that opens an editor is left out."""
    lines = [line.strip() for block in find_blocks(page, title, "sh") for line in block.splitlines()]
    return [line for line in lines if not line.startswith("sudo systemctl edit ")]


def replace_names(text: str, names: dict[str, str]) -> str:
    """Given a text of the manual, put this machine's names in the place of those that every reader replaces."""
    for name, here in names.items():
        assert name in text, f"the manual no longer says {name!r}"
        text = text.replace(name, here)
    return text
