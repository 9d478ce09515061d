"""Write the files of a space that belong to no page: SUMMARY.md, variables and tags."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.page.tag_forms import list_space_tags
from syncd.layout.tree.placement import Placement, build_entries
from syncd.layout.tree.preserve import has_same_entries, preserve_entries
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, parse_summary, render_summary
from syncd.layout.tree.variables import TAGS, VARIABLES, parse_tags, parse_variables, render_tags, render_variables
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.repo.repository import Repository
from syncd.repo.write.writer import Writer
from syncd.sync.binding import Binding
from syncd.sync.settings import read_text_at

_VARIABLES, _TAGS = "+variables", "+tags"


class FormerFiles(NamedTuple):
    """The former state: `start` is the commit whose tree the new one starts from, and `settings` are those in it;
    `seen` is the last mirror commit, and `shape` is that of the platform's content at that time."""

    start: str | None
    settings: Settings
    seen: str | None
    shape: str


class SpaceFilesWriter:
    """Writes these files of one revision, each only when the former one differs in meaning."""

    def __init__(self, repository: Repository, binding: Binding, writer: Writer, before: FormerFiles) -> None:
        self.repository, self.binding, self.writer = repository, binding, writer
        self.start, self.former, self.seen, self.shape = before

    def write(self, revision: Revision, placement: Placement, settings: Settings, *, is_summary_current: bool) -> None:
        """Write the files of a revision that differ; SUMMARY.md is not checked with `is_summary_current`."""
        if not is_summary_current:
            self._write_summary(revision, placement, self.former.add_root(self.former.summary))
        self._write_variables(revision, settings.add_root(VARIABLES))
        self._write_tags(revision, settings.add_root(TAGS))

    def _read_former(self, path: str, former: str) -> str | None:
        """The text of the file at a path; where a branch changed the root, the file is moved there first."""
        path, former = self.binding.path(path), self.binding.path(former)
        oid = self.repository.lookup(self.start, former) if self.start and former != path else None
        if oid is not None and read_text_at(self.repository, self.start, path) is None:
            self.writer.put(path, oid, former=former)
            self.writer.remove(former)
            path = former
        return read_text_at(self.repository, self.start, path)

    def _write_summary(self, revision: Revision, placement: Placement, former: str) -> None:
        entries = build_entries(revision.pages, placement)
        path = self.binding.path(placement.summary)
        former_text = self._read_former(placement.summary, former)
        if former_text is not None:
            written = parse_summary(former_text, at=path)
            entries = preserve_entries(entries, written, self._read_seen_entries(self.binding.path(former)))
            if has_same_entries(written, entries, at=placement.summary):
                return
        self._put(path, render_summary(entries))

    def _read_seen_entries(self, path: str) -> tuple[Entry, ...]:
        text = read_text_at(self.repository, self.seen, path)
        try:
            return parse_summary(text, at=path) if text is not None else ()
        except FileInvalid:
            return ()  # it only tells what changed since; without it, what the platform says counts

    def _write_variables(self, revision: Revision, inner: str) -> None:
        path = self.binding.path(inner)
        former_text = self._read_former(inner, self.former.add_root(VARIABLES))
        if not revision.variables:
            self._remove_emptied(path, former_text, _VARIABLES)
        elif former_text is None or parse_variables(former_text, at=path) != dict(revision.variables):
            self._put(path, render_variables(revision.variables))

    def _write_tags(self, revision: Revision, inner: str) -> None:
        path = self.binding.path(inner)
        former_text = self._read_former(inner, self.former.add_root(TAGS))
        if not revision.tags:
            self._remove_emptied(path, former_text, _TAGS)
        elif former_text is None or _spell_tags(parse_tags(former_text, at=path)) != _spell_tags(revision.tags):
            self._put(path, render_tags(revision.tags))

    def _remove_emptied(self, path: str, former_text: str | None, mark: str) -> None:
        """Remove a file whose last value was deleted on the platform; a file that never was on the platform stays."""
        if (
            former_text is not None
            and mark in self.shape
            and read_text_at(self.repository, self.seen, path) == former_text
        ):
            self.writer.remove(path)

    def _put(self, path: str, text: str) -> None:
        self.writer.put(path, self.writer.write_blob(text.encode()))


def _spell_tags(tags: Iterable[Mapping[str, Any]]) -> str:
    """The canonical text of tags as Git has them, however each side spells them."""
    return render_tags(list_space_tags(tags))


def compute_shape(revision: Revision, placement: Placement) -> str:
    """Return a digest of everything in a revision that SUMMARY.md contains.

    Shape: suffixes say that the platform has variables, and tags.
    """
    paths = placement.pages
    facts = [
        (p.id, above and above.id, paths.get(p.id), p.type, p.title, p.slug, p.link_title, p.target, p.computed)
        for p, above in walk_pages(revision.pages)
    ]
    digest = hashlib.sha256(repr((placement.summary, facts)).encode()).hexdigest()
    return digest + (_VARIABLES if revision.variables else "") + (_TAGS if revision.tags else "")
