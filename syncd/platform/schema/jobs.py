"""The table of work to be done later; its rows are written in the transaction that causes the work."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("kind", Text, nullable=False),
    sa.Column("key", Text),
    sa.Column("waits_as", Text, comment="the key while it waits: of one kind, one does; null while it is at work"),
    sa.Column("payload", Json, nullable=False),
    sa.Column("due_at", Text, nullable=False, index=True, comment="of a job at work: when it is given to another"),
    sa.Column("lease", Text, comment="who works on it; null while it waits"),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False, comment="in a row; a call that nobody ended counts as one"),
    sa.UniqueConstraint("kind", "waits_as"),
)
