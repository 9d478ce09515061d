"""Tables of the shell: who may come in, and how spaces are published. Times are the API's own text, which sorts."""

import sqlalchemy as sa

from syncd.platform.tables import metadata

versions = sa.Table(
    "schema_version",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, comment="always 1"),
    sa.Column("version", sa.Integer, nullable=False),
)

organizations = sa.Table(
    "organizations",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
    sa.Column("details", sa.JSON, nullable=False, server_default="{}"),
    comment="`details` holds the optional members of the API's Organization by their API names",
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("display_name", sa.String, nullable=False),
    sa.Column("email", sa.String),
    sa.Column("created_at", sa.String, nullable=False),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("joined_at", sa.String, nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.String, primary_key=True, comment="SHA-256 of the token, in hexadecimal"),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    sa.Column("label", sa.String, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
)

sites = sa.Table(
    "sites",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("type", sa.String, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("basename", sa.String, nullable=False, unique=True),
    sa.Column("visibility", sa.String, nullable=False),
    sa.Column("published", sa.Boolean, nullable=False),
    sa.Column("proxy", sa.String),
    sa.Column("adaptive_content", sa.Boolean, nullable=False),
    sa.Column("agents_context", sa.String, nullable=False),
    sa.Column("default_section", sa.String),
    sa.Column("default_site_space", sa.String),
    sa.Column("created_at", sa.String, nullable=False),
)

sections = sa.Table(
    "site_sections",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("description", sa.String),
    sa.Column("condition", sa.String),
    sa.Column("icon", sa.String),
    sa.Column("section_group", sa.String),
    sa.Column("default_site_space", sa.String),
    sa.UniqueConstraint("site", "path"),
)

site_spaces = sa.Table(
    "site_spaces",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("section", sa.ForeignKey("site_sections.id", ondelete="CASCADE")),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("condition", sa.String),
    sa.Column("hidden", sa.Boolean, nullable=False),
)

redirects = sa.Table(
    "site_redirects",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("source", sa.String, nullable=False, comment="as written"),
    sa.Column("source_key", sa.String, nullable=False, comment="percent-normalised and case-folded"),
    sa.Column("destination", sa.JSON, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
    sa.UniqueConstraint("site", "source_key"),
)
sa.Index("ix_site_redirects_order", redirects.c.site, redirects.c.created_at, redirects.c.id)
