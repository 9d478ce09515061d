"""The pages of the mirrored spaces as a repository has them, for whoever asks what an address of the site leads to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from syncd.errors import FileInvalid
from syncd.layout.site.addresses.addresses import list_page_addresses
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.summary import walk_entries
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.sync.binding import Binding


def read_committed_pages(
    repository: Repository, commit: str, bindings: Sequence[Binding]
) -> dict[str, Mapping[str, str]]:
    """Return by space the file of each page in a commit, by the page's path; a space that is not there is left out.

    Shape: so is one whose table of contents cannot be read: nobody can say then which pages it has.
    """
    found = {}
    for binding in bindings:
        blobs = repository.list_files(commit, binding.directory)
        found[binding.space] = _read_addresses(list(blobs), partial(_read_blob, repository, blobs), binding)
    return {space: pages for space, pages in found.items() if pages is not None}


def read_pages_on_disk(repository: Repository, top: Path, bindings: Sequence[Binding]) -> dict[str, Mapping[str, str]]:
    """Return by space the file of each page in a work tree, by the page's path, as `read_committed_pages` does."""
    listed = repository.list_tracked() if bindings else []
    found = {}
    for binding in bindings:
        home = top / binding.directory
        inner = [binding.inner(path) for path in listed if binding.holds(path)]
        names = [path for path in inner if (home / path).is_file() and not (home / path).is_symlink()]
        found[binding.space] = _read_addresses(names, partial(_read_bytes, home), binding)
    return {space: pages for space, pages in found.items() if pages is not None}


@dataclass(frozen=True)
class PageListing:
    """The line of a table of contents that lists a page; `file` is the table's path from the repository's root."""

    file: str
    line: int
    title: str


def find_listing(repository: Repository, top: Path, binding: Binding, file: str) -> PageListing | None:
    """Return what lists a page of a work tree, whose path is relative to its space's directory.

    Shape: None for a space without a table of contents, or with one that cannot be read.
    """
    draft = _read_draft(repository, top, binding)
    if draft is None or draft.is_inferred:
        return None
    listed = (entry for entry, _ in walk_entries(draft.entries) if entry.path == file and entry.anchor is None)
    entry = next(listed, None)
    settings = draft.settings
    summary = binding.path(settings.add_root(settings.summary))
    return PageListing(summary, entry.line, entry.title) if entry is not None else None


def _read_draft(repository: Repository, top: Path, binding: Binding) -> Draft | None:
    home = top / binding.directory
    inner = [binding.inner(path) for path in repository.list_tracked() if binding.holds(path)]
    names = [path for path in inner if (home / path).is_file() and not (home / path).is_symlink()]
    try:
        return read_draft(names, partial(_read_bytes, home), links=False, at=binding.directory)
    except FileInvalid:
        return None


def find_renamed_pages(
    repository: Repository, before: str, after: str, bindings: Sequence[Binding]
) -> dict[tuple[str, str], str]:
    """Return the file that each renamed page has in the later of two commits, by space and earlier file."""
    return {
        (binding.space, change.old_path): change.path
        for binding in bindings
        for change in repository.list_changes(before, after, binding.directory, renames=True)
        if change.old_path is not None
    }


def _read_blob(repository: Repository, blobs: Mapping[str, Blob], path: str) -> bytes:
    return repository.read(blobs[path].oid)


def _read_bytes(home: Path, path: str) -> bytes:
    return (home / path).read_bytes()


def _read_addresses(paths: Sequence[str], read: Callable[[str], bytes], binding: Binding) -> Mapping[str, str] | None:
    if not paths:
        return None
    try:
        return list_page_addresses(read_draft(paths, read, links=False, at=binding.directory))
    except FileInvalid:
        return None
