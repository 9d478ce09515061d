"""The tree of commands: each is known by its name and its help, and built when it is called.

Building all of them, with every option, takes longer than most of them take. What a command imports, it imports in its
own function; `tests/cli/terminal/test_cli_tree.py` says what must not be loaded until then.
"""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache, cached_property, partial
from typing import Any

from typer import Context, Typer, TyperException
from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group_from_info, solve_typer_info_help
from typer.models import CommandInfo, TyperInfo

from syncd.cli.terminal.help import HelpCommand, HelpGroup


class _Deferred:
    """What is known of a command before it is built; asked for anything else, it builds itself."""

    name: str | None
    help: str | None
    short_help: str | None = None
    deprecated: bool | str = False

    def __init__(self, name: str, help: str, build: Callable[[], Any]) -> None:
        self.name, self.help, self.hidden, self._build = name, help, False, build

    @cached_property
    def _built(self) -> Any:
        return self._build()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Build the command, and begin to run it with its words. Raises: TyperException, which knows the command."""
        try:
            return self._built.make_context(info_name, args, parent=parent, **extra)
        except TyperException as error:
            if getattr(error, "ctx", self) is None:  # the parser does not know whose words it reads
                vars(error)["ctx"] = Context(self._built, info_name=info_name, parent=parent)
            raise


class DeferredCommand(_Deferred, HelpCommand):
    """A command that is built when it is called."""


class DeferredGroup(_Deferred, HelpGroup):
    """A group of commands that is built when one of them is called."""


@cache
def build_tree(app: Typer) -> TyperGroup:
    """Return the tree of all commands; their options are built when they are needed."""
    return _build_group(TyperInfo(app), app.info.name or "")


def _build_group(info: TyperInfo, name: str) -> TyperGroup:
    """A group with its own options, and what is below it deferred."""
    assert info.typer_instance is not None
    alone, itself = copy(info.typer_instance), copy(info)
    alone.registered_commands, alone.registered_groups = [], []
    itself.typer_instance, itself.cls = alone, HelpGroup
    group = get_group_from_info(
        itself,
        pretty_exceptions_short=alone.pretty_exceptions_short,
        suggest_commands=alone.suggest_commands,
        rich_markup_mode=alone.rich_markup_mode,
    )
    group.name = name
    for command in _list_below(info.typer_instance):
        group.add_command(command)
    return group


def _list_below(app: Typer) -> Iterator[DeferredCommand | DeferredGroup]:
    """The commands of a group in the order in which they were added; those of a group without a name are its own."""
    for command in app.registered_commands:
        yield _defer_command(command, app)
    for group in app.registered_groups:
        assert group.typer_instance is not None
        if isinstance(group.name, str):
            build = partial(_build_group, group, group.name)
            yield DeferredGroup(group.name, solve_typer_info_help(group), build)
        else:
            yield from _list_below(group.typer_instance)


def _defer_command(info: CommandInfo, app: Typer) -> DeferredCommand:
    assert info.callback is not None
    name = info.name or get_command_name(getattr(info.callback, "__name__", ""))
    itself = copy(info)
    itself.cls = HelpCommand
    build = partial(
        get_command_from_info,
        itself,
        pretty_exceptions_short=app.pretty_exceptions_short,
        rich_markup_mode=app.rich_markup_mode,
    )
    return DeferredCommand(name, info.help or inspect.getdoc(info.callback) or "", build)
