"""Read what a repository's state database holds, in numbers."""

from collections import Counter
from datetime import datetime
from pathlib import Path

from syncd.daemon.health import StateCounts
from syncd.errors import StoreError
from syncd.store.status import SITE_STATES, read_site_facts, read_store_summary


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
