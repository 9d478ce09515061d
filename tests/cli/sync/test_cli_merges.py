"""A run merges two commits once, and all that it says and does comes from that one result."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from syncd.repo.repository import Repository
from tests.cli.sync.two_way import Web, Writer
from tests.forked import Forked

pytestmark = pytest.mark.story

COMPARISONS = 2
"""Of a merge: the base with each side, in search of renames."""


def run_noting(words: list[str], log: str) -> int:
    """Run syncd, and note each two trees that it compares in search of renames."""
    from syncd.cli.app import run

    compare = Repository.compare_trees

    def compared(self: Repository, before: str, after: str, paths: Sequence[str] = (), *, renames: bool = False) -> Any:
        if renames:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{before} {after}\n")
        return compare(self, before, after, paths, renames=renames)

    Repository.compare_trees = compared  # type: ignore[method-assign]
    return run(words)


def count_merges(docs: Writer, log: Path, *words: str) -> int:
    """Return how many merges a command of syncd makes."""
    log.write_text("")
    with Forked(run_noting, list(words), str(log), cwd=docs.path, environ=os.environ) as process:
        process.wait()
    return len(log.read_text().splitlines()) // COMPARISONS


def test_a_run_merges_two_commits_once(web: Web, docs: Writer, tmp_path: Path) -> None:
    log = tmp_path / "compared"
    docs.edit("p1.md", "P1 one.", "P1 mine.")
    web.edit("p1", "P1 one.", "P1 theirs.")
    docs.edit("p2.md", "P2 one.", "P2 mine.")
    docs.run("sync", code=6)
    web.edit("p2", "P2 mine.", "P2 reviewed.", request=web.proposed())
    docs.edit("p2.md", "P2 mine.", "P2 mine again.")
    docs.run("sync", code=6)
    lanes = 2  # main content and the change request
    assert count_merges(docs, log, "status") == 0, "it prints what the last run came to"
    assert count_merges(docs, log, "sync") == lanes
    assert count_merges(docs, log, "push") == lanes
    assert count_merges(docs, log, "resolve") == lanes
    assert count_merges(docs, log, "resolve", "p1.md", "p2.md", "--ours") == lanes
    assert "No page is in conflict." in docs.run("resolve")


def test_a_page_is_settled_by_the_merge_that_found_it(web: Web, docs: Writer, tmp_path: Path) -> None:
    docs.edit("p1.md", "P1 one.", "P1 mine.")
    web.edit("p1", "P1 one.", "P1 theirs.")
    docs.run("pull", code=6)
    assert count_merges(docs, tmp_path / "compared", "resolve", "p1.md", "--hunk", "1", "--theirs") == 1
    assert "P1 theirs." in docs.read("p1.md")
