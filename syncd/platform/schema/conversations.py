"""Tables of conversations, their issues, and the clusters of issues with what finds the nearest one."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("key", Text, primary_key=True, comment="ours; `id` is the sender's"),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("id", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("content", Json, nullable=False, comment="subject, parts and metadata, as the sender wrote them"),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("ingested_at", Text, nullable=False),
    sa.Column("processed_at", Text),
    sa.Column("sent", sa.Integer, nullable=False, comment="counts the contents that were sent under this id"),
    sa.UniqueConstraint("organization", "id"),
)
sa.Index("ix_conversations_order", conversations.c.organization, conversations.c.created_at, conversations.c.key)
sa.Index("ix_conversations_pending", conversations.c.organization, conversations.c.processed_at)

clusters = sa.Table(
    "issues_clusters",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("label", Text, nullable=False),
    sa.Column("icon", Text, nullable=False),
    sa.Column("example", Text, nullable=False, comment="title of its first issue"),
    sa.Column("terms", Json, nullable=False, comment="by stem: issues that have it, and one of its words"),
    sa.Column("sources", Json, nullable=False, comment="conversations by source"),
    sa.Column("issues", sa.Integer, nullable=False),
    sa.Column("conversations", sa.Integer, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
)
for _column in (clusters.c.updated_at, clusters.c.issues, clusters.c.conversations):
    sa.Index(f"ix_issues_clusters_{_column.name}", clusters.c.organization, _column, clusters.c.id)

issues = sa.Table(
    "conversation_issues",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("conversation", sa.ForeignKey("conversations.key", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("cluster", sa.ForeignKey("issues_clusters.id", ondelete="SET NULL")),
    sa.Column("title", Text, nullable=False),
    sa.Column("summary", Text, nullable=False),
    sa.Column("terms", Json, nullable=False),
    sa.Column("week", sa.Integer, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("ingested_at", Text, nullable=False),
)
sa.Index("ix_conversation_issues_order", issues.c.organization, issues.c.created_at, issues.c.id)
sa.Index("ix_conversation_issues_cluster", issues.c.cluster, issues.c.created_at, issues.c.id)

weeks = sa.Table(
    "issues_cluster_weeks",
    metadata,
    sa.Column("cluster", sa.ForeignKey("issues_clusters.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("week", sa.Integer, primary_key=True),
    sa.Column("issues", sa.Integer, nullable=False),
)

frequencies = sa.Table(
    "issue_terms",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("term", Text, primary_key=True, comment="a stem; the empty one stands for all issues"),
    sa.Column("issues", sa.Integer, nullable=False),
)

postings = sa.Table(
    "issues_cluster_terms",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("term", Text, primary_key=True),
    sa.Column("cluster", sa.ForeignKey("issues_clusters.id", ondelete="CASCADE"), primary_key=True, index=True),
    comment="the strongest terms of each cluster",
)
