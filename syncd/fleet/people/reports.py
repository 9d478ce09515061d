"""What pages show of a repository of a fleet, which lies in the state database of whichever worker ran it last.

It is written down in PostgreSQL with each run that came to its end, so that it is read without any worker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncd.daemon.locks import STATE_FILE
from syncd.errors import StoreError
from syncd.fleet.database import FleetDatabase, Row, render_json
from syncd.store.status import FlowOutcome, SiteState, StoreSummary, read_store_summary
from syncd.sync.state.request_state import parse_request_state

if TYPE_CHECKING:
    import psycopg

_WAITING = ("held", "waiting")
"""States of outcomes that a person should know of."""
_LIVE = ("draft", "open")
_OUTCOME = {one.name for one in fields(FlowOutcome)}


@dataclass(frozen=True)
class ReportedSpace:
    """A space of a repository, as its configuration names it."""

    id: str
    name: str
    directory: str


@dataclass(frozen=True)
class RepositoryReport:
    """A repository of a fleet: its spaces, and what its last run left. Units: `seconds` between two runs."""

    name: str
    seconds: float
    spaces: tuple[ReportedSpace, ...]
    summary: StoreSummary


def save_report(cursor: "psycopg.Cursor[Row]", repository: str, git_dir: Path) -> None:
    """Write down what the state database in a clone says, in a transaction; one that cannot be read changes nothing."""
    try:
        summary = read_store_summary(git_dir / STATE_FILE)
    except StoreError:  # the records of the same run say so
        return
    cursor.execute(
        "UPDATE syncd_fleet_repositories SET report = %(report)s WHERE name = %(name)s",
        {"name": repository, "report": render_json(_build_document(summary))},
    )


def _build_document(summary: StoreSummary) -> dict[str, Any]:
    return {
        "outcomes": [asdict(one) for one in summary.outcomes if one.state in _WAITING],
        "requests": [
            [space, number, facts]
            for (space, number), facts in summary.requests.items()
            if parse_request_state(facts).status in _LIVE
        ],
        "sites": [asdict(one) for one in summary.site_states],
        "revisions": dict(summary.revisions),
    }


def list_reports(database: FleetDatabase, names: Sequence[str] | None = None) -> list[RepositoryReport]:
    """Return what is written down of repositories, in the order of their names; without names, of all.

    Raises: FleetUnreachable.
    """
    rows = database.query(
        "SELECT name, seconds, document -> 'space', report FROM syncd_fleet_repositories"
        " WHERE %(names)s::text[] IS NULL OR name = ANY(%(names)s) ORDER BY name",
        {"names": None if names is None else [*names]},
    )
    return [
        RepositoryReport(name, seconds, tuple(map(_parse_space, spaces or ())), _parse_summary(report or {}))
        for name, seconds, spaces, report in rows
    ]


def _parse_space(document: Mapping[str, Any]) -> ReportedSpace:
    id = str(document.get("id", ""))
    return ReportedSpace(id, str(document.get("name") or id), str(document.get("directory") or "."))


def _parse_summary(document: Mapping[str, Any]) -> StoreSummary:
    """The summary that was written down; what a newer syncd added to it is passed over."""
    outcomes = [
        FlowOutcome(**{key: value for key, value in one.items() if key in _OUTCOME})
        for one in document.get("outcomes", ())
    ]
    return StoreSummary(
        tuple(outcomes),
        site_states=tuple(SiteState(one["site"], "", one["facts"], one["at"]) for one in document.get("sites", ())),
        requests={(space, number): facts for space, number, facts in document.get("requests", ())},
        revisions=document.get("revisions", {}),
    )
