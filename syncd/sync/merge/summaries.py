"""Read SUMMARY.md from the trees of a merge; `compose.merge_summary` merges it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from syncd.errors import FileInvalid
from syncd.layout.page.links import follow_moves
from syncd.layout.tree.draft import may_be_page
from syncd.layout.tree.summary import transform_entries
from syncd.plan.merge.restore_entries import restore_entries
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
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


def follow_renames(repository: Repository, bindings: Iterable[Binding], base: str, commit: str) -> str:
    """Return the tree of a commit, in which each SUMMARY.md names files as they are called now, though they were
    renamed since the base."""
    tree = repository.read_root_tree(commit)
    return repository.write_tree(tree, dict(find_outdated_summaries(repository, bindings, base, tree)))


def find_outdated_summaries(
    repository: Repository, bindings: Iterable[Binding], base: str, tree: str
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the mended text of each SUMMARY.md that names files as the base has them, and not as they were
    renamed since.

    Shape: who renames a file with `git mv` may leave its entry as it is. An entry stays so where the new name is listed
    too, or is none that a page of the space can have. `base` and `tree` are commits or trees.
    """
    changes = repository.compare_trees(base, tree)
    gone = {change.path for change in changes if change.status == "D"}
    if not gone or all(change.status != "A" for change in changes):
        return
    for binding in bindings:
        summary = read_summary(repository, binding, tree)
        if summary is None or gone.isdisjoint(summary.list_paths()):
            continue
        root = binding.path(read_settings_at(repository, binding, tree).add_root(""))
        renames = {
            change.old_path: change.path
            for change in repository.compare_trees(base, tree, renames=True)
            if change.old_path is not None and change.path.startswith(root) and may_be_page(change.path[len(root) :])
        }
        if stale := summary.find_former_names(renames):
            yield summary.path, _rename_entries(repository, summary, stale, tree)


def _rename_entries(repository: Repository, summary: SummaryFile, names: Mapping[str, str], tree: str) -> bytes:
    """The text of a SUMMARY.md of a tree with other names of files, as it is written as far as possible."""
    entries = transform_entries(
        summary.entries, lambda entry: replace(entry, path=names.get(entry.path or "", entry.path))
    )
    text = follow_moves(repository.read(summary.oid).decode(), names, at=summary.path, to=summary.path).encode()
    written = parse_entries(summary.path, text, lambda file: repository.lookup(tree, file) is not None)
    return text if written == entries else summary.render_entries(entries)


def drop_absent_pages(repository: Repository, bindings: Iterable[Binding], tree: str, others: Collection[str]) -> str:
    """Return a tree in which no SUMMARY.md lists a page that the tree lacks and that one of some other trees has."""
    changes: dict[str, Blob | bytes | None] = {}
    for binding in bindings:
        summary = read_summary(repository, binding, tree)
        listed = summary.index_pages() if summary is not None else ()
        gone = [path for path in listed if repository.lookup(tree, path) is None]
        absent = [path for path in gone if any(repository.lookup(other, path) is not None for other in others)]
        if summary is not None and absent:
            kept = restore_entries(summary.entries, [[path] for path in absent], {})
            changes[summary.path] = summary.render_entries(kept)
    return repository.write_tree(tree, changes)


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
        if ours is None or theirs is None:
            continue
        if ours.path != theirs.path and (base is None or base.path not in (ours.path, theirs.path)):
            continue  # each side has another root: which one stays is decided with .gitbook.yaml
        if base is None and repository.lookup(trees[0], ours.path) is not None:
            continue  # the base's table cannot be read: without it, its lines can still be merged
        yield SummaryVersions(binding, base, ours, theirs)
