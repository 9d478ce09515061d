"""`syncd` in a process of its own, forked from one that has loaded it already: a start costs no second of imports."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

SECONDS_MAX = 110
"""How long a command may take; a test as a whole may take a little longer."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        *("git", "httpx", "sqlalchemy.dialects.sqlite", "syncd.cli.app", "syncd.cli.check", "syncd.cli.clone"),
        *("syncd.cli.flows", "syncd.cli.init", "syncd.cli.review", "syncd.cli.sites.apply", "syncd.cli.status"),
    ]
)


def run_forked(words: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Given the words of a command, run it to its end, and return what it said."""
    with TemporaryDirectory() as output:
        process = _context.Process(target=_run, args=(list(words), str(cwd), dict(environ), output))
        process.start()
        process.join(SECONDS_MAX)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(words), SECONDS_MAX)
        said, complained = (Path(output, name).read_bytes().decode() for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(list(words), process.exitcode, said, complained)


def _run(words: list[str], cwd: str, environ: dict[str, str], output: str) -> None:
    from syncd.cli.app import run

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    descriptors = [os.open(os.devnull, os.O_RDONLY)]
    descriptors += [os.open(os.path.join(output, name), os.O_WRONLY | os.O_CREAT) for name in ("stdout", "stderr")]
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    sys.exit(run(words))
