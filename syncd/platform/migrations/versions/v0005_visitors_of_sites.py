"""Visitors of sites: how they are let in, and what they did.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables, each in a function of its own."""
    _site_publishing_auth()
    _site_events()
    _site_event_counts()


def _site_publishing_auth() -> None:
    op.create_table(
        "site_publishing_auth",
        sa.Column("site", TEXT, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False, comment="of the key that signs tokens of visitors"),
        sa.Column("fallback_url", TEXT, nullable=True, comment="where a visitor without a token is sent"),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site"),
        comment="only of sites where something of it was changed",
    )


def _site_events() -> None:
    op.create_table(
        "site_events",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("event", sa.JSON(), nullable=False, comment="as a renderer sent it"),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_site_events_order", "site_events", ["site", "created_at", "id"], unique=False)


def _site_event_counts() -> None:
    op.create_table(
        "site_event_counts",
        sa.Column("site", TEXT, nullable=False),
        sa.Column("day", TEXT, nullable=False, comment="in UTC, such as 2026-11-23"),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False, comment="a page, a query or a rating; empty for all else"),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site", "day", "type", "subject"),
    )
