"""Tables of publishing: settings of sites and site-spaces, visitors, share links, events."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

customizations = sa.Table(
    "site_customizations",
    metadata,
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("settings", Json, nullable=False, comment="as written"),
    sa.Column("updated_at", Text, nullable=False),
)

overrides = sa.Table(
    "site_space_customizations",
    metadata,
    sa.Column("site_space", sa.ForeignKey("site_spaces.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("overrides", Json, nullable=False, comment="only what differs from the site; the title is the link's"),
    sa.Column("updated_at", Text, nullable=False),
)

adaptive_schemas = sa.Table(
    "site_adaptive_schemas",
    metadata,
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("json_schema", Json, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
)

share_links = sa.Table(
    "site_share_links",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", Text, nullable=False, unique=True, comment="the secret; shown again to administrators"),
    sa.Column("name", Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created_at", Text, nullable=False),
)
sa.Index("ix_site_share_links_order", share_links.c.site, share_links.c.created_at, share_links.c.id)

publishing_auth = sa.Table(
    "site_publishing_auth",
    metadata,
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("generation", sa.Integer, nullable=False, comment="of the key that signs tokens of visitors"),
    sa.Column("fallback_url", Text, comment="where a visitor without a token is sent"),
    sa.Column("updated_at", Text, nullable=False),
    comment="only of sites where something of it was changed",
)

event_counts = sa.Table(
    "site_event_counts",
    metadata,
    sa.Column("site", sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("day", Text, primary_key=True, comment="in UTC"),
    sa.Column("type", Text, primary_key=True),
    sa.Column("site_space", Text, primary_key=True, comment="empty where it is not known"),
    sa.Column("page", Text, primary_key=True, comment="empty where it is not known"),
    sa.Column("detail", Text, primary_key=True, comment="what was searched or asked, or how a page was rated"),
    sa.Column("count", sa.Integer, nullable=False),
)
