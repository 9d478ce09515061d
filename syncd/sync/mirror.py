"""Mirror: each revision of a space's main content becomes a commit on the platform's branch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncd.errors import AnswerTooLarge, Held, NotFound, Rejected, Unreachable
from syncd.fault_points import FaultPoint, reach
from syncd.model.revision import Revision
from syncd.model.space import Space
from syncd.model.text import one_line
from syncd.model.user import User
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.plan.message import CHANGE_REQUEST, LAYOUT, LAYOUT_VERSION, REVISION, SPACE, merged_subject, mirror_message
from syncd.repo import Commit, Person
from syncd.sync.base import base_of, save_lane
from syncd.sync.gathered import Base, Gathered, RevisionMoved, gather_content
from syncd.sync.meeting import meet
from syncd.sync.memory import keep_merged
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.past import passed
from syncd.sync.proposals import Proposal, forget, head_of
from syncd.sync.sending import sent_to
from syncd.sync.snapshot import TRIES, Signature, write_content
from syncd.sync.source import MainContent, Source
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class _Standing:
    """Where a space's mirror stands before a run."""

    tip: str | None
    last: Commit | None

    def holds(self, revision: str | None) -> bool:
        return self.last is not None and (
            self.last.trailers.get(REVISION) == [revision] and self.last.trailers.get(LAYOUT) == [LAYOUT_VERSION]
        )


@dataclass(frozen=True)
class _Step:
    """One revision to mirror, where its content is read, and the proposals that it merged."""

    source: Source
    revision: Revision
    merged: tuple[Proposal, ...]


def mirror(workspace: Workspace, binding: Binding, *, space: Space, proposals: Sequence[Proposal]) -> Outcome:
    """Given a space as it is now and its own proposals, bring its main content into Git.

    Shape: Unchanged costs no request; else a commit for the revision, and for each that has passed since the last one,
    as far as the platform shows it; the second parent is the commit of a proposal that was merged. A root that the
    workspace's branch has changed is the root from now on.
    Raises: BecameEmpty, TooMuch, and what the adapters raise. Source: house, section 6, "Mirror".
    """
    merged = [proposal for proposal in proposals if proposal.change_request.status == "merged"]
    outcome: Outcome = Unchanged()
    if not _standing(workspace, binding).holds(space.revision):
        for left in reversed(range(TRIES)):
            try:
                outcome = _mirror_all(workspace, binding, space, merged)
                break
            except RevisionMoved:
                if not left:
                    raise
    for proposal in merged:
        keep_merged(workspace, binding, proposal.change_request.number, proposal.branch, proposal.commit)
        forget(workspace, binding, proposal)
    return outcome


def _standing(workspace: Workspace, binding: Binding) -> _Standing:
    tip = workspace.repository.resolve(workspace.main)
    return _Standing(tip, workspace.repository.find(workspace.main, SPACE, binding.space) if tip else None)


def _mirror_all(workspace: Workspace, binding: Binding, space: Space, merged: Sequence[Proposal]) -> Outcome:
    """Mirror the current revision, and before it those that have passed since the last one in Git."""
    source = MainContent(workspace.client, binding.space)
    revision = source.content()
    if not revision.id:
        raise Unreachable(f"space {binding.space} has no revision yet")
    last = _standing(workspace, binding).last
    here = last.trailers.get(REVISION, [""])[0] if last is not None else ""
    between = passed(workspace.client, binding.space, revision, here) if here not in ("", revision.id) else []
    outcomes: list[Applied] = []
    left = tuple(proposal for proposal in merged if not _has_landed(workspace, binding, proposal))
    for past in between:
        try:
            step = past.content()
            mine = tuple(one for one in left if step.merged_from is not None and step.merged_from.id == one.lane)
            outcomes.append(_mirror_once(workspace, binding, space, _Step(past, step, mine)))
        except (AnswerTooLarge, Held, Rejected, NotFound):  # what came after it may be in order
            break
        left = tuple(one for one in left if one not in mine)
    outcomes.append(_mirror_once(workspace, binding, space, _Step(source, revision, left)))
    changes = tuple(change for outcome in outcomes for change in outcome.changes)
    return Applied(changes, tuple(note for outcome in outcomes for note in outcome.notes))


def _has_landed(workspace: Workspace, binding: Binding, proposal: Proposal) -> bool:
    """Whether a mirror commit says that it merged the proposal: then a run ended before it could forget it."""
    found = workspace.repository.find(workspace.main, CHANGE_REQUEST, str(proposal.change_request.number))
    return found is not None and found.trailers.get(SPACE) == [binding.space]


def _mirror_once(workspace: Workspace, binding: Binding, space: Space, step: _Step) -> Applied:
    standing, revision, merged = _standing(workspace, binding), step.revision, step.merged
    last = standing.last.oid if standing.last else None
    heads = {proposal.lane: head_of(workspace, binding, proposal) for proposal in merged}
    base = base_of(workspace, binding, revision, last, heads)
    start, parents = _graft(workspace, binding, standing.tip or workspace.onto, tuple(heads.values()))
    settled = base.settled and start == standing.tip
    base = replace(base, start=start, settled=settled, sent=sent_to(workspace, binding))
    guide = workspace.repository.resolve(f"refs/heads/{workspace.branch}") if workspace.branch else None
    gathered = gather_content(workspace, binding, step.source, revision, base, guide=guide)
    if standing.last is not None:
        _guard(workspace, binding, gathered, base)
    written = write_content(
        workspace,
        binding,
        gathered,
        ref=workspace.main,
        old=standing.tip,
        signature=_signature(workspace, binding, space, revision, standing, merged, parents),
    )
    reach(FaultPoint.MIRROR_WRITTEN)
    save_lane(workspace, binding, "main", revision.id, written, base.stored)
    mirrored = Change("update", "mirror", binding.name, f"revision {revision.id}", after=written.commit)
    return Applied((mirrored, *gathered.plan.plan.changes), written.notes)


def _graft(
    workspace: Workspace, binding: Binding, tip: str | None, heads: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """Given the commits of merged proposals, return the commit to start from and the parents.

    A commit becomes a parent only when it carries nothing that the platform does not have: edits of another
    space, or edits elsewhere that do not merge, would be declared merged and so be lost.
    """
    if tip is None:
        return None, ()
    start, parents = tip, [tip]
    for head in heads:
        ground = None if workspace.repository.is_ancestor(head, tip) else _joined(workspace, binding, start, head)
        if ground is not None:
            start = ground
            parents.append(head)
    return start, tuple(parents)


def _joined(workspace: Workspace, binding: Binding, start: str, head: str) -> str | None:
    """Two commits merged, as ground for a mirror commit; None when `head` has more than this space's content."""
    met = meet(workspace, start, head)
    if not all(binding.holds(path) for page in met.held for path in page.paths):
        return None
    person = workspace.committer()
    message = "syncd: ground for a mirror commit\n"
    ground = workspace.repository.commit_tree(
        met.kept_ours, parents=[start, head], message=message, author=person, committer=person
    )
    others = (other for other in workspace.bindings if other != binding)
    return ground if all(workspace.alike(other, ground, start) for other in others) else None


def _guard(workspace: Workspace, binding: Binding, gathered: Gathered, base: Base) -> None:
    deleted = [change.key for change in gathered.plan.plan.only("delete") if change.noun == "page"]
    existing = sum(anchor.kind == "page" for anchor in base.anchors.values())
    remain = len(gathered.placement.pages)
    guard_deletions(f"mirror.{binding.name}", deleted, existing, remain=remain, force=workspace.force)


def _signature(
    workspace: Workspace,
    binding: Binding,
    space: Space,
    revision: Revision,
    standing: _Standing,
    merged: Sequence[Proposal],
    parents: tuple[str, ...],
) -> Signature:
    causes = [proposal.change_request for proposal in merged]
    if not causes and revision.merged_from is not None:
        causes = [revision.merged_from]
    words = f"{'Update' if standing.last else 'Mirror'} {space.title or space.id}"
    subject = merged_subject(causes[-1].subject) if causes else ""
    message = mirror_message(
        subject or words,
        space=binding.space,
        revision=revision.id,
        change_requests=[cause.number for cause in causes],
    )
    author = _person(workspace, causes[-1].created_by if causes else None)
    return Signature(message, author, parents)


def _person(workspace: Workspace, user: User | None) -> Person:
    if user is None:
        return workspace.committer()
    name = one_line(user.display_name).translate({ord(c): None for c in "<>"}) or user.id
    email = one_line(user.email or "").translate({ord(c): None for c in "<> "}) or f"{user.id}@users.invalid"
    return Person(name, email, when=workspace.now())
