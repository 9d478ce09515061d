"""The addresses in each text, found once: a text never changes, so neither do the addresses in it."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

addresses = sa.Table(
    "content_addresses",
    metadata,
    sa.Column("body", Text, primary_key=True, comment="blob id of the text"),
    sa.Column("found", Json, nullable=False, comment="each address once, as written, in order"),
)
