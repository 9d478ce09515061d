"""Reference pages, and those for CI and Git's hooks, typed."""

import pytest

from tests.manual.place import Place, plays, read_page

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
COMMANDS, CHECKS, CONFIGURATION = "reference/commands.md", "reference/checks.md", "reference/configuration.md"
CODES, STATUS, LAYOUT = "reference/exit-codes.md", "reference/status.md", "reference/layout.md"
GITHUB, GITLAB, HOOKS = "how-to/ci/github.md", "how-to/ci/gitlab.md", "how-to/ci/hooks.md"


@plays(COMMANDS)
@plays(CHECKS)
@plays(CONFIGURATION)
def test_schema_completion_checks_and_configuration(clone: Place) -> None:
    clone.type("cd docs && mkdir docs && cp *.md docs")
    clone.play(read_page(COMMANDS), names={"~": str(clone.root / "home")}, at="docs")
    assert "_syncd" in (clone.root / "home/.local/share/bash-completion/completions/syncd").read_text()
    clone.play(read_page(CHECKS), names={}, at="docs")
    assert ".git/syncd.toml" in clone.play(read_page(CONFIGURATION), names={}, at="docs")


@plays(CODES)
@plays(STATUS)
@plays(LAYOUT)
def test_exit_codes_status_and_a_page_that_gains_pages(clone: Place) -> None:
    assert clone.play(read_page(CODES), names={}, at="docs").endswith("in step\n")
    clone.type("cd docs && echo More >> use.md && git commit -qam More")
    assert clone.play(read_page(STATUS), names={}, at="docs").startswith("push\t")
    clone.play(read_page(LAYOUT), names={}, at="docs")
    (summary := clone.root / "docs/SUMMARY.md").write_text(
        summary.read_text()
        .replace("install.md", "install/README.md")
        .replace("* [Use](use.md)", "  * [Use](install/use.md)")
    )
    assert "parent, position" in clone.type("cd docs && git commit -qam Move && syncd push")


@plays(GITHUB)
@plays(GITLAB)
@plays(HOOKS)
def test_recipes_are_where_their_hosts_look(clone: Place) -> None:
    clone.environ["PRE_COMMIT_HOME"] = str(clone.root / "pre-commit")
    for page in (GITHUB, GITLAB, HOOKS):
        clone.play(read_page(page), names={}, at="docs")
    for path in (".github/actions/syncd/action.yml", ".github/workflows/docs.yml", ".gitlab/docs.yml"):
        assert "syncd" in (clone.root / "docs" / path).read_text()
    assert (clone.root / "docs/.git/hooks/pre-push").stat().st_mode & 0o100
