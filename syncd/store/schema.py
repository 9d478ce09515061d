"""The tables of the state database; two numbers in the file's header say whose it is and which version."""

from dataclasses import dataclass
from functools import cached_property

APPLICATION_ID = 0x73796E63
"""`sync` in ASCII, in SQLite's header field for it: a file without it is not ours to write into."""
VERSION = 6
"""2: the tables of sites; 3: `begun`; 4: `addresses` and `requests`; 5: `details`; 6: `pages`.
What a newer version adds is a table."""


@dataclass(frozen=True)
class Table:
    """A table of texts, and the statements that are made of its columns.

    Shape: the values of a statement are named like the columns; no name here ever comes from outside.
    """

    name: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    check: str = ""

    @cached_property
    def columns(self) -> str:
        """The names of all columns, as a list in SQL."""
        return _list_names((*self.key, *self.values))

    @cached_property
    def creation(self) -> str:
        """The statement that creates the table where it does not exist."""
        # The primary key is the order in which everything is read, so the rows themselves lie in it.
        lines = [f'"{name}" TEXT NOT NULL' for name in (*self.key, *self.values)]
        lines += [f"CHECK ({self.check})"] if self.check else []
        lines += [f"PRIMARY KEY ({_list_names(self.key)})"]
        return f"CREATE TABLE IF NOT EXISTS {self.name} ({', '.join(lines)}) STRICT, WITHOUT ROWID"

    @cached_property
    def insertion(self) -> str:
        """The statement that adds a row unless there is one with its key."""
        places = ", ".join(f":{name}" for name in (*self.key, *self.values))
        start = f"INSERT INTO {self.name} ({self.columns}) VALUES ({places})"  # noqa: S608
        return f"{start} ON CONFLICT ({_list_names(self.key)}) DO NOTHING"

    @cached_property
    def upsert(self) -> str:
        """The statement that adds a row, or takes the place of the one with its key."""
        new = ", ".join(f'"{name}" = excluded."{name}"' for name in self.values)
        return self.insertion.removesuffix("NOTHING") + f"UPDATE SET {new}"

    def select(self, *where: str) -> str:
        """Return the query for the rows that have given values in some columns, in the order of the key."""
        return f"SELECT {self.columns} FROM {self.name}{_match(where)} ORDER BY {_list_names(self.key)}"  # noqa: S608

    def delete(self, *where: str) -> str:
        """Return the statement that deletes the rows that have given values in some columns; without any, all."""
        return f"DELETE FROM {self.name}{_match(where)}"  # noqa: S608


def _match(names: tuple[str, ...]) -> str:
    return " WHERE " + " AND ".join(f'"{name}" = :{name}' for name in names) if names else ""


def _list_names(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


SEEN = Table("seen", ("space", "lane"), ("revision", "commit", "shape"))
ANCHORS = Table(
    "anchors",
    ("space", "lane", "id"),
    ("kind", "path", "form", "fingerprint", "oid"),
    check="kind IN ('page', 'file', 'include')",
)
ADDRESSES = Table("addresses", ("space", "page"), ("address",))
REQUESTS = Table("requests", ("space", "number"), ("facts",))
OUTCOMES = Table("outcomes", ("flow", "key"), ("state", "detail", "at"))
DETAILS = Table("details", ("flow", "key"), ("why", "hint", "command", "branch", "lane"))
"""What an outcome says, in parts; what its words join is in `outcomes`."""
PAGES = Table("pages", ("flow", "key", "branch"), ("state", "detail", "at", "why", "hint", "command", "lane"))
"""Outcomes of pages of branches: one page can be in conflict in several."""
PLANS = Table("plans", ("site", "digest"), ("file", "document", "at", "approved", "comment"))
LOOKS = Table("looks", ("site",), ("inputs", "facts", "at"))
BACKUPS = Table("backups", ("site", "digest"), ("at", "document"))
LOCKS = Table("locks", ("site",), ("place", "lineage", "serial"))
OWNED = Table("owned", ("site", "ref"), ("entry",))
BEGUN = Table("begun", ("site", "ref"), ("request",))

TABLES = (SEEN, ANCHORS, ADDRESSES, REQUESTS, OUTCOMES, DETAILS, PAGES, PLANS, LOOKS, BACKUPS, LOCKS, OWNED, BEGUN)
