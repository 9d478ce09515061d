"""Tables of the content: spaces, their revisions, the tree nodes that revisions share, and change requests."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

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
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("parent", sa.ForeignKey("collections.id", ondelete="SET NULL"), index=True),
    sa.Column("position", Text, nullable=False, server_default="", comment="among what has the same parent"),
    sa.Column("title", Text, nullable=False),
    sa.Column("emoji", Text),
    sa.Column("icon", Text),
    sa.Column("visibility", Text, nullable=False, server_default="private"),
    sa.Column("edit_mode", Text, nullable=False, server_default="live"),
    sa.Column("default_level", Text, server_default="inherit", comment="a role, inherit, or null: no access"),
    sa.Column("language", Text),
    sa.Column("merge_rules", Json, nullable=False, server_default='{"type": "inherit"}'),
    sa.Column("revision", Text, nullable=False, comment="the revision that is the space's main content"),
    sa.Column("last_number", sa.Integer, nullable=False, server_default="0", comment="of its change requests"),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.Column("deleted_at", Text),
)

revisions = sa.Table(
    "revisions",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, comment="counts up within the space, change requests included"),
    sa.Column("parents", Json, nullable=False),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="hash of the node that holds pages, files and the rest"),
    sa.Column("type", Text, nullable=False),
    sa.Column("merged_from", Text, comment="id of the change request whose merge made it"),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("created_by", Text),
    sa.UniqueConstraint("space", "seq"),
)

change_requests = sa.Table(
    "change_requests",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("status", Text, nullable=False),
    sa.Column("subject", Text, nullable=False),
    sa.Column("description", Json),
    sa.Column("created_by", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.Column("revision", Text, nullable=False),
    sa.Column("revision_initial", Text, nullable=False),
    sa.Column("revision_merged_ancestor", Text),
    sa.Column("revision_merged", Text),
    sa.Column("merged_by", Text),
    sa.Column("merged_at", Text),
    sa.Column("conversations_issues_cluster", Text),
    sa.Column("links", Json, nullable=False, server_default="[]"),
    sa.UniqueConstraint("space", "number"),
)
sa.Index("ix_change_requests_status", change_requests.c.space, change_requests.c.status)

revision_commits = sa.Table(
    "revision_commits",
    metadata,
    sa.Column("revision", sa.ForeignKey("revisions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("oid", Text, nullable=False),
    sa.Column("message", Text, nullable=False),
    sa.Column("created_by_service", sa.Boolean, nullable=False, comment="whether an export made the commit"),
    sa.Column("url", Text, comment="of the commit, for people"),
    sa.Column("ref", Text, nullable=False),
    comment="the Git commit that a revision came from or went to",
)

git_operations = sa.Table(
    "git_operations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, comment="counts up within the space"),
    sa.Column("direction", Text, nullable=False),
    sa.Column("state", Text, nullable=False),
    sa.Column("url", Text, nullable=False, comment="without credentials, which are kept nowhere"),
    sa.Column("ref", Text, nullable=False),
    sa.Column("happened_at", Text, comment="the time that the request gives itself, in UTC"),
    sa.Column("started_at", Text, nullable=False),
    sa.Column("ended_at", Text),
    sa.Column("error", Text),
    sa.UniqueConstraint("space", "seq"),
)
