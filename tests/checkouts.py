"""Files that a test plants in a directory, and Git there, as a person types it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


def plant(directory: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths below a directory, and return that."""
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def git(directory: Path, *words: str) -> str:
    """Return what a command of Git prints in a directory, without the line end; one that fails fails the test."""
    done = subprocess.run(["git", *words], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
    return done.stdout.strip()
