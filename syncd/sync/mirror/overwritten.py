"""What people wrote on the platform while a branch was imported as main content, which the import overwrote.

The import's revision has a commit of the branch (`git.oid`), and what stands between it and the last mirrored revision
was never in that commit. Such revisions become commits of refs of their own, which the branch takes in like main
content; the next import then has both. Main content itself goes on from the commit that was imported.
Source: docs/decisions/0009-import-from-git.md.
"""

from collections.abc import Sequence

from syncd.model.revision import Revision
from syncd.plan.message import REVISION, SPACE
from syncd.repo.names import is_oid
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.mirror.history import NOT_SHOWN
from syncd.sync.mirror.source import PastContent
from syncd.sync.policy import GIT_IMPORT
from syncd.sync.workspace import Workspace


def find_imported_commit(workspace: Workspace, revision: Revision) -> str | None:
    """Return the commit of the workspace's branch that a revision was imported from, or None.

    Shape: a commit that is not in the branch does not count, so that nothing comes in by what the platform says.
    """
    commit = revision.git
    if workspace.write != GIT_IMPORT or commit is None or commit.created_by_service or not is_oid(commit.oid):
        return None
    found = workspace.repository.find_revision(commit.oid)
    branch = workspace.repository.resolve(f"{HEADS}{workspace.branch}")
    return found if found and branch and workspace.repository.is_ancestor(found, branch) else None


def list_overwritten(workspace: Workspace, between: Sequence[PastContent], current: Revision) -> frozenset[str]:
    """Return the ids of those revisions, oldest first, that an import after them overwrote; `current` is the last."""
    if workspace.write != GIT_IMPORT:
        return frozenset()
    pending: list[str] = []
    overwritten: set[str] = set()
    for past in between:
        try:
            revision = past.content()
        except NOT_SHOWN:
            break
        if find_imported_commit(workspace, revision):
            overwritten.update(pending)
            pending = []
        else:
            pending.append(revision.id)
    else:
        if find_imported_commit(workspace, current):
            overwritten.update(pending)
    return frozenset(overwritten)


def list_overwritten_refs(workspace: Workspace, binding: Binding) -> dict[str, str]:
    """Return the refs of what imports of a space overwrote and no import has brought back, with their commits."""
    found = workspace.repository.list_refs(workspace.overwritten_refs(binding))
    main = workspace.repository.resolve(workspace.main)
    return {ref: oid for ref, oid in found.items() if main is None or not workspace.repository.is_ancestor(oid, main)}


def start_overwritten_ref(workspace: Workspace, binding: Binding, revision: Revision) -> str | None:
    """Return the ref that a revision is to be written to, which begins at main content; None when one has it."""
    repository, prefix = workspace.repository, workspace.overwritten_refs(binding)
    refs = repository.list_refs(prefix)
    for ref in refs:
        found = repository.find_commit(ref, REVISION, revision.id)
        if found is not None and found.trailers.get(SPACE) == [binding.space]:
            return None
    for ref in refs:
        newest = repository.find_commit(ref, SPACE, binding.space)
        # More than one revision was overwritten: they follow each other.
        is_parent = newest is not None and newest.trailers.get(REVISION) == list(revision.parents[:1])
        if is_parent and ref in list_overwritten_refs(workspace, binding):
            return ref
    tip = repository.resolve(workspace.main)
    number = 1 + max((int(ref.rpartition("/")[2]) for ref in refs if ref.rpartition("/")[2].isdecimal()), default=0)
    ref = f"{prefix}{number}"
    if tip is not None:
        repository.update_ref(ref, tip, old=None)
    return ref


def forget_restored(workspace: Workspace, binding: Binding) -> None:
    """Delete the refs of what is in main content again."""
    left = list_overwritten_refs(workspace, binding)
    for ref, oid in workspace.repository.list_refs(workspace.overwritten_refs(binding)).items():
        if ref not in left:
            workspace.repository.delete_ref(ref, old=oid)
