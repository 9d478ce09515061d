"""The tables as the first syncd made them, before it kept count of changes; frozen, whatever the schema modules say.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
TABLES = sa.MetaData()

sa.Table(
    "schema_version",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True, comment="always 1"),
    sa.Column("version", sa.Integer, nullable=False),
)

sa.Table(
    "organizations",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("title", TEXT, nullable=False),
    sa.Column("created_at", TEXT, nullable=False),
    sa.Column("details", sa.JSON, nullable=False, server_default="{}"),
    comment="`details` holds the optional members of the API's Organization by their API names",
)

sa.Table(
    "users",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("display_name", TEXT, nullable=False),
    sa.Column("email", TEXT),
    sa.Column("created_at", TEXT, nullable=False),
)

sa.Table(
    "members",
    TABLES,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", TEXT, nullable=False),
    sa.Column("joined_at", TEXT, nullable=False),
)

sa.Table(
    "tokens",
    TABLES,
    sa.Column("hash", TEXT, primary_key=True, comment="SHA-256 of the token, in hexadecimal"),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    sa.Column("label", TEXT, nullable=False),
    sa.Column("created_at", TEXT, nullable=False),
)

sa.Table(
    "sites",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("type", TEXT, nullable=False),
    sa.Column("title", TEXT, nullable=False),
    sa.Column("basename", TEXT, nullable=False, unique=True),
    sa.Column("visibility", TEXT, nullable=False),
    sa.Column("published", sa.Boolean, nullable=False),
    sa.Column("proxy", TEXT),
    sa.Column("adaptive_content", sa.Boolean, nullable=False),
    sa.Column("agents_context", TEXT, nullable=False),
    sa.Column("default_section", TEXT),
    sa.Column("default_site_space", TEXT),
    sa.Column("created_at", TEXT, nullable=False),
)

sa.Table(
    "site_sections",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("title", TEXT, nullable=False),
    sa.Column("path", TEXT, nullable=False),
    sa.Column("description", TEXT),
    sa.Column("condition", TEXT),
    sa.Column("icon", TEXT),
    sa.Column("section_group", TEXT),
    sa.Column("default_site_space", TEXT),
    sa.UniqueConstraint("site", "path"),
)

sa.Table(
    "site_spaces",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("section", sa.ForeignKey("site_sections.id", ondelete="CASCADE")),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("path", TEXT, nullable=False),
    sa.Column("condition", TEXT),
    sa.Column("hidden", sa.Boolean, nullable=False),
)

sa.Table(
    "site_redirects",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("source", TEXT, nullable=False, comment="as written"),
    sa.Column("source_key", TEXT, nullable=False, comment="percent-normalised and case-folded"),
    sa.Column("destination", sa.JSON, nullable=False),
    sa.Column("created_at", TEXT, nullable=False),
    sa.UniqueConstraint("site", "source_key"),
    sa.Index("ix_site_redirects_order", "site", "created_at", "id"),
)

sa.Table(
    "content_nodes",
    TABLES,
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("own", sa.LargeBinary, nullable=False),
    sa.Column("children", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
    comment="immutable; `own` is canonical JSON, `children` the children's hashes end to end, `hash` is of both",
)

sa.Table(
    "spaces",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("parent", TEXT),
    sa.Column("title", TEXT, nullable=False),
    sa.Column("emoji", TEXT),
    sa.Column("visibility", TEXT, nullable=False, server_default="private"),
    sa.Column("edit_mode", TEXT, nullable=False, server_default="live"),
    sa.Column("default_level", TEXT, nullable=False, server_default="read"),
    sa.Column("language", TEXT),
    sa.Column("merge_rules", sa.JSON, nullable=False, server_default='{"type": "inherit"}'),
    sa.Column("revision", TEXT, nullable=False, comment="the revision that is the space's main content"),
    sa.Column("last_number", sa.Integer, nullable=False, server_default="0", comment="of its change requests"),
    sa.Column("created_at", TEXT, nullable=False),
    sa.Column("updated_at", TEXT, nullable=False),
    sa.Column("deleted_at", TEXT),
)

sa.Table(
    "revisions",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, comment="counts up within the space, change requests included"),
    sa.Column("parents", sa.JSON, nullable=False),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="hash of the node that holds pages, files and the rest"),
    sa.Column("type", TEXT, nullable=False),
    sa.Column("merged_from", TEXT, comment="id of the change request whose merge made it"),
    sa.Column("created_at", TEXT, nullable=False),
    sa.Column("created_by", TEXT),
    sa.UniqueConstraint("space", "seq"),
)

sa.Table(
    "change_requests",
    TABLES,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("status", TEXT, nullable=False),
    sa.Column("subject", TEXT, nullable=False),
    sa.Column("description", sa.JSON),
    sa.Column("created_by", TEXT, nullable=False),
    sa.Column("created_at", TEXT, nullable=False),
    sa.Column("updated_at", TEXT, nullable=False),
    sa.Column("revision", TEXT, nullable=False),
    sa.Column("revision_initial", TEXT, nullable=False),
    sa.Column("revision_merged_ancestor", TEXT),
    sa.Column("revision_merged", TEXT),
    sa.Column("merged_by", TEXT),
    sa.Column("merged_at", TEXT),
    sa.UniqueConstraint("space", "number"),
    sa.Index("ix_change_requests_status", "space", "status"),
)


def upgrade() -> None:
    """Make every table."""
    TABLES.create_all(op.get_bind(), checkfirst=False)
