"""What the help of a command says of each parameter: its name, what it is for and what it may be, for people."""

from typing import Any

from typer import BadParameter, Context, TyperException
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

_Parameter = TyperArgument | TyperOption


class HelpCommand(TyperCommand):
    """A command whose help is for people."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words behind the command in its first line."""
        return _list_usage_pieces(self, ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        _write_parameters(self, ctx, formatter)


class HelpGroup(TyperGroup):
    """A group of commands whose help is for people."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words behind the group in its first line."""
        return [*_list_usage_pieces(self, ctx), self.subcommand_metavar]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, and the commands of the group."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def name_value(parameter: _Parameter) -> str:
    """Return what stands for the value of a parameter in a synopsis, such as `FILE`, `[PAGE]...` or `SPACE[=DIR]`."""
    name = parameter.metavar or (parameter.name or "").upper()
    if isinstance(parameter, TyperOption):
        return name
    shown = name if parameter.required else f"[{name}]"
    return f"{shown}..." if parameter.nargs != 1 and "..." not in name else shown


def describe_mistake(error: BadParameter) -> str:
    """Return what is wrong with the value of a parameter; "" where the message of the error says it in words."""
    from pydantic import ValidationError  # here, as help needs it not

    parameter, cause = error.param, error.__cause__
    if not isinstance(cause, ValidationError) or not isinstance(parameter, _Parameter):
        return ""
    name = parameter.opts[0] if isinstance(parameter, TyperOption) else name_value(parameter)
    given = cause.errors()[0]["input"]
    noun = {int: "a whole number", float: "a number"}.get(parameter.type_descriptor.annotation)
    return f"{name} {given}: give {', '.join(filter(None, (noun, _describe_range(parameter))))}" if noun else ""


def find_place_of_option(error: TyperException) -> str:
    """Return where an option belongs that a command does not have and the program has; "" for any other mistake."""
    name, context = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    if not name or context is None or context.parent is None:
        return ""
    program = context.find_root()
    command = context.command_path.removeprefix(program.command_path)
    for each in program.command.get_params(program):
        if isinstance(each, TyperOption) and name in each.opts:
            value = "" if each.is_flag else f" {name_value(each)}"
            return f"{name} stands before the command: {program.command_path} {name}{value}{command}"
    return ""


def _list_usage_pieces(command: TyperCommand | TyperGroup, ctx: Any) -> list[str]:
    arguments = [each for each in command.get_params(ctx) if isinstance(each, TyperArgument)]
    return [*filter(None, [command.options_metavar]), *map(name_value, arguments)]


def _write_parameters(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    shown = [each for each in command.get_params(ctx) if isinstance(each, _Parameter) and not each.hidden]
    for title, kind in (("Arguments", TyperArgument), ("Options", TyperOption)):
        rows = [(_format_name(each), _format_help(each, ctx)) for each in shown if isinstance(each, kind)]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def _format_name(parameter: _Parameter) -> str:
    if isinstance(parameter, TyperArgument):
        return parameter.metavar or (parameter.name or "").upper()
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if parameter.is_flag else f"{names} {name_value(parameter)}"


def _format_help(parameter: _Parameter, ctx: Context) -> str:
    facts = [
        f"env var: {parameter.envvar}" if parameter.envvar else "",
        _format_default(parameter, ctx),
        _describe_range(parameter),
        "required" if parameter.required else "",
    ]
    return "  ".join(filter(None, [parameter.help or "", _format_facts(facts)]))


def _format_facts(facts: list[str]) -> str:
    known = "; ".join(filter(None, facts))
    return f"[{known}]" if known else ""


def _format_default(parameter: _Parameter, ctx: Context) -> str:
    """The default of a parameter that has one, is no flag and shows it."""
    shown: object = parameter.show_default
    default = parameter.get_default(ctx, call=False) if shown is True else shown
    is_flag = isinstance(parameter, TyperOption) and parameter.is_flag
    has_none = default is None or default is False or default in ("", [], ())
    return "" if is_flag or has_none else f"default: {_format_number(default)}"


def _describe_range(parameter: _Parameter) -> str:
    """What numbers a parameter may be, such as `1 to 64` or `at least 1`; "" for all."""
    least, most = (None if each is None else _format_number(each) for each in (parameter.min, parameter.max))
    if least is not None and most is not None:
        return f"{least} to {most}"
    return f"at least {least}" if least is not None else f"at most {most}" if most is not None else ""


def _format_number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
