"""`syncd site build` as people and CI call it: what it says, its exit codes, and the recipes for hosts of pages."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from syncd.cli.reference.example import read_example
from tests.cli.command_runner import CommandRunner, make_runner


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A directory with two pages, one with a dead link."""
    top = tmp_path / "docs"
    top.mkdir()
    (top / "README.md").write_text("# Home\n\n[Dead](none.md)\n")
    (top / "next.md").write_text("# Next\n\nWords.\n")
    (top / "SUMMARY.md").write_text("# Table of contents\n\n* [Home](README.md)\n* [Next](next.md)\n")
    return top


@pytest.fixture
def build(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("site build", docs, monkeypatch, capsys)


def test_findings_are_shown_and_the_site_is_built(build: CommandRunner, docs: Path) -> None:
    result = build("public")
    assert result.code == 0
    assert re.search(r"^README\.md:3:\d+: error link", result.out, re.MULTILINE)
    assert "\n1 error in 3 files. What a code means: syncd explain CODE\n" in result.out
    assert result.out.splitlines()[-1].startswith("2 pages in public: ")
    assert (docs / "public/next/index.html").is_file()
    # What was built lies in the repository, and is no content of the next build.
    again = build("public")
    assert ", 0 written, 0 removed, " in again.out


def test_a_site_built_beside_its_sources_is_no_source(build: CommandRunner, docs: Path) -> None:
    (docs / "README.md").write_text("# Home\n\n[Next](next.md)\n")
    for _ in range(2):
        result = build("public", "--atomic", "--strict")
        assert (result.code, result.out.splitlines()[-1][:17]) == (0, "2 pages in public"), result.out
    assert build("other", "--strict").code == 0


def test_strict_builds_nothing_of_what_is_wrong(build: CommandRunner, docs: Path) -> None:
    result = build("public", "--strict")
    assert result.code == 65
    assert "Nothing is built: public is as it was." in result.out
    assert not (docs / "public").exists()
    (docs / "README.md").write_text("# Home\n\n[Next](next.md)\n")
    assert build("public", "--strict").code == 0


def test_programs_get_one_document(build: CommandRunner) -> None:
    document = json.loads(build("public", "--json", "--base-url", "https://docs.example").out)
    assert (document["pages"], document["rendered"], document["removed"]) == (2, 2, 0)
    assert document["error_count"] == 1
    assert document["diagnostics"][0]["range"]["start"]["line"] == 3
    again = json.loads(build("public", "--json", "--base-url", "https://docs.example").out)
    assert (again["rendered"], again["written"], again["unchanged"]) == (0, 0, document["written"])


def test_a_commit_is_built_as_it_is(build: CommandRunner, docs: Path) -> None:
    git = ["git", "-C", str(docs), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True)
    build("public", "--ref", "v1")
    first = (docs / "public/next.md").read_text()
    (docs / "next.md").write_text("# Next\n\nNot committed.\n")
    assert ", 0 written," in build("public", "--ref", "v1").out
    assert (docs / "public/next.md").read_text() == first
    build("public")
    assert "Not committed." in (docs / "public/next.md").read_text()
    assert build("public", "--ref", "none").code == 78


def test_a_page_that_cannot_be_read_is_named(build: CommandRunner, docs: Path) -> None:
    (docs / "next.md").unlink()
    (docs / "next.md").symlink_to("/etc/hostname")
    result = build("public")
    assert not (docs / "public/next/index.html").exists()
    assert "2 pages" not in result.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["."], 78, "holds what is to be built"),
        (["../docs"], 78, "holds what is to be built"),
        (["public", "--from", "nowhere"], 78, "there is no directory"),
        (["public", "--base-url", "docs"], 78, "is no address of a site"),
        (["README.md"], 78, "cannot be built into"),
        ([], 64, "DIR"),
    ],
)
def test_a_mistake_gets_one_clear_error(build: CommandRunner, words: list[str], code: int, said: str) -> None:
    result = build(*words)
    assert result.code == code
    assert said in result.err


def test_a_site_file_with_a_mistake_is_not_guessed_at(build: CommandRunner, docs: Path) -> None:
    (docs / "site.yaml").write_text("version: 1\nsite: { org: ORG }\n")
    result = build("public")
    assert result.code == 65
    assert "site.yaml:2:" in result.err
    assert not (docs / "public").exists()


def test_a_directory_beside_is_named_as_it_is(build: CommandRunner, docs: Path) -> None:
    assert f" in {docs.parent}/out: " in build("../out").out
    # What is built is no content, however its directory was typed.
    for _ in range(2):
        built = build("../docs/public", "--from", "../docs").out
        assert "\n1 error in 3 files. " in built
        assert "\n2 pages in public: " in built


@pytest.mark.parametrize("name", ["github-pages", "gitlab-pages"])
def test_the_recipes_build_what_they_publish(build: CommandRunner, docs: Path, name: str) -> None:
    recipe = read_example(name)
    line = next(line for line in recipe.splitlines() if "syncd site build" in line)
    words = shlex.split(line[line.index("syncd site build") :])[3:]
    built = build(*(re.sub(r"\$\w+", "https://team.example/docs", word) for word in words))
    assert built.code == 0
    assert re.search(rf"(path: |- ){words[0]}$", recipe, re.MULTILINE)
    assert "<loc>https://team.example/docs/next/</loc>" in (docs / words[0] / "sitemap.xml").read_text()


def test_what_is_for_some_readers_is_named_and_no_fault(build: CommandRunner, docs: Path) -> None:
    (docs / "next.md").write_text("---\nif: visitor.claims.partner\n---\n# Next\n\nWords.\n")
    result = build("public")
    assert result.code == 0
    assert "\nnot for everybody next.md: it is for readers for whom `visitor.claims.partner`\n" in result.out
    assert json.loads(build("public", "--json").out)["conditional"][0]["path"] == "next.md"


def test_a_site_behind_a_sign_in_is_built_only_when_somebody_says_so(build: CommandRunner, docs: Path) -> None:
    (docs / "site.yaml").write_text("version: 1\nsite: { org: O, id: S }\nsettings: { visibility: visitor-auth }\n")
    result = build("public")
    assert result.code == 78
    assert "everybody could read its files" in result.err
    assert not (docs / "public").exists()
    assert build("public", "--public").code == 0
