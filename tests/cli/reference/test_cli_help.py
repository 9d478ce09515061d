"""What people read before they know a command: help that fits, and schemas that their editors know."""

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from syncd.cli.app import app, run
from syncd.cli.reference.example import EXAMPLES
from syncd.cli.reference.man import render_pages
from syncd.cli.terminal.tree import build_tree

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("words", [(), ("site",), ("redirects",), ("review",), ("platform",)])
def test_every_command_is_told_in_one_whole_sentence(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("words", "usage"),
    [("undo", "[N]"), ("push", "[BRANCH]"), ("check", "[PATHS]..."), ("status", "[FILE]..."), ("site apply", "[PLAN]")],
)
def test_what_may_be_left_out_stands_in_one_pair_of_brackets(
    words: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--help"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"Usage: syncd {words} [OPTIONS] {usage}"
    page = dict(render_pages(build_tree(app)))[f"syncd-{words.replace(' ', '-')}.1"]
    assert f"[\\fIoptions\\fR] \\fI{usage}\\fR" in page


@pytest.mark.parametrize("words", [("site",), ("redirects",)])
def test_who_names_no_command_is_told_which_there_are(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(words)) == 64
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Usage: syncd")


def test_the_schema_of_the_configuration_explains_every_key_and_knows_mistakes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["schema", "config"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft7Validator.check_schema(schema)
    for shape in (schema, *schema["definitions"].values()):
        assert shape["additionalProperties"] is False
        assert all(key["description"] for key in shape["properties"].values())
    judge = Draft7Validator(schema)
    example = tomllib.load(io.BytesIO((ROOT / "config.example.toml").read_bytes()))
    assert list(judge.iter_errors(example)) == []

    def wrong(**site: Any) -> bool:
        return not judge.is_valid({"platform": {"url": "u"}, "repository": [{"site": site}]})

    assert not wrong()
    assert wrong(fiel="x")
    assert wrong(lock="here")
    assert wrong(every=0)
    assert run(["schema", "confg"]) == 64
    assert "did you mean config?" in capsys.readouterr().err


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_file_to_copy_is_printed_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["example", name]) == 0
    assert capsys.readouterr().out == (ROOT / EXAMPLES[name]).read_text(encoding="utf-8")


def test_without_a_name_every_file_to_copy_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["example"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[2:]] == list(EXAMPLES)


@pytest.mark.parametrize("words", ["status --porcelain", "doctor --bundle", "cr list --status", "cr show"])
def test_the_hint_of_a_mistyped_line_names_the_command_that_was_typed(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 64
    command = " ".join(word for word in words.split() if not word.startswith("-"))
    assert f"  hint: syncd {command} --help\n" in capsys.readouterr().err


def test_there_is_an_example_of_every_unit() -> None:
    units = ROOT / "systemd"
    named = {path.relative_to(units).as_posix() for path in units.rglob("*.service")}
    assert named == {name for name in EXAMPLES if name.endswith(".service")}


def test_who_names_no_example_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["example", "syncd.servce"]) == 64
    assert "did you mean syncd.service?" in capsys.readouterr().err
    assert run(["example", "nginx"]) == 64
    assert "there are config, syncd.service," in capsys.readouterr().err


def test_a_configuration_that_syncd_wrote_names_a_command_that_explains_it(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = (shell.clone() / ".git" / "syncd.toml").read_text().splitlines()[0]
    assert run(first.rpartition(": syncd ")[2].split()) == 0
    assert "[platform]" in capsys.readouterr().out
