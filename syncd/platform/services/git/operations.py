"""The imports and exports of spaces as the database keeps them: one row for each, and never a credential."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from syncd.model.git_sync import EXPORT, FAILURE, IMPORT, RUNNING, SUCCESS, TIMEOUT, GitExport, GitTransfer
from syncd.model.moment import parse_moment
from syncd.platform.http.failures import Failure
from syncd.platform.schema.content import git_operations
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

TRANSFER = "git.transfer"
"""The kind of job that does an import or export."""
TIMEOUT_S = 240.0
"""Seconds from the request to the end; less than a job may take."""
WAITING_MAX = 10
"""Operations of one space that may be underway at once; they are done one after the other."""
KEPT = 20
"""Operations of one space that are remembered."""

_TABLE = git_operations


def insert_operation(
    connection: sa.Connection, storage: Storage, space: str, body: GitTransfer, *, by: str, needs_credentials: bool
) -> str:
    """Store a new operation and the job that does it, and return its id.

    Shape: the body's address has no credentials. Raises: Failure 409 when too many are underway.
    """
    waiting = sa.select(sa.func.count()).where(_TABLE.c.space == space, *_build_underway(storage))
    if (connection.scalar(waiting) or 0) >= WAITING_MAX:
        raise Failure(409, f"{WAITING_MAX} imports and exports of this space are underway. Try again later.")
    last = connection.scalar(sa.select(sa.func.coalesce(sa.func.max(_TABLE.c.seq), 0)).where(_TABLE.c.space == space))
    number, id = int(last or 0) + 1, storage.new_id()
    happened = parse_moment(body.timestamp) if body.timestamp else None
    connection.execute(
        _TABLE.insert().values(
            id=id,
            space=space,
            seq=number,
            direction=EXPORT if isinstance(body, GitExport) else IMPORT,
            state=RUNNING,
            url=body.url,
            ref=body.ref,
            happened_at=format_time(happened.astimezone(UTC)) if happened else None,
            started_at=format_time(storage.now()),
        )
    )
    connection.execute(_TABLE.delete().where(_TABLE.c.space == space, _TABLE.c.seq <= number - KEPT))
    payload = {"operation": id, "by": by, "needs_credentials": needs_credentials, "body": body.wire()}
    jobs.enqueue_job(connection, storage, TRANSFER, payload)
    return id


def find_operation(connection: sa.Connection, id: str) -> sa.Row[Any] | None:
    """Return the row of an operation, or None."""
    return connection.execute(sa.select(_TABLE).where(_TABLE.c.id == id)).one_or_none()


def find_last_operation(connection: sa.Connection, space: str) -> sa.Row[Any] | None:
    """Return the row of the operation of a space that was asked for last, or None."""
    newest = sa.select(_TABLE).where(_TABLE.c.space == space).order_by(_TABLE.c.seq.desc()).limit(1)
    return connection.execute(newest).one_or_none()


def has_earlier(connection: sa.Connection, storage: Storage, row: sa.Row[Any]) -> bool:
    """Return whether an operation of the same space that was asked for before is still underway."""
    earlier = (_TABLE.c.space == row.space, _TABLE.c.seq < row.seq, *_build_underway(storage))
    return connection.scalar(sa.select(_TABLE.c.id).where(*earlier).limit(1)) is not None


def find_later_event(connection: sa.Connection, row: sa.Row[Any]) -> str | None:
    """Return the time of a successful operation of the same direction that happened after this one, or None."""
    if row.happened_at is None:
        return None
    done = (_TABLE.c.space == row.space, _TABLE.c.state == SUCCESS, _TABLE.c.direction == row.direction)
    found: str | None = connection.scalar(
        sa.select(sa.func.max(_TABLE.c.happened_at)).where(*done, _TABLE.c.happened_at > row.happened_at)
    )
    return found


def finish_operation(connection: sa.Connection, storage: Storage, id: str, error: str = "", *, state: str = "") -> None:
    """Note how an operation ended: with an error, or as asked."""
    chosen = state or (FAILURE if error else SUCCESS)
    values = {"state": chosen, "ended_at": format_time(storage.now()), "error": error or None}
    connection.execute(_TABLE.update().where(_TABLE.c.id == id, _TABLE.c.state == RUNNING).values(values))


def parse_start(row: sa.Row[Any]) -> datetime:
    """Return when an operation was asked for (aware)."""
    return datetime.fromisoformat(row.started_at)


def is_overdue(storage: Storage, row: sa.Row[Any]) -> bool:
    """Return whether an operation took longer than it may, also when whoever did it is gone."""
    return bool(row.state == RUNNING and row.started_at < _compute_oldest(storage))


def serialize_info(storage: Storage, row: sa.Row[Any]) -> Mapping[str, Any]:
    """Return what the API says of a space's last operation. Units: milliseconds."""
    state = TIMEOUT if is_overdue(storage, row) else row.state
    ended = format_time(parse_start(row) + timedelta(seconds=TIMEOUT_S)) if state == TIMEOUT else row.ended_at
    operation = {"state": state, "direction": row.direction, "startedAt": row.started_at}
    operation |= {name: value for name, value in (("endedAt", ended), ("error", row.error)) if value}
    name = row.url.rstrip("/").removesuffix(".git").split("/", 3)[-1]
    timeout = {"operationTimeout": int(TIMEOUT_S * 1000)}
    return {"repoName": name, "url": row.url, "operation": operation, **timeout, "updatedAt": ended or row.started_at}


def _build_underway(storage: Storage) -> tuple[sa.ColumnElement[bool], ...]:
    return (_TABLE.c.state == RUNNING, _TABLE.c.started_at >= _compute_oldest(storage))


def _compute_oldest(storage: Storage) -> str:
    return format_time(storage.now() - timedelta(seconds=TIMEOUT_S))
