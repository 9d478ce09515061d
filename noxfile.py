"""The daily commands: `nox -s check`, `nox -s test -- tests/cli`; `nox -l` lists them."""

import sys
from pathlib import Path

import nox

nox.options.sessions = ["check"]
nox.options.default_venv_backend = "none"
PYTHON = sys.executable
"""nox is installed in the project's environment, so its Python has everything."""


def run(session: nox.Session, *words: str) -> None:
    """Run a Python module of the environment."""
    session.run(PYTHON, "-m", *words, external=True)


@nox.session
def check(session: nox.Session) -> None:
    """Check style, types, words and architecture: under a minute."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")
    run(session, "mypy")
    run(session, "pytest", "tests/test_architecture.py", "tests/test_docs.py", "tests/test_words.py")


@nox.session
def fix(session: nox.Session) -> None:
    """Format the code, and mend what ruff can mend."""
    run(session, "ruff", "check", "--fix", ".")
    run(session, "ruff", "format", ".")


@nox.session
def test(session: nox.Session) -> None:
    """Run the default suite, or what is named: `nox -s test -- tests/cli -k push`."""
    run(session, "pytest", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Count the branches that tests enter, in processes of their own, too, and name those that none enters.

    These are the tests of the default suite but for the platform's, the stories, and the longer ones of the flows.
    """
    others = ("--ignore=tests/platform", "--ignore=tests/contract")
    flows = (f"tests/sync/{folder.name}" for folder in sorted(Path("tests", "sync").glob("[a-z]*/")) if folder.is_dir())
    run(session, "coverage", "erase")
    run(session, "coverage", "run", "-m", "pytest", "-m", "not long and not service and not client", *others)
    run(session, "coverage", "run", "-m", "pytest", "-m", "long", "-o", "timeout=900", *flows)
    run(session, "coverage", "combine", "--quiet")
    for package in ("cli", "daemon"):
        run(session, "coverage", "report", "--include", f"syncd/{package}/*")
    for package in ("model", "layout", "plan", "sync"):
        run(session, "coverage", "report", "--include", f"syncd/{package}/*", "--fail-under", "95")


@nox.session
def pages(session: nox.Session) -> None:
    """Write the pages of the manual that are made from tables in the code."""
    run(session, "tests.glossary")


@nox.session
def ci(session: nox.Session) -> None:
    """Decide whether a change lands, as CI does: a fresh environment and the long tests."""
    session.run("bash", str(Path(__file__).parent / ".ci" / "run"), external=True)
