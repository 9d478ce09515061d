"""Read what a repository's state database holds, in numbers."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from syncd.daemon.health import StateCounts
from syncd.daemon.locks import STATE_FILE
from syncd.errors import StoreError
from syncd.store.status import SITE_STATES, read_site_facts, read_store_summary


class LastCounts:
    """What the state database of each repository held when it was last read."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        """Begin with none; `notice` is told of a database that cannot be read any more."""
        self._notice = notice
        self._counts: dict[Path, StateCounts | None] = {}

    def update_counts(self, path: Path, name: str, git_dir: Path | None) -> None:
        """Read the counts of a repository again; None where it has no git directory."""
        counts = None
        if git_dir is not None:
            try:
                counts = read_counts(git_dir / STATE_FILE)
            except StoreError as error:
                if self._counts.get(path) is not None:
                    self._notice(f"{name}: {error.what}")
        self._counts[path] = counts

    def find_counts(self, path: Path) -> StateCounts | None:
        """Return the counts of a repository, where they could be read."""
        return self._counts.get(path)

    def forget_repository(self, path: Path) -> None:
        """Forget a repository that is served no more."""
        self._counts.pop(path, None)


def read_counts(state: Path) -> StateCounts:
    """Return what a state database holds in numbers; an absent or damaged one holds nothing.

    Raises: StoreError.
    """
    seen = read_store_summary(state)
    items: Counter[tuple[str, str]] = Counter()
    try:
        for look in seen.site_states:
            facts = read_site_facts(look)
            for kind in SITE_STATES:
                for area, count in facts[kind].items():
                    items[area, kind] += count
        moments = [datetime.fromisoformat(look.at).timestamp() for look in seen.site_states]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"{state} holds a look at a site that makes no sense: {error!r}") from error
    outcomes = Counter((outcome.flow, outcome.state) for outcome in seen.outcomes)
    pending = sum(not plan.approved for plan in seen.pending_plans)
    return StateCounts(outcomes, pending, items, min(moments, default=None))
