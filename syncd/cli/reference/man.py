"""`man`: a man page for each command, from the tree that parses command lines, and for each file that people write."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from syncd import __version__
from syncd.cli.reference.man_files import escape_roff, render_file_pages
from syncd.cli.terminal.help import name_value
from syncd.errors import NO_SPACE, ConfigInvalid, make_disk_full

_COMMAND_SECTION, _FILE_SECTION = "man1", "man5"
"""Directories of a tree of man pages. Source: man(1)."""


def write_pages(root: TyperGroup, directory: Path) -> None:
    """Write the page of each command and file into a directory, and print how to read one.

    Shape: where the directory is `man1` of a tree of man pages, those of files go to `man5` beside it, where `man`
    looks for them. Raises: ConfigInvalid when they cannot be written, DiskFull.
    """
    pages, file = render_pages(root), directory
    try:
        for name, text in pages.items():
            is_elsewhere = name.endswith(".5") and directory.name == _COMMAND_SECTION
            place = directory.parent / _FILE_SECTION if is_elsewhere else directory
            place.mkdir(parents=True, exist_ok=True)
            file = place / name
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        if error.errno in NO_SPACE:
            raise make_disk_full(error, file) from error
        hint = "name a directory that you may write to"
        raise ConfigInvalid(f"{error.filename or file} cannot be written: {error.strerror}", hint=hint) from error
    print(f"{len(pages)} pages written. To read one: man -l {directory / 'syncd.1'}")


def render_pages(root: TyperGroup) -> Mapping[str, str]:
    """Return the text of each page by its file name, such as `syncd-push.1` and `syncd.toml.5`."""
    exit_codes = root.epilog or ""
    commands = {
        f"{'-'.join(words)}.1": "\n".join(_render_page(words, command, exit_codes)) + "\n"
        for words, command in walk_commands(("syncd",), root)
    }
    return {**commands, **render_file_pages()}


def walk_commands(
    words: tuple[str, ...], command: TyperCommand | TyperGroup
) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    """Yield a command and all below it, each with the words that call it, such as `("syncd", "site", "plan")`."""
    yield words, command
    for name, inner in (command.commands if isinstance(command, TyperGroup) else {}).items():
        if isinstance(inner, TyperCommand | TyperGroup):
            yield from walk_commands((*words, name), inner)


def _render_page(words: tuple[str, ...], command: TyperCommand | TyperGroup, exit_codes: str) -> Iterator[str]:
    first, *paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    title = "-".join(words)
    yield f'.TH {escape_roff(title.upper())} 1 "" "syncd {__version__}" "User commands"'
    yield from (".SH NAME", f"{escape_roff(title)} \\- {escape_roff(first.rstrip('.'))}")
    yield ".SH SYNOPSIS"
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    options = [param for param in command.params if isinstance(param, TyperOption)]
    inner = command.commands if isinstance(command, TyperGroup) else {}
    parts = [f"\\fB{escape_roff(' '.join(words))}\\fR", *(["[\\fIoptions\\fR]"] if options else [])]
    parts += [f"\\fI{escape_roff(name_value(argument))}\\fR" for argument in arguments]
    yield " ".join([*parts, *(["\\fIcommand\\fR"] if inner else [])])
    yield ".SH DESCRIPTION"
    for paragraph in (first, *paragraphs):
        yield from (".PP", escape_roff(" ".join(paragraph.split())))
    if arguments:
        yield ".SH ARGUMENTS"
    for argument in arguments:
        yield from (".TP", f"\\fI{escape_roff(name_value(argument))}\\fR", escape_roff(argument.help or ""))
    if options:
        yield ".SH OPTIONS"
    for option in options:
        value = "" if option.is_flag else f" \\fI{escape_roff(name_value(option))}\\fR"
        yield from (".TP", f"\\fB{escape_roff(', '.join(option.opts))}\\fR{value}", escape_roff(option.help or ""))
    if inner:
        yield ".SH COMMANDS"
    for name, each in inner.items():
        yield from (
            ".TP",
            f"\\fB{escape_roff(title)}\\-{escape_roff(name)}\\fR(1)",
            escape_roff(each.get_short_help_str(200)),
        )
    yield from (".SH EXIT STATUS", escape_roff(" ".join(exit_codes.split()).removeprefix("Exit codes: ")))
    if len(words) > 1:
        yield from (".SH SEE ALSO", f"\\fB{escape_roff('-'.join(words[:-1]))}\\fR(1)")
