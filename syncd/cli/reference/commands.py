"""The commands that print what comes with syncd: help, codes of findings, schemas, examples, completion, man pages."""

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from syncd.cli.terminal.options import GROUP_SETTINGS, JsonOption

reference = typer.Typer(**GROUP_SETTINGS)


def _complete_topic(incomplete: str) -> list[str]:
    from syncd.cli.reference.help_topics import complete_topic

    return complete_topic(incomplete)


def _complete_code(incomplete: str) -> list[str]:
    from syncd.cli.check.explain import complete_code

    return complete_code(incomplete)


def _complete_example(incomplete: str) -> list[str]:
    from syncd.cli.reference.example import complete_name

    return complete_name(incomplete)


@reference.command("help")
def help_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC", help="A command, or a page of the manual; else a list.", autocompletion=_complete_topic
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the help of a command, or a page of the manual."""
    from syncd.cli.reference.help_topics import show_help

    show_help(words or (), context, as_json=json)


@reference.command("explain")
def explain_command(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE",
            help="A code, its first word such as link or SY3, or all.",
            autocompletion=_complete_code,
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Say what a code of a finding means, and how to mend it."""
    from syncd.cli.check.explain import explain

    explain(code, as_json=json)


@reference.command("schema")
def schema_command(
    name: Annotated[str, typer.Argument(metavar="FILE", help="site, redirects (a file in YAML), or config.")],
) -> None:
    """Print the JSON Schema of a file that people write.

    With it, editors complete the keys of the file and mark mistakes.
    """
    from syncd.cli.reference.schema import print_schema

    print_schema(name)


@reference.command("example")
def example_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="config, a unit such as syncd.service, alerts, a recipe such as gitlab; without it, their names.",
            autocompletion=_complete_example,
        ),
    ] = "",
) -> None:
    """Print a file to copy: configuration, unit, recipe."""
    from syncd.cli.reference.example import print_example

    print_example(name)


@reference.command("completion")
def completion_command(shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print what a shell needs to complete command lines."""
    from syncd.cli.reference.completion import print_completion

    print_completion(shell)


@reference.command("man")
def man_command(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where they go; it is made where it is not there.")],
) -> None:
    """Write a man page for each command and file."""
    from syncd.cli.reference.man import write_pages

    root = context.find_root().command
    assert isinstance(root, TyperGroup)
    write_pages(root, directory)
