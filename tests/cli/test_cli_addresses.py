"""Wherever a command takes an id, it takes the address in the browser: every parameter of the command tree."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

import pytest
import typer

from syncd.cli.app import app
from syncd.cli.terminal.site_ids import read_organization_id, read_site_id
from syncd.cli.terminal.tree import build_tree
from tests.cli.command_runner import make_runner
from tests.cli.conftest import Shell

ADDRESSES = {
    "SPACE": "https://app.example.com/o/Org1/s/Absent1",
    "SITE": "https://app.example.com/o/Org1/sites/Absent1",
    "ORG": "https://app.example.com/o/Absent1",
    "N": "https://app.example.com/o/Org1/s/Absent1/~/changes/7/page",
}
NUMBERS = {f"cr {name} number": ("N", f"cr {name} @") for name in ("show", "open --print", "merge", "close", "reopen")}
TAKES: Mapping[str, tuple[str, str]] = {
    "clone targets": ("SPACE", "clone URL @ new --token-file TOKEN"),
    "clone space": ("SPACE", "clone --url URL --space @ --directory new --token-file TOKEN"),
    "init space": ("SPACE", "init --url URL --space @ --token-file TOKEN"),
    "init spaces": ("SPACE", "init URL @ --token-file TOKEN"),
    "push space": ("SPACE", "push main --ci --dry-run --url URL --space @"),
    "platform import space": ("SPACE", "platform import . --data DATA --space @"),
    "platform export space": ("SPACE", "platform export @ out --data DATA"),
    "site import site_id": ("SITE", "site import --org Org1 --site @"),
    "site import organization": ("ORG", "site import --org @"),
    "platform token create organization": (
        "ORG",
        "platform token create --data DATA --user a@example.org --organization @",
    ),
    "cr list space": ("SPACE", "cr list --space @"),
    "undo target": ("N", "undo @ --yes"),
    "undo space": ("SPACE", "undo 7 --yes --space @"),
    "log space": ("SPACE", "log --space @"),
    "log change_request": ("N", "log --change-request @"),
    **{key.replace(" --print", ""): value for key, value in NUMBERS.items()},
    **{
        f"cr {name.split()[0]} space": ("SPACE", f"cr {name} 7 --space @")
        for name in ("show", "open --print", "merge", "close", "reopen")
    },
}
"""Every parameter that takes an id of the platform, by command and name: what it names, and a command line."""
NAMES = {"SPACE", "SITE", "ORG", "N", "SPACE[=DIR]", "SPACE[=DIR]...", "SPACE[=DIR]... REPO"}
"""How the command tree writes a parameter that is one."""
COUNTS = {
    "platform serve requests_per_minute",
    "log count",
    "preview port",
    "site build jobs",
    "fleet worker jobs",
    "fleet add priority",
}
"""An `N` that is no number of a change request."""
NAMED_IN_GIT = {"preview change_request"}
"""Change requests as refs name them: tests/cli/preview tries their addresses."""


def list_parameters(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield every parameter of the command tree with its metavar."""
    for name, below in getattr(command, "commands", {}).items():
        yield from list_parameters(below, (*words, name))
    for param in command.params:
        yield " ".join((*words, param.name)), param.metavar or param.name.upper()


def test_every_parameter_that_takes_an_id_is_in_the_table() -> None:
    found = {key for key, metavar in list_parameters(build_tree(app)) if metavar in NAMES}
    assert found - COUNTS - NAMED_IN_GIT == TAKES.keys()


@pytest.mark.parametrize("key", TAKES)
def test_an_address_does_what_the_id_does(
    key: str, shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    noun, line = TAKES[key]
    work = shell.root / "work"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(work)], check=True)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=work, check=True)
    if line.startswith(("cr", "site", "undo", "log")):
        text = f'[platform]\nurl = "{shell.url}"\n[[repository]]\n[[repository.space]]\nid = "{shell.space}"\n'
        (shell.root / "own.toml").write_text(text.replace("[[repository]]", f'[[repository]]\npath = "{work}"'))
        monkeypatch.setenv("SYNCD_CONFIG", str(shell.root / "own.toml"))
    monkeypatch.setenv("SYNCD_TOKEN", shell.token.read_text().strip())
    monkeypatch.setattr(sys, "stdin", StringIO())
    words = line.replace("URL", shell.url).replace("TOKEN", str(shell.token)).replace("DATA", str(shell.data)).split()
    run = make_runner("", work, monkeypatch, capsys)
    id = "7" if noun == "N" else "Absent1"
    address = ADDRESSES[noun]
    by_address = run(*(address if word == "@" else word for word in words))
    by_id = run(*(id if word == "@" else word for word in words), *(["--space", "Absent1"] if noun == "N" else []))
    assert by_address.code == by_id.code != 0
    assert "Absent1" in by_id.err
    for text in (by_address.err, by_address.out):
        assert "no space is in this address" not in text
    assert by_address.err.replace(address, id) == by_id.err


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("site_1", ("site_1", "")),
        ("https://app.gitbook.com/o/Org1/sites/site_1", ("site_1", "Org1")),
        ("http://127.0.0.1:8470/app/o/Org1/sites/site_1/settings?a#b", ("site_1", "Org1")),
    ],
)
def test_a_site_is_read_from_an_address(text: str, ids: tuple[str, str]) -> None:
    assert read_site_id(text) == ids


def test_an_organization_is_read_from_the_address_of_anything_in_it() -> None:
    assert read_organization_id("https://app.gitbook.com/o/Org1/s/Space1/~/changes/1") == "Org1"
    assert read_organization_id("Org1") == "Org1"


@pytest.mark.parametrize("text", ["", "a b", "https://app.gitbook.com/o/Org1/s/Space1", "https://docs.example.org/x"])
def test_what_names_no_site_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_site_id(text)
