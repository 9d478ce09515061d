"""`syncd resolve`: what waits for a person is listed, shown, and settled by one side or in an editor."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage

MINE, THEIRS = "# Use\n\nMine.\n", "# Use\n\nTheirs.\n"


@pytest.fixture
def docs(shell: Any) -> Path:
    """A clone in which `use.md` is in conflict with main content."""
    clone: Path = shell.clone()
    (clone / "use.md").write_text(MINE)
    shell.git("commit", "--quiet", "--all", "--message", "Mine", cwd=clone)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.create(shell.space, ChangeRequestCreate(subject="Theirs"))
        (page,) = [page for page in client.content.list_pages(shell.space) if page.slug == "use"]
        write = ContentWrite(changes=(UpdatePage(page=page.id, document=Markdown(markdown=THEIRS)),))
        client.change_requests.write_content(shell.space, "1", write)
        client.change_requests.merge(shell.space, "1")
    return clone


def test_a_page_in_conflict_is_told_and_settled(shell: Any, docs: Path) -> None:
    pulled = shell.syncd("pull", cwd=docs)
    assert pulled.returncode == 6
    assert "! conflict use.md held: both sides changed the same lines" in pulled.stdout
    listed = shell.syncd("resolve", "--json", cwd=docs)
    assert listed.returncode == 6
    ((page,),) = [repository["held"] for repository in json.loads(listed.stdout)["repositories"]]
    assert (page["path"], page["with"], page["ours"], page["theirs"]) == (
        "use.md",
        "platform/main",
        ["use.md"],
        ["use.md"],
    )
    config = docs / ".git" / "syncd.toml"
    settled = shell.fine("resolve", ".", "--theirs", "--config", str(config), cwd=docs)
    assert f"Next: syncd push --config {config}" in settled
    assert (docs / "use.md").read_text() == THEIRS
    assert "! conflict" not in shell.fine("status", cwd=docs)


def test_what_names_the_command_names_the_configuration_that_was_named(shell: Any, docs: Path, tmp_path: Path) -> None:
    named, own = tmp_path / "my service.toml", docs / ".git" / "syncd.toml"
    named.write_text(own.read_text().replace("[[repository]]\n", f'[[repository]]\npath = "{docs}"\n'))
    own.unlink()
    (docs / "install.md").write_text("# Install\n\nMine.\n")
    shell.git("commit", "--quiet", "--all", "--message", "More", cwd=docs)
    resolve = f"syncd resolve --config '{named}' use.md"
    for words in (["sync"], ["sync", "--json"], ["push"], ["status"], ["status", "--json"]):
        said = shell.syncd(*words, "--config", named, cwd=docs)
        assert (said.returncode, f"{resolve}, with --ours" in said.stdout) == (6, True), (words, said.stdout)
    (number,) = [each["number"] for each in shell.json("cr", "list", "--config", named, cwd=docs)["change_requests"]]
    for words in (["status", "use.md"], ["review"], ["cr", "show", number]):
        said = shell.syncd(*words, "--config", named, cwd=docs)
        assert f"syncd resolve use.md --config '{named}'" in said.stdout, (words, said.stdout)
    assert "syncd resolve use.md," in shell.syncd("sync", cwd=docs, environ={"SYNCD_CONFIG": str(named)}).stdout
    shell.fine(*shlex.split(resolve)[1:], "--theirs", cwd=docs)


@pytest.mark.long
def test_a_page_is_shown_and_what_cannot_be_meant_is_refused(shell: Any, docs: Path) -> None:
    shell.syncd("pull", cwd=docs)
    told = shell.syncd("status", cwd=docs)
    assert (told.returncode, "syncd resolve use.md" in told.stdout) == (6, True)
    shown = shell.syncd("resolve", "use.md", cwd=docs)
    assert shown.returncode == 6
    assert "Mine." in shown.stdout
    assert "Theirs." in shown.stdout
    for words in (["--ours"], ["install.md", "--ours"], [".", "--ours", "--theirs"], [".", "--branch", "none"]):
        assert shell.syncd("resolve", *words, cwd=docs).returncode == 64
    assert (docs / "use.md").read_text() == MINE


@pytest.mark.long
def test_an_editor_settles_a_page_when_no_markers_are_left(shell: Any, docs: Path, tmp_path: Path) -> None:
    shell.syncd("pull", cwd=docs)
    lazy = shell.syncd("resolve", "use.md", "--edit", cwd=docs, environ={"VISUAL": "true"})
    assert lazy.returncode == 6
    assert "still has markers" in lazy.stderr
    assert shell.syncd("resolve", "use.md", "--edit", cwd=docs, environ={"VISUAL": "false"}).returncode == 6
    assert (docs / "use.md").read_text() == MINE, "nothing was recorded"
    editor = tmp_path / "my editor"
    editor.write_text("#!/bin/sh\nsed -i -e '/^[<>|=]\\{7\\}/d' -e '/^Like this/d' \"$1\"\n")
    editor.chmod(0o755)
    words = ("resolve", "use.md", "--edit")
    assert shell.syncd(*words, cwd=docs, environ={"VISUAL": f"'{editor}'"}).returncode == 0
    text = (docs / "use.md").read_text()
    assert "Mine." in text
    assert "Theirs." in text
    assert len(shell.git("rev-parse", "main^@", cwd=docs).split()) == 2
    assert "No page is in conflict." in shell.fine("resolve", cwd=docs)


def test_a_page_that_is_in_conflict_in_two_branches_is_told_and_settled_in_each(shell: Any, docs: Path) -> None:
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace('branches = ["main"]', 'branches = ["main", "two"]'))
    shell.git("branch", "two", cwd=docs)
    assert shell.syncd("sync", cwd=docs).returncode in (4, 6)
    for branch in ("main", "two"):
        assert f"({branch} and platform/main)" in shell.syncd("status", cwd=docs).stdout
    (status,) = json.loads(shell.syncd("status", "--json", cwd=docs).stdout)["repositories"]
    assert [(one["key"], one["branch"]) for one in status["outcomes"] if one["flow"] == "conflict"] == [
        ("use.md", "main"),
        ("use.md", "two"),
    ]
    lines = shell.syncd("status", "--porcelain=v1", cwd=docs).stdout.splitlines()
    assert [line for line in lines if line.startswith("conflict")] == [
        "conflict\tuse.md",
        "conflict-in\tmain\tuse.md",
        "conflict-in\ttwo\tuse.md",
    ]
    elsewhere = "In another branch: use.md (two and platform/main): syncd resolve use.md --branch two"
    assert elsewhere in shell.syncd("resolve", cwd=docs).stdout
    shell.fine("resolve", "use.md", "--ours", cwd=docs)
    listed = shell.syncd("resolve", cwd=docs)
    assert listed.stdout.splitlines() == ["No page is in conflict in main.", elsewhere]
    (document,) = json.loads(shell.syncd("resolve", "--json", cwd=docs).stdout)["repositories"]
    assert [(one["path"], one["branch"]) for one in document["elsewhere"]] == [("use.md", "two")]
    said = shell.syncd("status", cwd=docs).stdout
    assert "(two and platform/main)" in said
    assert "(main and platform/main)" not in said
    shell.fine("resolve", "use.md", "--theirs", "--branch", "two", cwd=docs)
    assert "In another branch" not in shell.fine("resolve", cwd=docs)
    assert "! conflict" not in shell.syncd("status", cwd=docs).stdout
