"""Propose: the commits of a branch become the content of one change request for each space they touch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from syncd.errors import AnswerLost, Held, MergeConflict, Rejected
from syncd.layout.draft import read_draft
from syncd.model.anchor import Anchor
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.document import Document
from syncd.model.space import Space
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.plan.message import REVISION, marked_subject, marker, one_line, proposal_subject
from syncd.plan.proposal import Desired, plan_proposal
from syncd.plan.proposal import Proposal as ProposalPlan
from syncd.repo import Commit
from syncd.sync.content import Content, linked_files, main_content, proposed_content
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal, remember
from syncd.sync.workspace import Binding, Workspace
from syncd.sync.writing import ContentWriter

ROUNDS = 5
"""Times that content is written and read again: a retitled page takes two, a lost answer one more."""
COMMITS_SHOWN = 50


@dataclass(frozen=True)
class _Ground:
    """What a branch asks of one space: `desired` is a commit whose tree is the branch merged with all that is known."""

    branch: str
    tip: str
    main: str
    desired: str
    commits: tuple[Commit, ...]


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
    ground = _ground(workspace, binding, branch, proposals)
    own = _own(proposals, branch)
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
    _describe(workspace, binding, live, ground, opened=opened)
    remember(workspace, binding, live)
    request = live.change_request
    head = Change("create" if opened else "update", "change request", f"#{request.number}", request.subject)
    return Applied((head, *plan.plan.changes), notes)


def _own(proposals: Sequence[Proposal], branch: str) -> Proposal | None:
    """The branch's newest change request that is not merged."""
    mine = [p for p in proposals if p.branch == branch and p.change_request.status != "merged"]
    return max(mine, key=lambda p: p.change_request.number, default=None)


def _ground(workspace: Workspace, binding: Binding, branch: str, proposals: Sequence[Proposal]) -> _Ground | None:
    """Given a branch, return what it asks of the space, or None when that is what the platform has already."""
    repository = workspace.repository
    tip, main = repository.resolve(f"refs/heads/{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None or tip == main or repository.is_ancestor(tip, main):
        return None
    desired = _joined(workspace, binding, tip, main, branch, f"{workspace.remote}/main")
    own = _own(proposals, branch)
    if own is not None and own.change_request.is_live:
        number = own.change_request.number
        edits = repository.resolve(workspace.changes(binding, number))
        if edits is not None:
            name = f"{workspace.remote}/changes/{binding.name}/{number}"
            desired = _joined(workspace, binding, desired, edits, branch, name)
    elif workspace.alike(binding, desired, main):
        return None
    commits = tuple(repository.commits(main, tip, limit=COMMITS_SHOWN))
    return _Ground(branch, tip, main, desired, commits)


def _joined(workspace: Workspace, binding: Binding, ours: str, theirs: str, branch: str, name: str) -> str:
    """Given two commits, return one that merges them, without moving any ref."""
    repository = workspace.repository
    if repository.is_ancestor(theirs, ours):
        return ours
    if repository.is_ancestor(ours, theirs):
        return theirs
    merged = repository.merge(ours, theirs)
    paths = tuple(path for path in merged.conflicts if binding.holds(path))
    if paths:
        raise MergeConflict(
            f"{branch} and {name} changed the same lines of {', '.join(paths[:5])}; nothing was proposed",
            paths=paths,
            hint=f"git merge {name}, settle the conflict, commit, then syncd push",
        )
    person = workspace.committer()
    return repository.commit_tree(
        merged.tree,
        parents=[ours, theirs],
        message=f"Merge {name} into {branch}\n",
        author=person,
        committer=person,
    )


def _stands(workspace: Workspace, binding: Binding, ground: _Ground, own: Proposal) -> bool:
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
    workspace: Workspace, binding: Binding, ground: _Ground, live: Proposal | None, subject: str
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
            joined = _joined_with(workspace, binding, ground, live, content)
            asked = asked if joined is ground else _asked(workspace, binding, joined)
            ground = joined
        plan = plan_proposal(_against(workspace, binding, ground, asked, content), content.existing)
        first = first if first is not None else plan
        if not plan.steps:
            break
        _guard(workspace, binding, content, plan)
        if live is None:
            live = _open(workspace, binding, ground, subject)
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


def _joined_with(workspace: Workspace, binding: Binding, ground: _Ground, live: Proposal, content: Content) -> _Ground:
    """Given content read back, return the ground joined with it: what a reviewer did meanwhile is kept, not undone."""
    name = f"{workspace.remote}/changes/{binding.name}/{live.change_request.number}"
    joined = _joined(workspace, binding, ground.desired, content.commit, ground.branch, name)
    return ground if workspace.alike(binding, joined, ground.desired) else replace(ground, desired=joined)


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


def _asked(workspace: Workspace, binding: Binding, ground: _Ground) -> Desired:
    """Given what a branch asks for, return its tree and blobs; no page is read for it."""
    repository = workspace.repository
    listing = repository.tree(ground.desired, binding.directory)
    blobs = {path: blob.oid for path, blob in listing.items() if blob.mode.startswith("100")}
    draft = read_draft(blobs.keys(), lambda path: repository.read(blobs[path]), links=False)
    return Desired(draft, blobs)


def _against(workspace: Workspace, binding: Binding, ground: _Ground, asked: Desired, content: Content) -> Desired:
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


def _open(workspace: Workspace, binding: Binding, ground: _Ground, subject: str) -> Proposal:
    """Return the branch's change request: one that an earlier run left behind, or a new one.

    A create whose answer was lost is found by the marker in its subject, so there is never a second one.
    """
    mark = marker(ground.branch, workspace.instance)
    left = _marked(workspace, binding, mark)
    if left is not None:
        return Proposal(ground.branch, _origin(workspace, ground, left), left)
    words = subject or proposal_subject([commit.subject for commit in ground.commits])
    body = ChangeRequestCreate(subject=marked_subject(words, mark))
    try:
        made = workspace.client.change_requests.create(binding.space, body)
    except AnswerLost:
        arrived = _marked(workspace, binding, mark)
        if arrived is None:
            raise
        return Proposal(ground.branch, _origin(workspace, ground, arrived), arrived)
    return Proposal(ground.branch, ground.main, made, fresh=True)


def _origin(workspace: Workspace, ground: _Ground, request: ChangeRequest) -> str:
    """Given a change request, return the mirror commit of the main content that it started from or last took in."""
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find(workspace.main, REVISION, start)
    return found.oid if found is not None else ground.main


def _marked(workspace: Workspace, binding: Binding, mark: str) -> ChangeRequest | None:
    """The live change request whose subject carries the marker; the list has no filter for both states at once."""
    requests = workspace.client.change_requests
    for status in ("draft", "open"):
        for found in requests.list(binding.space, status=status):
            if found.subject.endswith(mark):
                return found
    return None


def _describe(workspace: Workspace, binding: Binding, proposal: Proposal, ground: _Ground, *, opened: bool) -> None:
    """Open the change request for review and say what it holds, once its content is complete."""
    request: ChangeRequest = proposal.change_request
    lines = [f"Proposed by syncd from branch {ground.branch}."]
    lines += [f"{commit.oid[:10]} {one_line(commit.subject)}" for commit in ground.commits]
    text = "\n\n".join(lines)
    if not opened and request.description is not None and request.description.text() == text:
        return
    status = "open" if request.status == "draft" and opened else None
    fields = {"description": Document.of_text(text)} | ({"status": status} if status else {})
    workspace.client.change_requests.update(binding.space, request.id, ChangeRequestUpdate.model_validate(fields))


def _explained(refusal: Rejected) -> Rejected:
    if refusal.status != 404:
        return refusal
    return Rejected(
        "this platform cannot write the content of a change request",
        status=404,
        hint="the change request was opened and is empty; edit it on the platform",
    )
