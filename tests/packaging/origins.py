"""A team's repository on a Git host, with pages, a committed syncd.toml and the recipes; and what its people push."""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from syncd.cli.reference.example import read_example
from tests.checkouts import plant
from tests.cli.conftest import PAGES, Shell
from tests.packaging.github_runner import git

MORE = "# Use\n\nLike this, and like that.\n"
BROKEN = "# Use\n\nSee [that](nowhere.md).\n"


def fill_recipe(name: str, shell: Shell, bundle: Path) -> str:
    """Given the name of an example, return it with the names that people are told to replace, replaced."""
    text = read_example(name)
    values = {
        "https://files.example.org/syncd.pyz": bundle.as_uri(),
        "the hash that you noted": hashlib.sha256(bundle.read_bytes()).hexdigest(),
        "https://api.gitbook.com": shell.url,
        'python-version: "3.11"': f'python-version: "3.{sys.version_info.minor}"',
    }
    for written, here in values.items():
        text = text.replace(written, here)
    assert "example.org" not in text
    return text


def make_origin(shell: Shell, files: Mapping[str, str]) -> Path:
    """Given further files, return a repository whose branch main has them beside the pages and a syncd.toml."""
    origin = shell.root / "origin"
    toml = f'[[repository]]\ninstance = "3fa9c1"\n\n[[repository.space]]\nid = "{shell.space}"\ndirectory = "docs"\n'
    plant(origin, {"syncd.toml": toml, **{f"docs/{path}": text for path, text in PAGES.items()}, **files})
    git(origin, "init", "--quiet", "--initial-branch=main")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "Begin")
    return origin


def commit_files(origin: Path, message: str, files: Mapping[str, str], *, branch: str = "main") -> None:
    """Commit files to a branch; one that is not there yet begins at main."""
    is_new = branch not in git(origin, "branch", "--format=%(refname:short)").split()
    git(origin, "checkout", "--quiet", *(("-b",) if is_new else ()), branch)
    plant(origin, files)
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", message)
    git(origin, "checkout", "--quiet", "main")


def open_pull_request(origin: Path, files: Mapping[str, str]) -> None:
    """Commit files to the branch `try`, and make the ref of its merge, as GitHub does."""
    commit_files(origin, "Try it", files, branch="try")
    git(origin, "checkout", "--quiet", "--detach", "main")
    git(origin, "merge", "--quiet", "--no-ff", "--message", "Merge try into main", "try")
    git(origin, "update-ref", "refs/pull/7/merge", "HEAD")
    git(origin, "checkout", "--quiet", "main")


def count_change_requests(shell: Shell) -> int:
    """How many change requests the space has, of any status."""
    place = ("--url", shell.url, "--token-file", shell.token)
    return len(
        shell.fine("api", "GET", f"/spaces/{shell.space}/change-requests", "--jq", ".items[].id", *place).split()
    )
