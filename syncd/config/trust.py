"""Which keys a repository may decide, and which need the trust of its owner."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from syncd.config.reading import Document
from syncd.errors import ConfigInvalid

Origin = Literal["operator", "git directory", "work tree"]
"""Whose word a configuration is: the operator's; that of whoever made the repository; that of whoever commits."""

PERMITTED = frozenset({"repository"}) | {
    f"repository.{key}"
    for key in (
        *("name", "branches", "instance", "interval", "propose", "space", "site", "change_requests"),
        *(f"space.{key}" for key in ("id", "directory", "name")),
        *(f"site.{key}" for key in ("file", "apply", "every", "lock", "ordering", "redirect_kinds")),
        *(f"change_requests.{key}" for key in ("status", "reviewers", "update", "merge", "deleted_branch")),
    )
}
"""Keys that a repository may decide: spaces, directories, branches and policies. A key that is not here may not."""
_REMOTE_ADDRESS = re.compile(r"(?:https|ssh)://\S+|(?!/)[^:/\s]+:(?!:|//)\S+")


@dataclass(frozen=True)
class ConfigFile:
    """A configuration that applies, and its origin; `top` is the work tree that it lies in, if any."""

    path: Path
    origin: Origin = "operator"
    top: Path | None = None


@dataclass(frozen=True)
class Key:
    """A key of a file and its value; `plain` is its name without the numbers of list items."""

    name: str
    plain: str
    value: Any


def list_keys(raw: Mapping[str, Any]) -> list[Key]:
    """Return every key of parsed TOML that has a value; an empty table is one."""
    return list(_walk_keys(raw))


def find_privileged_keys(raw: Mapping[str, Any]) -> list[Key]:
    """Return the keys of parsed TOML that a repository may not decide."""
    return [key for key in _walk_keys(raw) if key.plain not in PERMITTED]


def keep_permitted(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return parsed TOML without the keys that a repository may not decide."""
    kept: dict[str, Any] = _drop_privileged(raw, "")
    return kept


def compute_digest(file: ConfigFile, document: Document) -> str:
    """Return the digest of what a record of trust covers.

    Shape: of a committed file every byte, since whoever commits chooses the spaces too; of a file in the git directory,
    which nobody can commit, the privileged keys.
    """
    pinned = document.data
    if file.origin == "git directory":
        keys = {key.name: key.value for key in find_privileged_keys(document.raw)}
        pinned = json.dumps(keys, sort_keys=True, default=str).encode()
    return hashlib.sha256(f"{file.origin}\0".encode() + pinned).hexdigest()


def check_upstream(file: ConfigFile, raw: Mapping[str, Any]) -> None:
    """Check that an upstream in a committed configuration is named by an address of https or ssh.

    Shape: Git runs the hooks of a remote that is a path, and `.git/config` may give a name any address. Raises
    ConfigInvalid.
    """
    for number, repository in enumerate(raw.get("repository", ())):
        upstream = repository.get("upstream")
        if upstream is not None and not _REMOTE_ADDRESS.fullmatch(str(upstream.get("url", ""))):
            raise ConfigInvalid(
                f"{file.path}: repository.{number}.upstream.url - must be an https or ssh address in a committed file",
                hint="a path may stand in a configuration of your own: .git/syncd.toml, or one that --config names",
            )


def check_token_command(file: ConfigFile, raw: Mapping[str, Any]) -> None:
    """Check that a committed configuration names no command to run.

    Shape: not even one that is trusted: the program that it names may come with a later commit. Raises: ConfigInvalid.
    """
    if "token_command" in raw.get("platform", {}):
        raise ConfigInvalid(
            f"{file.path}: platform.token_command - must not stand in a committed file",
            hint="write it into a configuration of your own: ~/.config/syncd/config.toml, or .git/syncd.toml",
        )


def is_same_address(one: str, other: str) -> bool:
    """Return whether two addresses of a platform are equal, apart from a slash or `/v1` at the end."""
    return normalize_address(one) == normalize_address(other)


def normalize_address(url: str) -> str:
    """Return the address of a platform without a slash or `/v1` at the end, its scheme and host in lower case."""
    plain = url.rstrip("/").removesuffix("/v1").rstrip("/")
    scheme, mark, rest = plain.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{mark}{host.lower()}{slash}{path}" if mark else plain


def _walk_keys(value: Any, name: str = "", plain: str = "") -> Iterator[Key]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _walk_keys(inner, f"{name}.{key}".lstrip("."), f"{plain}.{key}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            yield from _walk_keys(item, f"{name}.{number}", plain)
    else:
        yield Key(name, plain, value)


def _drop_privileged(value: Any, plain: str) -> Any:
    if isinstance(value, Mapping):
        inner = {key: f"{plain}.{key}".lstrip(".") for key in value}
        return {key: _drop_privileged(value[key], path) for key, path in inner.items() if path in PERMITTED}
    return [_drop_privileged(item, plain) for item in value] if isinstance(value, list) else value
