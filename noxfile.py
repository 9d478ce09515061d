"""The daily commands: `nox -s check`, `nox -s test -- tests/cli`; `nox -l` lists them."""

import hashlib
import inspect
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

import nox

nox.options.sessions = ["check"]
nox.options.default_venv_backend = "none"
COUNTED = tuple(f"tests/cli/{name}" for name in ("change_requests", "history", "status", "sync"))
"""Whose stories the coverage counts: those that run the flows. Counting makes a process slower."""
THOROUGH, REPORTED = ("model", "layout", "plan", "sync"), ("cli", "daemon")
"""Packages of which tests are to enter 95 % of the branches, and those of which it is only told how many they enter."""
PYTHON = sys.executable
"""nox is installed in the project's environment, so its Python has everything."""
BUNDLE = Path("dist", "syncd.pyz")
BUNDLE_CHECK = """
built_for, found = {built_for!r}, find_python_kind()
if found != built_for:
    print(f"error: this file has native parts for Python {{built_for}}, and this Python is {{found}}", file=sys.stderr)
    print("hint: take that Python, or build a file for this one: nox -s bundle, in the source", file=sys.stderr)
    sys.exit(78)
"""
"""What the bundle does before it loads anything native."""


def find_python_kind() -> str:
    """Return for which Python and which machine native parts are, such as cpython-311-x86_64-linux-gnu (x86_64)."""
    return f"{sysconfig.get_config_var('SOABI')} ({platform.machine()})"


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

    These are the default suite, the stories that run the flows and the longer tests of the flows.
    `nox -s coverage -- --suite-counted` goes on from a default suite that ran with COVERAGE_PROCESS_START.
    """
    flows = (f"tests/sync/{folder.name}" for folder in sorted(Path("tests", "sync").glob("[a-z]*/")) if folder.is_dir())
    if "--suite-counted" not in session.posargs:
        run(session, "coverage", "erase")
        run(session, "coverage", "run", "-m", "pytest")
    run(session, "coverage", "run", "-m", "pytest", "-m", "story and not long", *COUNTED)
    run(session, "coverage", "run", "-m", "pytest", "-m", "long", "-o", "timeout=900", *flows)
    # A module that no process loaded counts as well.
    whole = ",".join(f"syncd.{package}" for package in (*THOROUGH, *REPORTED))
    run(session, "coverage", "run", "--source", whole, "-m", "syncd", "--version")
    run(session, "coverage", "combine", "--quiet")
    for package in REPORTED:
        run(session, "coverage", "report", "--include", f"syncd/{package}/*")
    for package in THOROUGH:
        run(session, "coverage", "report", "--include", f"syncd/{package}/*", "--fail-under", "95")


@nox.session
def stories(session: nox.Session) -> None:
    """Run the stories that the coverage does not run."""
    run(session, "pytest", "-m", "story and not long", *(f"--ignore={folder}" for folder in COUNTED))


@nox.session
def pages(session: nox.Session) -> None:
    """Write the pages of the manual that are made from tables in the code."""
    run(session, "tests.glossary")


@nox.session
def ci(session: nox.Session) -> None:
    """Decide whether a change lands, as CI does: a fresh environment and the long tests."""
    session.run("bash", str(Path(__file__).parent / ".ci" / "run"), external=True)


@nox.session
def build(session: nox.Session) -> None:
    """Build the wheel and the source distribution into dist/."""
    run(session, "hatchling", "build", "--directory", "dist")


@nox.session
def bundle(session: nox.Session) -> None:
    """Build dist/syncd.pyz: syncd and all that it needs in one file, for this Python and this kind of machine.

    The same wheels and the same SOURCE_DATE_EPOCH give the same bytes: `nox -s bundle -- DIR` takes the wheels in a
    directory instead of building syncd and taking the newest of all others.
    """
    work = Path("build", "bundle")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    wheels, site, check = Path(*session.posargs or (work, "wheels")), work / "site", work / "check_python.py"
    if not session.posargs:
        run(session, "pip", "wheel", "--quiet", "--wheel-dir", str(wheels), ".")
    place = ("--no-index", "--find-links", str(wheels), "--target", str(site))
    run(session, "pip", "install", "--quiet", "--no-compile", *place, "syncd")
    # Programs of libraries name the Python that built them, and RECORD has their digests.
    shutil.rmtree(site / "bin")
    for record in site.glob("*.dist-info/RECORD"):
        record.unlink()
    function = f"import platform, sys, sysconfig\n{inspect.getsource(find_python_kind)}"
    check.write_text(function + BUNDLE_CHECK.format(built_for=find_python_kind()), encoding="utf-8")
    BUNDLE.parent.mkdir(exist_ok=True)
    start = ("--python", f"/usr/bin/env python3.{sys.version_info.minor}", "--preamble", str(check))
    words = ("--reproducible", "--compressed", "--entry-point", "syncd.cli:main", "--site-packages", str(site))
    run(session, "shiv", *words, *start, "--output-file", str(BUNDLE))
    session.log(f"{hashlib.sha256(BUNDLE.read_bytes()).hexdigest()}  {BUNDLE}")
