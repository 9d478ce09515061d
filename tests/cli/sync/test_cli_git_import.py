"""`write = "git-import"` from the command line: what is said before and after, and what doctor finds."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.platform.git_host import RepositoryHost
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from tests.serving_git import TOKEN, serve_git
from tests.storages import new_storage

SETTINGS = PlatformSettings(content_write=False, private_addresses=True, git_host=RepositoryHost())
PLAIN = "without a change request"


@pytest.fixture
def docs(shell: Any, tmp_path: Path) -> Iterator[Path]:
    """A clone with an upstream, whose platform imports from there; `shell` speaks to that platform."""
    shell.data = tmp_path / "importing"
    with new_storage(shell.data) as storage:
        storage.bootstrap()
        shell.space = import_directory(storage, tmp_path / "source", title="Docs").space
        with BackgroundServer(storage, SETTINGS) as shell.url, serve_git(tmp_path / "hosted") as server:
            clone = Path(shell.clone())
            hosted = tmp_path / "hosted/docs.git"
            subprocess.run(["git", "clone", "--quiet", "--bare", str(clone), str(hosted)], check=True)
            subprocess.run(["git", "config", "http.receivepack", "true"], cwd=hosted, check=True)
            token = tmp_path / "git-token"
            token.write_text(TOKEN)
            token.chmod(0o600)
            own = (clone / ".git/syncd.toml").read_text()
            upstream = (
                f'[repository.upstream]\nurl = "{server.url}/docs.git"\n'
                f'token_file = "{token}"\nimport_token_file = "{token}"\n'
            )
            text = own.replace("[[repository]]\n", f'[[repository]]\npath = "{clone}"\nwrite = "git-import"\n')
            (tmp_path / "syncd.toml").write_text(text + upstream)
            yield clone


@pytest.mark.story
def test_a_push_says_before_and_after_that_main_content_is_written(shell: Any, docs: Path, tmp_path: Path) -> None:
    config = ("--config", tmp_path / "syncd.toml")
    (docs / "use.md").write_text("# Use\n\nLike that.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Use", cwd=docs)
    assert f"a push writes main content, {PLAIN}" in shell.fine("status", *config, cwd=docs)
    said = shell.syncd("push", *config, cwd=docs)
    assert said.returncode == 0, said.stdout + said.stderr
    assert PLAIN in said.stdout
    assert "/~/revisions/" in said.stdout
    assert TOKEN not in said.stdout + said.stderr
    shell.fine("sync", *config, cwd=docs)
    assert shell.git("log", "--format=%s", "-1", "platform/main^2", cwd=docs) == "Use\n"
    assert shell.git("status", "--porcelain", cwd=docs) == ""
    status = shell.syncd("status", *config, cwd=docs)
    assert status.returncode == 0, status.stdout + status.stderr
    checks = json.loads(shell.syncd("doctor", "--json", *config, cwd=docs).stdout)["checks"]
    (check,) = [one for one in checks if one["subject"] == "import docs"]
    assert (check["state"], check["detail"]) == ("ok", "main content is written without a change request")


@pytest.mark.story
def test_one_push_may_follow_another_without_a_pull(shell: Any, docs: Path, tmp_path: Path) -> None:
    config = ("--config", tmp_path / "syncd.toml")
    for words in ("Once.", "Twice.", "Thrice."):
        (docs / "use.md").write_text(f"# Use\n\n{words}\n")
        shell.git("commit", "--quiet", "--all", "--message", words, cwd=docs)
        said = shell.syncd("push", *config, cwd=docs)
        assert said.returncode == 0, said.stdout + said.stderr
        assert PLAIN in said.stdout
    shell.fine("pull", *config, cwd=docs)
    assert shell.git("show", "platform/main:use.md", cwd=docs) == "# Use\n\nThrice.\n"


def test_a_configuration_without_a_source_is_refused(shell: Any, docs: Path, tmp_path: Path) -> None:
    config = tmp_path / "syncd.toml"
    text = config.read_text()
    config.write_text(text.partition("[repository.upstream]")[0])
    refused = shell.syncd("push", "--config", config, cwd=docs)
    assert refused.returncode == 78
    assert "needs [repository.upstream]" in refused.stderr
    config.write_text(
        text.replace("[repository.upstream]\nurl", '[repository.upstream]\nimport_url = "/docs.git"\nurl')
    )
    unreachable = shell.syncd("push", "--config", config, cwd=docs)
    assert unreachable.returncode == 78
    assert "import_url" in unreachable.stderr
