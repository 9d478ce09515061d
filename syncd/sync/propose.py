"""Propose: the commits of a branch become the content of one change request for each space they touch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from syncd.api.change_requests import NO_ROUTE
from syncd.errors import AnswerLost, Held, Rejected
from syncd.fault_points import FaultPoint, reach
from syncd.layout.draft import Draft, read_draft
from syncd.model.anchor import Anchor
from syncd.model.space import Space
from syncd.plan.change import Change, Verb
from syncd.plan.guard import guard_deletions
from syncd.plan.proposal import Desired, plan_proposal
from syncd.plan.proposal import Proposal as ProposalPlan
from syncd.sync import sending
from syncd.sync.ancestry import tip_of
from syncd.sync.commenting import carried, carries, carry, has_moved
from syncd.sync.commenting import settle as settle_comments
from syncd.sync.content import Content, linked_files, main_content, proposed_content, settle
from syncd.sync.ground import Ground, ground_of, joined_with, own_proposal
from syncd.sync.lost import lines_of, losses_of, tell_losses
from syncd.sync.opening import describe, open_proposal
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal, remember
from syncd.sync.renditions import rendered
from syncd.sync.reviewers import ask_reviewers
from syncd.sync.standing import check_replaced
from syncd.sync.waiting import NO_REQUEST, keep_waiting, state_of, waiting
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
    asked: bool = True,
) -> Outcome:
    """Given a branch and the space's own proposals, make the branch's change request say what the branch says.

    Shape: one change request for each space and branch; nothing to say opens none. A space that is not syncd's to write
    is told of in a note, unless a person `asked` for just this: then Held. Raises: MergeConflict naming paths and
    command; the guards; Held. Source: house, section 6, "Propose".
    """
    ground = ground_of(workspace, binding, branch, proposals)
    own = own_proposal(proposals, branch)
    if ground is None or not ground.asks:
        return Unchanged(ground.conflicts if ground is not None else ())
    if own is not None and _says_it(workspace, binding, ground, own):
        return _told(ground, waiting(workspace, binding, own.change_request.number, own.commit))
    state = state_of(workspace.repository, binding, ground.desired, ground.main)
    if own is None and (told := waiting(workspace, binding, NO_REQUEST, state)):
        return _told(ground, told)
    if space.git_sync:
        why = f"{binding.name} is kept in Git by the platform itself; two exporters would fight over it"
        hint = "syncd mirrors it; propose changes through the repository that the platform syncs with"
        if asked:
            raise Held(why, hint=hint)
        return Applied((), (f"{why}: {hint}",), ground.conflicts)
    live = own if own is not None and own.change_request.is_live else None
    opened = live is None
    plan, live, notes = _converge(workspace, binding, ground, live, subject)
    if live is None and not workspace.rehearse:
        keep_waiting(workspace, binding, NO_REQUEST, state, plan.plan.only("report"))
    if live is None or workspace.rehearse:
        return Applied(plan.plan.changes, notes, ground.conflicts) if plan.plan.changes else Unchanged(ground.conflicts)
    lost = losses_of(workspace, binding, live)
    hand = (*carried(workspace, binding, live), *plan.plan.only("report"))
    live = describe(workspace, binding, live, ground, opened=opened, by_hand=hand, lost=lines_of(lost))
    keep_waiting(workspace, binding, live.change_request.number, live.commit, plan.plan.only("report"))
    reach(FaultPoint.CHANGE_REQUEST_DESCRIBED)
    remember(workspace, binding, live)
    tell_losses(workspace, binding, live, lost)
    sending.end(workspace, binding, live.change_request.number)
    notes = (*lines_of(lost), *notes)
    notes += ask_reviewers(workspace, binding, live)
    request = live.change_request
    verb: Verb = "create" if opened else "update"
    head = Change(verb, "change request", f"#{request.number}", request.subject, where=request.address)
    return Applied((head, *plan.plan.changes), notes, ground.conflicts)


def _skipped(binding: Binding, draft: Draft) -> Iterator[str]:
    """What of the branch's files says nothing to any platform."""
    for part in draft.skipped:
        yield f"{binding.path(part.path)}:{part.line}:{part.column}: {part.why}"


def _told(ground: Ground, reports: tuple[Change, ...]) -> Outcome:
    """Nothing is to be written; what waits for a person is told again."""
    return Applied(reports, conflicts=ground.conflicts) if reports else Unchanged(ground.conflicts)


def _says_it(workspace: Workspace, binding: Binding, ground: Ground, own: Proposal) -> bool:
    """Whether a change request proposes already what the branch says, by its content or by its comments."""
    said = sending.commented(workspace, binding, own.change_request.number)
    if said is None:
        return _stands(workspace, binding, ground, own)
    if own.change_request.is_live:
        return carries(workspace, binding, ground, own)
    return _holds(workspace, said, ground.tip)


def _stands(workspace: Workspace, binding: Binding, ground: Ground, own: Proposal) -> bool:
    """Whether the change request says already what the branch says, or was archived and the branch has not moved."""
    repository = workspace.repository
    if not own.change_request.is_live:
        return _holds(workspace, own.commit, ground.tip)
    seen = workspace.store.seen(binding.space, own.lane)
    here = repository.resolve(workspace.changes(binding, own.change_request.number))
    return (
        seen is not None
        and seen.revision == own.change_request.revision
        and here is not None
        and _holds(workspace, here, ground.tip)
        and _holds(workspace, own.commit, ground.tip)
        and workspace.alike(binding, rendered(repository, here), ground.desired)
    )


def _holds(workspace: Workspace, commit: str, tip: str) -> bool:
    """Whether a proposed commit was made from this commit of its branch."""
    return workspace.repository.is_ancestor(tip, commit) or tip_of(workspace, commit) == tip


def _converge(
    workspace: Workspace, binding: Binding, ground: Ground, live: Proposal | None, subject: str
) -> tuple[ProposalPlan, Proposal | None, tuple[str, ...]]:
    """Write, read again and plan anew until nothing is left to write; so a lost answer or a crash heals itself."""
    first: ProposalPlan | None = None
    notes: list[str] = []
    written: dict[str, Anchor] = {}
    wrote = ""
    asked = _asked(workspace, binding, ground)
    for _ in range(ROUNDS):
        if live is None:
            content = main_content(workspace, binding, guide=ground.desired)
        else:
            content = proposed_content(workspace, binding, live, written, guide=ground.desired, wrote=wrote)
            former, ground = ground, joined_with(workspace, binding, ground, live, content)
            asked = asked if ground is former else _asked(workspace, binding, ground)
            if not notes and wrote == content.existing.revision.id and _says(workspace, binding, content, ground):
                break
        plan = plan_proposal(_against(workspace, binding, ground, asked, content), content.existing)
        first = first if first is not None else plan
        if not plan.steps:
            placed = {id: Anchor(id, "page", path, "", "", "") for id, path in plan.placed.items()}
            if live is None or written.items() >= placed.items():
                break
            written |= placed  # nothing to write, but what was read lies elsewhere in Git: read it as it lies there
            continue
        _guard(workspace, binding, content, plan)
        if workspace.rehearse:
            break
        if live is None:
            live = open_proposal(workspace, binding, ground, subject)
            if live.change_request.revision_initial != content.existing.revision.id or not live.fresh:
                continue  # it holds more than the main content that was planned against: plan again against it
        writer = ContentWriter(workspace, binding, live.change_request.id, content.translation)
        sending.begin(workspace, binding, live.change_request.number, ground.desired)
        try:
            writer.write(plan)
        except AnswerLost as lost:
            notes.append(f"an answer was lost ({lost.what}); what had arrived was looked up")
        except Rejected as refusal:
            if refusal.status != NO_ROUTE[0]:
                raise
            if has_moved(workspace, binding, live, content):
                continue
            notes.append(carry(workspace, binding, ground, live, plan))
            return first, live, tuple(dict.fromkeys(notes))
        written |= writer.written
        wrote = writer.revision
    assert first is not None
    live = _settled(workspace, binding, replace(live, commit=ground.desired), content) if live is not None else None
    return first, live, tuple(dict.fromkeys((*notes, *_skipped(binding, asked.draft))))


def _settled(workspace: Workspace, binding: Binding, live: Proposal, content: Content) -> Proposal:
    settle(workspace, binding, live, content)
    settle_comments(workspace, binding, live)
    return live


def _says(workspace: Workspace, binding: Binding, content: Content, ground: Ground) -> bool:
    """Whether content that was just written says all that was asked for, so that it need not be planned once more."""
    return workspace.alike(binding, content.commit, ground.desired)


def _guard(workspace: Workspace, binding: Binding, content: Content, plan: ProposalPlan) -> None:
    pages = sum(anchor.kind == "page" for anchor in content.existing.anchors.values())
    remain = pages - len(plan.deleted)
    guard_deletions(f"propose.{binding.name}", plan.deleted, pages, remain=remain, force=workspace.force)


def _asked(workspace: Workspace, binding: Binding, ground: Ground) -> Desired:
    """Given what a branch asks for, return its tree and blobs; no page is read for it."""
    repository = workspace.repository
    listing = repository.tree(ground.desired, binding.directory)
    blobs = {path: blob.oid for path, blob in listing.items() if blob.mode.startswith("100")}
    draft = read_draft(blobs.keys(), lambda path: repository.read(blobs[path]), links=False, at=binding.directory)
    return Desired(draft, blobs)


def _against(workspace: Workspace, binding: Binding, ground: Ground, asked: Desired, content: Content) -> Desired:
    """Given existing content, return the same with what only the difference tells: renames, and files newly linked."""
    repository = workspace.repository
    known = {anchor.path: anchor.oid for anchor in content.existing.anchors.values()}
    check_replaced(workspace, binding, ground.desired, known.keys() - asked.blobs.keys())
    changed = [path for path in asked.draft.documents if asked.blobs[path] != known.get(path)]
    root = asked.draft.settings.below("")
    linked = linked_files(repository, changed, asked.blobs, root=root)
    # What the platform has as a file stays one, also where only pages that did not change link to it.
    kept = {anchor.path for anchor in content.existing.anchors.values() if anchor.kind == "file"} & asked.blobs.keys()
    files = {*asked.draft.files, *kept, *(path for path in linked if path.startswith(root))}
    renames = {
        change.old_path: change.path
        for change in repository.diff(content.commit, ground.desired, binding.directory, renames=True)
        if change.status == "R" and change.old_path is not None
    }
    draft = replace(asked.draft, files=tuple(sorted(files)))
    return Desired(draft, asked.blobs, renames, read=lambda path: repository.material(asked.blobs[path]))
