"""Write content of a past revision of the platform as a commit, for a CI run to compare with."""

from dataclasses import replace

from syncd.model.change_request import ChangeRequest
from syncd.repo.values import Blob
from syncd.sync.binding import Binding
from syncd.sync.mirror.anchors import find_mirror_base
from syncd.sync.mirror.history import NOT_SHOWN
from syncd.sync.mirror.plan_revision import gather_content
from syncd.sync.mirror.source import MainContent, PastContent, ProposedContent
from syncd.sync.mirror.values import PARTIAL, RevisionMoved, Signature, Source
from syncd.sync.mirror.write_commit import write_content
from syncd.sync.workspace import Workspace

SCRATCH = "refs/syncd/ci/past"
"""Holds the commit that was read last; the repository of a CI run is gone when the run ends."""


def write_past_commit(workspace: Workspace, binding: Binding, revision: str, *, like: str) -> str | None:
    """Write a commit that holds a past revision in the space's directory, laid out like another commit, and return it.

    Shape: None when the platform does not show past revisions, or not this one.
    """
    try:
        return _write_commit(workspace, binding, PastContent(workspace.client, binding.space, revision), like)[0]
    except NOT_SHOWN:
        return None


def write_present_commit(workspace: Workspace, binding: Binding, *, like: str) -> tuple[str, str]:
    """Return a commit that holds main content as it is now in the space's directory, laid out like another commit, and
    the revision that this is."""
    return _write_commit(workspace, binding, MainContent(workspace.client, binding.space), like)


def write_proposed_commit(workspace: Workspace, binding: Binding, request: ChangeRequest, *, like: str) -> str | None:
    """Write a commit that holds the content of a change request, laid out like another commit, and return it.

    Shape: None when somebody has edited the change request since it was listed; the edit must not pass for what was
    there before.
    """
    source = ProposedContent(workspace.client, binding.space, request.id)
    try:
        return _write_commit(workspace, binding, source, like, revision=request.revision)[0]
    except RevisionMoved:
        return None


def _write_commit(
    workspace: Workspace, binding: Binding, source: Source, like: str, *, revision: str | None = None
) -> tuple[str, str]:
    """A commit and the revision that it holds. Shape: what was fetched for it is noted in the store, so that no body is
    fetched twice in a run. Raises: RevisionMoved when the content moves, or is of another revision than the given one.
    """
    content = source.content()
    if revision is not None and content.id != revision:
        raise RevisionMoved(f"{binding.name} changed after it was listed", hint="the next run reads it again")
    apart = replace(workspace, onto=like, main_ref=SCRATCH)
    workspace.repository.set_ref(SCRATCH, None)
    base = replace(find_mirror_base(apart, binding, content, None, {}), start=like, is_complete=False)
    gathered = gather_content(apart, binding, source, content, base)
    signature = Signature("syncd: content of the past\n", workspace.committer(), ())
    written = write_content(apart, binding, gathered, ref=SCRATCH, old=None, signature=signature, former=base.anchors)
    bodies = list(written.anchors.values())
    workspace.store.save_last_seen(binding.space, PARTIAL, revision=content.id, commit="", put=bodies, removed=())
    return written.commit, content.id


def replace_directory(workspace: Workspace, binding: Binding, tree: str, commit: str) -> str:
    """Return a tree with the space's directory as a commit has it."""
    repository = workspace.repository
    changes: dict[str, Blob | bytes | None] = {
        difference.path: difference.after for difference in repository.compare_trees(tree, commit)
        if binding.holds(difference.path)
    }  # fmt: skip
    return repository.write_tree(tree, changes)
