"""Tables of OpenAPI specifications and their versions; contents are blobs."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

specs = sa.Table(
    "openapi_specs",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("slug", Text, nullable=False),
    sa.Column("source_url", Text, comment="null for one that was sent as text"),
    sa.Column("source_text", Text, comment="blob of the text that was sent"),
    sa.Column("asked", sa.Integer, nullable=False, comment="counts the sources; older processing comes to nothing"),
    sa.Column("visibility", Text, nullable=False),
    sa.Column("state", Text, nullable=False),
    sa.Column("last_version", Text),
    sa.Column("last_content", Text, comment="blob of that version"),
    sa.Column("last_processed_at", Text),
    sa.Column("last_error", Text),
    sa.Column("last_problems", Json, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.UniqueConstraint("organization", "slug"),
)
sa.Index("ix_openapi_specs_order", specs.c.organization, specs.c.created_at, specs.c.id)

versions = sa.Table(
    "openapi_spec_versions",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("spec", sa.ForeignKey("openapi_specs.id", ondelete="CASCADE"), nullable=False),
    sa.Column("content", Text, nullable=False, comment="blob"),
    sa.Column("media_type", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
)
sa.Index("ix_openapi_spec_versions_order", versions.c.spec, versions.c.created_at, versions.c.id)
