"""From a source to a version: a job that fetches, reads and checks a specification, and says what came of it.

pending → progress → complete, whether it went well or not; what went wrong stands beside it, and the version that was
good before stays. A source that replaces another one while this is at work makes the result of the former void. What
comes from an address is fetched again every six hours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from syncd.model.text import mask_unprintable
from syncd.net import exchange
from syncd.platform.schema.specs import specs, versions
from syncd.platform.specs import parser
from syncd.platform.storage import jobs
from syncd.platform.storage.jobs import JobContext, JobHandler
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

PROCESS, REFRESH = "openapi.process", "openapi.refresh"
REFRESH_AFTER = timedelta(hours=6)
FETCH_S = 20.0
VERSIONS_MAX = 100
"""Versions of one specification that are kept; older ones go when a new one comes."""
PENDING, PROGRESS, COMPLETE = "pending", "progress", "complete"
FETCH_TIMEOUT, FETCH_ERROR, PARSE_ERROR = "FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"
"""Source: @gitbook/api 0.146.0."""
_ACCEPT = "application/json, application/yaml, text/yaml, */*;q=0.5"
_MESSAGE_MAX = 500


@dataclass(frozen=True)
class _ProcessingResult:
    """What processing came to: a content that can be used, or a code and messages."""

    content: str = ""
    media_type: str = ""
    code: str | None = None
    messages: tuple[str, ...] = ()


def enqueue_processing(connection: sa.Connection, storage: Storage, spec_id: str, source_number: int) -> None:
    """Start a job that processes the latest source of a specification, the one with this number."""
    jobs.enqueue_job(
        connection, storage, PROCESS, {"spec": spec_id, "asked": source_number}, key=f"{spec_id} {source_number}"
    )


def _process_spec(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    _process_source(context, payload["spec"], payload["asked"])
    return None


def _refresh_spec(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    with context.storage.read() as connection:
        row = connection.execute(sa.select(specs).where(specs.c.id == payload["spec"])).one_or_none()
    if row is not None and row.source_url is not None:
        _process_source(context, row.id, row.asked)
    return None


HANDLERS: Mapping[str, JobHandler] = {PROCESS: _process_spec, REFRESH: _refresh_spec}


def _process_source(context: JobContext, spec_id: str, source_number: int) -> None:
    mine = (specs.c.id == spec_id, specs.c.asked == source_number)
    with context.storage.write() as connection:
        begun = specs.update().where(*mine).values(state=PROGRESS).returning(specs)
        row = connection.execute(begun).one_or_none()
    if row is None:
        return
    result = _process_content(context, row)
    with context.storage.write() as connection:
        row = connection.execute(sa.select(specs).where(*mine)).one_or_none()
        if row is not None:
            _save_result(connection, context.storage, row, result)


def _process_content(context: JobContext, row: sa.Row[Any]) -> _ProcessingResult:
    if row.source_url is None:
        content = context.storage.blobs.get(row.source_text)
    else:
        fetched = _fetch_source(context, row.source_url)
        if isinstance(fetched, _ProcessingResult):
            return fetched
        content = fetched
    read = parser.parse_spec(content)
    if read.problems:
        return _ProcessingResult(code=PARSE_ERROR, messages=tuple(map(str, read.problems)))
    return _ProcessingResult(context.storage.blobs.put(content), read.media_type)


def _fetch_source(context: JobContext, url: str) -> bytes | _ProcessingResult:
    private = context.settings.private_addresses
    headers = {"Accept": _ACCEPT, "User-Agent": "syncd"}
    try:
        with exchange.open_stream(
            "GET", url, headers=headers, timeout=FETCH_S, limit=parser.BYTES_MAX, private=private
        ) as answer:
            if answer.status == 200:
                return answer.read_body()
    except exchange.TimedOut as error:
        return _ProcessingResult(code=FETCH_TIMEOUT, messages=(str(error),))
    except exchange.NetworkError as error:
        return _ProcessingResult(code=FETCH_ERROR, messages=(str(error),))
    return _ProcessingResult(code=FETCH_ERROR, messages=(f"The address answered with the status {answer.status}.",))


def _save_result(connection: sa.Connection, storage: Storage, row: sa.Row[Any], result: _ProcessingResult) -> None:
    moment = storage.now()
    now = format_time(moment)
    problems = [
        {"message": mask_unprintable(message)[:_MESSAGE_MAX], "code": result.code} for message in result.messages
    ]
    values = {"state": COMPLETE, "last_processed_at": now, "last_error": result.code, "last_problems": problems}
    if result.code is None and result.content != row.last_content:
        values |= {"last_version": storage.new_id(), "last_content": result.content, "updated_at": now}
        version = {"id": values["last_version"], "spec": row.id, "content": result.content, "created_at": now}
        connection.execute(versions.insert().values(media_type=result.media_type, **version))
        _delete_oldest(connection, row.id)
    connection.execute(specs.update().where(specs.c.id == row.id).values(values))
    if row.source_url is not None:
        jobs.enqueue_job(connection, storage, REFRESH, {"spec": row.id}, due=moment + REFRESH_AFTER, key=row.id)


def _delete_oldest(connection: sa.Connection, spec_id: str) -> None:
    order = (versions.c.created_at.desc(), versions.c.id.desc())
    kept = sa.select(versions.c.id).where(versions.c.spec == spec_id).order_by(*order).limit(VERSIONS_MAX)
    ids = list(connection.scalars(kept))
    if len(ids) == VERSIONS_MAX:
        connection.execute(versions.delete().where(versions.c.spec == spec_id, versions.c.id.not_in(ids)))
