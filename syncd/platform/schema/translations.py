"""Tables of the translations: what follows what in which language, and what each page was translated from and to."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

translations = sa.Table(
    "translations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organization", sa.ForeignKey("organizations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("source", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("source_language", Text),
    sa.Column("language", Text, nullable=False),
    sa.Column("instructions", Json),
    sa.Column("result", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("result_revision", Text, nullable=False, comment="what the last run made of the result space"),
    sa.Column("bare", Text, nullable=False, comment="revision of the result space without what people changed there"),
    sa.Column("status", Text, nullable=False, comment="pending, running or completed"),
    sa.Column("again", sa.Boolean, nullable=False, comment="another run was asked for during the one at hand"),
    sa.Column("run_of", Text, comment="revision of the source space that the run at hand translates"),
    sa.Column("run_since", Text),
    sa.Column("run_at", Text, comment="when the run at hand last got on"),
    sa.Column("run_failures", sa.Integer, nullable=False, comment="of the provider, in a row"),
    sa.Column("run_pages", sa.Integer, nullable=False),
    sa.Column("run_words", sa.Integer, nullable=False),
    sa.Column("runs", sa.Integer, nullable=False),
    sa.Column("total_pages", sa.Integer, nullable=False),
    sa.Column("total_words", sa.BigInteger, nullable=False),
    sa.Column("total_ms", sa.BigInteger, nullable=False),
    sa.Column("latest_pages", sa.Integer),
    sa.Column("latest_words", sa.Integer),
    sa.Column("latest_ms", sa.BigInteger),
    sa.Column("created_by", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
)
sa.Index(
    "ix_translations_order",
    translations.c.organization,
    translations.c.created_at,
    translations.c.id,
)

translated = sa.Table(
    "translated_pages",
    metadata,
    sa.Column("translation", sa.ForeignKey("translations.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("page", Text, primary_key=True),
    sa.Column("made_from", Text, nullable=False, comment="hash of all that its translation depends on"),
    sa.Column("title", Text, nullable=False),
    sa.Column("body", Text, comment="blob of the translated text"),
    sa.Column("fields", Json, nullable=False, comment="the translated ones of its members"),
    comment="the last translation of each page, group, link and reusable content",
)
