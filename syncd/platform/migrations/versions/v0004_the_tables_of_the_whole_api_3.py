"""The tables of the whole API, part 3.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Change the tables, each in a function of its own."""
    _change_request_reviews()
    _comment_replies()
    _site_space_customizations()
    _comment_reactions()
    _change_requests()
    _members()
    _organizations()
    _site_sections()
    _site_spaces()
    _spaces()
    _users()


def _change_request_reviews() -> None:
    op.create_table(
        "change_request_reviews",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("change_request", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False, comment="counts up within the change request"),
        sa.Column("revision", TEXT, nullable=False, comment="what was reviewed"),
        sa.Column("reviewer", TEXT, nullable=False),
        sa.Column("requested_by", TEXT, nullable=True),
        sa.Column("status", TEXT, nullable=False, comment="approved or changes-requested"),
        sa.Column("comment", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request"], ["change_requests.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["comment"], ["comments.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("change_request", "seq"),
    )


def _comment_replies() -> None:
    op.create_table(
        "comment_replies",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("comment", TEXT, nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("posted_by", TEXT, nullable=False),
        sa.Column("posted_at", TEXT, nullable=False),
        sa.Column("edited_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["comment"], ["comments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("comment_replies", schema=None) as batch_op:
        batch_op.create_index("ix_comment_replies_order", ["comment", "posted_at", "id"], unique=False)


def _site_space_customizations() -> None:
    op.create_table(
        "site_space_customizations",
        sa.Column("site_space", TEXT, nullable=False),
        sa.Column(
            "overrides", sa.JSON(), nullable=False, comment="only what differs from the site; the title is the link's"
        ),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site_space"], ["site_spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site_space"),
    )


def _comment_reactions() -> None:
    op.create_table(
        "comment_reactions",
        sa.Column("target", TEXT, nullable=False, comment="id of the comment or the reply"),
        sa.Column("emoji", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("comment", TEXT, nullable=False),
        sa.Column("reply", TEXT, nullable=True),
        sa.Column("reacted_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["comment"], ["comments.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["reply"], ["comment_replies.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("target", "emoji", "user"),
    )
    with op.batch_alter_table("comment_reactions", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_comment_reactions_comment"), ["comment"], unique=False)
        batch_op.create_index(op.f("ix_comment_reactions_reply"), ["reply"], unique=False)


def _change_requests() -> None:
    with op.batch_alter_table("change_requests", schema=None) as batch_op:
        batch_op.add_column(sa.Column("conversations_issues_cluster", TEXT, nullable=True))
        batch_op.add_column(sa.Column("links", sa.JSON(), server_default="[]", nullable=False))


def _members() -> None:
    with op.batch_alter_table("members", schema=None) as batch_op:
        batch_op.alter_column("role", existing_type=TEXT, nullable=True, comment="null: a guest")


def _organizations() -> None:
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.add_column(sa.Column("hostname", TEXT, nullable=True))
        batch_op.create_unique_constraint("organizations_hostname_key", ["hostname"])


def _site_sections() -> None:
    op.execute("UPDATE site_sections SET section_group = NULL")
    with op.batch_alter_table("site_sections", schema=None) as batch_op:
        batch_op.create_foreign_key(
            "site_sections_section_group_fkey", "site_section_groups", ["section_group"], ["id"], ondelete="SET NULL"
        )


def _site_spaces() -> None:
    with op.batch_alter_table("site_spaces", schema=None) as batch_op:
        batch_op.add_column(sa.Column("title", TEXT, nullable=True, comment="of its own, in place of the space's"))


def _spaces() -> None:
    op.execute("UPDATE spaces SET parent = NULL")
    with op.batch_alter_table("spaces", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("position", TEXT, server_default="", nullable=False, comment="among what has the same parent")
        )
        batch_op.add_column(sa.Column("icon", TEXT, nullable=True))
        batch_op.alter_column(
            "default_level",
            existing_type=TEXT,
            server_default="inherit",
            nullable=True,
            comment="a role, inherit, or null: no access",
        )
        batch_op.create_index(op.f("ix_spaces_parent"), ["parent"], unique=False)
        batch_op.create_foreign_key("spaces_parent_fkey", "collections", ["parent"], ["id"], ondelete="SET NULL")
    # It was the default and had no effect; from now on it would close every space to all who may do more.
    op.execute("UPDATE spaces SET default_level = 'inherit' WHERE default_level = 'read'")


def _users() -> None:
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column(
                "email_verified", sa.Boolean(), server_default=sa.false(), nullable=False, comment="by an operator"
            )
        )
        batch_op.add_column(sa.Column("photo_url", TEXT, nullable=True))
