"""`man`: a man page for each command, made from the same tree that parses command lines and prints their help."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from syncd import __version__
from syncd.errors import ConfigInvalid


def write_pages(root: TyperGroup, directory: Path) -> None:
    """Write the page of each command into a directory, and print how to read one.

    Raises: ConfigInvalid when they cannot be written.
    """
    pages = render_pages(root)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        hint = "name a directory that you may write to"
        raise ConfigInvalid(f"{error.filename} cannot be written: {error.strerror}", hint=hint) from error
    print(f"{len(pages)} pages written. To read one: man -l {directory / 'syncd.1'}")


def render_pages(root: TyperGroup) -> Mapping[str, str]:
    """Return the text of each page by its file name, such as `syncd-push.1`."""
    exit_codes = root.epilog or ""
    return {
        f"{'-'.join(words)}.1": "\n".join(_render_page(words, command, exit_codes)) + "\n"
        for words, command in _walk_commands(("syncd",), root)
    }


def _walk_commands(
    words: tuple[str, ...], command: TyperCommand | TyperGroup
) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    yield words, command
    for name, inner in (command.commands if isinstance(command, TyperGroup) else {}).items():
        if isinstance(inner, TyperCommand | TyperGroup):
            yield from _walk_commands((*words, name), inner)


def _render_page(words: tuple[str, ...], command: TyperCommand | TyperGroup, exit_codes: str) -> Iterator[str]:
    first, *paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    title = "-".join(words)
    yield f'.TH {_escape(title.upper())} 1 "" "syncd {__version__}" "User commands"'
    yield from (".SH NAME", f"{_escape(title)} \\- {_escape(first.rstrip('.'))}")
    yield ".SH SYNOPSIS"
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    options = [param for param in command.params if isinstance(param, TyperOption)]
    inner = command.commands if isinstance(command, TyperGroup) else {}
    parts = [f"\\fB{_escape(' '.join(words))}\\fR", *(["[\\fIoptions\\fR]"] if options else [])]
    parts += [f"\\fI{_escape(_name_value(argument))}\\fR" for argument in arguments]
    yield " ".join([*parts, *(["\\fIcommand\\fR"] if inner else [])])
    yield ".SH DESCRIPTION"
    for paragraph in (first, *paragraphs):
        yield from (".PP", _escape(" ".join(paragraph.split())))
    if arguments:
        yield ".SH ARGUMENTS"
    for argument in arguments:
        yield from (".TP", f"\\fI{_escape(_name_value(argument))}\\fR", _escape(argument.help or ""))
    if options:
        yield ".SH OPTIONS"
    for option in options:
        value = "" if option.is_flag else f" \\fI{_escape(_name_value(option))}\\fR"
        yield from (".TP", f"\\fB{_escape(', '.join(option.opts))}\\fR{value}", _escape(option.help or ""))
    if inner:
        yield ".SH COMMANDS"
    for name, each in inner.items():
        yield from (".TP", f"\\fB{_escape(title)}\\-{_escape(name)}\\fR(1)", _escape(each.get_short_help_str(200)))
    yield from (".SH EXIT STATUS", _escape(" ".join(exit_codes.split()).removeprefix("Exit codes: ")))
    if len(words) > 1:
        yield from (".SH SEE ALSO", f"\\fB{_escape('-'.join(words[:-1]))}\\fR(1)")


def _name_value(param: TyperArgument | TyperOption) -> str:
    name = param.metavar or (param.name or "").upper()
    is_optional = isinstance(param, TyperArgument) and not param.required
    return f"[{name}]" if is_optional and not name.startswith("[") else name


def _escape(text: str) -> str:
    """Return text in which troff finds nothing to obey: no escape, no request at the start of a line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
