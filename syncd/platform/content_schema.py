"""Tables of the content: spaces, their revisions, the tree nodes that revisions share, and change requests."""

import sqlalchemy as sa

from syncd.platform.tables import metadata

nodes = sa.Table(
    "content_nodes",
    metadata,
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("own", sa.LargeBinary, nullable=False),
    sa.Column("children", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
    comment="immutable; `own` is canonical JSON, `children` the children's hashes end to end, `hash` is of both",
)

spaces = sa.Table(
    "spaces",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("parent", sa.String),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("emoji", sa.String),
    sa.Column("visibility", sa.String, nullable=False, server_default="private"),
    sa.Column("edit_mode", sa.String, nullable=False, server_default="live"),
    sa.Column("default_level", sa.String, nullable=False, server_default="read"),
    sa.Column("language", sa.String),
    sa.Column("merge_rules", sa.JSON, nullable=False, server_default='{"type": "inherit"}'),
    sa.Column("revision", sa.String, nullable=False, comment="the revision that is the space's main content"),
    sa.Column("last_number", sa.Integer, nullable=False, server_default="0", comment="of its change requests"),
    sa.Column("created_at", sa.String, nullable=False),
    sa.Column("updated_at", sa.String, nullable=False),
    sa.Column("deleted_at", sa.String),
)

revisions = sa.Table(
    "revisions",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, comment="counts up within the space, change requests included"),
    sa.Column("parents", sa.JSON, nullable=False),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="hash of the node that holds pages, files and the rest"),
    sa.Column("type", sa.String, nullable=False),
    sa.Column("merged_from", sa.String, comment="id of the change request whose merge made it"),
    sa.Column("created_at", sa.String, nullable=False),
    sa.Column("created_by", sa.String),
    sa.UniqueConstraint("space", "seq"),
)

change_requests = sa.Table(
    "change_requests",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("subject", sa.String, nullable=False),
    sa.Column("description", sa.JSON),
    sa.Column("created_by", sa.String, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
    sa.Column("updated_at", sa.String, nullable=False),
    sa.Column("revision", sa.String, nullable=False),
    sa.Column("revision_initial", sa.String, nullable=False),
    sa.Column("revision_merged_ancestor", sa.String),
    sa.Column("revision_merged", sa.String),
    sa.Column("merged_by", sa.String),
    sa.Column("merged_at", sa.String),
    sa.UniqueConstraint("space", "number"),
)
sa.Index("ix_change_requests_status", change_requests.c.space, change_requests.c.status)
