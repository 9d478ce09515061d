"""What neither side remembers: where every page was last seen, what was about to happen, and what came of it."""

from syncd.model.anchor import Anchor
from syncd.store.store import Outcome, Seen, Store

__all__ = ["Anchor", "Outcome", "Seen", "Store"]
