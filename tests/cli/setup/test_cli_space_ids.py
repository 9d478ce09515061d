"""Where a space's id is asked for, the address of the space in the browser says it too."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from syncd.cli.app import run
from syncd.cli.setup.space_ids import is_space_word, read_space_id, read_space_word, read_space_words
from syncd.cli.setup.wizard import split_setup_words
from tests.cli.command_runner import make_runner
from tests.cli.conftest import Shell


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("a-B_9", "a-B_9"),
        ("https://app.gitbook.com/o/Org1/s/Space1", "Space1"),
        ("https://app.gitbook.com/o/Org1/s/Space1/", "Space1"),
        ("https://app.gitbook.com/o/Org1/s/Space1/guides/s/deep?x=y#z", "Space1"),
        ("https://app.gitbook.com/s/Space1/~/changes/12/guides", "Space1"),
        ("http://127.0.0.1:8470/app/o/Org1/s/Space1/~/revisions/r", "Space1"),
    ],
)
def test_an_id_is_read_from_an_address(text: str, id: str) -> None:
    assert read_space_id(text) == id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b",
        "a b",
        "../x",
        "x" * 129,
        "https://app.gitbook.com/o/Org1/sites/site_1",
        "https://app.gitbook.com/o/Org1/s/",
        "https://docs.example.org/s",
        "https://app.gitbook.com/o/Org1/s/a%2Fb",
        "ftp://app.gitbook.com/o/Org1/s/Space1",
    ],
)
def test_what_holds_no_id_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_space_id(text)


def test_a_directory_follows_an_address_as_it_follows_an_id() -> None:
    assert read_space_word("abc=docs/en") == ("abc", "docs/en")
    assert read_space_word("https://app.gitbook.com/o/x/s/abc/page=docs") == ("abc", "docs")
    assert read_space_word("https://app.gitbook.com/o/x/s/abc/page#top") == ("abc", "")
    with pytest.raises(typer.BadParameter, match=r"https://app\.gitbook\.com/o/x/s/abc=DIR"):
        read_space_word("https://app.gitbook.com/o/x/s/abc?a=b=docs")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["abc=../x"], "abc=../x: the directory ../x must stay inside the repository"),
        (["abc=/x"], "must stay inside"),
        (["abc=a/.git"], "must stay inside"),
        (["abc", "xyz=docs"], "each needs its directory"),
        (["abc=a", "abc=b"], "abc: this space is named twice"),
        (["abc=a", "xyz=./a/b/"], "a, a/b: directories of two spaces must not lie in each other"),
    ],
)
def test_spaces_that_cannot_be_kept_beside_each_other_are_refused(words: list[str], why: str) -> None:
    with pytest.raises(typer.BadParameter, match=re.escape(why)):
        read_space_words(words)
    assert read_space_words(["abc=./a//b/", "xyz=a/c"]) == [("abc", "a/b"), ("xyz", "a/c")]


def test_the_address_that_the_platform_gives_is_taken_by_every_command(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = ("--token-file", str(shell.token))
    type_ = make_runner("", shell.root, monkeypatch, capsys)
    found: Any = json.loads(type_("api", "GET", f"/spaces/{shell.space}", "--url", shell.url, *token).out)
    address = found["urls"]["app"]
    assert address.endswith(f"/s/{shell.space}")
    assert type_("clone", shell.url, address, "cloned", *token).code == 0
    assert f'id = "{shell.space}"' in (shell.root / "cloned" / ".git" / "syncd.toml").read_text()
    assert type_("platform", "export", address, "exported", "--data", str(shell.data)).code == 0
    assert type_("platform", "import", "exported", "--space", f"{address}/use", "--data", str(shell.data)).code == 0
    bound = shell.root / "bound"
    subprocess.run(["git", "clone", "--quiet", "cloned", "bound"], cwd=shell.root, check=True)
    type_ = make_runner("", bound, monkeypatch, capsys)
    assert type_("init", shell.url, address, *token).code == 0
    monkeypatch.setenv("SYNCD_TOKEN", shell.token.read_text().strip())
    assert type_("push", "--ci", "main", "--dry-run", "--url", shell.url, "--space", address).code == 0


@pytest.mark.parametrize(
    ("address", "api"),
    [
        ("https://app.gitbook.com/o/Org1/s/Space1/guides", "https://api.gitbook.com"),
        ("https://app.gitbook.com.example.org/s/Space1", "https://app.gitbook.com.example.org"),
        ("http://127.0.0.1:8470/app/o/Org1/s/Space1", "http://127.0.0.1:8470"),
    ],
)
def test_the_address_of_a_space_names_the_platform(address: str, api: str) -> None:
    assert split_setup_words([address, "docs"], "") == (api, [address, "docs"])


@pytest.mark.parametrize(
    ("word", "is_space"),
    [("Space1", True), ("Space1=guides", True), ("https://app.gitbook.com/s/Space1=guides", True)]
    + [(word, False) for word in ("https://api.gitbook.com", "api.gitbook.com", "localhost:8470", "", "../docs")],
)
def test_a_platform_is_told_from_a_space(word: str, is_space: bool) -> None:
    assert is_space_word(word) is is_space


def test_a_space_alone_is_on_the_platform_that_is_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert split_setup_words(["Space1", "docs"], "") == ("", ["Space1", "docs"])
    monkeypatch.setenv("SYNCD_URL", "https://docs.example.org")
    assert split_setup_words(["Space1", "docs"], "") == ("https://docs.example.org", ["Space1", "docs"])
    assert split_setup_words(["https://api.gitbook.com", "Space1"], "") == ("https://api.gitbook.com", ["Space1"])
    assert split_setup_words(["Space1"], "https://one.example.org") == ("https://one.example.org", ["Space1"])
    assert split_setup_words([""], "") == ("", [])
    assert split_setup_words([""], "https://one.example.org") == ("https://one.example.org", [])


def test_two_words_are_enough_to_clone(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_ = make_runner("", shell.root, monkeypatch, capsys)
    monkeypatch.setenv("SYNCD_TOKEN", shell.token.read_text().strip())
    assert type_("clone", f"{shell.url}/app/o/Org1/s/{shell.space}/some/page", "by-address").code == 0
    monkeypatch.setenv("SYNCD_URL", shell.url)
    assert type_("clone", shell.space, "by-id").code == 0
    for name in ("by-address", "by-id"):
        text = (shell.root / name / ".git" / "syncd.toml").read_text()
        assert (shell.url in text, shell.space in text) == (True, True)


def test_the_platform_of_your_own_configuration_brings_its_token(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = shell.root / "own" / "syncd" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent.parent))
    monkeypatch.delenv("SYNCD_TOKEN", raising=False)
    type_ = make_runner("", shell.root, monkeypatch, capsys)
    assert type_("clone", shell.space, "mine").code == 0
    assert type_("-C", "mine", "pull").code == 0


def test_a_space_that_is_not_there_is_told_with_where_ids_are_found(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = make_runner("", shell.root, monkeypatch, capsys)(
        "clone", shell.url, "nowhere", "new", "--token-file", str(shell.token)
    )
    assert said.code == 78
    assert "hint: take the address of the space from your browser; its id stands there after /s/" in said.err
    assert not (shell.root / "new").exists()


@pytest.mark.parametrize("words", [("clone", "URL", "a/b", "docs"), ("push", "--ci", "--url", "URL", "--space", "a/b")])
def test_what_is_no_id_is_a_mistake_of_usage(words: tuple[str, ...], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNCD_TOKEN", "x")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert run([word.replace("URL", "http://127.0.0.1:1") for word in words]) == 64


@pytest.mark.parametrize(
    "words",
    [
        ("clone", "URL", "abc", "docs"),
        ("init", "URL", "abc", "--branch", "main"),
        ("api", "GET", "/user", "--url", "URL"),
    ],
)
def test_without_a_token_the_hint_names_the_option_of_the_command(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    said = make_runner("", tmp_path, monkeypatch, capsys)(
        *[word.replace("URL", "http://127.0.0.1:1") for word in words]
    )
    assert said.code == 78
    assert "hint: name its file with --token-file FILE, or set the variable SYNCD_TOKEN" in said.err
    assert "platform.token_file" not in said.err
