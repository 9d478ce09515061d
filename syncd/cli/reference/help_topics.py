"""`help`: the help of a command, or a page of the manual that came with this version."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import typer
from typer.core import TyperCommand, TyperGroup

from syncd.cli.reference.man import walk_commands
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.packaged_files import MANUAL
from syncd.cli.terminal.pager import page_text
from syncd.cli.terminal.text import find_width, is_coloured, print_text, style_text
from syncd.layout.lint.suggestions import NearMisses, format_suggestion

WIDTH = 100
"""Pages are set at so many columns, or at the width of a narrower terminal."""
_STYLES = {
    "markdown.code": "bold",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.table.header": "bold",
    "markdown.table.border": "dim",
}
"""No colours of our own on the reader's background."""
_ENTRY = re.compile(r"^\s*\* \[(?P<title>[^\]]+)\]\((?P<path>[^)]+)\)$")
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<path>[^):#\s]+)\.md\)")


@dataclass(frozen=True)
class Topic:
    """A page of the manual. Shape: `name` is its path without `.md`; the `word` that a person types is its last part.

    Of a folder's README, the word is the folder's name.
    """

    name: str
    title: str
    part: str

    @property
    def word(self) -> str:
        """What a person types."""
        path = PurePosixPath(self.name)
        return (path.parent.name or "syncd") if path.name == "README" else path.name


def show_help(words: Sequence[str], context: typer.Context, *, as_json: bool) -> None:
    """Print the help of a command, a page of the manual, or all topics. Raises: BadParameter for what is neither."""
    root = context.find_root().command
    assert isinstance(root, TyperGroup)
    topics = list_topics()
    if not words:
        _print_topics(topics, as_json=as_json)
        return
    commands = {" ".join(path[1:]): command for path, command in walk_commands(("syncd",), root)}
    name = " ".join(words)
    named = {topic.name: topic for topic in topics} | {topic.word: topic for topic in topics}
    topic = named.get(name.removesuffix(".md"))
    if name in commands and not as_json:
        _print_command(name, commands[name], topic)
    elif topic is not None:
        _print_page(topic, as_json=as_json)
    else:
        near = NearMisses([*named, *commands]).find(name)
        hint = format_suggestion(near) or "syncd help lists the topics"
        raise typer.BadParameter(f"there is no help on {name[:80]}; {hint}")


def complete_topic(incomplete: str) -> list[str]:
    """Return the topics that a shell offers for the beginning of a word."""
    return [topic.word for topic in list_topics() if topic.word.startswith(incomplete)]


def list_topics() -> Sequence[Topic]:
    """Return the pages of the manual in the order of its table of contents."""
    topics, part = [], ""
    for line in (MANUAL / "SUMMARY.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part = line.removeprefix("## ")
        elif (entry := _ENTRY.match(line)) is not None:
            topics.append(Topic(entry["path"].removesuffix(".md"), entry["title"], part))
    return topics


def read_topic(topic: Topic) -> str:
    """Return the Markdown of a page, without its frontmatter."""
    return _FRONTMATTER.sub("", (MANUAL / f"{topic.name}.md").read_text(encoding="utf-8"))


def _print_topics(topics: Sequence[Topic], *, as_json: bool) -> None:
    if as_json:
        listed = [{"topic": one.word, "name": one.name, "title": one.title, "part": one.part} for one in topics]
        print_document({"topics": listed})
        return
    width = max(len(topic.word) for topic in topics)
    lines = ["syncd help COMMAND explains a command, and syncd help TOPIC shows a page of the manual.", "", "Topics:"]
    part = ""
    for topic in topics:
        if topic.part != part:
            part = topic.part
            lines += ["", style_text(part, 1, sys.stdout)]
        lines.append(f"  {topic.word:<{width}}  {topic.title}")
    print_text("\n".join(lines))


def _print_command(name: str, command: TyperCommand | TyperGroup, topic: Topic | None) -> None:
    print(command.get_help(typer.Context(command, info_name=f"syncd {name}")))
    if topic is not None:
        print_text(f"\nThe manual has a page on it: syncd help {topic.name}")


def _print_page(topic: Topic, *, as_json: bool) -> None:
    text = read_topic(topic)
    if as_json:
        print_document({"topic": topic.word, "name": topic.name, "title": topic.title, "markdown": text})
        return
    width = find_width(sys.stdout)
    if width is None:
        print(text, end="")
        return
    page_text(_render_page(_name_links(text, topic), min(width, WIDTH)))


def _name_links(text: str, topic: Topic) -> str:
    """Return a page in which a link to another one says how to read that."""
    words: Mapping[str, str] = {one.name: one.word for one in list_topics()}

    def name_link(link: re.Match[str]) -> str:
        parts: list[str] = list(PurePosixPath(topic.name).parent.parts)
        for part in link["path"].split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part != ".":
                parts.append(part)
        word = words.get("/".join(parts))
        return f"{link['text']} (`syncd help {word}`)" if word else link["text"]

    return _LINK.sub(name_link, text)


def _render_page(text: str, width: int) -> str:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Heading, Markdown
    from rich.theme import Theme

    class PlainHeading(Heading):
        """A heading at the left, as it stands in the file."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield self.text

    class Page(Markdown):
        """Markdown whose headings are not centred."""

        elements = {**Markdown.elements, "heading_open": PlainHeading}  # noqa: RUF012 # as the library declares it

    has_colour = is_coloured(sys.stdout)
    theme = Theme(_STYLES)
    console = Console(width=width, force_terminal=has_colour, no_color=not has_colour, highlight=False, theme=theme)
    with console.capture() as capture:
        console.print(Page(text, code_theme="ansi_dark", hyperlinks=False))
    return "\n".join(line.rstrip() for line in capture.get().rstrip().splitlines())
