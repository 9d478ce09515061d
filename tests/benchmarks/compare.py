"""The same benchmarks of two commits side by side: another one in a work tree of its own, and this one as it is."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.stage import PROJECT

_LINE = re.compile(r"(?P<name>\S.*?) +(?P<value>\d+\.\d\d) (?P<unit>\S+(?: \S+)*?)(?:  .*)?")


def compare(revision: str, words: Sequence[str], scratch: Path) -> Iterator[str]:
    """Run benchmarks in a work tree of a commit and here, and yield a line for each value that both have.

    Shape: `words` are those of the command line without the commit. Both run with this interpreter, and each with the
    benchmarks of its own commit, so that a benchmark that only one has is left out.
    Raises: CalledProcessError for a commit that is not there; RuntimeError when a side measures nothing.
    """
    tree = scratch / "compared"
    _run_git("worktree", "add", "--quiet", "--detach", str(tree), revision)
    try:
        before, after = _measure(tree, words), _measure(PROJECT, words)
    finally:
        _run_git("worktree", "remove", "--force", str(tree))
    yield f"{'':<28} {revision[:12]:>12} {'here':>12} {'ratio':>8}"
    for name, (value, unit) in after.items():
        if name in before and before[name][1] == unit:
            former = before[name][0]
            ratio = f"{value / former:>8.2f}" if former else f"{'-':>8}"
            yield f"{name:<28} {former:>12.2f} {value:>12.2f} {ratio} {unit}"


def _run_git(*words: str) -> None:
    subprocess.run(["git", "-C", str(PROJECT), *words], check=True)


def _measure(project: Path, words: Sequence[str]) -> dict[str, tuple[float, str]]:
    """The values of the benchmarks of a checkout by name, each with its unit; a broken limit ends nothing here."""
    command = [sys.executable, "-m", "tests.benchmarks", *words]
    done = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, text=True, check=False)
    found = {line["name"]: (float(line["value"]), line["unit"]) for line in _match_lines(done.stdout)}
    if not found:
        raise RuntimeError(f"the benchmarks of {project} ended with {done.returncode} and measured nothing")
    return found


def _match_lines(text: str) -> Iterator[re.Match[str]]:
    return (found for line in text.splitlines() if (found := _LINE.fullmatch(line)))
