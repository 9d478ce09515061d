"""The tables of the whole API, part 1.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Change the tables, each in a function of its own."""
    _content_addresses()
    _content_permissions()
    _jobs()
    _platform_secrets()
    _agent_instructions()
    _collections()
    _conversations()
    _integrations()
    _issue_terms()
    _issues_clusters()
    _link_invites()
    _openapi_specs()
    _organization_email_domains()
    _teams()
    _conversation_issues()
    _integration_events()
    _integration_facets()
    _integration_installations()


def _content_addresses() -> None:
    op.create_table(
        "content_addresses",
        sa.Column("body", TEXT, nullable=False, comment="blob id of the text"),
        sa.Column("found", sa.JSON(), nullable=False, comment="each address once, as written, in order"),
        sa.PrimaryKeyConstraint("body"),
    )


def _content_permissions() -> None:
    op.create_table(
        "content_permissions",
        sa.Column("content", TEXT, nullable=False, comment="id of a space or a collection"),
        sa.Column("kind", TEXT, nullable=False, comment="user or team"),
        sa.Column("subject", TEXT, nullable=False, comment="id of the user or team"),
        sa.Column("role", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("content", "kind", "subject"),
        comment="direct access, which goes before everybody's default level",
    )
    with op.batch_alter_table("content_permissions", schema=None) as batch_op:
        batch_op.create_index("ix_content_permissions_subject", ["subject", "kind"], unique=False)


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=True),
        sa.Column(
            "waits_as",
            TEXT,
            nullable=True,
            comment="the key while it waits: of one kind, one does; null while it is at work",
        ),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("due_at", TEXT, nullable=False, comment="of a job at work: when it is given to another"),
        sa.Column("lease", TEXT, nullable=True, comment="who works on it; null while it waits"),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False, comment="in a row; a call that nobody ended counts as one"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("kind", "waits_as"),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_jobs_due_at"), ["due_at"], unique=False)


def _platform_secrets() -> None:
    op.create_table(
        "platform_secrets",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        comment="what all machines on one database must share; SQLite's is a file of the directory",
    )


def _agent_instructions() -> None:
    op.create_table(
        "agent_instructions",
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("instructions", sa.JSON(), nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.Column("updated_by", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization"),
    )


def _collections() -> None:
    op.create_table(
        "collections",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("parent", TEXT, nullable=True),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=True),
        sa.Column(
            "default_level",
            TEXT,
            server_default="inherit",
            nullable=True,
            comment="a role, inherit, or null: no access",
        ),
        sa.Column("position", TEXT, nullable=False, comment="among the spaces and collections with the same parent"),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["parent"], ["collections.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("collections", schema=None) as batch_op:
        batch_op.create_index("ix_collections_order", ["organization", "parent", "position"], unique=False)
        batch_op.create_index(op.f("ix_collections_parent"), ["parent"], unique=False)


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("key", TEXT, nullable=False, comment="ours; `id` is the sender's"),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column(
            "content", sa.JSON(), nullable=False, comment="subject, parts and metadata, as the sender wrote them"
        ),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("ingested_at", TEXT, nullable=False),
        sa.Column("processed_at", TEXT, nullable=True),
        sa.Column("sent", sa.Integer(), nullable=False, comment="counts the contents that were sent under this id"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("organization", "id"),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index("ix_conversations_order", ["organization", "created_at", "key"], unique=False)
        batch_op.create_index("ix_conversations_pending", ["organization", "processed_at"], unique=False)


def _integrations() -> None:
    op.create_table(
        "integrations",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("has_blocks", sa.Boolean(), nullable=False),
        sa.Column("has_content_sources", sa.Boolean(), nullable=False),
        sa.Column(
            "details", sa.JSON(), nullable=False, comment="further members of the last version by their API names"
        ),
        sa.Column(
            "images", sa.JSON(), nullable=False, comment="{icon?, previews}: each the blob and media type of an image"
        ),
        sa.Column("script", TEXT, nullable=False, comment="blob; kept, never run"),
        sa.Column(
            "secrets", sa.JSON(), nullable=False, comment="never shown; whoever reads this database can read them"
        ),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name"),
    )
    with op.batch_alter_table("integrations", schema=None) as batch_op:
        batch_op.create_index("ix_integrations_order", ["created_at", "name"], unique=False)
        batch_op.create_index(op.f("ix_integrations_owner"), ["owner"], unique=False)


def _issue_terms() -> None:
    op.create_table(
        "issue_terms",
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("term", TEXT, nullable=False, comment="a stem; the empty one stands for all issues"),
        sa.Column("issues", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization", "term"),
    )


def _issues_clusters() -> None:
    op.create_table(
        "issues_clusters",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("icon", TEXT, nullable=False),
        sa.Column("example", TEXT, nullable=False, comment="title of its first issue"),
        sa.Column("terms", sa.JSON(), nullable=False, comment="by stem: issues that have it, and one of its words"),
        sa.Column("sources", sa.JSON(), nullable=False, comment="conversations by source"),
        sa.Column("issues", sa.Integer(), nullable=False),
        sa.Column("conversations", sa.Integer(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("issues_clusters", schema=None) as batch_op:
        batch_op.create_index("ix_issues_clusters_conversations", ["organization", "conversations", "id"], unique=False)
        batch_op.create_index("ix_issues_clusters_issues", ["organization", "issues", "id"], unique=False)
        batch_op.create_index("ix_issues_clusters_updated_at", ["organization", "updated_at", "id"], unique=False)


def _link_invites() -> None:
    op.create_table(
        "link_invites",
        sa.Column("id", TEXT, nullable=False, comment="the secret of the link"),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=True, comment="null: a guest"),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("link_invites", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_link_invites_organization"), ["organization"], unique=False)


def _openapi_specs() -> None:
    op.create_table(
        "openapi_specs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("source_url", TEXT, nullable=True, comment="null for one that was sent as text"),
        sa.Column("source_text", TEXT, nullable=True, comment="blob of the text that was sent"),
        sa.Column(
            "asked", sa.Integer(), nullable=False, comment="counts the sources; older processing comes to nothing"
        ),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("last_version", TEXT, nullable=True),
        sa.Column("last_content", TEXT, nullable=True, comment="blob of that version"),
        sa.Column("last_processed_at", TEXT, nullable=True),
        sa.Column("last_error", TEXT, nullable=True),
        sa.Column("last_problems", sa.JSON(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("organization", "slug"),
    )
    with op.batch_alter_table("openapi_specs", schema=None) as batch_op:
        batch_op.create_index("ix_openapi_specs_order", ["organization", "created_at", "id"], unique=False)


def _organization_email_domains() -> None:
    op.create_table(
        "organization_email_domains",
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("domain", TEXT, nullable=False, comment="in lower case"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization", "domain"),
    )
    with op.batch_alter_table("organization_email_domains", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_organization_email_domains_domain"), ["domain"], unique=False)


def _teams() -> None:
    op.create_table(
        "teams",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("teams", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_teams_organization"), ["organization"], unique=False)


def _conversation_issues() -> None:
    op.create_table(
        "conversation_issues",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("conversation", TEXT, nullable=False),
        sa.Column("cluster", TEXT, nullable=True),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("summary", TEXT, nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("week", sa.Integer(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("ingested_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["cluster"], ["issues_clusters.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["conversation"], ["conversations.key"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("conversation_issues", schema=None) as batch_op:
        batch_op.create_index("ix_conversation_issues_cluster", ["cluster", "created_at", "id"], unique=False)
        batch_op.create_index(op.f("ix_conversation_issues_conversation"), ["conversation"], unique=False)
        batch_op.create_index("ix_conversation_issues_order", ["organization", "created_at", "id"], unique=False)


def _integration_events() -> None:
    op.create_table(
        "integration_events",
        sa.Column("number", sa.Integer(), nullable=False, comment="counts up: a moment may have several events"),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("integration", TEXT, nullable=False),
        sa.Column("installation", TEXT, nullable=False, comment="it may be gone by now"),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("status", TEXT, nullable=True, comment="success or failed; null while its webhook is called"),
        sa.Column("attempts", sa.Integer(), nullable=False, comment="calls of the webhook that came to an end"),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["integration"], ["integrations.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
    )
    with op.batch_alter_table("integration_events", schema=None) as batch_op:
        batch_op.create_index("ix_integration_events_order", ["integration", "number"], unique=False)


def _integration_facets() -> None:
    op.create_table(
        "integration_facets",
        sa.Column("integration", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False, comment="category, scope or domain"),
        sa.Column("value", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["integration"], ["integrations.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("integration", "kind", "value"),
    )
    with op.batch_alter_table("integration_facets", schema=None) as batch_op:
        batch_op.create_index("ix_integration_facets_value", ["kind", "value"], unique=False)


def _integration_installations() -> None:
    op.create_table(
        "integration_installations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("integration", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("space_selection", TEXT, nullable=False),
        sa.Column("site_selection", TEXT, nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("external_ids", sa.JSON(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["integration"], ["integrations.name"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("integration", "organization"),
    )
    with op.batch_alter_table("integration_installations", schema=None) as batch_op:
        batch_op.create_index("ix_integration_installations_order", ["integration", "created_at", "id"], unique=False)
        batch_op.create_index("ix_integration_installations_organization", ["organization"], unique=False)
