"""Sessions in a browser, and the links that begin them.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "sign_in_links",
        sa.Column("hash", TEXT, nullable=False, comment="SHA-256 of the link's secret, in hexadecimal"),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False, comment="epoch seconds"),
        sa.ForeignKeyConstraint(["user"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index("ix_sign_in_links_user", "sign_in_links", ["user"])
    op.create_table(
        "browser_sessions",
        sa.Column("hash", TEXT, nullable=False, comment="SHA-256 of the cookie's secret, in hexadecimal"),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="epoch seconds"),
        sa.Column("used_at", sa.BigInteger(), nullable=False, comment="epoch seconds, to some minutes"),
        sa.ForeignKeyConstraint(["user"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index("ix_browser_sessions_user", "browser_sessions", ["user"])
