"""The token: where it comes from, who may read its file, and where it may go."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from syncd.config import PlatformConfig, is_credential, load_token, read_token
from syncd.errors import ConfigInvalid


def secret(path: Path, text: str = "gb_token\n", mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def platform(token_file: Path | None = None) -> PlatformConfig:
    return PlatformConfig(url="https://api.example.com", token_file=token_file)


def test_the_token_comes_from_the_file_then_the_variable_then_the_credential(tmp_path: Path) -> None:
    own = secret(tmp_path / "own", "from-file\n")
    secret(tmp_path / "credentials" / "token", "from-credential\n", 0o440)
    credentials = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}
    everything = {"SYNCD_TOKEN": "from-variable\n", **credentials}
    assert load_token(platform(own), everything).get_secret_value() == "from-file"
    assert load_token(platform(), everything).get_secret_value() == "from-variable"
    assert load_token(platform(), {**credentials, "SYNCD_TOKEN": ""}).get_secret_value() == "from-credential"


@pytest.mark.parametrize(
    ("path", "provided"),
    [
        ("/run/credentials/syncd.service/git-token", True),
        ("/run/credentials/git-token", False),
        ("/run/credentials/../git-token", False),
        ("/run/credentials/a/b/git-token", False),
        ("git-token", False),
    ],
)
def test_what_systemd_provides_to_a_service_is_known_to_a_person_too(path: str, *, provided: bool) -> None:
    assert is_credential(Path(path), {}) is provided


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o666, 0o644])
def test_a_token_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(ConfigInvalid, match="others may read") as caught:
        load_token(platform(secret(tmp_path / "token", mode=mode)), {})
    assert "chmod 600" in caught.value.hint


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_token_file_of_its_owner_is_accepted(tmp_path: Path, mode: int) -> None:
    assert load_token(platform(secret(tmp_path / "token", mode=mode)), {}).get_secret_value() == "gb_token"


@pytest.mark.parametrize("text", ["", "\n", "two words", "two\nlines", "é", "tab\there"])
def test_a_file_that_does_not_hold_one_token_is_refused_and_never_quoted(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigInvalid, match="does not hold one token") as caught:
        load_token(platform(secret(tmp_path / "file", text)), {})
    assert "words" not in caught.value.what


@pytest.mark.parametrize("environ", [{}, {"SYNCD_TOKEN": ""}])
def test_without_a_token_the_hint_names_the_ways_to_give_one(environ: Mapping[str, str]) -> None:
    with pytest.raises(ConfigInvalid, match="there is no token") as caught:
        load_token(platform(), environ)
    assert "token_file" in caught.value.hint
    assert "SYNCD_TOKEN" in caught.value.hint


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="absent cannot be read"):
        load_token(platform(tmp_path / "absent"), {})


def test_a_token_is_never_shown(tmp_path: Path) -> None:
    assert "gb_token" not in repr(load_token(platform(secret(tmp_path / "token")), {}))


def test_the_token_of_the_variable_is_for_the_platform_of_the_variable_alone() -> None:
    environ = {"SYNCD_TOKEN": "gb_token", "SYNCD_URL": "https://api.example.com/v1/"}
    assert load_token(platform(), environ).get_secret_value() == "gb_token"
    with pytest.raises(ConfigInvalid, match="SYNCD_TOKEN is for") as caught:
        load_token(PlatformConfig(url="https://elsewhere.example.com"), environ)
    assert "gb_token" not in caught.value.what + caught.value.hint


def test_the_hint_is_that_of_the_command() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load_token(platform(), {}, hint="--token-file FILE")
    assert caught.value.hint == "--token-file FILE"


def test_a_file_without_an_end_is_read_to_a_point() -> None:
    with pytest.raises(ConfigInvalid, match="others may read"):
        read_token(Path("/dev/zero"), "token file", {})
    with pytest.raises(ConfigInvalid, match="does not hold one token"):
        read_token(Path("/dev/zero"), "token file", {"CREDENTIALS_DIRECTORY": "/dev"})
