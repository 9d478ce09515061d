"""Read SUMMARY.md from the trees of a merge; `compose.merge_summary` merges it."""

from collections.abc import Iterable, Iterator

from syncd.errors import FileInvalid
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.result import SummaryFile, SummaryVersions, parse_entries
from syncd.sync.settings import read_settings_at


def read_summary(repository: Repository, binding: Binding, tree: str) -> SummaryFile | None:
    """Return the space's SUMMARY.md in a tree; None when there is none, or none that can be read."""
    found = _locate_summary(repository, binding, tree)
    if found is None:
        return None
    path, oid = found
    try:
        entries = parse_entries(path, repository.read(oid), lambda file: repository.lookup(tree, file) is not None)
        return SummaryFile(path, oid, entries)
    except (FileInvalid, UnicodeDecodeError):
        return None


def _locate_summary(repository: Repository, binding: Binding, tree: str) -> tuple[str, str] | None:
    """The path of SUMMARY.md in a tree, and its blob."""
    try:
        settings = read_settings_at(repository, binding, tree)
    except (FileInvalid, UnicodeDecodeError):
        return None
    path = binding.path(settings.add_root(settings.summary))
    oid = repository.lookup(tree, path)
    return (path, oid) if oid is not None else None


def find_summaries(
    repository: Repository, bindings: Iterable[Binding], trees: tuple[str, str, str]
) -> Iterator[SummaryVersions]:
    """Yield the tables of contents that can be merged by structure; `trees` are those of base, ours and theirs."""
    for binding in bindings:
        located = [_locate_summary(repository, binding, tree) for tree in trees]
        if len(set(located)) == 1:
            continue
        known = {place: read_summary(repository, binding, tree) for place, tree in zip(located, trees, strict=True)}
        base, ours, theirs = (known[place] for place in located)
        if ours is None or theirs is None or ours.path != theirs.path:
            continue
        if base is None and repository.lookup(trees[0], ours.path) is not None:
            continue  # the base's table cannot be read: without it, its lines can still be merged
        if base is None or base.path == ours.path:
            yield SummaryVersions(binding, base, ours, theirs)
