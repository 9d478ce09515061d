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
from syncd.api.transport import Method
from syncd.cli.sync.setup import WAYS_TO_GIVE_ONE
from syncd.cli.terminal.context import find_here, load_here, require_here
from syncd.cli.terminal.text import safe, safe_json
from syncd.config import PlatformConfig, token

METHODS: tuple[str, ...] = get_args(Method)
_KEY = re.compile(r"(?P<name>[^\[\]]+)(?P<below>(?:\[[^\[\]]*\])*)")
_DEPTH_MAX = 16


@dataclass(frozen=True)
class Call:
    """What the command line asks for."""

    method: str
    path: str
    fields: Sequence[str] = ()
    raw_fields: Sequence[str] = ()
    input: str = ""
    paginate: bool = False
    jq: str = ""


def run_api(call: Call, config: Path | None, url: str, token_file: Path | None) -> None:
    """Given a call and where the platform is, make it and print the answer.

    Raises: BadParameter; the client's errors.
    """
    method = call.method.upper()
    if method not in METHODS:
        raise typer.BadParameter(f"{call.method}: the methods are {', '.join(METHODS)}")
    if call.paginate and method != "GET":
        raise typer.BadParameter("--paginate: only lists have pages, and lists are read with GET")
    select = _selection(call.jq)
    members = _members(call)
    body = _body(call, members) if method != "GET" else None
    params = {name: _parameter(name, value) for name, value in members.items()} if method == "GET" else {}
    platform = _platform(config, url, token_file)
    secret = token(platform, os.environ, hint=WAYS_TO_GIVE_ONE).get_secret_value()
    with Client(platform.url, secret, insecure=platform.insecure) as client:
        if call.paginate:
            items = list(client.raw.items(call.path, params=params))
            answer: Any = {"items": items, "count": len(items)}
        else:
            answer = client.raw.call(method, call.path, params=params, body=body)  # type: ignore[arg-type]
        for notice in client.take_notices():
            print(notice, file=sys.stderr)
    for value in [] if answer is None else select(answer):
        print(_plain(value) if isinstance(value, str) else safe_json(value))


def _plain(text: str) -> str:
    """A text as it is, for a program; a terminal gets it line by line with nothing to obey."""
    return "\n".join(map(safe, text.split("\n"))) if sys.stdout.isatty() else text


def _platform(config: Path | None, url: str, token_file: Path | None) -> PlatformConfig:
    if not url and find_here(config) is None:
        url = os.environ.get("SYNCD_URL", "")
    if not url:
        return load_here(require_here(config)).platform
    return PlatformConfig(url=url, token_file=token_file.absolute() if token_file else None)


def _selection(expression: str) -> Any:
    if not expression:
        return lambda answer: [answer]
    import jq

    try:
        program = jq.compile(expression)
    except ValueError as error:
        raise typer.BadParameter(f"--jq: {_line(error)}") from None

    def select(answer: Any) -> list[Any]:
        try:
            return list(program.input_value(answer))
        except ValueError as error:
            raise typer.BadParameter(f"--jq: {_line(error)}") from None

    return select


def _line(error: ValueError) -> str:
    return " ".join(str(error).split())


def _members(call: Call) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for word in call.raw_fields:
        _put(members, *_split(word, "--raw-field"))
    for word in call.fields:
        key, text = _split(word, "--field")
        _put(members, key, _typed(text))
    return members


def _split(word: str, option: str) -> tuple[str, str]:
    key, equals, text = word.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise typer.BadParameter(f"{option} {word}: write KEY=VALUE, a[b]=VALUE for a member, a[]=VALUE for an item")
    return key, text


def _typed(text: str) -> Any:
    """Given a value as it was typed, return it as JSON: true, false, null, numbers, `@FILE`, and else text."""
    if text.startswith("@"):
        return _read(text[1:])
    if re.fullmatch(r"true|false|null|-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?", text):
        return json.loads(text)
    return text


def _put(members: dict[str, Any], key: str, value: Any) -> None:
    """Given a key such as `a[b][]`, put a value there."""
    match = _KEY.fullmatch(key)
    assert match
    steps = [match["name"], *re.findall(r"\[([^\[\]]*)\]", match["below"])]
    if len(steps) > _DEPTH_MAX:
        raise typer.BadParameter(f"{key}: too many levels")
    here: Any = members
    for at, step in enumerate(steps):
        last = at == len(steps) - 1
        if last and isinstance(here, dict) and step:
            here[step] = value
        elif last and isinstance(here, list) and not step:
            here.append(value)
        elif isinstance(here, dict) and step:
            here = here.setdefault(step, [] if steps[at + 1] == "" else {})
        elif isinstance(here, list) and not step:
            # A member that the last item does not have yet is one more of it; one that it has begins the next item.
            if not here or not isinstance(here[-1], dict) or steps[at + 1] in here[-1]:
                here.append([] if steps[at + 1] == "" else {})
            here = here[-1]
        else:
            raise typer.BadParameter(f"{key}: it has a value of another kind already")


def _body(call: Call, members: dict[str, Any]) -> Any:
    if not call.input:
        return members or None
    text = _read(call.input)
    try:
        given = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"--input {call.input}: not JSON: {error}") from None
    if not members:
        return given
    if not isinstance(given, dict):
        raise typer.BadParameter("--field adds members to an object, and --input holds none")
    return {**given, **members}


def _read(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{name} cannot be read: {error}") from None


def _parameter(name: str, value: Any) -> Any:
    if isinstance(value, dict) or value is None:
        raise typer.BadParameter(f"{name}: a query parameter is text, a number, true, false, or several of them")
    return value
