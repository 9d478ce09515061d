"""Tables of the reviews: who wrote in a change request, who was asked to review it, and what reviewers said."""

import sqlalchemy as sa

from syncd.platform.database.tables import Text, metadata

contributors = sa.Table(
    "change_request_contributors",
    metadata,
    sa.Column("change_request", sa.ForeignKey("change_requests.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user", Text, primary_key=True),
    sa.Column("since", Text, nullable=False),
    comment="everybody who made a revision of a change request's content",
)

requested_reviewers = sa.Table(
    "change_request_requested_reviewers",
    metadata,
    sa.Column("change_request", sa.ForeignKey("change_requests.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("kind", Text, primary_key=True, comment="user or team"),
    sa.Column("reviewer", Text, primary_key=True, comment="id of the user or team"),
    sa.Column("revision", Text, nullable=False, comment="what the review was asked of"),
    sa.Column("requested_by", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
)
sa.Index("ix_change_request_requested_reviewers_of", requested_reviewers.c.reviewer)

reviews = sa.Table(
    "change_request_reviews",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("change_request", sa.ForeignKey("change_requests.id", ondelete="CASCADE"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, comment="counts up within the change request"),
    sa.Column("revision", Text, nullable=False, comment="what was reviewed"),
    sa.Column("reviewer", Text, nullable=False),
    sa.Column("requested_by", Text),
    sa.Column("status", Text, nullable=False, comment="approved or changes-requested"),
    sa.Column("comment", sa.ForeignKey("comments.id", ondelete="SET NULL")),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.UniqueConstraint("change_request", "seq"),
)
