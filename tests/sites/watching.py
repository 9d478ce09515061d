"""Looks at the platform's own storage after every write: what may never be true, not even between two requests."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import sqlalchemy as sa

from syncd.layout.site.read.declared import SiteFile
from syncd.model.redirect import make_source_key
from syncd.platform.schema import site_tables
from tests.sites.drawn import Drawn
from tests.sites.stage import Stage


class Watcher:
    """Watches one site on its way from what it is now to what a file says.

    Shape: `secret` are spaces that were not public before and shall not be; `kept` are redirects that were there before
    and shall be, `wanted` all that shall be.
    """

    def __init__(self, stage: Stage, drawn: Drawn, file: SiteFile) -> None:
        self.stage = stage
        self.secret = drawn.secret() - set(self._public())
        self.wanted = {make_source_key(item.fields["source"]) for item in file.of("redirect")}
        self.before = set(self._redirects())
        self.broken: list[str] = []

    def __call__(self, request: httpx.Request) -> None:
        """Given a request that was answered, note what it broke."""
        after = f"after {request.method} {request.url.path} {request.content.decode()}"
        self.broken += [f"{trouble} {after}" for trouble in self._troubles()]

    def _troubles(self) -> Iterator[str]:
        for space in self.secret & set(self._public()):
            yield f"{space} is public"
        for kind, paths in self._paths():
            for path, count in Counter(path.casefold() for path in paths).items():
                if count > 1:
                    yield f"two {kind} have the path {path}"
        now = set(self._redirects())
        for source in self.before & self.wanted - now:
            yield f"redirect {source} is gone"
        if self.before - now and self.wanted - now:
            yield f"redirects {self.before - now} went before {self.wanted - now} came"

    def _rows(self, table: sa.Table) -> list[Any]:
        with self.stage.storage.read() as connection:
            return list(connection.execute(sa.select(table).where(table.c.site == self.stage.site)).all())

    def _public(self) -> Iterator[str]:
        gated = {row.id for row in self._rows(site_tables.sections) if row.condition}
        for row in self._rows(site_tables.site_spaces):
            if not row.condition and row.section not in gated:
                yield row.space

    def _redirects(self) -> Iterator[str]:
        return (make_source_key(row.source) for row in self._rows(site_tables.redirects))

    def _paths(self) -> Iterator[tuple[str, list[str]]]:
        yield "sections", [row.path for row in self._rows(site_tables.sections)]
        sections: dict[str, list[str]] = {}
        for row in self._rows(site_tables.site_spaces):
            sections.setdefault(row.section, []).append(row.path)
        yield from (("variants", paths) for paths in sections.values())
