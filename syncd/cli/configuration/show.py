"""`config show`: every value that counts, and where it comes from."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from syncd.cli.terminal.context import load_config_file, require_config_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, find_width, hide_credentials, print_text, wrap_line
from syncd.config import Config, ConfigFile
from syncd.config.drop_ins import read_drop_ins
from syncd.config.finding import find_own_platform, is_trusted, read_valid, select_keys
from syncd.config.positions import find_nearest, find_positions
from syncd.config.reading import Document, read_document
from syncd.config.tokens import TokenSource, find_token_source
from syncd.config.trust import list_keys
from syncd.daemon.labels import name_repositories


@dataclass(frozen=True)
class ValueOrigin:
    """Where a value comes from: a line of a file, a variable of the environment, the keyring, a command, or a default.

    Units: `line` and `column` count from 1. Shape: `owner` says whose word the file is, and `is_trusted` whether the
    owner of this account trusts what a repository says.
    """

    kind: Literal["file", "environment", "keyring", "command", "default"]
    file: str = ""
    line: int = 0
    column: int = 0
    owner: str = ""
    is_trusted: bool = False
    variable: str = ""


@dataclass(frozen=True)
class Setting:
    """A key, its value that counts, and where that comes from."""

    key: str
    value: Any
    origin: ValueOrigin


def show_config(config_file: Path | None, *, with_origin: bool, as_json: bool) -> None:
    """Print the configuration that counts here. Raises: ConfigInvalid; NotTrusted."""
    file = require_config_file(config_file)
    config = load_config_file(file)
    settings = list_settings(file, config, os.environ)
    if as_json:
        print_document({"file": str(file.path), "settings": [_build_document(setting) for setting in settings]})
        return
    print_text(f"# {escape(str(file.path))}")
    width = find_width(sys.stdout)
    for setting in settings:
        parts = list(_format_setting(setting, with_origin=with_origin))
        line = "  ".join(parts)
        print_text(line if width is None or wrap_line(line, width) == [line] else "\n    ".join(parts))


def list_settings(file: ConfigFile, config: Config, environ: Mapping[str, str]) -> Sequence[Setting]:
    """Return every value of a configuration that counts, with its origin. Raises: ConfigInvalid."""
    document = read_valid(file)
    url = environ.get("SYNCD_URL", "")
    counted = Document(document.path, document.data, select_keys(file, document, environ, url=url))
    has_trust = file.origin != "operator" and is_trusted(file, document, environ)
    sources = [(counted, file.origin)]
    if "platform" not in counted.raw and not url and (own := find_own_platform(environ)) is not None:
        sources.append((Document(own.path, own.data, {"platform": own.raw["platform"]}), "operator"))
    origins = {
        key: replace(origin, is_trusted=has_trust and owner != "operator")
        for source, owner in sources
        for key, origin in _list_origins(source, owner)
    }
    if file.origin == "operator":
        origins |= _list_drop_in_origins(counted, config)
    if url and "platform.url" not in origins:
        origins["platform.url"] = ValueOrigin("environment", variable="SYNCD_URL")
    raw = config.model_dump(mode="json")
    for table, name in zip(raw["repository"], name_repositories(config), strict=True):
        table["name"] = name
        for space in table["space"]:
            space["directory"] = space["directory"] or "."
    default = ValueOrigin("default")
    found = [
        Setting(key, hide_credentials(value) if isinstance(value, str) else value, origins.get(key, default))
        for key, value in _walk_values(raw)
    ]
    source = find_token_source(config.platform, environ)
    return found if source is None else [Setting("platform.token", "***", _build_token_origin(source)), *found]


def _list_drop_in_origins(document: Document, config: Config) -> dict[str, ValueOrigin]:
    """Return the origins of the repositories that files in `conf.d/` add behind those of the configuration itself."""
    origins: dict[str, ValueOrigin] = {}
    first = len(document.raw.get("repository", ()))
    for drop_in in read_drop_ins(document.path, config.repository[:first]):
        if drop_in.error is None:
            for key, origin in _list_origins(read_document(drop_in.path), "operator"):
                _, number, rest = key.split(".", 2)
                origins[f"repository.{first + int(number)}.{rest}"] = origin
        first += len(drop_in.repositories)
    return origins


def _build_token_origin(source: TokenSource) -> ValueOrigin:
    if source.kind == "variable":
        return ValueOrigin("environment", variable=source.place)
    if source.kind == "token_command":
        return ValueOrigin("command", source.place, owner="operator")
    return ValueOrigin("keyring") if source.kind == "keyring" else ValueOrigin("file", source.place, owner="operator")


def _list_origins(document: Document, owner: str) -> Iterator[tuple[str, ValueOrigin]]:
    positions = find_positions(document.data)
    for key in list_keys(document.raw):
        place = find_nearest(positions, key.name)
        line, column = (place.line, place.column) if place is not None else (0, 0)
        yield key.name, ValueOrigin("file", str(document.path), line, column, owner)


def _walk_values(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that is set, by its key; what is None is left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _walk_values(inner, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            yield from _walk_values(item, f"{name}.{number}")
    elif value is not None:
        yield name, value


def _format_setting(setting: Setting, *, with_origin: bool) -> Iterator[str]:
    yield f"{escape(setting.key)} = {escape(json.dumps(setting.value, ensure_ascii=False))}"
    if with_origin:
        yield f"# {escape(_describe_origin(setting.origin))}"


def _describe_origin(origin: ValueOrigin) -> str:
    if origin.kind == "environment":
        return f"variable {origin.variable}"
    if origin.kind == "command":
        return f"printed by {origin.file}"
    if origin.kind != "file":
        return origin.kind
    place = f"{origin.file}:{origin.line}" if origin.line else origin.file
    if origin.owner != "work tree":
        return place
    return f"{place}, which comes with the repository{' and is trusted' if origin.is_trusted else ''}"


def _build_document(setting: Setting) -> dict[str, Any]:
    origin = {name: value for name, value in asdict(setting.origin).items() if value}
    return {"key": setting.key, "value": setting.value, "origin": origin}
