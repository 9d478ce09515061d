"""Find the part of a branch's commit that a change request was sent while other pages of it were left out.

The clone or job that sent it knows that part. Any other one finds it again by the description, which names the commit,
what was left out of it, and the revision that was written. Source: docs/decisions/0002-one-recorded-base.md.
"""

from syncd.errors import HistoryCut
from syncd.model.change_request import ChangeRequest
from syncd.plan.propose.description import SentPart, read_part_without_steps, read_sent_part
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.leave_out import leave_out, list_other_directories
from syncd.sync.merge.merge import find_merge_base
from syncd.sync.merge.summaries import read_summary
from syncd.sync.merge.write_part import NOT_SENT, write_part
from syncd.sync.workspace import Workspace


def find_sent_part(
    workspace: Workspace, binding: Binding, request: ChangeRequest, branch: str
) -> tuple[str, str] | None:
    """Return the part of a commit that a change request was sent, and the revision that this made; `branch` is a commit
    that must have the named one in its history.

    Shape: None where nothing was left out, nothing else was sent, or Git does not show it.
    """
    sent = read_sent_part(request.description)
    part = _write_sent_part(workspace, binding, sent, branch)
    return (part, sent.revision) if part else None


def leave_out_manual_steps(workspace: Workspace, binding: Binding, request: ChangeRequest, commit: str) -> str:
    """Return the commit that a change request says it holds, or the part of it without the files with manual steps; ""
    where it has nothing else."""
    sent = read_part_without_steps(request.description)
    part = _write_sent_part(workspace, binding, sent, commit) if sent.commit == commit else None
    return commit if part is None else part


def _write_sent_part(workspace: Workspace, binding: Binding, sent: SentPart, branch: str) -> str | None:
    """The part of a commit that was sent; "" where that is nothing, None where Git does not show it."""
    repository = workspace.repository
    commit, main = repository.find_revision(sent.commit), repository.resolve(workspace.main)
    if commit is None or main is None or not repository.is_ancestor(commit, branch):
        return None
    try:
        base = find_merge_base(workspace, main, commit)
    except HistoryCut:
        return None
    lacks = list_left_out(repository, binding, sent, base.tree, commit)
    others = list_other_directories(workspace.bindings, binding)
    tree = leave_out(repository, workspace.bindings, commit, base.tree, lacks, directories=others)
    if tree == base.tree:
        return ""
    return write_part(repository, commit, base.commits, tree, name="a branch", lacks=NOT_SENT)


def list_left_out(
    repository: Repository, binding: Binding, sent: SentPart, base: str, commit: str
) -> list[tuple[str, ...]]:
    """Return the paths of each file that a commit has changed since a base, or whose entry in SUMMARY.md it may have
    changed, and that was left out of what was sent."""
    changed = [
        (one.path,) if one.old_path is None else (one.path, one.old_path)
        for one in repository.compare_trees(base, commit, renames=True)
    ]
    known = {path for paths in changed for path in paths}
    tables = [table for tree in (base, commit) if (table := read_summary(repository, binding, tree)) is not None]
    if known.intersection(table.path for table in tables):
        changed += [(path,) for path in sorted({path for table in tables for path in table.list_paths()} - known)]
    return [
        paths
        for paths in changed
        if any(binding.holds(path) and sent.is_left_out(binding.inner(path)) for path in paths)
    ]
