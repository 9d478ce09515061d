"""A run merges two commits once, and all that it says and does comes from that one result."""

import os
from pathlib import Path

import pytest

from tests.cli.two_way import Web, Writer

COMPARISONS = 2
"""Of a merge: the base with each side, in search of renames. Nothing else in a run compares so."""


class CountedGit:
    """A git in front of the real one that writes down what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "asked"
        program = folder / "git"
        program.write_text(f'#!/bin/sh\necho "$@" >> "{self.log}"\nPATH="{os.environ["PATH"]}" exec git "$@"\n')
        program.chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def count_merges(self, docs: Writer, *words: str) -> int:
        """Return how many merges a command of syncd makes."""
        self.log.write_text("")
        docs.syncd(*words, PATH=self.path)
        asked = self.log.read_text().splitlines()
        assert asked, "this git is asked"
        return sum(line.startswith("diff-tree") and " -M " in line for line in asked) // COMPARISONS


@pytest.fixture
def git(tmp_path: Path) -> CountedGit:
    folder = tmp_path / "counted"
    folder.mkdir()
    return CountedGit(folder)


def test_a_run_merges_two_commits_once(web: Web, docs: Writer, git: CountedGit) -> None:
    docs.edit("p1.md", "P1 one.", "P1 mine.")
    web.edit("p1", "P1 one.", "P1 theirs.")
    docs.edit("p2.md", "P2 one.", "P2 mine.")
    docs.run("sync", code=6)
    web.edit("p2", "P2 mine.", "P2 reviewed.", request=web.proposed())
    docs.edit("p2.md", "P2 mine.", "P2 mine again.")
    docs.run("sync", code=6)
    lanes = 2  # main content and the change request
    assert git.count_merges(docs, "status") == 0, "it prints what the last run came to"
    assert git.count_merges(docs, "sync") == lanes
    assert git.count_merges(docs, "push") == lanes
