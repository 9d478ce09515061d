"""The table of the collections, which hold spaces and one another."""

import sqlalchemy as sa

from syncd.platform.database.tables import Text, metadata

collections = sa.Table(
    "collections",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("parent", sa.ForeignKey("collections.id", ondelete="CASCADE"), index=True),
    sa.Column("title", Text, nullable=False),
    sa.Column("description", Text),
    sa.Column("default_level", Text, server_default="inherit", comment="a role, inherit, or null: no access"),
    sa.Column("position", Text, nullable=False, comment="among the spaces and collections with the same parent"),
    sa.Column("created_at", Text, nullable=False),
)
sa.Index("ix_collections_order", collections.c.organization, collections.c.parent, collections.c.position)
