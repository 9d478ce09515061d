"""The files of a space that no page owns: SUMMARY.md, variables and tags, written when what they say has changed."""

import hashlib

from syncd.layout.placement import Placement, entries_of
from syncd.layout.settings import Settings, read_settings
from syncd.layout.summary import parse, render
from syncd.layout.variables import parse_variables, render_tags, render_variables
from syncd.model.page import walk
from syncd.model.revision import Revision
from syncd.repo import Repository, Writer
from syncd.sync.workspace import Binding


def settings_at(repository: Repository, binding: Binding, commit: str | None) -> Settings:
    """Given a commit, return the settings of the space's `.gitbook.yaml` there, or the defaults."""
    text = text_at(repository, commit, binding.path(".gitbook.yaml"))
    return read_settings(text, at=binding.path(".gitbook.yaml"))


def text_at(repository: Repository, commit: str | None, path: str) -> str | None:
    """Given a commit and a path from the root, return the file's text, or None when there is none."""
    oid = repository.lookup(commit, path) if commit else None
    return repository.read(oid).decode("utf-8", "replace") if oid else None


class Tables:
    """Writes these files of one revision, each only when the one in `start` says something else."""

    def __init__(self, repository: Repository, binding: Binding, writer: Writer, start: str | None) -> None:
        self.repository, self.binding, self.writer, self.start = repository, binding, writer, start

    def write(self, revision: Revision, placement: Placement, settings: Settings, *, shaped: bool) -> None:
        """Given a revision and where its parts go, write what differs; with `shaped` SUMMARY.md is right already."""
        if not shaped:
            self._summary(revision, placement, settings)
        self._variables(revision, placement)
        self._tags(revision, placement)

    def _summary(self, revision: Revision, placement: Placement, settings: Settings) -> None:
        entries = entries_of(revision.pages, placement)
        path = self.binding.path(settings.summary)
        text = render(entries)
        there = text_at(self.repository, self.start, path)
        if there != text and (there is None or parse(there, at=path) != entries):
            self._put(path, text)

    def _variables(self, revision: Revision, placement: Placement) -> None:
        if placement.variables is None:
            return
        path = self.binding.path(placement.variables)
        there = text_at(self.repository, self.start, path)
        if there is None or parse_variables(there, at=path) != dict(revision.variables):
            self._put(path, render_variables(revision.variables))

    def _tags(self, revision: Revision, placement: Placement) -> None:
        if placement.tags is None:
            return
        path = self.binding.path(placement.tags)
        text = render_tags(revision.tags)
        if text_at(self.repository, self.start, path) != text:
            self._put(path, text)

    def _put(self, path: str, text: str) -> None:
        self.writer.put(path, self.writer.blob(text.encode()))


def shape_of(revision: Revision, placement: Placement) -> str:
    """Given a revision and its placement, return a digest of all that SUMMARY.md says of it."""
    paths = placement.pages
    facts = [
        (p.id, above and above.id, paths.get(p.id), p.type, p.title, p.slug, p.link_title, p.target, p.computed)
        for p, above in walk(revision.pages)
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()
