"""Documentation that never was: any number of Markdown pages of about 4 KB in a tree of depth 3, always the same."""

import random
from collections.abc import Iterator
from pathlib import Path

PAGE_BYTES = 4000
CHAPTERS = 20
"""Chapters of a part."""
PAGES = 24
"""Pages below a chapter."""
_WORDS = [
    head + tail
    for head in ("", "co", "de", "inter", "out", "over", "pre", "re", "sub", "un", "under", "up")
    for tail in (
        "able",
        "call",
        "data",
        "form",
        "is",
        "key",
        "line",
        "mark",
        "port",
        "set",
        "term",
        "the",
        "to",
        "view",
    )
]


def write_pages(directory: Path, count: int, *, first: int = 0) -> Path:
    """Given a new directory and a number of pages, write them and their SUMMARY.md there, and return the directory.

    Shape: pages with other numbers have other texts; they count up from `first`.
    """
    summary = ["# Table of contents", ""]
    for number, (path, depth, title) in enumerate(_places(count), first):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_page(number, title), encoding="utf-8")
        summary.append(f"{'  ' * depth}* [{title}]({path})")
    (directory / "SUMMARY.md").write_text("\n".join(summary) + "\n", encoding="utf-8")
    return directory


def _places(count: int) -> Iterator[tuple[str, int, str]]:
    """Yield path, depth and title of so many pages: a home page, then parts of chapters of pages."""
    yield "README.md", 0, "Home"
    left = count - 1
    part = -1
    while left > 0:
        part += 1
        for chapter in range(-1, CHAPTERS):
            below = range(-1, PAGES) if chapter >= 0 else range(-1, 0)
            for page in below:
                if left <= 0:
                    return
                left -= 1
                yield _place(part, chapter, page)


def _place(part: int, chapter: int, page: int) -> tuple[str, int, str]:
    if chapter < 0:
        return f"part-{part}/README.md", 0, f"Part {part}"
    if page < 0:
        return f"part-{part}/chapter-{chapter}/README.md", 1, f"Chapter {part}.{chapter}"
    return f"part-{part}/chapter-{chapter}/page-{page}.md", 2, f"Page {part}.{chapter}.{page}"


def _page(number: int, title: str) -> str:
    chance = random.Random(number)
    text = f"---\ndescription: {_sentence(chance)}\n---\n\n# {title}\n\nReference r{number:07}.\n"
    while len(text) < PAGE_BYTES:
        kind = chance.randrange(6)
        if kind == 0:
            text += f"\n## {_sentence(chance)[:-1]}\n"
        elif kind == 1:
            text += "\n" + "".join(f"* {_sentence(chance)}\n" for _ in range(4))
        elif kind == 2:
            text += f"\n```yaml\n{chance.choice(_WORDS)}: {chance.randrange(10_000)}\n```\n"
        else:
            link = f"See [another page](../{chance.choice(_WORDS)}.md) and **{chance.choice(_WORDS)}**."
            text += "\n" + " ".join(_sentence(chance) for _ in range(5)) + f" {link}\n"
    return text


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randrange(6, 16))).capitalize() + "."
