"""What people read before they know a command: help that fits, and schemas that their editors know."""

import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from typer.core import TyperGroup

from syncd.cli.app import app, run
from syncd.cli.reference.example import EXAMPLES
from syncd.cli.reference.man import render_pages, walk_commands
from syncd.cli.terminal.tree import build_tree

ROOT = Path(__file__).parents[3]


COMMANDS = [words[1:] for words, _ in walk_commands(("syncd",), build_tree(app))]
GROUPS = [words[1:] for words, command in walk_commands(("syncd",), build_tree(app)) if isinstance(command, TyperGroup)]


@pytest.mark.parametrize("words", GROUPS)
def test_every_command_is_told_in_one_whole_sentence(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize("words", COMMANDS)
def test_help_names_what_a_parameter_is_and_no_type_of_python(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    said = capsys.readouterr().out
    assert not re.search(r"[<{]|x[<>]|=x|range|\b(str|int|float|path|None)\b\|?>", said), said
    names = re.findall(r"(?m)^Usage: (.*(?:\n  .*)*)", said)[0].split("[OPTIONS]")[1]
    assert names == names.upper()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("log", "-n, --max-count N   At most so many.  [default: 50; at least 1]"),
        ("api", "METHOD  GET, POST, PUT, PATCH or DELETE.  [required]"),
        ("fleet add", "--priority N    Of higher ones first.  [default: 0; -100 to 100]"),
        ("preview", "--port N            Port; else any free one.  [default: 0; 0 to 65535]"),
        ("run", "[default: 127.0.0.1:9471]"),
    ],
)
def test_help_says_what_a_value_may_be(words: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words.split(), "--help"]) == 0
    assert line in [each.strip() for each in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("preview --port abc", "--port abc: give a whole number, 0 to 65535"),
        ("log -n 0", "--max-count 0: give a whole number, at least 1"),
        ("fleet worker --cache c --lease soon", "--lease soon: give a number, 2 to 3600"),
        ("api GET", "Missing argument 'PATH'."),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_words(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 64
    assert capsys.readouterr().err.startswith(f"error: {message}\n")


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


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["pull", "-q"], "syncd -q pull"),
        (["site", "plan", "--quiet"], "syncd --quiet site plan"),
        (["cr", "list", "-C", "docs"], "syncd -C DIR cr list"),
    ],
)
def test_an_option_of_the_program_behind_a_command_is_told_its_place(
    words: list[str], right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 64
    assert f" stands before the command: {right}\n" in capsys.readouterr().err
