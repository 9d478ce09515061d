"""A `git` in front of git: it writes down how each process was started, and refuses to search with a pattern."""

import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """#!/bin/sh
{{ printf '%s\\n' "$@"; echo; env; }} >> '{directory}/'record.$$
for word; do
  case $word in
    grep | --get-regexp* | --grep* | --author* | --committer* | -G* | -S* | --perl-regexp)
      echo "fatal: Couldn't JIT the PCRE2 pattern" >&2
      exit 128;;
  esac
done
exec '{git}' "$@"
"""
"""Git translates even a fixed string to machine code when it searches for one."""


@dataclass(frozen=True)
class Started:
    """One git process: its arguments, and its environment as `env` prints it."""

    words: list[str]
    environment: str


@dataclass
class GitWrapper:
    """A directory for the front of PATH, and what was started through it."""

    directory: Path

    def __post_init__(self) -> None:
        git = shutil.which("git")
        self.directory.mkdir()
        script = self.directory / "git"
        script.write_text(SCRIPT.format(directory=self.directory, git=git))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    def started(self) -> list[Started]:
        """Return every git process until now."""
        records = [path.read_text().partition("\n\n") for path in self.directory.glob("record.*")]
        return [Started(words.split("\n"), environment) for words, _, environment in records]
