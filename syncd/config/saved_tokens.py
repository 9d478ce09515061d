"""Tokens that `syncd auth login` saved: one for each platform, in the system's keyring or in a file of its owner's."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from syncd.config.register import find_base
from syncd.config.system_keyring import delete_keyring, find_keyring_obstacle, read_keyring, write_keyring
from syncd.config.trust import is_same_address, normalize_address
from syncd.errors import ConfigInvalid
from syncd.files import write_own_file

Storage = Literal["keyring", "file"]
_VERSION = 1
_FOREIGN = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True)
class SavedToken:
    """What is known of a saved token: its platform, where it is, since when, and whom it belonged to.

    Units: `at` is the time in ISO 8601. Shape: `token` is None where the keyring has it.
    """

    url: str
    storage: Storage
    at: str
    user: str = ""
    is_insecure: bool = False
    token: SecretStr | None = None


class TokenRegister:
    """The saved tokens of one user, in `syncd/tokens` below $XDG_CONFIG_HOME, or below ~/.config."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.directory = find_base(environ, "XDG_CONFIG_HOME", ".config") / "syncd" / "tokens"

    def find(self, url: str) -> SavedToken | None:
        """Return what is saved for a platform, or None. Raises: ConfigInvalid when others may read its file."""
        return _read_saved(self.find_path(url))

    def list_saved(self) -> Sequence[SavedToken]:
        """Return all that is saved, by platform; what cannot be believed is left out."""
        found = []
        for path in sorted(self.directory.glob("*.json")):
            try:
                found.append(_read_saved(path))
            except ConfigInvalid:
                continue
        return [saved for saved in found if saved is not None]

    def read_token(self, saved: SavedToken) -> SecretStr:
        """Return a saved token itself. Raises: ConfigInvalid when the keyring has it and does not give it."""
        if saved.token is not None:
            return saved.token
        if obstacle := find_keyring_obstacle(self._environ):
            raise ConfigInvalid(
                f"the token for {saved.url} is in the keyring, which is not used here: {obstacle}",
                hint=f"syncd auth login {saved.url} --storage file, or set the variable SYNCD_TOKEN",
            )
        token = read_keyring(normalize_address(saved.url))
        if token is None:
            raise ConfigInvalid(
                f"the keyring has no token for {saved.url} any more", hint=f"syncd auth login {saved.url}"
            )
        return SecretStr(token)

    def save(self, saved: SavedToken, token: SecretStr, *, storage: Storage | None = None) -> SavedToken:
        """Save a token in place of an earlier one for the same platform, and return where it is.

        Shape: without `storage` it is the keyring where there is one, else the file. Raises: ConfigInvalid.
        """
        address = normalize_address(saved.url)
        obstacle = find_keyring_obstacle(self._environ)
        if storage == "keyring" and obstacle:
            raise ConfigInvalid(f"the keyring is not used here: {obstacle}", hint="--storage file")
        was_in_keyring = any(
            one.storage == "keyring" for one in self.list_saved() if is_same_address(one.url, saved.url)
        )
        if storage != "file" and not obstacle:
            try:
                write_keyring(address, token.get_secret_value())
                return self._write(replace(saved, storage="keyring", token=None))
            except ConfigInvalid:
                if storage == "keyring":
                    raise
        written = self._write(replace(saved, storage="file", token=token))
        if was_in_keyring and not obstacle:
            with suppress(ConfigInvalid):  # it is not read from there any more
                delete_keyring(address)
        return written

    def remove(self, url: str) -> SavedToken | None:
        """Delete the token of a platform wherever it is, and return what was known of it; None when there was none.

        Shape: the record goes last, so that a run that was cut off can be repeated. Raises: ConfigInvalid.
        """
        saved = self.find(url)
        if saved is None:
            return None
        if saved.storage == "keyring":
            if obstacle := find_keyring_obstacle(self._environ):
                raise ConfigInvalid(f"the keyring is not used here: {obstacle}", hint="log out on a terminal")
            delete_keyring(normalize_address(url))
        try:
            self.find_path(url).unlink(missing_ok=True)
        except OSError as error:
            raise ConfigInvalid(f"{self.find_path(url)} cannot be removed: {error.strerror}") from error
        return saved

    def find_path(self, url: str) -> Path:
        """Return the file of a platform, whether it exists or not."""
        address = normalize_address(url)
        host = _FOREIGN.sub("-", urlsplit(address).netloc)[:80]
        return self.directory / f"{host}-{hashlib.sha256(address.encode()).hexdigest()[:16]}.json"

    def _write(self, saved: SavedToken) -> SavedToken:
        path = self.find_path(saved.url)
        token = saved.token.get_secret_value() if saved.token is not None else ""
        document = {"version": _VERSION, **asdict(saved), "token": token}
        try:
            write_own_file(path, json.dumps(document, indent=2).encode(), mode=0o600)
        except OSError as error:
            raise ConfigInvalid(
                f"the token cannot be saved in {self.directory}: {error.strerror}",
                hint="let XDG_CONFIG_HOME name a directory that you can write, or set the variable SYNCD_TOKEN",
            ) from error
        return saved


def _read_saved(path: Path) -> SavedToken | None:
    """Return what a file of this user says; None where there is no such file. Raises: ConfigInvalid."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid():
                raise ConfigInvalid(f"{path} belongs to another user", hint=f"remove it: rm {path}")
            if status.st_mode & 0o077:
                raise ConfigInvalid(f"others may read the token in {path}", hint=f"chmod 600 {path}")
            document = json.load(file)
        fields = {name: document[name] for name in ("url", "storage", "at", "user", "is_insecure")}
        return SavedToken(**fields, token=SecretStr(document["token"]) if document["token"] else None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigInvalid(f"{path} is not what syncd wrote", hint="syncd auth login writes it anew") from error
