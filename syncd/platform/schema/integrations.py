"""Tables of the integrations: what is published, where it is installed, and what happened there."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

integrations = sa.Table(
    "integrations",
    metadata,
    sa.Column("name", Text, primary_key=True),
    sa.Column("owner", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("title", Text, nullable=False),
    sa.Column("description", Text, nullable=False),
    sa.Column("visibility", Text, nullable=False),
    sa.Column("target", Text, nullable=False),
    sa.Column("has_blocks", sa.Boolean, nullable=False),
    sa.Column("has_content_sources", sa.Boolean, nullable=False),
    sa.Column("details", Json, nullable=False, comment="further members of the last version by their API names"),
    sa.Column("images", Json, nullable=False, comment="{icon?, previews}: each the blob and media type of an image"),
    sa.Column("script", Text, nullable=False, comment="blob; kept, never run"),
    sa.Column("secrets", Json, nullable=False, comment="never shown; whoever reads this database can read them"),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
)
sa.Index("ix_integrations_order", integrations.c.created_at, integrations.c.name)

facets = sa.Table(
    "integration_facets",
    metadata,
    sa.Column("integration", sa.ForeignKey("integrations.name", ondelete="CASCADE"), primary_key=True),
    sa.Column("kind", Text, primary_key=True, comment="category, scope or domain"),
    sa.Column("value", Text, primary_key=True),
)
sa.Index("ix_integration_facets_value", facets.c.kind, facets.c.value)

installations = sa.Table(
    "integration_installations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("integration", sa.ForeignKey("integrations.name", ondelete="CASCADE"), nullable=False),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("status", Text, nullable=False),
    sa.Column("space_selection", Text, nullable=False),
    sa.Column("site_selection", Text, nullable=False),
    sa.Column("configuration", Json, nullable=False),
    sa.Column("external_ids", Json, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.UniqueConstraint("integration", "organization"),
)
sa.Index(
    "ix_integration_installations_order",
    installations.c.integration,
    installations.c.created_at,
    installations.c.id,
)
sa.Index("ix_integration_installations_organization", installations.c.organization)

placements = sa.Table(
    "integration_placements",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("installation", sa.ForeignKey("integration_installations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), index=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), index=True),
    sa.Column("status", Text, nullable=False),
    sa.Column("configuration", Json, nullable=False),
    sa.Column("external_ids", Json, nullable=False),
    sa.UniqueConstraint("installation", "space"),
    sa.UniqueConstraint("installation", "site"),
    comment="what an installation says of one space or one site: exactly one of the two is set",
)

external_ids = sa.Table(
    "integration_external_ids",
    metadata,
    sa.Column("value", Text, primary_key=True),
    sa.Column("of", Text, primary_key=True, comment="id of the installation or of the placement that has it"),
    sa.Column(
        "installation", sa.ForeignKey("integration_installations.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("placement", sa.ForeignKey("integration_placements.id", ondelete="CASCADE"), index=True),
    comment="the members `external_ids` of both tables once more, to be searched",
)

events = sa.Table(
    "integration_events",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, comment="counts up: a moment may have several events"),
    sa.Column("id", Text, nullable=False, unique=True),
    sa.Column("integration", sa.ForeignKey("integrations.name", ondelete="CASCADE"), nullable=False),
    sa.Column("installation", Text, nullable=False, comment="it may be gone by now"),
    sa.Column("payload", Json, nullable=False),
    sa.Column("status", Text, comment="success or failed; null while its webhook is called"),
    sa.Column("attempts", sa.Integer, nullable=False, comment="calls of the webhook that came to an end"),
    sa.Column("created_at", Text, nullable=False),
)
sa.Index("ix_integration_events_order", events.c.integration, events.c.number)

logs = sa.Table(
    "integration_event_logs",
    metadata,
    sa.Column("event", sa.ForeignKey("integration_events.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("at", Text, nullable=False),
    sa.Column("level", Text, nullable=False),
    sa.Column("message", Text, nullable=False),
)
