"""A repository with one space, and commits of whole trees made for a merge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from syncd.layout.tree.summary import parse_summary, walk_entries
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.sync.workspace import Workspace

PERSON = Person("Ada", "ada@example.com", datetime(2026, 1, 2, tzinfo=UTC))
LINES = "\n".join(f"Line {number} of a page that is long enough.\n" for number in range(9))
Files = dict[str, str | bytes]
BASE: Files = {
    "README.md": "# Home\n",
    "x.md": f"# The page\n\n{LINES}",
    "other.md": "# Other\n\nSomething else.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [The page](x.md)\n* [Other](other.md)\n",
}


@dataclass
class Place:
    """A repository with one space at its root, and commits made of whole trees."""

    workspace: Workspace
    _known: dict[Any, str] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        return self.workspace.repository

    def commit(self, files: Mapping[str, str | bytes], *parents: str, message: str = "Change\n") -> str:
        key = (tuple(sorted(files.items())), parents, message)
        if key not in self._known:
            content = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
            self._known[key] = self.repository.commit_tree(
                self.repository.write_tree(None, content),
                parents=parents,
                message=message,
                author=PERSON,
                committer=PERSON,
            )
        return self._known[key]

    def files(self, tree: str) -> dict[str, str]:
        blobs = self.repository.list_files(tree)
        return {path: self.repository.read(blob.oid).decode("utf-8", "replace") for path, blob in blobs.items()}

    def titles(self, tree: str) -> dict[str, str]:
        entries = parse_summary(self.files(tree)["SUMMARY.md"])
        return {entry.path: entry.title for entry, _ in walk_entries(entries) if entry.path}
