"""What visitors do on the platform's own pages: read, search, ask. Counted in memory, and written once a minute.

A visit counts where a browser says that a person opens a page: programs and prefetched pages do not. Nothing of the
visitor is kept.
"""

import threading
from collections import Counter, defaultdict

from fastapi import Request

from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.insights import EventKey, count_events, shorten_words
from syncd.platform.visitors.visits import SiteVisit

VIEWED, SEARCHED, ASKED = "page_view", "search_type_query", "ask_question"
"""Types of events, as other renderers count them."""
_WAITING_MAX = 10_000
"""Different events between two writes; what would be one more is not counted."""


class VisitCounts:
    """Events that are not written yet, by site. Safe in several threads."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._waiting: defaultdict[str, Counter[EventKey]] = defaultdict(Counter)
        self._size = 0

    def count(self, request: Request, visit: SiteVisit, key: EventKey) -> None:
        """Count an event of a visit, when a person's browser opened the page for it."""
        headers = request.headers
        if headers.get("sec-fetch-mode") != "navigate" or "sec-purpose" in headers or visit.is_preview:
            return
        with self._lock:
            counted = self._waiting[visit.site.row.id]
            if key not in counted:
                if self._size == _WAITING_MAX:
                    return
                self._size += 1
            counted[key] += 1

    def write(self) -> None:
        """Write what was counted since the last time. Raises: SQLAlchemyError, and then it is counted no more."""
        with self._lock:
            waiting, self._waiting, self._size = self._waiting, defaultdict(Counter), 0
        for site, counted in waiting.items():
            with self._storage.write() as connection:
                count_events(connection, self._storage.now(), site, counted)


def make_words_key(type: str, words: str) -> EventKey:
    """Return what a search or a question counts for."""
    return EventKey(type, detail=shorten_words(words))
