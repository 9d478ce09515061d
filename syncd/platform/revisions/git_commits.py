"""The Git commits that revisions came from or went to."""

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from syncd.platform.database.tables import upsert
from syncd.platform.schema.content import revision_commits


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """A commit; `created_by_service` is True when an export made it, `url` shows it to people, None for nowhere."""

    oid: str
    message: str
    created_by_service: bool
    ref: str
    url: str | None = None


def record_commit(connection: sa.Connection, revision: str, commit: CommitRecord) -> None:
    """Note the commit that a revision came from or went to; the last one counts."""
    upsert(connection, revision_commits, [{"revision": revision, **asdict(commit)}], key=["revision"])


def find_commit(connection: sa.Connection, revision: str) -> CommitRecord | None:
    """Return the commit of a revision, or None."""
    row = connection.execute(sa.select(revision_commits).where(revision_commits.c.revision == revision)).one_or_none()
    return None if row is None else CommitRecord(row.oid, row.message, row.created_by_service, row.ref, row.url)


def serialize_commit(commit: CommitRecord) -> dict[str, Any]:
    """Return a commit as a revision shows it in the API. Source: API document, Revision."""
    shown = {"oid": commit.oid, "message": commit.message, "createdByService": commit.created_by_service}
    return {**shown, "ref": commit.ref} | ({"url": commit.url} if commit.url else {})
