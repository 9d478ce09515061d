"""`api`: any operation of the platform from the command line; JSON in, JSON out."""

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import typer

from syncd.api.client import Client
from syncd.api.transport.request_loop import Method
from syncd.cli.auth.platforms import find_configured_platform
from syncd.cli.setup.configuration import CREDENTIAL_HINT
from syncd.cli.terminal.context import find_config_file, load_config_file, require_config_file
from syncd.cli.terminal.progress import make_client_options
from syncd.cli.terminal.text import escape, format_json
from syncd.config import PlatformConfig, load_token

METHODS: tuple[str, ...] = get_args(Method)
_KEY = re.compile(r"(?P<name>[^\[\]]+)(?P<below>(?:\[[^\[\]]*\])*)")
_DEPTH_MAX = 16
_JQ_MISTAKE = re.compile(r"jq: error: (?P<what>.*?) at <top-level>, line (?P<line>[0-9]+), column (?P<column>[0-9]+)")
_JQ_TOKENS = {
    "INVALID_CHARACTER": "character",
    "IDENT": "name",
    "QQSTRING_START": "text in quotes",
    "LITERAL": "number",
    "FIELD": "field",
}
"""Names of the grammar of jq, and the words for them."""


@dataclass(frozen=True)
class ApiOptions:
    """What a person typed behind `api`."""

    method: str
    path: str
    fields: Sequence[str] = ()
    raw_fields: Sequence[str] = ()
    input: str = ""
    paginate: bool = False
    jq: str = ""


def run_api(options: ApiOptions, config: Path | None, url: str, token_file: Path | None) -> None:
    """Call one operation of the platform and print its answer as JSON.

    Raises: BadParameter for a wrong option; PlatformError as the client raises it.
    """
    method = options.method.upper()
    if method not in METHODS:
        raise typer.BadParameter(f"{options.method}: the methods are {', '.join(METHODS)}")
    if options.paginate and method != "GET":
        raise typer.BadParameter("--paginate: only lists have pages, and lists are read with GET")
    if options.input and method == "GET":
        raise typer.BadParameter("--input: a GET sends no body; parameters are given with -f NAME=VALUE")
    select = _compile_selection(options.jq)
    members = _read_members(options)
    body = _build_body(options, members) if method != "GET" else None
    params = {name: _check_parameter(name, value) for name, value in members.items()} if method == "GET" else {}
    platform = _find_platform(config, url, token_file)
    secret = load_token(platform, os.environ, hint=CREDENTIAL_HINT).get_secret_value()
    with Client(platform.url, secret, make_client_options(platform)) as client:
        if options.paginate:
            items = list(client.raw.list_items(options.path, params=params))
            answer: Any = {"items": items, "count": len(items)}
        else:
            answer = client.raw.call(method, options.path, params=params, body=body)  # type: ignore[arg-type]
        for notice in client.take_notices():
            print(notice, file=sys.stderr)
    for value in [] if answer is None else select(answer):
        print(_format_text(value) if isinstance(value, str) else format_json(value))


def _format_text(text: str) -> str:
    """The text unchanged for a program, escaped line by line for a terminal."""
    return "\n".join(map(escape, text.split("\n"))) if sys.stdout.isatty() else text


def _find_platform(config: Path | None, url: str, token_file: Path | None) -> PlatformConfig:
    if not url and find_config_file(config) is None:
        url = os.environ.get("SYNCD_URL", "")
        if not url and (own := find_configured_platform(config)) is not None:
            return own
    if not url:
        return load_config_file(require_config_file(config)).platform
    return PlatformConfig(url=url, token_file=token_file.absolute() if token_file else None)


def _compile_selection(expression: str) -> Any:
    if not expression:
        return lambda answer: [answer]
    import jq

    try:
        program = jq.compile(expression)
    except ValueError as error:
        raise typer.BadParameter(f"--jq: {_describe_jq_mistake(expression, str(error))}") from None

    def select(answer: Any) -> list[Any]:
        try:
            return list(program.input_value(answer))
        except ValueError as error:
            why = " ".join(str(error).split())
            raise typer.BadParameter(f"--jq does not fit the answer, which is shown without --jq: {why}") from None

    return select


def _describe_jq_mistake(expression: str, complaint: str) -> str:
    """What is wrong in an expression, and where, by the complaint of the library jq."""
    first = _JQ_MISTAKE.search(complaint)
    lines = expression.split("\n")
    if first is None or int(first["line"]) > len(lines):
        return " ".join(complaint.splitlines()[0].removeprefix("jq: error: ").split())
    what = first["what"].removeprefix("syntax error, ").partition(", expecting ")[0]
    if "end of file" in what:
        return f"the expression ends too early: {expression}"
    for token, words in _JQ_TOKENS.items():
        what = what.replace(token, words)
    line = lines[int(first["line"]) - 1].encode()
    at = int(first["column"]) - 1  # counted in bytes
    before, rest = (part.decode(errors="replace") for part in (line[:at], line[at:]))
    place = f"line {first['line']}, column {len(before) + 1}" if len(lines) > 1 else f"column {len(before) + 1}"
    return f"{what} at {place}, which begins: {rest}"


def _read_members(options: ApiOptions) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for word in options.raw_fields:
        _set_member(members, *_split_member(word, "--raw-field"))
    for word in options.fields:
        key, text = _split_member(word, "--field")
        _set_member(members, key, _parse_value(text))
    return members


def _split_member(word: str, option: str) -> tuple[str, str]:
    key, equals, text = word.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise typer.BadParameter(f"{option} {word}: write KEY=VALUE, a[b]=VALUE for a member, a[]=VALUE for an item")
    return key, text


def _parse_value(text: str) -> Any:
    """The JSON value of a typed word: true, false, null or a number, the text of `@FILE`, else the word itself."""
    if text.startswith("@"):
        return _read_text(text[1:])
    if re.fullmatch(r"true|false|null|-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?", text):
        return json.loads(text)
    return text


def _set_member(members: dict[str, Any], key: str, value: Any) -> None:
    """Set the value of a key such as `a[b][]` in nested objects and lists."""
    match = _KEY.fullmatch(key)
    assert match
    steps = [match["name"], *re.findall(r"\[([^\[\]]*)\]", match["below"])]
    if len(steps) > _DEPTH_MAX:
        raise typer.BadParameter(f"{key}: too many levels")
    target: Any = members
    for at, step in enumerate(steps):
        last = at == len(steps) - 1
        if last and isinstance(target, dict) and step:
            target[step] = value
        elif last and isinstance(target, list) and not step:
            target.append(value)
        elif isinstance(target, dict) and step:
            target = target.setdefault(step, [] if steps[at + 1] == "" else {})
        elif isinstance(target, list) and not step:
            # A member that the last item lacks is added to it; one that it has already begins the next item.
            if not target or not isinstance(target[-1], dict) or steps[at + 1] in target[-1]:
                target.append([] if steps[at + 1] == "" else {})
            target = target[-1]
        else:
            raise typer.BadParameter(f"{key}: it has a value of another kind already")


def _build_body(options: ApiOptions, members: dict[str, Any]) -> Any:
    if not options.input:
        return members or None
    text = _read_text(options.input)
    try:
        body = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"--input {options.input}: not JSON: {error}") from None
    if not members:
        return body
    if not isinstance(body, dict):
        raise typer.BadParameter("--field adds members to an object, and --input holds none")
    return {**body, **members}


def _read_text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{name} cannot be read: it is no UTF-8") from None


def _check_parameter(name: str, value: Any) -> Any:
    if isinstance(value, dict) or value is None:
        raise typer.BadParameter(f"{name}: a query parameter is text, a number, true, false, or several of them")
    return value
