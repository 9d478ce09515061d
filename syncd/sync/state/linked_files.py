"""Find the pages that link to files outside of `.gitbook/assets`: only such files are content."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from syncd.errors import PathRefused
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import check_safe_path, is_markdown
from syncd.repo.repository import Repository
from syncd.repo.values import FileChange
from syncd.sync.binding import Binding
from syncd.sync.state.notes import NO_REQUEST, add_notes, read_notes

LINKED_FROM = "linked_from"
_PLAIN = re.compile(rb"[A-Za-z0-9]+")


def list_new_files(changes: Iterable[FileChange], *, root: str) -> dict[str, str]:
    """Return the blobs of files that were added and may be content if a page links to them, by path."""
    added = {change.path: change.oid for change in changes if change.status == "A" and change.mode.startswith("100")}
    return {path: oid for path, oid in added.items() if path.startswith(root) and _may_be_linked(path)}


def find_linking_pages(
    repository: Repository, binding: Binding, pages: Mapping[str, str], files: Mapping[str, str], *, root: str
) -> dict[str, tuple[str, ...]]:
    """Return the pages that link to each of some files, by the file's path; files that no page links to are left out.

    Shape: `pages` and `files` are blobs by path. All pages are read once for a file; where they are found is noted, and
    only those are read while the file waits for a person to bring it to the platform.
    """
    if not files:
        return {}
    found = {file: find_noted_pages(repository, binding, pages, file, oid, root=root) for file, oid in files.items()}
    unknown = [file for file, linking in found.items() if not linking]
    if unknown:
        found |= _search_pages(repository, pages, unknown, root=root)
    linked = {file: linking for file, linking in found.items() if linking}
    noted = read_notes(repository, binding, NO_REQUEST).get(LINKED_FROM, {})
    facts = {file: [files[file], *linking] for file, linking in linked.items()}
    if facts != noted:
        add_notes(repository, binding, NO_REQUEST, {LINKED_FROM: facts})
    return linked


def find_noted_pages(
    repository: Repository, binding: Binding, pages: Mapping[str, str], file: str, oid: str, *, root: str
) -> tuple[str, ...]:
    """Return the noted pages that still link to a file with this blob."""
    noted = read_notes(repository, binding, NO_REQUEST).get(LINKED_FROM)
    known = noted.get(file) if isinstance(noted, dict) else None
    if not isinstance(known, list) or known[:1] != [oid]:
        return ()
    there = (page for page in known[1:] if page in pages)
    return tuple(page for page in there if file in list_linked(repository.read(pages[page]), page, root=root))


def list_linked(data: bytes, page: str, *, root: str) -> Iterator[str]:
    """Yield the paths that the links of a page lead to."""
    for target in find_targets(data.decode("utf-8", "replace")):
        found = resolve_address(target.text, at=page, root=root)
        if found is not None:
            yield found[0]


def _search_pages(
    repository: Repository, pages: Mapping[str, str], files: Sequence[str], *, root: str
) -> dict[str, tuple[str, ...]]:
    """Read all pages; links are looked for only where the text has a part of a file's name that is never escaped."""
    names = {max(_PLAIN.findall(file.rpartition("/")[2].encode()), key=len, default=b"") for file in files}
    found: dict[str, list[str]] = {file: [] for file in files}
    for page, oid in pages.items():
        data = repository.read(oid)
        if any(name in data for name in names):
            for file in found.keys() & set(list_linked(data, page, root=root)):
                found[file].append(page)
    return {file: tuple(linking) for file, linking in found.items()}


def _may_be_linked(path: str) -> bool:
    try:
        check_safe_path(path)
    except PathRefused:
        return False
    return not is_markdown(path) and not path.startswith(".") and "/." not in path
