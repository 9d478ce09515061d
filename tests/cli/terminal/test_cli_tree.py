"""What a command loads before it does anything: the wait before every answer."""

import os
import subprocess
import sys

import pytest

from syncd.cli.app import app
from syncd.cli.terminal.tree import DeferredCommand, DeferredGroup, build_tree
from tests.cli.conftest import Shell

EVERYWHERE = (
    *("httpx", "httpcore", "h11", "yaml", "markdown_it", "jinja2", "sqlalchemy", "alembic", "fastapi", "starlette"),
    *(
        "uvicorn",
        "apscheduler",
        "watchdog",
        "prometheus_client",
        "keyring",
        "jeepney",
        "rich",
        "fpdf",
        "PIL",
        "pygments",
    ),
    *("syncd.api", "syncd.net", "syncd.platform", "syncd.web"),
)
"""What neither help nor status needs: other libraries, and rooms of syncd."""
FOR_SINGLE_FILES = ("syncd.cli.status.files", "syncd.cli.status.file_text")
"""What `status FILE` needs, and `status` alone does not."""
FOR_HELP = (*EVERYWHERE, "git", "syncd.config", "syncd.repo", "syncd.store", "syncd.sync", "syncd.daemon")
FOR_TREE = (*FOR_HELP, "pydantic", "json", "socket")
"""Typer itself takes these to read the words of a command that is below another."""
_PROGRAM = """
import sys
from syncd.cli import main
try:
    main()
finally:
    print("loaded:", *sorted(sys.modules), file=sys.stderr)
"""


def list_loaded(*words: str) -> set[str]:
    """Run a command in a process of its own, and return all modules that it has loaded."""
    # What counts branches in processes of their own loads modules, too.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    command = [sys.executable, "-c", _PROGRAM, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return set(done.stderr.rpartition("loaded: ")[2].split())


@pytest.mark.parametrize(
    ("words", "needless"),
    [(("--help",), FOR_TREE), (("--version",), FOR_TREE), (("site", "plan", "--help"), FOR_HELP)],
)
def test_help_loads_nothing_but_names(words: tuple[str, ...], needless: tuple[str, ...]) -> None:
    assert not list_loaded(*words) & set(needless)


def test_status_loads_neither_a_client_nor_a_server(shell: Shell) -> None:
    work = shell.clone()
    loaded = list_loaded("status", "--config", str(work / ".git" / "syncd.toml"))
    assert not loaded & {*EVERYWHERE, *FOR_SINGLE_FILES, "syncd.sync.workspace"}
    assert "syncd.cli.status.command" in loaded


def find_searches(*words: str) -> str:
    """Run a command in a process of its own, and return how often it looked for garbage, and whether it froze its own.

    A full search, such as the one that ends Python, is none of those that loading brings about.
    """
    program = f"import gc\nfound = []\ngc.callbacks.append(lambda *told: found.append(told))\n{_PROGRAM}"
    program += "    early = [one for one in found if one[1]['generation'] < 2]\n"
    program += '    print("searches:", len(early), "kept:", gc.get_freeze_count() > 0, file=sys.stderr)\n'
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1]


def test_help_is_printed_without_a_search_for_garbage() -> None:
    assert find_searches("--help") == "searches: 0 kept: True"


def test_a_run_that_finds_nothing_takes_no_search_for_garbage(shell: Shell) -> None:
    """It loads the most of what people type often, and a search in all of that takes longer than Python to start."""
    work = shell.clone()
    assert find_searches("sync", "--config", str(work / ".git" / "syncd.toml")) == "searches: 0 kept: True"


def test_only_the_command_that_is_called_is_built() -> None:
    build_tree.cache_clear()
    root = build_tree(app)
    root.main(["site", "--help"], prog_name="syncd", standalone_mode=False)
    built = {name for name, command in root.commands.items() if "_built" in vars(command)}
    assert built == {"site"}
    below = root.commands["site"].commands.values()  # type: ignore[attr-defined]
    assert not [command.name for command in below if "_built" in vars(command)]


def test_a_command_is_known_as_what_it_becomes() -> None:
    pending = list(build_tree(app).commands.values())
    while pending:
        command = pending.pop()
        assert isinstance(command, DeferredCommand | DeferredGroup)
        built = command._built
        assert (command.name, command.get_short_help_str(60)) == (built.name, built.get_short_help_str(60))
        assert (command.hidden, command.deprecated) == (built.hidden, built.deprecated)
        pending += built.commands.values() if isinstance(command, DeferredGroup) else ()
