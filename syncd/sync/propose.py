"""Propose: the commits of a branch become the content of one change request for each space they touch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from syncd.errors import AnswerLost, Held, Rejected
from syncd.layout.draft import read_draft
from syncd.model.anchor import Anchor
from syncd.model.space import Space
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.plan.proposal import Desired, plan_proposal
from syncd.plan.proposal import Proposal as ProposalPlan
from syncd.sync.content import Content, linked_files, main_content, proposed_content
from syncd.sync.ground import Ground, ground_of, joined_with, own_proposal
from syncd.sync.opening import describe, open_proposal
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal, remember
from syncd.sync.workspace import Binding, Workspace
from syncd.sync.writing import ContentWriter

ROUNDS = 5
"""Times that content is written and read again: a retitled page takes two, a lost answer one more."""


def propose(
    workspace: Workspace,
    binding: Binding,
    branch: str,
    *,
    space: Space,
    proposals: Sequence[Proposal],
    subject: str = "",
) -> Outcome:
    """Given a branch and the space's own proposals, make the branch's change request say what the branch says.

    Shape: one change request for each space and branch; nothing to say opens none. Raises: MergeConflict naming paths
    and command; the guards; Held when the space is not syncd's to write. Source: house, section 6, "Propose".
    """
    ground = ground_of(workspace, binding, branch, proposals)
    own = own_proposal(proposals, branch)
    if ground is None or (own is not None and _stands(workspace, binding, ground, own)):
        return Unchanged()
    if space.git_sync:
        raise Held(
            f"{binding.name} is kept in Git by the platform itself; two exporters would fight over it",
            hint="syncd mirrors it; propose changes through the repository that the platform syncs with",
        )
    live = own if own is not None and own.change_request.is_live else None
    opened = live is None
    plan, live, notes = _converge(workspace, binding, ground, live, subject)
    if live is None:
        return Applied(plan.plan.changes, notes) if plan.plan.changes else Unchanged()
    describe(workspace, binding, live, ground, opened=opened)
    remember(workspace, binding, live)
    request = live.change_request
    head = Change("create" if opened else "update", "change request", f"#{request.number}", request.subject)
    return Applied((head, *plan.plan.changes), notes)


def _stands(workspace: Workspace, binding: Binding, ground: Ground, own: Proposal) -> bool:
    """Whether the change request says already what the branch says, or was archived and the branch has not moved."""
    repository = workspace.repository
    if not own.change_request.is_live:
        return repository.is_ancestor(ground.tip, own.commit)
    seen = workspace.store.seen(binding.space, own.lane)
    here = repository.resolve(workspace.changes(binding, own.change_request.number))
    return (
        seen is not None
        and seen.revision == own.change_request.revision
        and here is not None
        and repository.is_ancestor(ground.tip, here)
        and repository.is_ancestor(ground.tip, own.commit)
        and workspace.alike(binding, here, ground.desired)
    )


def _converge(
    workspace: Workspace, binding: Binding, ground: Ground, live: Proposal | None, subject: str
) -> tuple[ProposalPlan, Proposal | None, tuple[str, ...]]:
    """Write, read again and plan anew until nothing is left to write; so a lost answer or a crash heals itself."""
    first: ProposalPlan | None = None
    notes: list[str] = []
    written: dict[str, Anchor] = {}
    asked = _asked(workspace, binding, ground)
    for _ in range(ROUNDS):
        if live is None:
            content = main_content(workspace, binding)
        else:
            content = proposed_content(workspace, binding, live, written, guide=ground.desired)
            joined = joined_with(workspace, binding, ground, live, content)
            asked = asked if joined is ground else _asked(workspace, binding, joined)
            ground = joined
        plan = plan_proposal(_against(workspace, binding, ground, asked, content), content.existing)
        first = first if first is not None else plan
        if not plan.steps:
            break
        _guard(workspace, binding, content, plan)
        if live is None:
            live = open_proposal(workspace, binding, ground, subject)
            if live.change_request.revision_initial != content.existing.revision.id or not live.fresh:
                continue  # it holds more than the main content that was planned against: plan again against it
        writer = ContentWriter(workspace, binding, live.change_request.id, content.translation)
        try:
            writer.write(plan.steps)
        except AnswerLost as lost:
            notes.append(f"an answer was lost ({lost.what}); what had arrived was looked up")
        except Rejected as refusal:
            raise _explained(refusal) from refusal
        notes += [f"{path} is over 1 MB: upload it on the platform by hand" for path in writer.too_large]
        written |= writer.written
    assert first is not None
    if live is not None:
        live = replace(live, commit=ground.desired)
        _settle(workspace, binding, live, content, written)
    return first, live, tuple(dict.fromkeys(notes))


def _settle(
    workspace: Workspace, binding: Binding, live: Proposal, content: Content, written: Mapping[str, Anchor]
) -> None:
    """Let the change request's ref be the proposed commit itself where both say the same."""
    repository = workspace.repository
    ref = workspace.changes(binding, live.change_request.number)
    here = repository.resolve(ref)
    if here == live.commit:
        return
    if not workspace.alike(binding, content.commit, live.commit):
        proposed_content(workspace, binding, live, written)
        return
    repository.update_ref(ref, live.commit, old=here)
    revision = content.existing.revision.id
    workspace.store.save_seen(binding.space, live.lane, revision=revision, commit=live.commit, put=[], removed=[])


def _guard(workspace: Workspace, binding: Binding, content: Content, plan: ProposalPlan) -> None:
    pages = sum(anchor.kind == "page" for anchor in content.existing.anchors.values())
    remain = pages - len(plan.deleted)
    guard_deletions(f"propose.{binding.name}", plan.deleted, pages, remain=remain, force=workspace.force)


def _asked(workspace: Workspace, binding: Binding, ground: Ground) -> Desired:
    """Given what a branch asks for, return its tree and blobs; no page is read for it."""
    repository = workspace.repository
    listing = repository.tree(ground.desired, binding.directory)
    blobs = {path: blob.oid for path, blob in listing.items() if blob.mode.startswith("100")}
    draft = read_draft(blobs.keys(), lambda path: repository.read(blobs[path]), links=False)
    return Desired(draft, blobs)


def _against(workspace: Workspace, binding: Binding, ground: Ground, asked: Desired, content: Content) -> Desired:
    """Given existing content, return the same with what only the difference tells: renames, and files newly linked."""
    repository = workspace.repository
    known = {anchor.path: anchor.oid for anchor in content.existing.anchors.values()}
    changed = [path for path in asked.draft.documents if asked.blobs[path] != known.get(path)]
    files = {*asked.draft.files, *linked_files(repository, changed, asked.blobs)}
    renames = {
        change.old_path: change.path
        for change in repository.diff(content.commit, ground.desired, binding.directory, renames=True)
        if change.status == "R" and change.old_path is not None
    }
    return Desired(replace(asked.draft, files=tuple(sorted(files))), asked.blobs, renames)


def _explained(refusal: Rejected) -> Rejected:
    if refusal.status != 404:
        return refusal
    return Rejected(
        "this platform cannot write the content of a change request",
        status=404,
        hint="the change request was opened and is empty; edit it on the platform",
    )
