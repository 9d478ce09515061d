"""The only place where a space gets another revision as main content, so that the event is always recorded."""

import sqlalchemy as sa

from syncd.platform.integrations import events
from syncd.platform.revisions import revisions
from syncd.platform.schema.content import spaces
from syncd.platform.storage.storage import Storage


def set_main_content(storage: Storage, connection: sa.Connection, saved: revisions.RevisionRecord) -> None:
    """Make a new revision the main content of its space, and record the event for integrations."""
    moved = spaces.update().where(spaces.c.id == saved.space)
    connection.execute(moved.values(revision=saved.id, updated_at=saved.created_at))
    events.record_event(connection, storage, "space_content_updated", space=saved.space, revisionId=saved.id)
