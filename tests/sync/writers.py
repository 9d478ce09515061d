"""What writers do in their clones; each deed is one commit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from posixpath import dirname, join, relpath

from syncd.layout.tree.summary import Entry, parse_summary, render_summary, walk_entries
from tests.sync.stage import Clone, Stage, mark_of, written
from tests.sync.toc import replaced, under, without


class Writers(Stage):
    """Deeds of writers."""

    def writer_edits(self) -> None:
        """A writer writes, replaces or deletes a paragraph."""
        clone, path, text = self._own_page()
        self._save(clone, {path: self._edited(text)}, f"edit {path}")

    def writer_adds_page(self) -> None:
        """A writer adds a page somewhere."""
        clone = self.chance.choice(self.clones)
        name = f"new-{self.ledger.number()}"
        entries = self._entries(clone)
        above = self._spot(entries)
        folder = dirname(above.path or "") if above is not None and (above.path or "").endswith("README.md") else ""
        path = join(folder, f"{name}.md")
        text = written(self.ledger, f"Title {name}")
        new = Entry("document", f"Title {name}", path)
        changed = under(entries, above, new, self.chance)
        self._save(clone, {path: text, "SUMMARY.md": render_summary(changed)}, f"add {path}")

    def writer_deletes_page(self) -> None:
        """A writer deletes a page that has none below it."""
        clone = self.chance.choice(self.clones)
        entries = self._entries(clone)
        leaves = [
            entry
            for entry, _ in walk_entries(entries)
            if entry.path and not entry.children and entry.path != "README.md"
        ]
        entry = self.chance.choice(leaves)
        if len(leaves) < 4 or entry.path is None:
            return
        text = (clone.path / entry.path).read_text()
        self.ledger.delete_page(mark_of(text) or "", text, self._others(mark_of(text) or "", but=clone))
        self._save(
            clone, {"SUMMARY.md": render_summary(without(entries, entry))}, f"delete {entry.path}", gone=[entry.path]
        )

    def writer_renames_page(self) -> None:
        """A writer renames a page's file, and where it is listed."""
        clone = self.chance.choice(self.clones)
        entries = self._entries(clone)
        entry = self.chance.choice(_leaves(entries))
        assert entry.path is not None
        path = join(dirname(entry.path), f"renamed-{self.ledger.number()}.md")
        text = (clone.path / entry.path).read_text()
        changed = replaced(entries, entry, replace(entry, path=path))
        self._save(
            clone, {path: text, "SUMMARY.md": render_summary(changed)}, f"rename {entry.path} {path}", gone=[entry.path]
        )

    def writer_moves_page(self) -> None:
        """A writer puts a page at another place of the table of contents; its file stays."""
        clone = self.chance.choice(self.clones)
        entries = self._entries(clone)
        entry = self.chance.choice(_leaves(entries))
        rest = without(entries, entry)
        changed = under(rest, self._spot(rest), entry, self.chance)
        if changed != entries:
            self._save(clone, {"SUMMARY.md": render_summary(changed)}, f"move {entry.path}")

    def writer_adds_file(self) -> None:
        """A writer adds an image and shows it on a page."""
        clone, path, text = self._own_page()
        name = f"mine-{self.ledger.number()}.png"
        address = relpath(f".gitbook/assets/{name}", dirname(path) or ".")
        paragraph = f"Shown with {self.ledger.word()}: ![picture]({address})"
        self.ledger.touch(mark_of(text) or "")
        image = b"\x89PNG\r\n\x1a\n" + name.encode()
        self._save(clone, {path: f"{text}\n{paragraph}\n", f".gitbook/assets/{name}": image}, f"add image {name}")

    def _own_page(self) -> tuple[Clone, str, str]:
        clone = self.chance.choice(self.clones)
        path, text = self.chance.choice(sorted(self.branch(clone).items()))
        return clone, path, text

    def _entries(self, clone: Clone) -> tuple[Entry, ...]:
        return parse_summary((clone.path / "SUMMARY.md").read_text())

    def _spot(self, entries: Sequence[Entry]) -> Entry | None:
        """Return the entry to put something under, or None for the top."""
        choices: list[Entry | None] = [entry for entry, _ in walk_entries(entries[1:])]
        return self.chance.choice([None, None, *choices])

    def _save(self, clone: Clone, files: Mapping[str, str | bytes], message: str, *, gone: Sequence[str] = ()) -> None:
        self.log.append(f"{clone.name}: {message}")
        self.world.commit(message, dict(files), clone=clone.name, gone=list(gone))


def _leaves(entries: Sequence[Entry]) -> list[Entry]:
    """The pages, but for the home page, that have none below them."""
    return [entry for entry, _ in walk_entries(entries[1:]) if entry.path and not entry.children]
