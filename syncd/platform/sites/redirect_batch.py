"""Many redirects in one transaction: existing ones are read once, and all changes are written once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from syncd.model.redirect import make_source_key
from syncd.platform.schema import site_tables
from syncd.platform.sites.structure import SiteView
from syncd.platform.storage.times import format_time

_TABLE = site_tables.redirects


@dataclass
class _RedirectState:
    """One redirect as it is after the items so far; `row` is what the table is to have, whole for a new one."""

    id: str
    is_new: bool
    row: dict[str, Any]


class RedirectBatch:
    """A site's redirects under change; `write` makes the table of it."""

    def __init__(self, view: SiteView, sources: Iterable[str]) -> None:
        """Read the redirects of a site that have one of the sources to change."""
        self._view = view
        self._gone: list[str] = []
        keys = {make_source_key(source) for source in sources}
        query = sa.select(_TABLE.c.source_key, _TABLE.c.id).where(
            _TABLE.c.site == view.at.site_id, _TABLE.c.source_key.in_(keys)
        )
        self._known = {key: _RedirectState(id, False, {}) for key, id in view.connection.execute(query)}

    def put_redirect(self, source: str, values: dict[str, Any]) -> tuple[str, bool]:
        """Set the members of the redirect of a source; return its id, and whether it is new."""
        key, storage = make_source_key(source), self._view.at.storage
        if (found := self._known.get(key)) is not None:
            found.row.update(values)
            return found.id, False
        id = storage.new_id()
        row = {
            "id": id,
            "site": self._view.at.site_id,
            "source": source,
            "source_key": key,
            **values,
            "created_at": format_time(storage.now()),
        }
        self._known[key] = _RedirectState(id, True, row)
        return id, True

    def delete_redirect(self, source: str) -> None:
        """Delete the redirect of a source, if there is one."""
        found = self._known.pop(make_source_key(source), None)
        if found is not None and not found.is_new:
            self._gone.append(found.id)

    def write_all(self) -> None:
        """Write all changes to the table."""
        run, kept = self._view.connection.execute, self._known.values()
        of: sa.BindParameter[str] = sa.bindparam("of", type_=_TABLE.c.id.type)
        if self._gone:
            run(_TABLE.delete().where(_TABLE.c.id == of), [{"of": id} for id in self._gone])
        columns = (_TABLE.c.destination, _TABLE.c.permanent)
        if changed := [self._build_values(one) for one in kept if one.row and not one.is_new]:
            to = {column.name: sa.bindparam(f"to_{column.name}", type_=column.type) for column in columns}
            run(_TABLE.update().where(_TABLE.c.id == of).values(to), changed)
        if new_rows := [one.row for one in kept if one.is_new]:
            run(_TABLE.insert(), new_rows)

    def _build_values(self, one: _RedirectState) -> dict[str, Any]:
        return {"of": one.id, "to_destination": one.row["destination"], "to_permanent": one.row["permanent"]}
