"""Runs of a translation: the pages that changed since the last one are translated, and the result space follows.

A run is a job. It translates one revision of the source space in slices, each kept at once, so that a run that dies
goes on where it was. Then the translated tree is merged into the result space: what people changed or removed there
stays, unless the source changed the same; what was removed from the source goes.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa

from syncd.model.document import Document
from syncd.platform.database.tables import upsert
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline, open_outline
from syncd.platform.revisions.tree import Node
from syncd.platform.schema.content import spaces
from syncd.platform.schema.translations import translated, translations
from syncd.platform.services.translations.pages import (
    TranslatedPage,
    compute_source_hash,
    list_translatable,
    translate_pages,
)
from syncd.platform.services.translations.providers import Provider, ProviderFailed, TranslationOptions, create_provider
from syncd.platform.services.translations.result import ResultInputs, prepare_result, record_result
from syncd.platform.storage import jobs
from syncd.platform.storage.jobs import JobContext
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

RUN = "run_translation"
"""The kind of the job; its payload names the translation."""
SLICE_S = 20.0
"""Seconds after which a call of the handler returns and is called again: far below a lease."""
PAGES_AT_ONCE = 10
FAILURES_MAX = 8
"""Failures of the provider in a row, after which a run is given up; they double the wait, from two seconds."""
TEXT_MAX = 1024 * 1024
"""Bytes of a page's text above which only its title is translated."""

_AT_ONCE = 5_000
"""Pages in one statement."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TranslationRun:
    """One run. Shape: `row` is the translation's; `source` the tree that is translated."""

    row: sa.Row[Any]
    source: Outline
    known: Mapping[str, str]
    """By page, what its last translation was made from."""

    @property
    def options(self) -> TranslationOptions:
        """How it is to be translated."""
        said = self.row.instructions
        instructions = Document.model_validate(said).text() if said else ""
        return TranslationOptions(self.row.source_language or "", self.row.language, instructions)


def request_run(connection: sa.Connection, storage: Storage, translation: str) -> None:
    """Start a run of a translation, or let it run once more after the present run.

    A run that made no progress for the time of a lease has lost its worker, and is started again.
    """
    mine = translations.c.id == translation
    row = connection.execute(sa.select(translations.c.run_of, translations.c.run_at).where(mine)).one()
    at_hand = row.run_of is not None
    connection.execute(translations.update().where(mine).values({"again": True} if at_hand else {"status": "pending"}))
    if not at_hand or row.run_at < format_time(storage.now() - jobs.LEASE):
        jobs.enqueue_job(connection, storage, RUN, {"translation": translation}, key=translation)


def continue_run(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    """Translate the next pages of a run, and return when to continue; None when the run is complete."""
    run = _begin_run(context.storage, payload["translation"])
    if run is None:
        return None
    options, provider = run.options, create_provider(context.settings)
    waiting = [
        node for node in list_translatable(run.source) if run.known.get(node.id) != compute_source_hash(node, options)
    ]
    until = monotonic() + SLICE_S
    for start in range(0, len(waiting), PAGES_AT_ONCE):
        try:
            _translate_nodes(context.storage, run, waiting[start : start + PAGES_AT_ONCE], provider)
        except ProviderFailed as failure:
            return _record_failure(context.storage, run.row.id, failure)
        if monotonic() >= until:
            return timedelta(0)
    return None if _complete_run(context.storage, run) else timedelta(0)


HANDLERS = {RUN: continue_run}


def _begin_run(storage: Storage, translation: str) -> TranslationRun | None:
    """The run at hand, or a new one of what the source is now; None when there is nothing to run any more."""
    with storage.write() as connection:
        row = connection.execute(_select_with_spaces().where(translations.c.id == translation)).one_or_none()
        if row is None or (row.run_of is None and row.status == "completed"):
            return None
        if not (row.source_here and row.result_here):
            # Spaces that come back are translated when they are asked for again.
            _end_run(connection, translation, status=_compute_idle_status(row.runs))
            return None
        if row.run_of is None:
            now, counts = format_time(storage.now()), {"run_pages": 0, "run_words": 0, "run_failures": 0}
            values = {"status": "running", "run_of": row.source_revision, "run_since": now, "run_at": now, **counts}
            connection.execute(translations.update().where(translations.c.id == translation).values(values))
            row = connection.execute(_select_with_spaces().where(translations.c.id == translation)).one()
    with storage.read() as connection:
        source = revisions.open_revision(connection, row.source, row.run_of)
        last = sa.select(translated.c.page, translated.c.made_from).where(translated.c.translation == translation)
        return TranslationRun(row, source, {one.page: one.made_from for one in connection.execute(last)})


def _translate_nodes(storage: Storage, run: TranslationRun, nodes: list[Node], provider: Provider) -> None:
    """Translate some pages and keep what came of it; a translation that was deleted meanwhile keeps nothing."""
    translated_pages = translate_pages([(node, _read_text(storage, node)) for node in nodes], run.options, provider)
    blobs = iter(storage.blobs.put_all(page.body.encode() for page in translated_pages if page.body is not None))
    rows = [_build_row(run.row.id, node, page, blobs) for node, page in zip(nodes, translated_pages, strict=True)]
    with storage.write() as connection:
        counts = {
            "run_pages": translations.c.run_pages + len(rows),
            "run_words": translations.c.run_words + sum(page.word_count for page in translated_pages),
            "run_failures": 0,
            "run_at": format_time(storage.now()),
        }
        mine = translations.update().where(translations.c.id == run.row.id, translations.c.run_of == run.row.run_of)
        if connection.execute(mine.values(counts)).rowcount:
            upsert(connection, translated, rows, key=("translation", "page"))


def _build_row(translation: str, node: Node, page: TranslatedPage, blobs: Any) -> dict[str, Any]:
    return {
        "translation": translation,
        "page": page.page,
        "made_from": page.made_from,
        "title": page.title,
        # A text that was not sent stays the source's.
        "body": next(blobs) if page.body is not None else node.body,
        "fields": dict(page.fields),
    }


def _read_text(storage: Storage, node: Node) -> str | None:
    if node.body is None or storage.blobs.size(node.body) > TEXT_MAX:
        return None
    return storage.blobs.get(node.body).decode(errors="replace")


def _record_failure(storage: Storage, translation: str, failure: ProviderFailed) -> timedelta | None:
    """Wait for the provider, ever longer; in the end the run is over, and what it translated is kept for the next."""
    with storage.write() as connection:
        query = sa.select(translations.c.run_failures, translations.c.runs).where(translations.c.id == translation)
        row = connection.execute(query).one_or_none()
        if row is None:
            return None
        number = row.run_failures + 1
        given_up = number >= FAILURES_MAX
        _log.warning("translation %s: %s%s", translation, failure, "; the run is given up" if given_up else "")
        if given_up:
            _end_run(connection, translation, status=_compute_idle_status(row.runs))
            return None
        mine = translations.update().where(translations.c.id == translation)
        connection.execute(mine.values(run_failures=number, run_at=format_time(storage.now())))
    return timedelta(seconds=2**number)


def _compute_idle_status(runs: int) -> str:
    # There is no word for a run that failed: what an earlier one made is complete, and without one all is still to do.
    return "completed" if runs else "pending"


def _complete_run(storage: Storage, run: TranslationRun) -> bool:
    """Make the result space what the run translated; False when it moved meanwhile, and this is to be tried again."""
    row = run.row
    with storage.read() as connection:
        main = revisions.require_revision(connection, row.result, row.result_main)
        bare = revisions.require_revision(connection, row.result, row.bare)
        pages = connection.execute(sa.select(translated).where(translated.c.translation == row.id)).all()
        base, ours = (open_outline(connection, revision.root) for revision in (bare, main))
    sources = ResultInputs(run.source, {page.page: page for page in pages}, base, ours)
    following = prepare_result(storage, sources)
    with storage.write() as connection:
        now = connection.execute(_select_with_spaces().where(translations.c.id == row.id)).one_or_none()
        if now is None or now.run_of != row.run_of:
            # It was deleted, or another worker completed it.
            return True
        if not now.result_here:
            _end_run(connection, row.id, status=_compute_idle_status(now.runs))
            return True
        if now.result_main != main.id:
            return False
        _delete_pages(connection, row.id, sorted(page.page for page in pages if page.page not in run.source.entries))
        bare_id, result = record_result(storage, connection, following, main=main, bare=bare)
        _record_totals(storage, connection, now, bare=bare_id, result_revision=result)
        if now.again:
            request_run(connection, storage, row.id)
    return True


def _delete_pages(connection: sa.Connection, translation: str, pages: list[str]) -> None:
    mine = translated.delete().where(translated.c.translation == translation)
    for start in range(0, len(pages), _AT_ONCE):
        connection.execute(mine.where(translated.c.page.in_(pages[start : start + _AT_ONCE])))


def _record_totals(storage: Storage, connection: sa.Connection, row: sa.Row[Any], **values: Any) -> None:
    """End a run that led somewhere."""
    now = storage.now()
    ms = int((now - datetime.fromisoformat(row.run_since)) / timedelta(milliseconds=1))
    latest = {"latest_pages": row.run_pages, "latest_words": row.run_words, "latest_ms": ms}
    totals = {
        "runs": row.runs + 1,
        "total_pages": row.total_pages + row.run_pages,
        "total_words": row.total_words + row.run_words,
        "total_ms": row.total_ms + ms,
    }
    _end_run(connection, row.id, status="completed", updated_at=format_time(now), **latest, **totals, **values)


def _end_run(connection: sa.Connection, translation: str, **values: Any) -> None:
    mine = translations.update().where(translations.c.id == translation)
    connection.execute(mine.values(run_of=None, run_since=None, run_at=None, run_failures=0, again=False, **values))


def _select_with_spaces() -> sa.Select[Any]:
    source, result = spaces.alias("source_space"), spaces.alias("result_space")

    def here(space: Any) -> sa.ColumnElement[bool]:
        # What was transferred is another organization's to read and to write.
        return sa.and_(space.c.deleted_at.is_(None), space.c.organization == translations.c.organization)

    return (
        sa.select(
            translations,
            source.c.revision.label("source_revision"),
            here(source).label("source_here"),
            here(result).label("result_here"),
            result.c.revision.label("result_main"),
        )
        .join(source, source.c.id == translations.c.source)
        .join(result, result.c.id == translations.c.result)
    )
