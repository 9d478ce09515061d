"""Where a token is looked for; files that hold a secret: who may read them, and what a token looks like."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from pydantic import SecretStr

from syncd.config.reading import explain_failure
from syncd.config.saved_tokens import SavedToken, Storage, TokenRegister
from syncd.config.shapes import PlatformConfig
from syncd.config.token_command import token_commands
from syncd.config.trust import is_same_address
from syncd.errors import ConfigInvalid

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SYSTEMD_CREDENTIALS = Path("/run/credentials")
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
_BYTES_MAX = 1 << 16
_WAYS = "syncd auth login saves one; or set platform.token_file or token_command, or the variable SYNCD_TOKEN"

SOURCE_NAMES = {
    "token_file": "token_file of the configuration",
    "token_command": "token_command of the configuration",
    "variable": "variable SYNCD_TOKEN",
    "credential": "credential of systemd",
    "keyring": "keyring",
    "file": "file that syncd auth login wrote",
}
"""The places where a token is looked for, in words."""


@dataclass(frozen=True)
class TokenSource:
    """One of the places where a token is looked for; `place` is its file or variable, `saved` what a login saved."""

    kind: Literal["token_file", "token_command", "variable", "credential", "keyring", "file"]
    place: str
    is_set: bool
    saved: SavedToken | None = None
    command: tuple[str, ...] = ()


def list_token_sources(config: PlatformConfig, environ: Mapping[str, str]) -> Iterator[TokenSource]:
    """Yield the places where a token for a platform is looked for, in their order; no secret is read.

    Shape: a place is looked at when it is its turn: a service whose credential is there need not be able to read its
    user's home. Raises: ConfigInvalid when what a login saved cannot be read, or others may read it.
    """
    yield TokenSource("token_file", str(config.token_file or ""), config.token_file is not None)
    command = config.token_command or ()
    yield TokenSource("token_command", command[0] if command else "", bool(command), command=command)
    yield TokenSource("variable", "SYNCD_TOKEN", bool(environ.get("SYNCD_TOKEN")))
    credential = find_credential("token", environ)
    yield TokenSource("credential", str(credential or ""), credential is not None)
    register = TokenRegister(environ)
    saved = register.find(config.url)
    for kind, place in (("keyring", ""), ("file", str(register.find_path(config.url)))):
        is_set = saved is not None and saved.storage == kind
        yield TokenSource(cast(Storage, kind), place, is_set, saved if is_set else None)


def find_token_source(config: PlatformConfig, environ: Mapping[str, str]) -> TokenSource | None:
    """Return the place that a platform's token is taken from; None where none is set.

    Raises: ConfigInvalid, as `list_token_sources`.
    """
    return next((source for source in list_token_sources(config, environ) if source.is_set), None)


def load_token(config: PlatformConfig, environ: Mapping[str, str], *, hint: str = _WAYS) -> SecretStr:
    """Return the token: `token_file` or what `token_command` prints, else $SYNCD_TOKEN, else systemd's credential
    `token`, else what a login saved.

    Shape: where $SYNCD_URL is set, $SYNCD_TOKEN is for that address alone; `hint` says how to give a token. Raises
    ConfigInvalid when there is none, when others may read the file, or when the keyring does not give it.
    """
    source = find_token_source(config, environ)
    if source is None:
        raise ConfigInvalid("there is no token", hint=hint)
    if source.saved is not None:
        return TokenRegister(environ).read_token(source.saved)
    if source.kind == "token_command":
        return _check_printed(token_commands.read_token(source.command, environ), source)
    if source.kind != "variable":
        return read_token(Path(source.place), "token file", environ, hint=hint if source.kind == "token_file" else "")
    named = environ.get("SYNCD_URL")
    if named and not is_same_address(named, config.url):
        raise ConfigInvalid(
            f"SYNCD_TOKEN is for {named}, which SYNCD_URL names, and the platform here is {config.url}",
            hint="unset SYNCD_URL, or name the same platform",
        )
    return SecretStr(environ["SYNCD_TOKEN"].strip())


def make_token_renewal(config: PlatformConfig, environ: Mapping[str, str]) -> Callable[[str], str] | None:
    """Return what finds another token than one that the platform refused; None where no command is configured.

    Shape: it takes the refused token, and raises ConfigInvalid when the command fails.
    """
    source = find_token_source(config, environ)
    if source is None or source.kind != "token_command":
        return None

    def renew(refused: str) -> str:
        printed = token_commands.renew_token(source.command, environ, refused)
        return _check_printed(printed, source).get_secret_value()

    return renew


def _check_printed(printed: SecretStr, source: TokenSource) -> SecretStr:
    if not _TOKEN.fullmatch(printed.get_secret_value()):
        raise ConfigInvalid(f"token_command: {source.place} does not print one token on one line")
    return printed


def read_token(path: Path, key: str, environ: Mapping[str, str], *, hint: str = "") -> SecretStr:
    """Return the token in a file; `key` names the file in messages.

    Raises: ConfigInvalid when it cannot be read, when others may read it, or when it does not hold one token.
    """
    text = read_private_text(path, key, environ, hint=hint).strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigInvalid(f"the {key} {path} does not hold one token on one line")
    return SecretStr(text)


def read_private_text(path: Path, key: str, environ: Mapping[str, str], *, hint: str = "") -> str:
    """Return the text of a file with a secret; `key` names the file in messages.

    Raises: ConfigInvalid when it cannot be read, or when others may read it.
    """
    try:
        with path.open("rb") as file:
            _check_mode(path, os.fstat(file.fileno()), key, environ)
            return file.read(_BYTES_MAX).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"the {key} {path} cannot be read: {explain_failure(error)}", hint=hint) from error


def check_private(path: Path, key: str, environ: Mapping[str, str]) -> None:
    """Check that a file with a secret can be read, and by its owner only, unless systemd provides it.

    Raises: ConfigInvalid.
    """
    try:
        with path.open("rb") as file:
            _check_mode(path, os.fstat(file.fileno()), key, environ)
    except OSError as error:
        raise ConfigInvalid(f"the {key} {path} cannot be read: {error.strerror}") from error


def find_credential(name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file of a credential that systemd provides to this service, or None."""
    directory = _credentials(environ)
    return directory / name if directory is not None and (directory / name).exists() else None


def is_credential(path: Path, environ: Mapping[str, str]) -> bool:
    """Return whether systemd provides a file to a service, this one or another; then systemd decides who may read it.

    Shape: a person who runs a command as the user of a service meets its files, too, by the place where only root can
    make any; newer systemd gives that user a right of its own there, which looks like one of the group.
    """
    return path.parent == _credentials(environ) or Path(os.path.normpath(path)).parents[1:2] == (_SYSTEMD_CREDENTIALS,)


def _credentials(environ: Mapping[str, str]) -> Path | None:
    return Path(environ["CREDENTIALS_DIRECTORY"]) if environ.get("CREDENTIALS_DIRECTORY") else None


def _check_mode(path: Path, status: os.stat_result, key: str, environ: Mapping[str, str]) -> None:
    if status.st_mode & _OTHERS and not is_credential(path, environ):
        raise ConfigInvalid(f"others may read the {key} {path}", hint=f"chmod 600 {path}")
