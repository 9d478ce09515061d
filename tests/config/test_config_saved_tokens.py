"""What `auth login` saved: one token for each platform, in the keyring or a file, and a keyring that must not hang."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keyring.core
import pytest
from keyring.backend import KeyringBackend
from pydantic import SecretStr

from syncd.config import PlatformConfig, load_token
from syncd.config import system_keyring as module
from syncd.config.saved_tokens import SavedToken, TokenRegister
from syncd.config.tokens import list_token_sources
from syncd.errors import ConfigInvalid

URL = "https://api.example.com"
PLATFORM = PlatformConfig(url=f"{URL}/v1/")
SAVED = SavedToken(URL, "file", "2026-01-02T03:04:05+00:00", "Ada")


class MemoryKeyring(KeyringBackend):
    """A keyring that lives as long as the test."""

    priority = 5.0

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


class SilentKeyring(MemoryKeyring):
    """A keyring that never answers."""

    def get_password(self, service: str, username: str) -> str | None:
        threading.Event().wait()
        return None

    set_password = get_password  # type: ignore[assignment]


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    """A keyring of this process, at a terminal."""
    backend = MemoryKeyring()
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
    monkeypatch.setattr(module, "has_terminal", lambda: True)
    return backend


def test_a_token_goes_into_the_keyring_and_comes_from_there(environ: Mapping[str, str], memory: MemoryKeyring) -> None:
    register = TokenRegister(environ)
    assert register.save(SAVED, SecretStr("secret-1")).storage == "keyring"
    assert memory.entries == {("syncd", URL): "secret-1"}
    assert "secret-1" not in register.find_path(URL).read_text()
    assert load_token(PLATFORM, environ).get_secret_value() == "secret-1"
    with pytest.raises(ConfigInvalid, match="there is no token"):
        load_token(PlatformConfig(url="https://api.example.org"), environ)
    assert register.remove("https://API.example.com/") is not None
    assert memory.entries == {}
    assert register.list_saved() == []


def test_without_a_keyring_it_goes_into_a_file_that_only_its_owner_reads(environ: Mapping[str, str]) -> None:
    register = TokenRegister(environ)
    assert register.save(SAVED, SecretStr("secret-1")).storage == "file"
    file = register.find_path(URL)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert load_token(PLATFORM, environ).get_secret_value() == "secret-1"
    assert "secret-1" not in repr(register.list_saved())
    file.chmod(0o640)
    with pytest.raises(ConfigInvalid, match="others may read") as caught:
        load_token(PLATFORM, environ)
    assert "chmod 600" in caught.value.hint


def test_a_keyring_that_keeps_nothing_safe_is_none(environ: Mapping[str, str], memory: MemoryKeyring) -> None:
    memory.priority = 0.5
    assert TokenRegister(environ).save(SAVED, SecretStr("secret-1")).storage == "file"
    assert memory.entries == {}


def test_a_token_is_in_one_place_only(environ: Mapping[str, str], memory: MemoryKeyring) -> None:
    register = TokenRegister(environ)
    register.save(SAVED, SecretStr("secret-1"))
    assert register.save(SAVED, SecretStr("secret-2"), storage="file").storage == "file"
    assert memory.entries == {}
    register.save(SAVED, SecretStr("secret-3"))
    assert "secret" not in register.find_path(URL).read_text()


@pytest.mark.parametrize(
    ("given", "why"),
    [({"CI": "1"}, "CI"), ({"XDG_CONFIG_HOME": "."}, "absolute"), ({"HOME": ""}, "absolute"), ({}, "no terminal")],
)
def test_a_keyring_is_left_alone_where_it_could_ask_nobody(
    environ: Mapping[str, str], memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, given: Any, why: str
) -> None:
    register = TokenRegister(environ)
    register.save(SAVED, SecretStr("secret-1"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", SilentKeyring())
    if not given:
        monkeypatch.setattr(module, "has_terminal", lambda: False)
    assert why in module.find_keyring_obstacle({**environ, **given})
    if "CI" in given or not given:
        with pytest.raises(ConfigInvalid, match="is in the keyring") as caught:
            load_token(PLATFORM, {**environ, **given})
        assert "--storage file" in caught.value.hint


def test_a_keyring_that_never_answers_ends_in_an_error(
    environ: Mapping[str, str], memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    TokenRegister(environ).save(SAVED, SecretStr("secret-1"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", SilentKeyring())
    monkeypatch.setattr(module, "SECONDS_MAX", 0.01)
    with pytest.raises(ConfigInvalid, match="the keyring gave no answer"):
        load_token(PLATFORM, environ)


def test_what_was_deleted_from_the_keyring_is_said(environ: Mapping[str, str], memory: MemoryKeyring) -> None:
    TokenRegister(environ).save(SAVED, SecretStr("secret-1"))
    memory.entries.clear()
    with pytest.raises(ConfigInvalid, match="the keyring has no token for"):
        load_token(PLATFORM, environ)


def test_all_other_places_come_before_what_was_saved(tmp_path: Path, environ: Mapping[str, str]) -> None:
    TokenRegister(environ).save(SAVED, SecretStr("saved"))
    assert load_token(PLATFORM, {**environ, "SYNCD_TOKEN": "variable"}).get_secret_value() == "variable"
    (tmp_path / "token").write_text("credential\n")
    credentials = {**environ, "CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert load_token(PLATFORM, credentials).get_secret_value() == "credential"
    kinds = [source.kind for source in list_token_sources(PLATFORM, credentials) if source.is_set]
    assert kinds == ["credential", "file"]


def test_a_credential_is_enough_where_the_home_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("credential\n")
    (tmp_path / "no-directory").touch()
    environ = {"HOME": str(tmp_path / "no-directory"), "CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert load_token(PLATFORM, environ).get_secret_value() == "credential"


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"url": URL})])
def test_a_file_that_syncd_did_not_write_is_one_error(environ: Mapping[str, str], text: str) -> None:
    register = TokenRegister(environ)
    file = register.find_path(URL)
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    file.write_text(text)
    with pytest.raises(ConfigInvalid, match="is not what syncd wrote"):
        load_token(PLATFORM, environ)
    assert register.list_saved() == []
    assert register.save(SAVED, SecretStr("secret-1")).storage == "file"
