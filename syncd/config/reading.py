"""Parse the text of a configuration; every mistake is named by its key."""

import os
import re
import stat
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from syncd.config.names import PATTERN_MEANINGS
from syncd.config.positions import find_repeated
from syncd.config.repository import SiteConfig
from syncd.config.shapes import Config, NotificationsConfig, WebhooksConfig
from syncd.errors import ConfigInvalid

BYTES_MAX, DOTS_MAX = 1 << 18, 500
"""Bytes of a file, and dots in a line of it: more than any has. tomllib takes time by the square of a key's parts."""
_SHOWN, _KEY_SHOWN = 20, 80
"""Mistakes that one error names, and characters of a key: the file may be a stranger's."""
_SYNTAX_ERROR = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)", re.DOTALL)
"""How tomllib writes a mistake and its place. Source: Python 3.11 to 3.13, `tomllib._parser.suffixed_err`."""
_RESOLVE_SECONDS = 2.0
"""How long the disk of a repository may take to say where its path leads."""
_resolving: dict[Path, threading.Thread] = {}
"""Paths whose disk has not answered yet."""
Section = TypeVar("Section", bound=BaseModel)
_MEANINGS = {
    "missing": "is missing",
    "model_type": "must be a table",
    "tuple_type": "must be a list",
    "too_short": "must be a list of at least {min_length}",
    "too_long": "must be a list of at most {max_length}",
    "bool_type": "must be true or false, without quotes",
    "float_type": "must be a number, without quotes",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le:g} or less",
    "string_type": "must be a text in quotes",
    "path_type": "must be a path in quotes",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
}
"""Words for what pydantic tells a programmer."""


@dataclass(frozen=True)
class Mistake:
    """A key that is wrong, or missing, and what is wrong about it."""

    key: str
    message: str


@dataclass(frozen=True)
class Document:
    """A configuration as it is on disk: its bytes, and the TOML in them."""

    path: Path
    data: bytes
    raw: Mapping[str, Any]


def load(path: Path) -> Config:
    """Return the configuration in a file of the operator's.

    Shape: relative paths are resolved against its directory. Raises: ConfigInvalid naming every key that is wrong.
    """
    return resolve_paths(parse(read_document(path).raw, at=path), path)


def read_document(path: Path, *, is_plain: bool = False) -> Document:
    """Return the document of a configuration; with `is_plain`, links, pipes and devices are refused.

    Raises: ConfigInvalid when it cannot be read, or is not TOML.
    """
    try:
        return make_document(path, _read_plain(path) if is_plain else path.read_bytes())
    except FileNotFoundError:
        raise ConfigInvalid(
            f"there is no configuration at {path}",
            hint="name another with --config FILE; syncd clone and syncd init make one",
        ) from None
    except OSError as error:
        is_denied = isinstance(error, PermissionError)
        hint = "your user needs to read it: see its owner and mode with ls -l" if is_denied else "name a file of TOML"
        raise ConfigInvalid(f"{path} cannot be read: {explain_failure(error)}", hint=hint) from error


def make_document(path: Path, data: bytes) -> Document:
    """Return the document of a path and its bytes. Raises: ConfigInvalid when they are too large or not TOML."""
    if len(data) > BYTES_MAX:
        raise ConfigInvalid(f"{path} has more than {BYTES_MAX} bytes")
    if any(line.count(b".") > DOTS_MAX for line in data.split(b"\n")):
        raise ConfigInvalid(f"{path} has a line with more than {DOTS_MAX} dots")
    try:
        # Some editors begin a file with a mark that says that it is UTF-8.
        return Document(path, data, tomllib.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        place = f"{path}:{line}:{column}"
        raise ConfigInvalid(f"{place}: this is no UTF-8", hint="save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise _locate_syntax_error(path, data, str(error)) from error
    except RecursionError:
        raise ConfigInvalid(f"{path}: tables or lists lie too deep in each other") from None


def _locate_syntax_error(path: Path, data: bytes, text: str) -> ConfigInvalid:
    """The error with its place; where the file ends too early, that is behind its last character."""
    if (found := _SYNTAX_ERROR.fullmatch(text)) is None:
        written = data.decode("utf-8-sig").rstrip().split("\n")
        return ConfigInvalid(f"{path}:{len(written)}:{len(written[-1]) + 1}: {text}")
    # What tomllib says of a name that is there twice begins with this, and has the first place never, the key seldom.
    repeated = find_repeated(data, int(found["line"])) if found["what"].startswith("Cannot ") else None
    if repeated is None:
        return ConfigInvalid(f"{path}:{found['line']}:{found['column']}: {found['what']}")
    place = f"{path}:{repeated.second.line}:{repeated.second.column}"
    what = f"{place}: {repeated.name[:_KEY_SHOWN]} - is there twice, in line {repeated.first.line}, too"
    return ConfigInvalid(what, hint="leave one of the two")


def _read_plain(path: Path) -> bytes:
    if path.resolve() != path:
        raise ConfigInvalid(
            f"{path} is a symbolic link, and what a link leads to is not the repository's",
            hint=f"put the file itself there, or name it: --config {path.resolve()}",
        )
    # Nothing waits for a writer of a pipe, and what became a link meanwhile is not followed.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ConfigInvalid(f"{path} is no regular file")
        return file.read(BYTES_MAX + 1)


def parse(raw: Mapping[str, Any], *, at: Path) -> Config:
    """Return the configuration of parsed TOML.

    Raises: ConfigInvalid with one line for each mistake: `key.path - what is wrong`.
    """
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        mistakes = [f"{one.key} - {one.message}" for one in _list_mistakes(error)]
        more = [f"and {len(mistakes) - _SHOWN} more"] if len(mistakes) > _SHOWN else []
        lines = "; ".join([*mistakes[:_SHOWN], *more])
        hint = "the line of each: syncd config check\nevery key, with what it may hold: syncd schema config"
        raise ConfigInvalid(f"{at}: {lines}", hint=hint) from None


def find_mistakes(raw: Mapping[str, Any]) -> tuple[Mistake, ...]:
    """Return every key of parsed TOML that is wrong or missing."""
    try:
        Config.model_validate(raw)
    except ValidationError as error:
        return tuple(_list_mistakes(error))
    return ()


def find_root(path: Path) -> Path:
    """Return the directory at which relative paths in a configuration start, from the path of its file."""
    return path.parent.parent if path.parent.name == ".git" else path.parent


def resolve_paths(config: Config, path: Path) -> Config:
    """Return a configuration with absolute paths, from the path of its file."""
    root = find_root(path)
    platform = config.platform
    if platform.token_file is not None:
        platform = platform.model_copy(update={"token_file": root / expand_home(platform.token_file)})
    if platform.token_command is not None:
        program, *words = platform.token_command
        if program.startswith("~/"):
            program = str(expand_home(Path(program)))
        platform = platform.model_copy(update={"token_command": (program, *words)})
    repositories = tuple(
        repository.model_copy(
            update={
                "path": _resolve_repository(repository.path, root, path),
                "site": _resolve_site(repository.site, root) if repository.site is not None else None,
                "upstream": _resolve_files(repository.upstream, root) if repository.upstream is not None else None,
            }
        )
        for repository in config.repository
    )
    update = {
        "platform": platform,
        "repository": repositories,
        "webhooks": _resolve_webhooks(config.webhooks, root),
        "notifications": _resolve_notifications(config.notifications, root),
    }
    return config.model_copy(update=update)


def explain_failure(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file could not be read, in words."""
    return str(error.strerror) if isinstance(error, OSError) else "it is no UTF-8"


def expand_home(path: Path) -> Path:
    """Return a path with the home directory in place of `~`. Raises: ConfigInvalid for a user who does not exist."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ConfigInvalid(f"{path} begins with the home of a user who does not exist") from None


def _resolve_repository(path: Path, root: Path, file: Path) -> Path:
    try:
        return _resolve_in_time(root / expand_home(path))
    except (RuntimeError, ValueError):  # links that lead to each other, a zero byte
        raise ConfigInvalid(f"{file}: {str(path)!r} leads nowhere, and so is the path of no repository") from None


def _resolve_in_time(path: Path) -> Path:
    """Return a path without links, or as it is written where its disk does not answer: it may be one of many."""
    if (before := _resolving.get(path)) is not None and before.is_alive():
        return Path(os.path.abspath(path))
    found: list[Path | Exception] = []

    def resolve() -> None:
        try:
            found.append(path.resolve())
        except (OSError, RuntimeError, ValueError) as error:
            found.append(error)

    thread = _resolving[path] = threading.Thread(target=resolve, name=f"resolve {path}", daemon=True)
    thread.start()
    thread.join(_RESOLVE_SECONDS)
    if not found:
        return Path(os.path.abspath(path))
    del _resolving[path]
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _resolve_site(site: SiteConfig, root: Path) -> SiteConfig:
    publish = site.publish
    return site if publish is None else site.model_copy(update={"publish": _resolve_files(publish, root)})


def _resolve_webhooks(webhooks: WebhooksConfig | None, root: Path) -> WebhooksConfig | None:
    if webhooks is None:
        return None
    return webhooks.model_copy(update={"source": tuple(_resolve_files(source, root) for source in webhooks.source)})


def _resolve_notifications(notifications: NotificationsConfig, root: Path) -> NotificationsConfig:
    return notifications.model_copy(
        update={"target": tuple(_resolve_files(target, root) for target in notifications.target)}
    )


def _resolve_files(section: Section, root: Path) -> Section:
    """Return a table with absolute paths in each of its keys that names a file."""
    files = {name: value for name, value in section if isinstance(value, Path)}
    return section.model_copy(update={name: root / expand_home(path) for name, path in files.items()})


def _list_mistakes(error: ValidationError) -> Iterator[Mistake]:
    """Yield what is wrong, key by key; for a list that is too short only because of wrong items, only those."""
    found = error.errors()
    for one in found:
        loc = one["loc"]
        if one["type"] == "too_short" and any(other["loc"][: len(loc)] == loc != other["loc"] for other in found):
            continue
        meaning = one["msg"].removeprefix("Value error, ")
        if one["type"] == "extra_forbidden":
            near = get_close_matches(str(loc[-1]), _list_table_keys(loc[:-1]), n=1)
            meaning = f"there is no such key{f'; did you mean {near[0]}?' if near else ''}"
        else:
            facts = one.get("ctx", {})
            meaning = PATTERN_MEANINGS.get(facts.get("pattern", ""), meaning)
            meaning = _MEANINGS[one["type"]].format(**facts) if one["type"] in _MEANINGS else meaning
        yield Mistake(".".join(str(part)[:_KEY_SHOWN] for part in loc) or "file", meaning)


def _list_table_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the table at a location."""
    table: type[BaseModel] = Config
    for part in (part for part in loc if isinstance(part, str)):
        inner = table.model_fields[part].annotation
        table = next(one for one in (inner, *get_args(inner)) if isinstance(one, type) and issubclass(one, BaseModel))
    return list(table.model_fields)
