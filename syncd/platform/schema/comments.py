"""Tables of the discussions: comments, their replies, and the reactions to both."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

comments = sa.Table(
    "comments",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("change_request", sa.ForeignKey("change_requests.id", ondelete="CASCADE"), comment="null: on the space"),
    sa.Column("review", Text, comment="the review that it is part of"),
    sa.Column("revision", Text, nullable=False, comment="what it was written about"),
    sa.Column("page", Text),
    sa.Column("node", Text),
    sa.Column("table_cell", Json),
    sa.Column("body", Json, nullable=False, comment="as it was sent: {markdown}, {document} or {}"),
    sa.Column("status", Text, nullable=False, comment="open or resolved"),
    sa.Column("posted_by", Text, nullable=False),
    sa.Column("posted_at", Text, nullable=False),
    sa.Column("edited_at", Text),
    sa.Column("resolved_by", Text),
    sa.Column("resolved_at", Text),
)
sa.Index("ix_comments_of_space", comments.c.space, comments.c.posted_at, comments.c.id)
sa.Index("ix_comments_of_change_request", comments.c.change_request, comments.c.posted_at, comments.c.id)
sa.Index("ix_comments_open", comments.c.space, comments.c.status, comments.c.change_request)

replies = sa.Table(
    "comment_replies",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("comment", sa.ForeignKey("comments.id", ondelete="CASCADE"), nullable=False),
    sa.Column("body", Json, nullable=False),
    sa.Column("posted_by", Text, nullable=False),
    sa.Column("posted_at", Text, nullable=False),
    sa.Column("edited_at", Text),
)
sa.Index("ix_comment_replies_order", replies.c.comment, replies.c.posted_at, replies.c.id)

reactions = sa.Table(
    "comment_reactions",
    metadata,
    sa.Column("target", Text, primary_key=True, comment="id of the comment or the reply"),
    sa.Column("emoji", Text, primary_key=True),
    sa.Column("user", Text, primary_key=True),
    sa.Column("comment", sa.ForeignKey("comments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("reply", sa.ForeignKey("comment_replies.id", ondelete="CASCADE"), index=True),
    sa.Column("reacted_at", Text, nullable=False),
)
