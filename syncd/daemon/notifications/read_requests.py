"""Reads after a run how the change requests of a repository are, and which of them were merged."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from syncd.config import RepositoryConfig
from syncd.daemon.health import USEFUL
from syncd.daemon.locks import STATE_FILE
from syncd.daemon.notifications.request_news import describe_requests
from syncd.daemon.records import find_state
from syncd.errors import StoreError, SyncdError
from syncd.plan.message import CHANGE_REQUEST, SPACE
from syncd.repo.repository import Repository
from syncd.store.incidents import SeenRequest
from syncd.store.status import read_store_summary
from syncd.sync.run.values import Result

_COMMITS_MAX = 200
"""Mirror commits, newest first, among which the one is sought by which a change request was merged."""


def has_read_all(results: Sequence[Result]) -> bool:
    """Return whether a run got through, so that what it did not see is gone."""
    return all(find_state(result) in USEFUL for result in results)


def read_requests(git_dir: Path) -> Sequence[SeenRequest] | None:
    """Return the change requests of a repository as its last run saw them; None where its state cannot be read."""
    try:
        return describe_requests(read_store_summary(git_dir / STATE_FILE).requests)
    except StoreError:  # the counts of the same run say so
        return None


def build_merge_finder(repository: RepositoryConfig, git_dir: Path) -> Callable[[SeenRequest], bool]:
    """Return a function that says whether a change request has become main content."""
    return partial(_is_merged, git_dir, f"refs/remotes/{repository.remote}/main")


def _is_merged(git_dir: Path, main: str, request: SeenRequest) -> bool:
    """Whether a mirror commit says that a change request has become main content."""
    try:
        with Repository.open(git_dir) as repository:
            tip = repository.resolve(main)
            commits = repository.list_commits(None, tip, limit=_COMMITS_MAX) if tip is not None else []
    except SyncdError:
        return False
    return any(
        request.number in commit.trailers.get(CHANGE_REQUEST, []) and request.space in commit.trailers.get(SPACE, [])
        for commit in commits
    )
