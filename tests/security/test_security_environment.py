"""Nothing of the caller's environment reaches a git process: no token, no variable by which git writes or runs."""

import os
import subprocess
from pathlib import Path

from tests.cli.conftest import Shell
from tests.git_wrapper import GitWrapper

CANARY = "canary-5b1e"


def hostile(shell: Shell, wrapper: GitWrapper) -> dict[str, str]:
    """Return the environment of a caller: a token, and all that git would follow."""
    trace = shell.root / f"trace-{CANARY}"
    names = ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE_PACKET", "GIT_TRACE_CURL", "GIT_TRACE_SETUP")
    commands = ("GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_PYTHON_GIT_EXECUTABLE")
    return {
        "SYNCD_TOKEN": shell.token.read_text().strip(),
        "OTHER_SECRET": CANARY,
        "GIT_PYTHON_TRACE": "full",
        "GIT_PYTHON_REFRESH": "no such mode",
        **{name: str(trace) for name in names},
        **dict.fromkeys(commands, f"touch {shell.root}/ran-{CANARY}; false"),
        "PATH": f"{wrapper.directory}{os.pathsep}{os.environ['PATH']}",
    }


def test_no_git_process_sees_the_token_or_a_variable_of_the_caller(shell: Shell) -> None:
    wrapper = GitWrapper(shell.root / "bin")
    caller, docs = hostile(shell, wrapper), shell.root / "docs"

    def run(*words: object, cwd: Path) -> None:
        done = shell.syncd(*words, cwd=cwd, environ=caller)
        assert done.returncode == 0, done.stderr

    run("clone", shell.url, shell.space, docs, cwd=shell.root)
    (docs / "use.md").write_text("# Use\n\nOtherwise.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say more", cwd=docs)
    run("push", cwd=docs)
    run("pull", cwd=docs)
    started = wrapper.started()
    assert len(started) > 20
    for one in started:
        assert caller["SYNCD_TOKEN"] not in one.environment, one.words
        assert CANARY not in one.environment, one.words
        assert "\nGIT_TRACE" not in one.environment, one.words
    assert [path.name for path in shell.root.iterdir() if CANARY in path.name] == []


def test_the_demo_commits_nothing_into_the_repository_of_its_caller(shell: Shell) -> None:
    theirs = shell.root / "theirs"
    subprocess.run(["git", "init", "--quiet", str(theirs)], check=True)
    environ = {"GIT_DIR": str(theirs / ".git"), "GIT_WORK_TREE": str(theirs), "SYNCD_TOKEN": CANARY}
    done = shell.syncd("demo", "--keep", shell.root / "demo", environ=environ)
    assert done.returncode == 0, done.stderr
    assert not (theirs / ".git" / "index").exists()
