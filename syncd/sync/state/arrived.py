"""Find what of a branch's commit has arrived in a change request: all of it, or a part.

Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.placement import SUMMARY
from syncd.plan.merge.summary import merge_entries
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import find_moves, list_page_names
from syncd.sync.merge.parts import find_original
from syncd.sync.merge.summaries import read_summary
from syncd.sync.merge.write_part import write_part
from syncd.sync.workspace import Workspace

NOT_ARRIVED = "what has not arrived"
NO_MOVES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class SentContent:
    """What was written to a change request: `commit` has the tree that was desired.

    Shape: `branch_commit` is the branch's commit, or a part of it; `planned` is the content that the write was planned
    against; `base` is the merge base of both.
    """

    commit: str
    branch_commit: str
    planned: str
    base: str


def find_arrived(
    workspace: Workspace,
    binding: Binding,
    sent: SentContent,
    here: str,
    tree: str,
    *,
    is_own: bool,
    taken: str | None = None,
    moves: Mapping[str, str] = NO_MOVES,
) -> str:
    """Return the branch's commit, or the part of it that has arrived in the tree that was read; "" when nothing has.

    Shape: `is_own` says that nobody else has written; `taken` is the commit of the main content in the tree, and
    `moves` are the new paths of pages that the revision moved.
    """
    repository = workspace.repository
    missing = {found.path for found in repository.compare_trees(sent.commit, tree) if binding.holds(found.path)}
    # A path that had this content before the write, and has another one now, was edited since.
    missing &= {found.path for found in repository.compare_trees(sent.commit, here)}
    missing |= _find_deletions_not_made(workspace, binding, sent, here, tree, taken, moves)
    late = [
        paths
        for paths in list_entries(repository, binding, sent.planned, sent.commit)
        if missing.intersection(paths) and not _is_edited_since(repository, paths[0], sent, tree)
    ]
    if not late:
        return sent.branch_commit
    listing = read_summary(repository, binding, sent.commit)
    left_out = add_all_names(workspace, late, (sent.base, sent.branch_commit, sent.planned))
    part_tree = leave_out(repository, workspace.bindings, sent.branch_commit, sent.base, left_out)
    if is_own and listing is not None and (listing.path,) in late:
        table = _merge_arrived_summary(repository, binding, sent, here, tree)
        part_tree = repository.write_tree(part_tree, {listing.path: table}) if table is not None else part_tree
    if part_tree == repository.find_tree(sent.base):
        return ""
    base = repository.list_commits(None, sent.base, limit=1)[0].parents
    original = _find_original(repository, sent.branch_commit)
    return write_part(repository, original, base, part_tree, name="a branch", lacks=NOT_ARRIVED)


def _find_deletions_not_made(
    workspace: Workspace,
    binding: Binding,
    sent: SentContent,
    here: str,
    tree: str,
    taken: str | None,
    moves: Mapping[str, str],
) -> set[str]:
    """The former paths of pages that were to be deleted and that are still there, at another path: a page moves into a
    folder of its own when it gets its first page below it. Given is also what main content and the revision moved."""
    repository = workspace.repository
    entries = list_entries(repository, binding, sent.planned, sent.commit)
    deleted = {path for path, *_ in entries if repository.lookup(sent.commit, path) is None}
    if not deleted:
        return set()
    before = find_moves(workspace, sent.planned, here)
    moves = {**find_moves(workspace, here, taken), **moves} if taken is not None else moves
    paths = {path: moves.get(later, later) for path in deleted if (later := before.get(path, path))}
    return {old for old, new in paths.items() if old != new and repository.lookup(tree, new) is not None}


def _is_edited_since(repository: Repository, path: str, sent: SentContent, tree: str) -> bool:
    """Whether a text has all lines that were sent and none that was taken out: then it arrived and was edited since.
    Lines are counted; their order alone says nothing."""
    oids = [repository.lookup(commit, path) for commit in (sent.planned, sent.commit, tree)]
    if not all(oids[1:]) or not is_markdown(path) or path.endswith(SUMMARY):
        return False
    before, after, now = (Counter(repository.read(oid).splitlines() if oid else []) for oid in oids)
    added, removed = after - before, before - after
    is_added = all(now[line] >= after[line] for line in added)
    return bool(added or removed) and is_added and all(now[line] <= after[line] for line in removed)


def _merge_arrived_summary(
    repository: Repository, binding: Binding, sent: SentContent, here: str, tree: str
) -> bytes | None:
    """The branch's SUMMARY.md without manual steps that nobody has done yet, given what was there before the write and
    is there now; None where reviewers changed the table just before the write, so that what is there may be theirs."""
    commits = (sent.commit, sent.branch_commit, tree)
    desired, ours, arrived = (read_summary(repository, binding, commit) for commit in commits)
    if desired is None or ours is None or arrived is None:
        return None
    if repository.lookup(sent.planned, desired.path) != repository.lookup(here, desired.path):
        return None
    # A write that changes nothing is answered with the revision that somebody has just made.
    known = desired.index_pages().keys() | ours.index_pages().keys()
    if any(repository.lookup(sent.planned, path) is None for path in arrived.index_pages().keys() - known):
        return None
    # An entry whose file does not exist in any of them has not arrived.
    present = set(arrived.index_pages())
    others = (ours.index_pages().keys() | desired.index_pages().keys()) - present
    present |= {path for path in others if any(repository.lookup(commit, path) is not None for commit in commits)}
    found = merge_entries(
        desired.entries, ours.entries, arrived.entries, ours_paths={}, theirs_paths={}, present=present
    )
    return repository.read(arrived.oid) if found.entries == arrived.entries else ours.render_entries(found.entries)


def list_entries(repository: Repository, binding: Binding, before: str, after: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of each file that differs: its new one and, after a move, its old one."""
    for found in repository.compare_trees(before, after, renames=True):
        if binding.holds(found.path):
            yield (found.path,) if found.old_path is None else (found.path, found.old_path)


def add_all_names(
    workspace: Workspace, entries: Iterable[Collection[str]], sides: tuple[str, str, str]
) -> list[tuple[str, ...]]:
    """Return the entries with all paths that their pages have in a base and on both sides, so that each is left out as
    a whole."""
    named = list(entries)
    if not named:
        return []
    names = list_page_names(workspace, *sides)
    return [tuple(sorted({other for path in paths for other in (path, *names.get(path, ()))})) for paths in named]


def _find_original(repository: Repository, commit: str) -> str:
    """The commit that a part stands for, else itself."""
    return find_original(repository, repository.list_commits(None, commit, limit=1)[0]) or commit
