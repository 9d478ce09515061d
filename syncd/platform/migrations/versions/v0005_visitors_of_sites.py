"""Visitors of sites: how they are let in.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of what sites say of their visitors."""
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
