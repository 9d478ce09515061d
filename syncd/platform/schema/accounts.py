"""Tables of organizations, people, tokens and sessions in a browser. Times are the API's own text, which sorts."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

versions = sa.Table(
    "schema_version",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, comment="always 1"),
    sa.Column("version", sa.Integer, nullable=False),
)

secrets = sa.Table(
    "platform_secrets",
    metadata,
    sa.Column("name", Text, primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
    comment="what all machines on one database must share; SQLite's is a file of the directory",
)

organizations = sa.Table(
    "organizations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("title", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("hostname", Text, unique=True),
    sa.Column("details", Json, nullable=False, server_default="{}"),
    comment="`details` holds the optional members of the API's Organization by their API names",
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("display_name", Text, nullable=False),
    sa.Column("email", Text),
    sa.Column("email_verified", sa.Boolean, nullable=False, server_default=sa.false(), comment="by an operator"),
    sa.Column("photo_url", Text),
    sa.Column("created_at", Text, nullable=False),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", Text, comment="null: a guest"),
    sa.Column("joined_at", Text, nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", Text, primary_key=True, comment="SHA-256 of the token, in hexadecimal"),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    sa.Column("label", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
)

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
