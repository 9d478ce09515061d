"""Tables of sites: their sections and groups of these, their spaces, their redirects."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

sites = sa.Table(
    "sites",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("type", Text, nullable=False),
    sa.Column("title", Text, nullable=False),
    sa.Column("basename", Text, nullable=False, unique=True),
    sa.Column("visibility", Text, nullable=False),
    sa.Column("published", sa.Boolean, nullable=False),
    sa.Column("proxy", Text),
    sa.Column("adaptive_content", sa.Boolean, nullable=False),
    sa.Column("agents_context", Text, nullable=False),
    sa.Column("default_section", Text),
    sa.Column("default_site_space", Text),
    sa.Column("created_at", Text, nullable=False),
)

sections = sa.Table(
    "site_sections",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("title", Text, nullable=False),
    sa.Column("path", Text, nullable=False),
    sa.Column("description", Text),
    sa.Column("condition", Text),
    sa.Column("icon", Text),
    sa.Column("section_group", sa.ForeignKey("site_section_groups.id", ondelete="SET NULL")),
    sa.Column("default_site_space", Text),
    sa.UniqueConstraint("site", "path"),
)

section_groups = sa.Table(
    "site_section_groups",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("parent", sa.ForeignKey("site_section_groups.id", ondelete="CASCADE")),
    sa.Column("position", sa.Integer, nullable=False, comment="among the sections and groups beside it"),
    sa.Column("title", Text, nullable=False),
    sa.Column("icon", Text),
)

site_spaces = sa.Table(
    "site_spaces",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("section", sa.ForeignKey("site_sections.id", ondelete="CASCADE")),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("path", Text, nullable=False),
    sa.Column("condition", Text),
    sa.Column("hidden", sa.Boolean, nullable=False),
    sa.Column("title", Text, comment="of its own, in place of the space's"),
)

redirects = sa.Table(
    "site_redirects",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("source", Text, nullable=False, comment="as written"),
    sa.Column("source_key", Text, nullable=False, comment="percent-normalised and case-folded"),
    sa.Column("destination", Json, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("permanent", sa.Boolean, nullable=False, server_default=sa.false(), comment="as browsers are told"),
    sa.UniqueConstraint("site", "source_key"),
)
sa.Index("ix_site_redirects_order", redirects.c.site, redirects.c.created_at, redirects.c.id)
