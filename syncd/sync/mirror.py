"""Mirror: each revision of a space's main content becomes a commit on the platform's branch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from syncd.errors import Unreachable
from syncd.model.change_request import ChangeRequest
from syncd.model.revision import Revision
from syncd.model.space import Space
from syncd.model.user import User
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.plan.message import LAYOUT, LAYOUT_VERSION, REVISION, SPACE, bare_subject, mirror_message, one_line
from syncd.repo import Commit, Person
from syncd.sync.base import base_of, save_lane
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal, forget, head_of
from syncd.sync.snapshot import (
    TRIES,
    Base,
    Gathered,
    RevisionMoved,
    Signature,
    gather_content,
    write_content,
)
from syncd.sync.source import MainContent
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


def mirror(workspace: Workspace, binding: Binding, *, space: Space, proposals: Sequence[Proposal]) -> Outcome:
    """Given a space as it is now and its own proposals, bring its main content into Git.

    Shape: Unchanged costs no request; else one commit for the revision, whose second parent is the commit of a
    proposal that was merged. Raises: BecameEmpty, TooMuch, and what the adapters raise.
    Source: house, section 6, "Mirror".
    """
    tip = workspace.repository.resolve(workspace.main)
    last = workspace.repository.find(workspace.main, SPACE, binding.space) if tip else None
    standing = _Standing(tip, last)
    merged = [proposal for proposal in proposals if proposal.change_request.status == "merged"]
    outcome: Outcome = Unchanged()
    if not standing.holds(space.revision):
        for left in reversed(range(TRIES)):
            try:
                outcome = _mirror_once(workspace, binding, space, standing, merged)
                break
            except RevisionMoved:
                if not left:
                    raise
    for proposal in merged:
        forget(workspace, binding, proposal)
    return outcome


def _mirror_once(
    workspace: Workspace, binding: Binding, space: Space, standing: _Standing, merged: Sequence[Proposal]
) -> Outcome:
    source = MainContent(workspace.client, binding.space)
    revision = source.content()
    if not revision.id:
        raise Unreachable(f"space {binding.space} has no revision yet")
    last = standing.last.oid if standing.last else None
    heads = {proposal.lane: head_of(workspace, binding, proposal) for proposal in merged}
    base = base_of(workspace, binding, revision, last, heads)
    start, parents = _graft(workspace, binding, standing.tip, tuple(heads.values()))
    settled = base.settled and start == standing.tip
    gathered = gather_content(workspace, binding, source, revision, replace(base, start=start, settled=settled))
    _guard(workspace, binding, gathered, base)
    written = write_content(
        workspace,
        binding,
        gathered,
        ref=workspace.main,
        old=standing.tip,
        signature=_signature(workspace, space, revision, standing, merged, parents),
    )
    save_lane(workspace, binding, "main", revision.id, written, base.stored)
    mirrored = Change("update", "mirror", binding.name, f"revision {revision.id}", after=written.commit)
    return Applied((mirrored, *gathered.plan.plan.changes))


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
    repository = workspace.repository
    merged = repository.merge(start, head)
    if not all(binding.holds(path) for path in merged.conflicts):
        return None
    person = workspace.committer()
    message = "syncd: ground for a mirror commit\n"
    ground = repository.commit_tree(
        merged.tree, parents=[start, head], message=message, author=person, committer=person
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
    space: Space,
    revision: Revision,
    standing: _Standing,
    merged: Sequence[Proposal],
    parents: tuple[str, ...],
) -> Signature:
    causes = [proposal.change_request for proposal in merged] or list(_cause(revision))
    words = f"{'Update' if standing.last else 'Mirror'} {space.title or space.id}"
    subject = bare_subject(causes[-1].subject) if causes else ""
    message = mirror_message(
        subject or words,
        space=space.id,
        revision=revision.id,
        change_requests=[cause.number for cause in causes],
    )
    author = _person(workspace, causes[-1].created_by if causes else None)
    return Signature(message, author, parents)


def _cause(revision: Revision) -> tuple[ChangeRequest, ...]:
    """Given a revision, return the change request that it merged, where the platform says so (not-shown, d)."""
    cause: Any = (revision.model_extra or {}).get("mergedFrom")
    if not isinstance(cause, dict) or not {"id", "number", "status"} <= cause.keys():
        return ()
    return (ChangeRequest.model_validate(cause),)


def _person(workspace: Workspace, user: User | None) -> Person:
    if user is None:
        return workspace.committer()
    name = one_line(user.display_name).translate({ord(c): None for c in "<>"}) or user.id
    email = one_line(user.email or "").translate({ord(c): None for c in "<> "}) or f"{user.id}@users.invalid"
    return Person(name, email, when=workspace.now())
