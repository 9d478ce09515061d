"""Links that a stranger has committed lead no command out of the work tree, neither to read nor to write."""

import os
from pathlib import Path

import pytest

from syncd.api.client import Client
from syncd.cli.app import run
from syncd.model.site import SiteCreate
from tests.cli.conftest import Shell

SITE = "version: 1\nsite: {org: o,   id: s}\nredirects:\n  - {from: /a,  to: {url: 'https://example.org/a'}}\n"


@pytest.fixture
def cloned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree as it may be after a clone."""
    (tmp_path / "docs" / ".git").mkdir(parents=True)
    (tmp_path / "docs" / "site.yaml").write_text(SITE)
    (tmp_path / "private").write_text("private words\n")
    monkeypatch.chdir(tmp_path / "docs")
    return tmp_path / "docs"


COMMANDS = (
    ("site", "fmt", "--file", "site.yaml"),
    ("site", "validate", "--fix", "--file", "site.yaml"),
    ("redirects", "add", "/b", "https://example.org/b", "--file", "site.yaml"),
    ("redirects", "rm", "/a", "--file", "site.yaml"),
)
commands = pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words[:2]) for words in COMMANDS])


@commands
def test_a_link_where_a_file_is_prepared_is_not_written_through(cloned: Path, words: tuple[str, ...]) -> None:
    for name in (f".site.yaml.{os.getpid()}", ".site.yaml"):
        (cloned / name).symlink_to(cloned.parent / "private")
    run(list(words))
    assert (cloned.parent / "private").read_text() == "private words\n"


@commands
@pytest.mark.parametrize("inside", [False, True])
def test_a_site_file_that_is_a_link_is_neither_read_nor_written(
    cloned: Path, words: tuple[str, ...], inside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    meant = cloned / "elsewhere.yaml" if inside else cloned.parent / "elsewhere.yaml"
    (cloned / "site.yaml").rename(meant)
    (cloned / "site.yaml").symlink_to(meant)
    assert run(list(words)) == 65
    assert meant.read_text() == SITE
    assert (cloned / "site.yaml").is_symlink()
    said = capsys.readouterr()
    assert "symbolic link" in said.out + said.err


def test_a_lock_that_is_a_link_is_not_read(cloned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cloned / "site.lock.json").symlink_to(cloned.parent / "private")
    assert run(["site", "validate", "--file", "site.yaml"]) == 65
    said = capsys.readouterr()
    assert "private words" not in said.out + said.err
    assert "site.lock.json" in said.out + said.err


def test_an_import_writes_into_no_folder_that_is_a_link(shell: Shell) -> None:
    docs, outside = shell.clone(), shell.root / "outside"
    outside.mkdir()
    (docs / "linked").symlink_to(outside)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        organization = client.spaces.get(shell.space).organization or ""
        site = client.sites.create(organization, SiteCreate(title="Docs"))
    words = ("site", "import", "--org", organization, "--site", site.id, "--out", "linked/site.yaml")
    done = shell.syncd(*words, cwd=docs)
    assert done.returncode != 0
    assert "symbolic link" in done.stderr
    assert list(outside.iterdir()) == []
