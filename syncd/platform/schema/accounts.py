"""Tables of organizations, people and tokens, and of sites. Times are the API's own text, which sorts."""

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

sites = sa.Table(
    "sites",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("type", Text, nullable=False),
    sa.Column("title", Text, nullable=False),
    sa.Column("basename", Text, nullable=False, unique=True),
    sa.Column("visibility", Text, nullable=False),
    sa.Column("published", sa.Boolean, nullable=False),
    sa.Column("proxy", Text),
    sa.Column("adaptive_content", sa.Boolean, nullable=False),
    sa.Column("agents_context", Text, nullable=False),
    sa.Column("default_section", Text),
    sa.Column("default_site_space", Text),
    sa.Column("created_at", Text, nullable=False),
)

sections = sa.Table(
    "site_sections",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("title", Text, nullable=False),
    sa.Column("path", Text, nullable=False),
    sa.Column("description", Text),
    sa.Column("condition", Text),
    sa.Column("icon", Text),
    sa.Column("section_group", sa.ForeignKey("site_section_groups.id", ondelete="SET NULL")),
    sa.Column("default_site_space", Text),
    sa.UniqueConstraint("site", "path"),
)

site_spaces = sa.Table(
    "site_spaces",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("section", sa.ForeignKey("site_sections.id", ondelete="CASCADE")),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("path", Text, nullable=False),
    sa.Column("condition", Text),
    sa.Column("hidden", sa.Boolean, nullable=False),
    sa.Column("title", Text, comment="of its own, in place of the space's"),
)

redirects = sa.Table(
    "site_redirects",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("source", Text, nullable=False, comment="as written"),
    sa.Column("source_key", Text, nullable=False, comment="percent-normalised and case-folded"),
    sa.Column("destination", Json, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("permanent", sa.Boolean, nullable=False, server_default=sa.false(), comment="as browsers are told"),
    sa.UniqueConstraint("site", "source_key"),
)
sa.Index("ix_site_redirects_order", redirects.c.site, redirects.c.created_at, redirects.c.id)
