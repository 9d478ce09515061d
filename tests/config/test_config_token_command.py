"""`token_command`: what is started, within which bounds, how often, and who may name it."""

import os
import sys
import time
from pathlib import Path

import pytest

from syncd.config import PlatformConfig, load, load_token, make_token_renewal
from syncd.config.finding import load_config, trust_document
from syncd.config.reading import read_document
from syncd.config.token_command import OUTPUT_BYTES_MAX, TokenCommands, find_program
from syncd.config.trust import ConfigFile
from syncd.errors import ConfigInvalid

URL = "https://api.example.com"
ENVIRON = {"PATH": os.environ["PATH"]}
SPACE = '[[repository]]\n[[repository.space]]\nid = "s1"\n'


def script(path: Path, body: str) -> str:
    """Write a program of this Python, and return its path."""
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def counting(directory: Path) -> str:
    """A program that prints `gb_1`, then `gb_2`, and so on."""
    body = (
        f"file = {str(directory / 'count')!r}\n"
        "number = len(open(file).read()) + 1 if os.path.exists(file) else 1\n"
        "open(file, 'w').write('x' * number)\n"
        "print(f'gb_{number}')"
    )
    return script(directory / "counting", body)


def platform(*command: str) -> PlatformConfig:
    return PlatformConfig(url=URL, token_command=command)


def test_its_output_is_the_token_and_it_runs_once(tmp_path: Path) -> None:
    config = platform(counting(tmp_path))
    assert load_token(config, ENVIRON).get_secret_value() == "gb_1"
    assert load_token(config, {**ENVIRON, "SYNCD_TOKEN": "other"}).get_secret_value() == "gb_1"
    assert (tmp_path / "count").read_text() == "x"


def test_a_refused_token_is_replaced_once_for_all_threads(tmp_path: Path) -> None:
    config = platform(counting(tmp_path))
    load_token(config, ENVIRON)
    renew = make_token_renewal(config, ENVIRON)
    assert renew is not None
    assert renew("gb_1") == "gb_2"
    assert renew("gb_1") == "gb_2"
    assert load_token(config, ENVIRON).get_secret_value() == "gb_2"
    assert make_token_renewal(PlatformConfig(url=URL), {"SYNCD_TOKEN": "gb_1"}) is None


def test_no_shell_reads_it_and_it_knows_nothing_that_it_need_not(tmp_path: Path) -> None:
    body = "print('-'.join(sys.argv[1:] + [os.environ.get('SYNCD_TOKEN', 'none'), str(len(sys.stdin.read()))]))"
    command = (script(tmp_path / "echo", body), "$HOME;", "*")
    environ = {**ENVIRON, "SYNCD_TOKEN": "secret", "HOME": str(tmp_path)}
    assert TokenCommands().read_token(command, environ).get_secret_value() == "$HOME;-*-none-0"


def test_it_starts_in_the_home_directory(tmp_path: Path) -> None:
    command = (script(tmp_path / "where", "print(os.getcwd())"),)
    assert TokenCommands().read_token(command, {**ENVIRON, "HOME": str(tmp_path)}).get_secret_value() == str(tmp_path)
    assert TokenCommands().read_token(command, ENVIRON).get_secret_value() == "/"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        (f"sys.stdout.write('x' * {OUTPUT_BYTES_MAX + 1})", "prints more than"),
        ("while True: print('x' * 999, flush=True)", "prints more than"),
    ],
)
def test_what_fails_says_how_and_shows_nothing_that_it_printed(tmp_path: Path, body: str, message: str) -> None:
    command = (script(tmp_path / "bad", f"print('gb_secret', flush=True)\n{body}"),)
    with pytest.raises(ConfigInvalid, match=message) as caught:
        TokenCommands().read_token(command, ENVIRON)
    assert "gb_secret" not in caught.value.what + caught.value.hint


@pytest.mark.parametrize("body", ["time.sleep(600)", "os.close(1); time.sleep(600)", "os.fork(); time.sleep(600)"])
def test_it_may_not_take_forever(tmp_path: Path, body: str) -> None:
    pids = tmp_path / "pids"
    record = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}} ')"
    command = (script(tmp_path / "slow", f"{record}\n{body}"),)
    started = time.monotonic()
    with pytest.raises(ConfigInvalid, match="took longer than"):
        TokenCommands(seconds=1).read_token(command, ENVIRON)
    assert time.monotonic() - started < 60
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.read_text().split()[0]), 0)


@pytest.mark.parametrize("text", ["", "two words", "a\nb", "\x1b[31mred", "é"])
def test_what_is_no_token_is_refused_and_never_quoted(tmp_path: Path, text: str) -> None:
    config = platform(script(tmp_path / "odd", f"sys.stdout.buffer.write({text.encode()!r})"))
    with pytest.raises(ConfigInvalid, match="does not print one token") as caught:
        load_token(config, ENVIRON)
    assert "words" not in caught.value.what


def test_a_program_is_never_found_in_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "give-token", "print('stolen')")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", f".:{tmp_path.name}", "relative:"):
        with pytest.raises(ConfigInvalid, match="no program give-token"):
            find_program(["give-token"], {"PATH": path})
    assert find_program(["give-token"], {"PATH": f".:{tmp_path}"}) == str(tmp_path / "give-token")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"op read token"', "must be a list"),
        ("[]", "at least 1"),
        ('["./give-token"]', "must begin with a program of PATH"),
        ('["bin/give-token"]', "must begin with a program of PATH"),
        ('["op", "a\\u0000b"]', "token_command"),
        ('["op"]\ntoken_file = "token"', "exclude each other"),
    ],
)
def test_a_value_that_cannot_be_a_command_is_named(tmp_path: Path, value: str, message: str) -> None:
    file = tmp_path / "syncd.toml"
    file.write_text(f'[platform]\nurl = "{URL}"\ntoken_command = {value}\n{SPACE}')
    with pytest.raises(ConfigInvalid, match=message):
        load(file)


def test_the_home_directory_may_stand_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "syncd.toml"
    file.write_text(f'[platform]\nurl = "{URL}"\ntoken_command = ["~/give", "~/x"]\n{SPACE}')
    assert load(file).platform.token_command == (str(tmp_path / "give"), "~/x")


def test_a_committed_file_never_names_it_not_even_a_trusted_one(tmp_path: Path) -> None:
    top = tmp_path / "repository"
    top.mkdir()
    path = top / "syncd.toml"
    path.write_text(f'[platform]\nurl = "{URL}"\ntoken_command = ["{counting(tmp_path)}"]\n{SPACE}')
    environ = {**ENVIRON, "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = ConfigFile(path, "work tree", top)
    with pytest.raises(ConfigInvalid):
        load_config(file, environ)
    trust_document(file, read_document(path), environ, at="2026-05-01T10:00:00+00:00")
    with pytest.raises(ConfigInvalid, match="token_command - must not stand in a committed file"):
        load_config(file, environ)
    assert not (tmp_path / "count").exists()


def test_the_operators_file_may_name_it_for_a_repository_that_names_no_platform(tmp_path: Path) -> None:
    own = tmp_path / "config" / "syncd" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[platform]\nurl = "{URL}"\ntoken_command = ["{counting(tmp_path)}"]\n')
    path = tmp_path / "repository" / "syncd.toml"
    path.parent.mkdir()
    path.write_text(SPACE)
    environ = {**ENVIRON, "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = ConfigFile(path, "work tree", path.parent)
    trust_document(file, read_document(path), environ, at="2026-05-01T10:00:00+00:00")
    config = load_config(file, environ)
    assert load_token(config.platform, environ).get_secret_value() == "gb_1"
