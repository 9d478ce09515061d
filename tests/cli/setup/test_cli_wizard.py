"""`clone` and `init` on a terminal: what a person is asked; without one, all that is missing at once."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.checkouts import plant
from tests.cli.command_runner import make_runner
from tests.cli.conftest import Shell
from tests.cli.terminal_session import TerminalSession


def add_space(shell: Shell, title: str) -> str:
    """Add a space to the platform, and return its id."""
    source = plant(shell.root / title, {"README.md": f"# {title}\n", "SUMMARY.md": f"* [{title}](README.md)\n"})
    words = ("platform", "import", source, "--data", shell.data, "--title", title)
    return str(shell.json(*words, cwd=shell.root)["space"])


def make_repository(path: Path, text: str) -> Path:
    """Make a repository of one commit."""
    plant(path, {"README.md": text})
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=path, check=True)
    subprocess.run(["git", "add", "--all"], cwd=path, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", "Ours"], cwd=path, check=True)
    return path


def test_a_clone_asks_for_platform_token_space_and_directory(shell: Shell) -> None:
    token = shell.token.read_text().strip()
    plant(shell.root / "docs", {"mine.md": "# Mine\n"})
    with TerminalSession("clone", cwd=shell.root, columns=200) as session:
        assert "[https://api.gitbook.com]" in session.expect(
            "Address of the platform's API [https://api.gitbook.com]: "
        )
        session.type_line("platform.example.com")
        session.expect("Error: 'platform.example.com' is not an address")
        session.expect("]: ")
        session.type_line(shell.url)
        session.expect(f"There is no token for {shell.url}. Save one now? [Y/n]: ")
        session.type_line("")
        session.expect("Token (it is not shown): ")
        session.type_line(token)
        assert "   1  Docs  (" in session.expect("Number, several such as 1,3, or text to search for [1]: ")
        session.type_line("Absent1")
        session.expect("There is no space Absent1, or you may not see it.")
        session.expect("[1]: ")
        session.type_line("no such title")
        session.expect("No space has no such title in its title, its id or its organization.")
        session.expect("[1]: ")
        session.type_line("")
        session.expect("Directory of the new repository [docs-2]: ")
        session.type_line("source")
        session.expect("Error: source is there already; name a new directory")
        session.expect("[docs-2]: ")
        session.type_line("")
        line = f"The same without questions: syncd clone --url {shell.url} --space {shell.space} --directory docs-2\n"
        session.expect(line)
        session.expect("Cloned into")
        assert session.finish() == 0
        assert token not in session.text
    assert (shell.root / "docs-2" / "install.md").exists()


def test_spaces_are_searched_and_several_get_a_directory_each(shell: Shell) -> None:
    guides, reference = add_space(shell, "Guides"), add_space(shell, "Reference")
    environ = {**os.environ, "SYNCD_TOKEN": shell.token.read_text().strip()}
    with TerminalSession("clone", shell.url, cwd=shell.root, environ=environ, columns=200) as session:
        listed = session.expect("or text to search for: ")
        assert all(f"  {title}  (" in listed for title in ("Docs", "Guides", "Reference"))
        session.type_line("7")
        session.expect("There are numbers from 1 to 3.")
        session.expect("or text to search for: ")
        session.type_line("REFER")
        assert "Guides" not in session.expect("or text to search for [1]: ").partition("Spaces that")[2]
        session.type_line("e")
        session.expect("or text to search for: ")
        session.type_line("1, 2")
        session.expect("Directory in the repository for ")
        session.type_line("../up")
        session.expect("Error: write a directory inside of the repository")
        session.expect("]: ")
        session.type_line("a")
        session.expect("]: ")
        session.type_line("a/b")
        session.expect("Error: directories of two spaces must not lie in each other")
        session.expect("]: ")
        session.type_line("")
        session.expect("Directory of the new repository")
        session.type_line("both")
        session.expect("Cloned into")
        assert session.finish() == 0
    written = (shell.root / "both" / ".git" / "syncd.toml").read_text()
    assert sum(f'id = "{space}"' in written for space in (shell.space, guides, reference)) == 2


def test_an_init_asks_which_side_goes_first(shell: Shell) -> None:
    work = make_repository(shell.root / "work", "# Home\n\nOurs.\n")
    environ = {**os.environ, "SYNCD_TOKEN": shell.token.read_text().strip()}
    with TerminalSession("init", shell.url, cwd=work, environ=environ, columns=200) as session:
        session.expect("or text to search for [1]: ")
        session.type_line("")
        session.expect("Git and the platform differ, and nothing was moved")
        session.expect("docs: platform, git or neither [neither]: ")
        session.type_line("both")
        session.expect("Error: write platform, git or neither")
        session.expect("[neither]: ")
        session.type_line("platform")
        session.expect("Bound.")
        assert session.finish() == 0
    assert (work / "README.md").read_text() == "# Home\n\nWelcome.\n"


def test_who_chooses_neither_side_changes_nothing(shell: Shell) -> None:
    work = make_repository(shell.root / "work", "# Home\n\nOurs.\n")
    with TerminalSession("init", shell.url, shell.space, "--token-file", shell.token, cwd=work, columns=200) as session:
        session.expect("docs: platform, git or neither [neither]: ")
        session.type_line("")
        assert session.finish() == 5
    assert (work / "README.md").read_text() == "# Home\n\nOurs.\n"


def test_who_leaves_a_question_leaves_nothing_behind(shell: Shell) -> None:
    with TerminalSession("clone", shell.url, cwd=shell.root, columns=200) as session:
        session.expect("[Y/n]: ")
        session.type_line("\x04")
        assert session.finish() == 130
    assert sorted(path.name for path in shell.root.iterdir()) == ["platform", "source"]


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("clone", "the platform: URL, or --url URL; a space: SPACE, or --space SPACE; the directory: REPO, or"),
        ("clone https://api.example.com", "a space: SPACE, or --space SPACE; the directory: REPO, or --directory DIR;"),
        (
            "clone https://api.example.com abc",
            "missing: the directory: REPO, or --directory DIR; a token: --token-file",
        ),
        ("clone --space abc --directory x", "missing: the platform: URL, or --url URL; a token: --token-file"),
        ("init", "missing: the platform: URL, or --url URL; a space: SPACE, or --space SPACE; a token: --token-file"),
        ("init https://api.example.com", "missing: a space: SPACE, or --space SPACE; a token: --token-file FILE"),
    ],
)
def test_without_a_terminal_all_that_is_missing_is_named_at_once(
    line: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(tmp_path, "# Home\n")
    said = make_runner(line, tmp_path, monkeypatch, capsys)()
    assert said.code == 64
    assert missing in said.err


def test_every_question_has_an_option(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_runner("clone", shell.root, monkeypatch, capsys)
    options = ["--url", shell.url, "--space", f"{shell.space}=docs", "--token-file", str(shell.token)]
    assert run(*options, "--directory", "one").code == 0
    assert run(*options, "two").code == 0
    assert (shell.root / "one" / "docs" / "use.md").exists()
    assert (shell.root / "two" / "docs" / "use.md").exists()
