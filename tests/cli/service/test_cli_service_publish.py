"""A service builds the site after each run that moved the branch; a build that fails is said in every place."""

from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.cli.service.service import Two, assert_docs_broken, assert_good, command, serve_platform

pytestmark = pytest.mark.story


@pytest.fixture
def two(shell: Shell) -> Two:
    """Two repositories, of which `docs` publishes a site into `www`; its site is managed by nobody."""
    two = Two(shell)
    table = f'\n[repository.site]\napply = false\n[repository.site.publish]\ndirectory = "{shell.root}/www"\n'
    docs, other = two.config.read_text().rsplit("[[repository]]", 1)
    two.config.write_text(f"{docs}{table}[[repository]]{other}")
    return two


def commit(directory: Path, shell: Shell, path: str, text: str) -> None:
    (directory / path).write_text(text)
    shell.git("add", "--all", cwd=directory)
    shell.git("commit", "--quiet", "--message", f"Write {path}", cwd=directory)


def test_readers_see_what_was_merged_and_a_failed_build_harms_nothing(two: Two, shell: Shell) -> None:
    page = shell.root / "www/use/index.html"
    assert command("config", "check", "--config", two.config)[0] == 0
    with serve_platform(two) as service:
        service.hear("ready")
        assert page.is_file()
        assert_good(service)
        assert service.metric("syncd_last_run_ok", repository="docs", kind="publish") == 1
        two.edit("docs", "Merged words")
        service.run_again("^docs: publish ")
        assert "Merged words" in page.read_text()
        commit(two.docs, shell, "site.yaml", "version: 1\nsite: [\n")
        service.run_again("^docs: ! publish .*site.yaml")
        assert "Merged words" in page.read_text()
        assert_docs_broken(service, "partial", "site.yaml", 65)
        assert service.metric("syncd_last_run_ok", repository="docs", kind="publish") == 0
        assert service.metric("syncd_last_run_ok", repository="docs", kind="space") == 1
        assert "docs publish: failed since " in service.ask("/readyz").text
        (two.docs / "site.yaml").unlink()
        commit(two.docs, shell, "use.md", "# Use\n\nMended words.\n")
        service.run_again("^docs: publish ")
        assert "Mended words" in page.read_text()
        assert_good(service)
