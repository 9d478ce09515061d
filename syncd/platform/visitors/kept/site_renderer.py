"""Rendering the pages of a site ahead: behind the first one that a visitor found not rendered yet, all others follow.

Nothing that changes content or looks has to know of it, a site that nobody reads costs nothing, and each machine of
several renders for itself. A page that is kept already costs a look-up.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from time import thread_time

import sqlalchemy as sa

from syncd.errors import SyncdError
from syncd.platform.http.failures import Failure
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import PageFound, open_space_outline
from syncd.platform.visitors.pages import PageMemory, PageRenderer
from syncd.platform.visitors.sites import PublishedSites
from syncd.platform.visitors.visits import SiteVisit, VisitPlace

_WAITING_MAX = 100
_REST = 1.0
"""Seconds of rest for each second of rendering, so that requests keep half of the interpreter at least."""

_log = logging.getLogger(__name__)


class SiteRenderer:
    """A thread that renders sites, one page after the other, until it is stopped."""

    def __init__(self, storage: Storage, sites: PublishedSites, memory: PageMemory) -> None:
        self._storage = storage
        self._sites = sites
        self._memory = memory
        self._waiting: dict[str, SiteVisit] = {}
        self._changed = threading.Condition()
        self._stop_requested = threading.Event()
        self._thread: threading.Thread | None = None

    def request(self, visit: SiteVisit) -> None:
        """Have the pages rendered that everybody who comes by this visit's address may read."""
        with self._changed:
            if visit.is_for_everybody and len(self._waiting) < _WAITING_MAX:
                self._waiting[visit.base] = visit
                self._changed.notify()

    def start(self) -> None:
        """Start the thread, which does not keep the process alive."""
        self._thread = threading.Thread(target=self._run, name="syncd-pages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop behind the page that is being rendered; the rest is rendered when it is asked for."""
        self._stop_requested.set()
        with self._changed:
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def render_waiting(self) -> None:
        """Render all that was requested."""
        while not self._stop_requested.is_set() and (visit := self._take_waiting()) is not None:
            try:
                self._render_site(visit)
            except (SyncdError, Failure, sa.exc.SQLAlchemyError, OSError) as failure:
                _log.warning("a site could not be rendered ahead: %s", type(failure).__name__)

    def _run(self) -> None:
        while not self._stop_requested.is_set():
            self.render_waiting()
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stop_requested.is_set())

    def _take_waiting(self) -> SiteVisit | None:
        with self._changed:
            return self._waiting.pop(next(iter(self._waiting), ""), None)

    def _render_site(self, requested: SiteVisit) -> None:
        # What was seen by the visitor may have changed since, and with it who may read the site.
        site = self._sites.find_any_site(requested.site.row.id)
        visit = replace(requested, site=site or requested.site)
        kept, keys = self._storage.kept_pages, set[bytes]()
        if site is None or not site.row.published or not visit.is_for_everybody:
            kept.forget_others(visit.base, keys)
            return
        renderer = PageRenderer(self._storage, self._memory, visit)
        for found in self._list_pages(visit):
            if self._stop_requested.is_set() or kept.is_full:
                return
            began = thread_time()
            with suppress(SyncdError, Failure):
                # One page that cannot be rendered keeps no other back; who asks for it is told why.
                keys.update(renderer.render_ahead(found))
            self._stop_requested.wait((thread_time() - began) * _REST)
        kept.forget_others(visit.base, keys)

    def _list_pages(self, visit: SiteVisit) -> Iterator[PageFound]:
        for site_space in visit.visible_site_spaces:
            with self._storage.read() as connection:
                outline = open_space_outline(connection, visit, site_space)
            for entry in outline.entries.values():
                if entry.node.type == "document" and visit.may_read_page(outline, entry):
                    yield PageFound(VisitPlace(site_space, entry.path), outline, entry)
