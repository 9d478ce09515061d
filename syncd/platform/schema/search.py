"""Tables of the search index, and what each database needs beside them: FTS5 on SQLite, a tsvector on PostgreSQL."""

import sqlalchemy as sa

from syncd.platform.database.tables import Json, Text, metadata

indexed = sa.Table(
    "search_spaces",
    metadata,
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("root", sa.LargeBinary, nullable=False, comment="hash of the content that the index has"),
)

pages = sa.Table(
    "search_pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, comment="of the row in search_words, too"),
    sa.Column("space", sa.ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("page", Text, nullable=False),
    sa.Column("stamp", Text, nullable=False, comment="says what was indexed; another one means that it must be again"),
    sa.Column("sections", Json, nullable=False, comment="[anchor, title, beginning of the body] of each"),
    sa.UniqueConstraint("space", "page"),
)

STATEMENTS = {
    # The words are folded before they come here, so the tokenizer has nothing to decide.
    "sqlite": (
        "CREATE VIRTUAL TABLE search_words USING fts5"
        "(place, title, headings, body, tokenize = 'unicode61 remove_diacritics 0')",
        "CREATE TRIGGER search_pages_deleted AFTER DELETE ON search_pages "
        "BEGIN DELETE FROM search_words WHERE rowid = old.id; END",
    ),
    "postgresql": (
        "CREATE TABLE search_words (id INTEGER PRIMARY KEY REFERENCES search_pages (id) ON DELETE CASCADE, "
        "words TSVECTOR NOT NULL)",
        "CREATE INDEX ix_search_words ON search_words USING gin (words)",
    ),
}
"""What is run after `search_pages` was created, by dialect; `search_words` goes with its page, and a page with its
space. A migration runs the same.
"""

for _dialect, _statements in STATEMENTS.items():
    for _statement in _statements:
        _step = sa.DDL(_statement)  # type: ignore[no-untyped-call]
        sa.event.listen(pages, "after_create", _step.execute_if(dialect=_dialect))
