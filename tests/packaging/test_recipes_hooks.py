"""The hooks of Git, and those for pre-commit, as people install them; each with the syncd that is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from syncd.cli.reference.example import read_example
from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.packaging.conftest import Built
from tests.packaging.github_runner import git
from tests.packaging.origins import BROKEN, MORE

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]


@pytest.fixture
def clone(tmp_path: Path, built: Built, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with pages, and an `origin` to push to; syncd is the one that was installed."""
    path = (str(built.programs), str(Path(sys.executable).parent), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(built.wheels))
    top = plant(tmp_path / "clone", PAGES)
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "Begin")
    git(tmp_path, "init", "--quiet", "--bare", "origin")
    git(top, "remote", "add", "origin", str(tmp_path / "origin"))
    return top


def install_hook(clone: Path, name: str) -> None:
    """As the manual says."""
    hook = clone / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(read_example(name))
    hook.chmod(0o755)


def try_git(clone: Path, *words: str) -> tuple[int, str]:
    """Run Git with its hooks; return the exit code and all that it printed."""
    done = subprocess.run(
        ["git", *words], cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def check_commits(clone: Path) -> None:
    """A commit that breaks a page is refused, however it is made, and one that mends it is not."""
    for words in (("--all",), ("use.md",)):
        plant(clone, {"use.md": BROKEN})
        code, output = try_git(clone, "commit", "--message", "Break it", *words)
        assert code == 1
        assert "link-broken" in output
        git(clone, "add", "use.md")
        plant(clone, {"use.md": MORE + f"\n{words}\n"})
        assert try_git(clone, "commit", "--message", "Mend it", *words)[0] == 0


def check_pushes(clone: Path) -> None:
    """A push of a broken commit is refused, also when the file on disk was mended; one that deletes a branch is not."""
    assert try_git(clone, "push", "origin", "main", "main:other")[0] == 0
    plant(clone, {"use.md": BROKEN})
    git(clone, "commit", "--quiet", "--no-verify", "--all", "--message", "Break it")
    plant(clone, {"use.md": MORE})
    code, output = try_git(clone, "push", "origin", "main")
    assert code == 1
    assert "link-broken" in output
    assert try_git(clone, "push", "origin", ":other")[0] == 0


def test_the_hook_before_a_commit(clone: Path) -> None:
    install_hook(clone, "pre-commit")
    check_commits(clone)


def test_the_hook_before_a_push(clone: Path) -> None:
    install_hook(clone, "pre-push")
    check_pushes(clone)


def test_pre_commit_with_the_syncd_that_is_installed(clone: Path) -> None:
    (clone / ".pre-commit-config.yaml").write_text(read_example("pre-commit-config"))
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "Configure pre-commit")
    (install,) = (line for line in read_example("pre-commit-config").splitlines() if "pre-commit install" in line)
    subprocess.run(install.partition(": ")[2].split(), cwd=clone, check=True)
    check_commits(clone)
    check_pushes(clone)


def test_pre_commit_with_a_syncd_of_its_own(clone: Path, built: Built, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(built.source, source, ignore=shutil.ignore_patterns("build", "dist", "tests"))
    git(source, "init", "--quiet")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "Release")
    plant(clone, {"use.md": BROKEN})
    git(clone, "add", "--all")
    words = ("try-repo", str(source), "syncd-check", "--verbose")
    done = subprocess.run(["pre-commit", *words], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "link-broken" in done.stdout
