"""The tables of the whole API, part 2.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Change the tables, each in a function of its own."""
    _issues_cluster_terms()
    _issues_cluster_weeks()
    _openapi_spec_versions()
    _saml_providers()
    _site_adaptive_schemas()
    _site_customizations()
    _site_section_groups()
    _site_share_links()
    _team_members()
    _integration_event_logs()
    _integration_placements()
    _search_pages()
    _search_spaces()
    _translations()
    _change_request_contributors()
    _change_request_requested_reviewers()
    _comments()
    _integration_external_ids()
    _translated_pages()


def _issues_cluster_terms() -> None:
    op.create_table(
        "issues_cluster_terms",
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("term", TEXT, nullable=False),
        sa.Column("cluster", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["cluster"], ["issues_clusters.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization", "term", "cluster"),
        comment="the strongest terms of each cluster",
    )
    with op.batch_alter_table("issues_cluster_terms", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_issues_cluster_terms_cluster"), ["cluster"], unique=False)


def _issues_cluster_weeks() -> None:
    op.create_table(
        "issues_cluster_weeks",
        sa.Column("cluster", TEXT, nullable=False),
        sa.Column("week", sa.Integer(), nullable=False),
        sa.Column("issues", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["cluster"], ["issues_clusters.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cluster", "week"),
    )


def _openapi_spec_versions() -> None:
    op.create_table(
        "openapi_spec_versions",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("spec", TEXT, nullable=False),
        sa.Column("content", TEXT, nullable=False, comment="blob"),
        sa.Column("media_type", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["spec"], ["openapi_specs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("openapi_spec_versions", schema=None) as batch_op:
        batch_op.create_index("ix_openapi_spec_versions_order", ["spec", "created_at", "id"], unique=False)


def _saml_providers() -> None:
    op.create_table(
        "saml_providers",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("entity_id", TEXT, nullable=True),
        sa.Column("sso_url", TEXT, nullable=True),
        sa.Column("certificate", TEXT, nullable=True, comment="as PEM"),
        sa.Column("certificate_expires_at", TEXT, nullable=True),
        sa.Column("default_team", TEXT, nullable=True),
        sa.Column("default_role", TEXT, nullable=True, comment="null: a guest"),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["default_team"], ["teams.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("saml_providers", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_saml_providers_default_team"), ["default_team"], unique=False)
        batch_op.create_index(op.f("ix_saml_providers_organization"), ["organization"], unique=False)


def _site_adaptive_schemas() -> None:
    op.create_table(
        "site_adaptive_schemas",
        sa.Column("site", TEXT, nullable=False),
        sa.Column("json_schema", sa.JSON(), nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site"),
    )


def _site_customizations() -> None:
    op.create_table(
        "site_customizations",
        sa.Column("site", TEXT, nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False, comment="as written"),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site"),
    )


def _site_section_groups() -> None:
    op.create_table(
        "site_section_groups",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("parent", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False, comment="among the sections and groups beside it"),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("icon", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["parent"], ["site_section_groups.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("site_section_groups", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_site_section_groups_site"), ["site"], unique=False)


def _site_share_links() -> None:
    op.create_table(
        "site_share_links",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False, comment="the secret; shown again to administrators"),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    with op.batch_alter_table("site_share_links", schema=None) as batch_op:
        batch_op.create_index("ix_site_share_links_order", ["site", "created_at", "id"], unique=False)


def _team_members() -> None:
    op.create_table(
        "team_members",
        sa.Column("team", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False, comment="owner or member"),
        sa.Column("joined_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["team"], ["teams.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team", "user"),
    )
    with op.batch_alter_table("team_members", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_team_members_user"), ["user"], unique=False)


def _integration_event_logs() -> None:
    op.create_table(
        "integration_event_logs",
        sa.Column("event", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", TEXT, nullable=False),
        sa.Column("level", TEXT, nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["event"], ["integration_events.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("event", "number"),
    )


def _integration_placements() -> None:
    op.create_table(
        "integration_placements",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("installation", TEXT, nullable=False),
        sa.Column("space", TEXT, nullable=True),
        sa.Column("site", TEXT, nullable=True),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("external_ids", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["installation"], ["integration_installations.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["site"], ["sites.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["space"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("installation", "site"),
        sa.UniqueConstraint("installation", "space"),
        comment="what an installation says of one space or one site: exactly one of the two is set",
    )
    with op.batch_alter_table("integration_placements", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_integration_placements_site"), ["site"], unique=False)
        batch_op.create_index(op.f("ix_integration_placements_space"), ["space"], unique=False)


def _search_pages() -> None:
    op.create_table(
        "search_pages",
        sa.Column("id", sa.Integer(), nullable=False, comment="of the row in search_words, too"),
        sa.Column("space", TEXT, nullable=False),
        sa.Column("page", TEXT, nullable=False),
        sa.Column(
            "stamp", TEXT, nullable=False, comment="says what was indexed; another one means that it must be again"
        ),
        sa.Column("sections", sa.JSON(), nullable=False, comment="[anchor, title, beginning of the body] of each"),
        sa.ForeignKeyConstraint(["space"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("space", "page"),
    )
    statements = {
        "sqlite": (
            "CREATE VIRTUAL TABLE search_words USING fts5(place, title, headings, body, tokenize = 'unicode61 remove_diacritics 0')",  # noqa: E501
            "CREATE TRIGGER search_pages_deleted AFTER DELETE ON search_pages BEGIN DELETE FROM search_words WHERE rowid = old.id; END",  # noqa: E501
        ),
        "postgresql": (
            "CREATE TABLE search_words (id INTEGER PRIMARY KEY REFERENCES search_pages (id) ON DELETE CASCADE, words TSVECTOR NOT NULL)",  # noqa: E501
            "CREATE INDEX ix_search_words ON search_words USING gin (words)",
        ),
    }
    for statement in statements[op.get_bind().dialect.name]:
        op.execute(statement)


def _search_spaces() -> None:
    op.create_table(
        "search_spaces",
        sa.Column("space", TEXT, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False, comment="hash of the content that the index has"),
        sa.ForeignKeyConstraint(["space"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space"),
    )


def _translations() -> None:
    op.create_table(
        "translations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("source_language", TEXT, nullable=True),
        sa.Column("language", TEXT, nullable=False),
        sa.Column("instructions", sa.JSON(), nullable=True),
        sa.Column("result", TEXT, nullable=False),
        sa.Column("result_revision", TEXT, nullable=False, comment="what the last run made of the result space"),
        sa.Column(
            "bare", TEXT, nullable=False, comment="revision of the result space without what people changed there"
        ),
        sa.Column("status", TEXT, nullable=False, comment="pending, running or completed"),
        sa.Column("again", sa.Boolean(), nullable=False, comment="another run was asked for during the one at hand"),
        sa.Column(
            "run_of", TEXT, nullable=True, comment="revision of the source space that the run at hand translates"
        ),
        sa.Column("run_since", TEXT, nullable=True),
        sa.Column("run_at", TEXT, nullable=True, comment="when the run at hand last got on"),
        sa.Column("run_failures", sa.Integer(), nullable=False, comment="of the provider, in a row"),
        sa.Column("run_pages", sa.Integer(), nullable=False),
        sa.Column("run_words", sa.Integer(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("total_pages", sa.Integer(), nullable=False),
        sa.Column("total_words", sa.BigInteger(), nullable=False),
        sa.Column("total_ms", sa.BigInteger(), nullable=False),
        sa.Column("latest_pages", sa.Integer(), nullable=True),
        sa.Column("latest_words", sa.Integer(), nullable=True),
        sa.Column("latest_ms", sa.BigInteger(), nullable=True),
        sa.Column("created_by", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization"], ["organizations.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["result"], ["spaces.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["source"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("translations", schema=None) as batch_op:
        batch_op.create_index("ix_translations_order", ["organization", "created_at", "id"], unique=False)
        batch_op.create_index(op.f("ix_translations_result"), ["result"], unique=False)
        batch_op.create_index(op.f("ix_translations_source"), ["source"], unique=False)


def _change_request_contributors() -> None:
    op.create_table(
        "change_request_contributors",
        sa.Column("change_request", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("since", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request"], ["change_requests.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("change_request", "user"),
        comment="everybody who made a revision of a change request's content",
    )


def _change_request_requested_reviewers() -> None:
    op.create_table(
        "change_request_requested_reviewers",
        sa.Column("change_request", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False, comment="user or team"),
        sa.Column("reviewer", TEXT, nullable=False, comment="id of the user or team"),
        sa.Column("revision", TEXT, nullable=False, comment="what the review was asked of"),
        sa.Column("requested_by", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request"], ["change_requests.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("change_request", "kind", "reviewer"),
    )
    with op.batch_alter_table("change_request_requested_reviewers", schema=None) as batch_op:
        batch_op.create_index("ix_change_request_requested_reviewers_of", ["reviewer"], unique=False)


def _comments() -> None:
    op.create_table(
        "comments",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("space", TEXT, nullable=False),
        sa.Column("change_request", TEXT, nullable=True, comment="null: on the space"),
        sa.Column("review", TEXT, nullable=True, comment="the review that it is part of"),
        sa.Column("revision", TEXT, nullable=False, comment="what it was written about"),
        sa.Column("page", TEXT, nullable=True),
        sa.Column("node", TEXT, nullable=True),
        sa.Column("table_cell", sa.JSON(), nullable=True),
        sa.Column("body", sa.JSON(), nullable=False, comment="as it was sent: {markdown}, {document} or {}"),
        sa.Column("status", TEXT, nullable=False, comment="open or resolved"),
        sa.Column("posted_by", TEXT, nullable=False),
        sa.Column("posted_at", TEXT, nullable=False),
        sa.Column("edited_at", TEXT, nullable=True),
        sa.Column("resolved_by", TEXT, nullable=True),
        sa.Column("resolved_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["change_request"], ["change_requests.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["space"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("comments", schema=None) as batch_op:
        batch_op.create_index("ix_comments_of_change_request", ["change_request", "posted_at", "id"], unique=False)
        batch_op.create_index("ix_comments_of_space", ["space", "posted_at", "id"], unique=False)
        batch_op.create_index("ix_comments_open", ["space", "status", "change_request"], unique=False)


def _integration_external_ids() -> None:
    op.create_table(
        "integration_external_ids",
        sa.Column("value", TEXT, nullable=False),
        sa.Column("of", TEXT, nullable=False, comment="id of the installation or of the placement that has it"),
        sa.Column("installation", TEXT, nullable=False),
        sa.Column("placement", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["installation"], ["integration_installations.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["placement"], ["integration_placements.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("value", "of"),
        comment="the members `external_ids` of both tables once more, to be searched",
    )
    with op.batch_alter_table("integration_external_ids", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_integration_external_ids_installation"), ["installation"], unique=False)
        batch_op.create_index(op.f("ix_integration_external_ids_placement"), ["placement"], unique=False)


def _translated_pages() -> None:
    op.create_table(
        "translated_pages",
        sa.Column("translation", TEXT, nullable=False),
        sa.Column("page", TEXT, nullable=False),
        sa.Column("made_from", TEXT, nullable=False, comment="hash of all that its translation depends on"),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("body", TEXT, nullable=True, comment="blob of the translated text"),
        sa.Column("fields", sa.JSON(), nullable=False, comment="the translated ones of its members"),
        sa.ForeignKeyConstraint(["translation"], ["translations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("translation", "page"),
        comment="the last translation of each page, group, link and reusable content",
    )
