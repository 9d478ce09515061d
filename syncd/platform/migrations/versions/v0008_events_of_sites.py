"""Events of sites, and redirects that are permanent.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of events, and give redirects their column."""
    op.create_table(
        "site_event_counts",
        sa.Column("site", TEXT, nullable=False),
        sa.Column("day", TEXT, nullable=False, comment="in UTC"),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("site_space", TEXT, nullable=False, comment="empty where it is not known"),
        sa.Column("page", TEXT, nullable=False, comment="empty where it is not known"),
        sa.Column("detail", TEXT, nullable=False, comment="what was searched or asked, or how a page was rated"),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site", "day", "type", "site_space", "page", "detail"),
    )
    permanent: sa.Column[bool] = sa.Column(
        "permanent", sa.Boolean(), nullable=False, server_default=sa.false(), comment="as browsers are told"
    )
    op.add_column("site_redirects", permanent)
