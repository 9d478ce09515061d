"""Tables of people's sessions in a browser: links that begin one, and sessions; only hashes of secrets are kept."""

import sqlalchemy as sa

from syncd.platform.database.tables import Text, metadata

sign_in_links = sa.Table(
    "sign_in_links",
    metadata,
    sa.Column("hash", Text, primary_key=True, comment="SHA-256 of the link's secret, in hexadecimal"),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("until", sa.BigInteger, nullable=False, comment="epoch seconds"),
)

sessions = sa.Table(
    "browser_sessions",
    metadata,
    sa.Column("hash", Text, primary_key=True, comment="SHA-256 of the cookie's secret, in hexadecimal"),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", sa.BigInteger, nullable=False, comment="epoch seconds"),
    sa.Column("used_at", sa.BigInteger, nullable=False, comment="epoch seconds, to some minutes"),
)
