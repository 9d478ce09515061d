"""Tables of the people: how they come in, their teams, and what they may do with single spaces and collections."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

email_domains = sa.Table(
    "organization_email_domains",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("domain", Text, primary_key=True, index=True, comment="in lower case"),
)

link_invites = sa.Table(
    "link_invites",
    metadata,
    sa.Column("id", Text, primary_key=True, comment="the secret of the link"),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("role", Text, comment="null: a guest"),
    sa.Column("created_at", Text, nullable=False),
)

teams = sa.Table(
    "teams",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("title", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
)

team_members = sa.Table(
    "team_members",
    metadata,
    sa.Column("team", sa.ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("role", Text, nullable=False, comment="owner or member"),
    sa.Column("joined_at", Text, nullable=False),
)

permissions = sa.Table(
    "content_permissions",
    metadata,
    sa.Column("content", Text, primary_key=True, comment="id of a space or a collection"),
    sa.Column("kind", Text, primary_key=True, comment="user or team"),
    sa.Column("subject", Text, primary_key=True, comment="id of the user or team"),
    sa.Column("role", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    comment="direct access, which goes before everybody's default level",
)
sa.Index("ix_content_permissions_subject", permissions.c.subject, permissions.c.kind)

saml_providers = sa.Table(
    "saml_providers",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("label", Text, nullable=False),
    sa.Column("entity_id", Text),
    sa.Column("sso_url", Text),
    sa.Column("certificate", Text, comment="as PEM"),
    sa.Column("certificate_expires_at", Text),
    sa.Column("default_team", sa.ForeignKey("teams.id", ondelete="SET NULL"), index=True),
    sa.Column("default_role", Text, comment="null: a guest"),
    sa.Column("created_at", Text, nullable=False),
)

agent_instructions = sa.Table(
    "agent_instructions",
    metadata,
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("instructions", Json, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.Column("updated_by", Text, nullable=False),
)
