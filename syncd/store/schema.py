"""The tables of the state database; two numbers in the file's header say whose it is and which version."""

import sqlalchemy as sa

APPLICATION_ID = 0x73796E63
"""`sync` in ASCII, in SQLite's header field for it: a file without it is not ours to write into."""
VERSION = 4
"""2: the tables of sites; 3: `begun`; 4: `addresses` and `requests`. What a newer version adds is a table."""

metadata = sa.MetaData()


def _table(name: str, *columns: sa.Column[str]) -> sa.Table:
    # The primary key is the order in which everything is read, so the rows themselves lie in it.
    return sa.Table(name, metadata, *columns, sqlite_strict=True, sqlite_with_rowid=False)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


seen = _table("seen", _key("space"), _key("lane"), _text("revision"), _text("commit"), _text("shape"))

anchors = _table(
    "anchors",
    _key("space"),
    _key("lane"),
    _key("id"),
    sa.Column("kind", sa.Text, sa.CheckConstraint("kind IN ('page', 'file', 'include')"), nullable=False),
    _text("path"),
    _text("form"),
    _text("fingerprint"),
    _text("oid"),
)

addresses = _table("addresses", _key("space"), _key("page"), _text("address"))
requests = _table("requests", _key("space"), _key("number"), _text("facts"))

outcomes = _table("outcomes", _key("flow"), _key("key"), _text("state"), _text("detail"), _text("at"))

plans = _table(
    "plans",
    _key("site"),
    _key("digest"),
    _text("file"),
    _text("document"),
    _text("at"),
    _text("approved"),
    _text("comment"),
)
looks = _table("looks", _key("site"), _text("inputs"), _text("facts"), _text("at"))
backups = _table("backups", _key("site"), _key("digest"), _text("at"), _text("document"))

locks = _table("locks", _key("site"), _text("place"), _text("lineage"), _text("serial"))
owned = _table("owned", _key("site"), _key("ref"), _text("entry"))
begun = _table("begun", _key("site"), _key("ref"), _text("request"))
