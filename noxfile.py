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
def pages(session: nox.Session) -> None:
    """Write the pages of the manual that are made from tables in the code."""
    run(session, "tests.glossary")


@nox.session
def ci(session: nox.Session) -> None:
    """Decide whether a change lands, as CI does: a fresh environment and the long tests."""
    session.run("bash", str(Path(__file__).parent / ".ci" / "run"), external=True)
