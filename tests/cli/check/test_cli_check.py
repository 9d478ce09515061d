"""`syncd check` as people type it: paths, states of Git, formats, exit codes, and a catalogue that the manual tells."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from syncd.cli.app import run
from syncd.cli.check.explain import CATALOGUE
from syncd.layout.lint.rules import RULES
from syncd.layout.site.read.rules import SITE_RULES
from tests.checkouts import git, plant
from tests.cli.command_runner import CommandRunner, make_runner

MANUAL = Path(__file__).parents[3] / "syncd" / "manual"
GOOD = {
    "README.md": "# Home\n\nSee [use](use.md).\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Use](use.md)\n",
    "use.md": "# Use\n\nLike this.\n",
}
BROKEN = "# Use\n\nSee [home](REDME.md).\n"


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("check", tmp_path, monkeypatch, capsys)


def repository(directory: Path, files: Mapping[str, str]) -> Path:
    plant(directory, files)
    git(directory, "init", "--quiet", "--initial-branch=main")
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--message", "Begin")
    return directory


def test_a_plain_directory_is_checked_without_anything_else(typed: CommandRunner, tmp_path: Path) -> None:
    plant(tmp_path / "docs", GOOD)
    fine = typed("docs")
    assert (fine.code, fine.out) == (0, "Nothing to mend in 3 files of 1 space.\n")
    plant(tmp_path / "docs", {"use.md": BROKEN})
    wrong = typed("docs/")
    assert wrong.code == 65
    assert wrong.out.splitlines() == [
        "docs/use.md:3:12: error link-broken: there is no file at 'REDME.md'",
        "    3 | See [home](REDME.md).",
        "      |            ^",
        "   hint: did you mean README.md?",
        "1 error in 3 files of 1 space. What a code means: syncd explain CODE",
    ]
    assert typed("docs/README.md").code == 0
    assert typed("docs/use.md").code == 65


def test_every_space_below_a_directory_is_found(typed: CommandRunner, tmp_path: Path) -> None:
    for name in ("one", "two/deep"):
        plant(tmp_path / name, GOOD)
    plant(tmp_path, {"two/deep/use.md": BROKEN, "notes.md": "<no> page\n", ".git-not/SUMMARY.md": "broken"})
    done = typed()
    assert done.code == 65
    assert "two/deep/use.md:3:12" in done.out
    assert "of 2 spaces" in done.out


def test_warnings_fail_only_when_asked(typed: CommandRunner, tmp_path: Path) -> None:
    plant(tmp_path / "docs", {**GOOD, "more.md": "# More\n\nWords.\n"})
    assert typed("docs").code == 0
    assert typed("docs", "--strict").code == 65
    assert typed("docs", "--strict", "--ignore", "page").code == 0
    assert typed("docs", "--strict", "--select", "link,include-missing").code == 0


def test_a_code_that_does_not_exist_is_a_mistake_of_usage(typed: CommandRunner, tmp_path: Path) -> None:
    plant(tmp_path / "docs", GOOD)
    wrong = typed("docs", "--ignore", "link-brokn")
    assert wrong.code == 64
    assert "did you mean link-broken?" in wrong.err
    assert typed("docs", "--format", "xml").code == 64
    assert typed("nowhere").code == 78


def test_what_git_ignores_is_no_content(typed: CommandRunner, tmp_path: Path) -> None:
    files = {**GOOD, ".gitignore": "out/\n", "out/page.md": "# Out\n", "new.md": "# New\n\nWords.\n"}
    repository(tmp_path / "docs", files)
    done = typed("docs", "--format", "json")
    told = json.loads(done.out)
    assert (told["command"], told["valid"], told["error_count"], told["warning_count"]) == ("check", True, 0, 1)
    assert [one["range"]["filename"] for one in told["diagnostics"]] == ["docs/new.md"]
    assert (told["checked"], told["exit_code"]) == ({"spaces": 1, "files": 4}, 0)


def test_the_index_and_a_commit_are_checked_as_they_are(typed: CommandRunner, tmp_path: Path) -> None:
    top = repository(tmp_path, {f"docs/{path}": text for path, text in GOOD.items()})
    plant(top, {"docs/use.md": BROKEN})
    assert typed("docs").code == 65
    assert typed("docs", "--staged").code == 0
    git(top, "add", "--all")
    assert typed("docs", "--staged").code == 65
    git(top, "commit", "--quiet", "--message", "Break it")
    plant(top, {"docs/use.md": GOOD["use.md"]})
    assert typed("docs").code == 0
    assert typed("docs", "--commit", "HEAD").code == 65
    assert typed("docs", "--commit", "main~1").code == 0
    assert typed("docs", "--commit", git(top, "rev-parse", "HEAD")).code == 65
    assert typed("docs", "--commit", "nothing").code == 78
    assert typed("docs", "--commit", "--help").code == 78
    assert git(top, "status", "--porcelain") == "M docs/use.md"


def test_a_hook_checks_the_index_that_git_made_for_the_commit(
    typed: CommandRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path, GOOD)
    shutil.copy(top / ".git" / "index", top / ".git" / "next-index-7.lock")
    plant(top, {"use.md": BROKEN})
    git(top, "add", "--all")
    assert typed("--staged").code == 65
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index-7.lock")
    assert typed("--staged").code == 0, "git commit FILE leaves out what else is staged"


def test_with_a_configuration_every_space_is_checked(typed: CommandRunner, tmp_path: Path) -> None:
    top = repository(tmp_path, {f"{name}/{path}": text for name in ("a", "b") for path, text in GOOD.items()})
    plant(top, {"b/use.md": BROKEN, "c/SUMMARY.md": "no space of ours\n"})
    spaces = "".join(f'[[repository.space]]\nid = "{name}1"\ndirectory = "{name}"\nname = "{name}"\n' for name in "ab")
    plant(top / ".git", {"syncd.toml": f'[platform]\nurl = "http://127.0.0.1:1"\n[[repository]]\n{spaces}'})
    done = typed()
    assert done.code == 65
    assert done.out.splitlines()[-1].startswith("1 error in 6 files of 2 spaces.")


def test_a_link_to_another_space_of_the_configuration_is_told_its_address(typed: CommandRunner, tmp_path: Path) -> None:
    top = repository(tmp_path, {f"{name}/{path}": text for name in ("a", "b") for path, text in GOOD.items()})
    moved = {"docs/README.md": GOOD["README.md"], "docs/guide/README.md": "# Guide\n\nRead on.\n"}
    plant(top / "b", {**moved, ".gitbook.yaml": "root: ./docs/\n"})
    text = "# Use\n\n[one](../b/docs/guide/README.md#start) [two](../b/docs/README.md) [three](../LICENSE.md)\n"
    plant(top, {"a/use.md": text})
    git(top, "add", "--all")
    spaces = "".join(f'[[repository.space]]\nid = "{name}1"\ndirectory = "{name}"\nname = "{name}"\n' for name in "ab")
    plant(top / ".git", {"syncd.toml": f'[platform]\nurl = "http://127.0.0.1:1"\n[[repository]]\n{spaces}'})
    hints = [line.strip() for line in typed("--select", "link-outside").out.splitlines() if "hint:" in line]
    app = "https://app.gitbook.com/s/b1"
    assert hints == [f"hint: write {app}/guide#start", f"hint: write {app}"]


def test_github_reads_annotations(typed: CommandRunner, tmp_path: Path) -> None:
    repository(tmp_path, {f"docs/{path}": text for path, text in {**GOOD, "use.md": BROKEN}.items()})
    done = typed("docs", "--format", "github")
    assert done.out.splitlines()[0] == (
        "::error file=docs/use.md,line=3,col=12,title=link-broken::"
        "there is no file at 'REDME.md' (did you mean README.md?)"
    )


def test_gitlab_reads_a_code_quality_report_whose_fingerprints_stay(typed: CommandRunner, tmp_path: Path) -> None:
    top = repository(tmp_path, {f"docs/{path}": text for path, text in {**GOOD, "use.md": BROKEN * 2}.items()})

    def prints() -> list[str]:
        report = json.loads(typed("docs", "--format", "gitlab").out)
        assert all(set(one) == {"description", "check_name", "fingerprint", "severity", "location"} for one in report)
        assert {one["location"]["path"] for one in report} == {"docs/use.md"}
        return [one["fingerprint"] for one in report]

    before = prints()
    assert len(set(before)) == 2
    plant(top, {"docs/use.md": BROKEN.replace("# Use\n", "# Use\n\nA new line.\n") + BROKEN})
    assert prints() == before


def test_explain_says_what_a_code_means(typed: CommandRunner) -> None:
    assert typed("--explain", "link-case").out.startswith("link-case (error)\n  An address differs")
    assert typed("--explain", "link").out.count("To mend it:") == sum(code.startswith("link-") for code in RULES)
    assert typed("--explain", "all").out.count("To mend it:") == len(CATALOGUE)
    assert typed("--explain", "lnk").code == 64


def test_explain_knows_the_codes_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "all"]) == 0
    told = {said.split()[0]: said for said in capsys.readouterr().out.split("\n\n")}
    assert told.keys() == CATALOGUE.keys()
    for code, rule in CATALOGUE.items():
        assert told[code].startswith(f"{code} ({rule.severity})\n  ")
        assert " ".join(rule.remedy.split()) in " ".join(told[code].split())
    assert run(["explain", "SY305"]) == 0
    assert capsys.readouterr().out == told["SY305"] + "\n"
    assert run(["explain", "sy3"]) == 0
    assert capsys.readouterr().out.count("To mend it:") == sum(code.startswith("SY3") for code in SITE_RULES)
    assert run(["explain", "SY3o5"]) == 64
    assert "did you mean SY305?" in capsys.readouterr().err
    assert run(["explain", "x" * 5000]) == 64
    assert "syncd explain all lists them" in capsys.readouterr().err


def test_the_manual_lists_every_code_with_its_severity() -> None:
    page = (MANUAL / "reference" / "checks.md").read_text()
    told = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (error|warning|info)[ ,|]", page, re.MULTILINE))
    assert told == {code: rule.severity for code, rule in RULES.items()}


def test_the_manual_itself_has_nothing_to_mend(typed: CommandRunner) -> None:
    done = typed(str(MANUAL), "--strict")
    assert done.code == 0, done.out


@pytest.mark.parametrize("words", [("--json",), ("--frmat", "json")])
def test_an_unknown_option_is_a_mistake_of_usage(typed: CommandRunner, words: Sequence[str]) -> None:
    assert typed(*words).code == 64
