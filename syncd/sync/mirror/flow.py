"""Mirror: each revision of a space's main content becomes a commit on the platform's branch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from syncd.errors import GuardRefused, HistoryCut, Unreachable
from syncd.fault_points import FaultPoint, reach
from syncd.model.app_address import find_app_address
from syncd.model.moment import choose_moment
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.model.space import Space
from syncd.model.text import join_lines
from syncd.model.user import User
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions, guard_restored
from syncd.plan.message import (
    CHANGE_REQUEST,
    LAYOUT,
    LAYOUT_VERSION,
    REVISION,
    SPACE,
    render_merged_subject,
    render_mirror_message,
)
from syncd.plan.propose.description import read_arrived_commit, read_written_revision
from syncd.repo.values import Commit, Person
from syncd.sync.binding import Binding
from syncd.sync.merge.base import read_tips
from syncd.sync.merge.leave_out import leave_out, list_other_directories
from syncd.sync.merge.merge import merge
from syncd.sync.merge.parts import find_original
from syncd.sync.merge.write_part import write_part
from syncd.sync.mirror.anchors import find_mirror_base, save_anchors
from syncd.sync.mirror.dropped_words import describe_dropped
from syncd.sync.mirror.history import NOT_SHOWN, find_passed
from syncd.sync.mirror.overwritten import (
    find_imported_commit,
    forget_restored,
    list_overwritten,
    start_overwritten_ref,
)
from syncd.sync.mirror.plan_revision import gather_content
from syncd.sync.mirror.roots import choose_settings_commit
from syncd.sync.mirror.sent_part import find_sent_part, leave_out_manual_steps
from syncd.sync.mirror.source import MainContent, PastContent
from syncd.sync.mirror.values import TRIES, GatheredRevision, MirrorBase, RevisionMoved, Signature, Source
from syncd.sync.mirror.write_commit import write_content
from syncd.sync.outcome import Applied, Outcome, join_outcomes
from syncd.sync.state.proposals import Proposal, find_head, forget_proposal, list_proposals
from syncd.sync.state.request_commits import read_sent
from syncd.sync.state.sent_log import list_sent
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class _MirrorState:
    """The mirror before a commit is added: the tip of its ref, and the newest commit of the space in it."""

    tip: str | None
    last: Commit | None

    def has_revision(self, revision: str | None) -> bool:
        return self.last is not None and (
            self.last.trailers.get(REVISION) == [revision] and self.last.trailers.get(LAYOUT) == [LAYOUT_VERSION]
        )


@dataclass(frozen=True)
class _MirrorStep:
    """One revision to mirror, where its content is read, and the proposals that it merged.

    Shape: `is_restored` says that the space went back to it.
    """

    source: Source
    revision: Revision
    merged: tuple[Proposal, ...]
    is_restored: bool = False


def mirror(
    workspace: Workspace,
    binding: Binding,
    *,
    space: Space,
    proposals: Sequence[Proposal],
    read_merged: Callable[[Proposal], None],
    done: list[Applied] | None = None,
) -> tuple[Outcome, list[Proposal]]:
    """Bring the main content of a space into Git, and return the outcome and the space's own proposals.

    Shape: an unchanged space costs no request. Otherwise the revision becomes a commit, and so does each revision since
    the last one, as far as the platform shows it; its second parent is the commit of a proposal that it merged. A root
    directory that the workspace's branch has changed is the root from now on. The proposals are returned as they were
    when the content was read: one may have been merged since they were listed. `read_merged` is called for each merged
    proposal before main content is mirrored. `done` gets each revision that became a commit, also when an error ends
    the flow.
    Raises: BecameEmpty, TooMuch, WentBack, and what the adapters raise. Source: ARCHITECTURE.md, "A page is mirrored".
    """
    own, done = list(proposals), [] if done is None else done
    if not _has_mirrored(workspace, binding, space.revision) or _find_unrecorded(workspace, binding, own):
        for left in reversed(range(TRIES)):
            try:
                own = _mirror_all(workspace, binding, space, own, read_merged, done)
                break
            except RevisionMoved:
                if not left:
                    raise
    forget_restored(workspace, binding)
    for proposal in own:
        if proposal.is_merged:
            forget_proposal(workspace, binding, proposal)
    return join_outcomes(done), own


def _read_state(workspace: Workspace, binding: Binding) -> _MirrorState:
    tip = workspace.repository.resolve(workspace.main)
    return _MirrorState(tip, workspace.repository.find_commit(workspace.main, SPACE, binding.space) if tip else None)


def _has_mirrored(workspace: Workspace, binding: Binding, revision: str | None) -> bool:
    """Whether Git has a revision of the space, below the root that the workspace's branch has."""
    state = _read_state(workspace, binding)
    if not state.has_revision(revision):
        return False
    layout_commit = _find_layout_commit(workspace)
    return choose_settings_commit(workspace.repository, binding, state.tip, layout_commit) == state.tip


def _find_layout_commit(workspace: Workspace) -> str | None:
    return workspace.repository.resolve(f"refs/heads/{workspace.branch}") if workspace.branch else None


def _mirror_all(
    workspace: Workspace,
    binding: Binding,
    space: Space,
    own: list[Proposal],
    read_merged: Callable[[Proposal], None],
    done: list[Applied],
) -> list[Proposal]:
    """Mirror the current revision, and before it those that have passed since the last one in Git."""
    source = MainContent(workspace.client, binding.space)
    revision = source.content()
    if not revision.id:
        raise Unreachable(f"space {binding.space} has no revision yet")
    if own and revision.id != space.revision:  # it moved after the proposals were listed, maybe by merging one
        own = list_proposals(workspace, binding, space)
        if source.revision() != revision.id:
            raise RevisionMoved(f"space {binding.space} changed while it was read")
    left = _find_unrecorded(workspace, binding, own)
    # What came from another clone does not know the commits that this one has proposed.
    if _has_mirrored(workspace, binding, revision.id) and not left:
        return own
    between, restored = _find_between(workspace, binding, revision)
    overwritten = list_overwritten(workspace, between, revision)
    for proposal in left:
        read_merged(proposal)
    for past in between:
        try:
            step = past.content()
            if step.id in overwritten:
                done.append(_mirror_aside(workspace, binding, space, past, step))
                continue
            own_merged = tuple(one for one in left if step.merged_from is not None and step.merged_from.id == one.lane)
            done.append(
                _mirror_once(workspace, binding, space, _MirrorStep(past, step, own_merged, step.id == restored))
            )
        except (GuardRefused, *NOT_SHOWN):  # what came after it may be in order
            if past.revision() in overwritten:
                raise
            break
        left = tuple(one for one in left if one not in own_merged)
    done.append(_mirror_once(workspace, binding, space, _MirrorStep(source, revision, left, revision.id == restored)))
    return own


def _mirror_aside(
    workspace: Workspace, binding: Binding, space: Space, past: PastContent, revision: Revision
) -> Applied:
    """Mirror a revision that an import overwrote to a ref of its own, which the branch takes in."""
    ref = start_overwritten_ref(workspace, binding, revision)
    if ref is None:
        return Applied(())
    return _mirror_once(replace(workspace, main_ref=ref), binding, space, _MirrorStep(past, revision, ()))


def _find_between(workspace: Workspace, binding: Binding, revision: Revision) -> tuple[Sequence[PastContent], str]:
    """The revisions between the last one in Git and the current one, and the one that the space was restored to.

    Shape: that one comes first, as a commit of its own, so that a person can undo it and keep what came later.
    """
    last = _read_state(workspace, binding).last
    here = last.trailers.get(REVISION, [""])[0] if last is not None else ""
    if here in ("", revision.id):
        return (), ""

    def is_in_git(id: str) -> bool:
        found = workspace.repository.find_commit(workspace.main, REVISION, id)
        return found is not None and found.trailers.get(SPACE) == [binding.space]

    passed = find_passed(workspace.client, binding.space, revision, here, is_in_git)
    if not passed.restored:
        return passed.between, ""
    guard_restored(f"restored.{binding.name}", passed.restored, here, force=workspace.force)
    first = () if passed.restored == revision.id else (PastContent(workspace.client, binding.space, passed.restored),)
    return (*first, *passed.between), passed.restored


def _find_unrecorded(workspace: Workspace, binding: Binding, own: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """The merged proposals that no mirror commit has recorded as merged."""
    return tuple(one for one in own if one.is_merged and not _has_landed(workspace, binding, one))


def _has_landed(workspace: Workspace, binding: Binding, proposal: Proposal) -> bool:
    """Whether a mirror commit says that it merged the proposal: then a run ended before it could forget it."""
    repository, head = workspace.repository, find_head(workspace, binding, proposal)
    found = repository.find_commit(workspace.main, CHANGE_REQUEST, str(proposal.change_request.number))
    if found is None or found.trailers.get(SPACE) != [binding.space]:
        return False
    # A space that was restored from a backup gives its numbers a second time.
    merged = [repository.read_commit(parent) for parent in found.parents[1:]]
    return repository.is_ancestor(head, found.oid) or head in {find_original(repository, parent) for parent in merged}


def _mirror_once(workspace: Workspace, binding: Binding, space: Space, step: _MirrorStep) -> Applied:
    state, revision, merged = _read_state(workspace, binding), step.revision, step.merged
    last = state.last.oid if state.last else None
    heads = {proposal.lane: find_head(workspace, binding, proposal) for proposal in merged}
    named = {} if heads else _find_named_commits(workspace, binding, step)
    # What was sent, or put in by hand from comments, may have been merged before anybody read where it came to lie.
    unread = {one: "" for proposal in merged for one in list_sent(workspace, binding, proposal.change_request.number)}
    base = find_mirror_base(workspace, binding, revision, last, heads, named | unread)
    request = revision.merged_from
    parts = [leave_out_manual_steps(workspace, binding, request, one) for one in named] if request else [*named]
    joined = (*heads.values(), *filter(None, parts))
    start, parents = _join_heads(workspace, binding, state.tip or workspace.onto, joined)
    settled = base.is_complete and start == state.tip
    sent = [read_sent(workspace.repository, commit, last or commit) for commit in list_sent(workspace, binding)]
    commits, planned = tuple(one.commit for one in sent), tuple(one.planned for one in sent)
    base = replace(base, start=start, is_complete=settled, sent=commits, planned=planned, heads=joined)
    layout_commit = _find_layout_commit(workspace)
    gathered = gather_content(workspace, binding, step.source, revision, base, layout_commit=layout_commit)
    # The first mirror commit deletes nothing: what only Git has was never on the platform.
    if state.last is not None:
        _guard_deletions(workspace, binding, gathered, base)
    pages = {page.id: find_app_address(page.urls) for page, _ in walk_pages(revision.pages)}
    workspace.store.record_addresses(binding.space, {id: address for id, address in pages.items() if address})
    written = write_content(
        workspace,
        binding,
        gathered,
        ref=workspace.main,
        old=state.tip,
        signature=_build_signature(workspace, binding, space, step, state, parents),
        former=base.former or base.anchors,
    )
    reach(FaultPoint.MIRROR_WRITTEN)
    # A run that is killed here is repaired by the next one, which sees that the store is about another commit.
    save_anchors(workspace, binding, "main", revision.id, written, base.stored)
    dropped = describe_dropped(workspace, binding, merged, state.tip, written.commit)
    mirrored = Change("update", "mirror", binding.name, f"revision {revision.id}", after=written.commit)
    return Applied((mirrored, *gathered.plan.plan.changes), (*written.notes, *dropped))


def _find_named_commits(workspace: Workspace, binding: Binding, step: _MirrorStep) -> dict[str, str]:
    """The commit that a revision was imported from, or those that the change request of another clone, or of a job,
    held when it was merged, in full and in part, with the revision that each became, or "" where later ones became it.

    Shape: nothing comes in that the workspace's branch has never had: of a branch that was reset since, it is the last
    commit that both have, unless the branch is known to have been at the commit.
    """
    repository, request = workspace.repository, step.revision.merged_from
    if (imported := find_imported_commit(workspace, step.revision)) is not None:
        return {imported: step.revision.id}
    branch = repository.resolve(f"refs/heads/{workspace.branch}") if workspace.branch else None
    if request is None or step.is_restored or branch is None:
        return {}
    part = find_sent_part(workspace, binding, request, branch)
    parts = dict([part]) if part is not None else {}
    commit = repository.find_revision(read_arrived_commit(request.description))
    if not commit:
        return parts
    if any(repository.is_ancestor(commit, tip) for tip in (branch, *read_tips(repository, workspace.branch))):
        return {commit: read_written_revision(request.description)} | parts
    shared = _find_last_shared(workspace, commit, branch)
    return ({shared: ""} if shared is not None else {}) | parts


def _find_last_shared(workspace: Workspace, commit: str, branch: str) -> str | None:
    """The last commit that two have in common, unless main content has it already or a shallow clone lacks it."""
    try:
        shared = workspace.repository.find_merge_base(commit, branch)
    except HistoryCut:
        return None
    tip = workspace.repository.resolve(workspace.main)
    is_known = shared and tip and workspace.repository.is_ancestor(shared, tip)
    return None if is_known else shared


def _join_heads(
    workspace: Workspace, binding: Binding, tip: str | None, heads: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """Return the commit from which a mirror commit starts, and its parents; `heads` are commits of merged proposals.

    Where a proposal has more than its own space merged, a part of it is the parent: else Git would take that for
    merged, too, and it would be lost. This is what it has of other spaces, and what conflicts with main content outside
    of this one.
    """
    if tip is None:
        return None, ()
    start, parents = tip, [tip]
    for head in heads:
        if not workspace.repository.is_ancestor(head, tip):
            start, parent = _join_head(workspace, binding, start, head)
            parents.append(parent)
    return start, tuple(parents)


def _join_head(workspace: Workspace, binding: Binding, start: str, head: str) -> tuple[str, str]:
    """Merge two commits into what a mirror commit starts from, and return it with its second parent."""
    repository, person = workspace.repository, workspace.committer()
    both = merge(workspace, start, head)
    others = list_other_directories(workspace.bindings, binding)
    outside = [paths for page in both.conflicts for paths in page.paths_per_page if not all(map(binding.holds, paths))]
    part_tree = leave_out(repository, workspace.bindings, head, both.base.tree, outside, directories=others)
    parent = head
    if part_tree != repository.find_tree(head):
        lacks = "what lies outside of its space"
        parent = write_part(repository, head, both.base.commits, part_tree, name="a change request", lacks=lacks)
    message = "syncd: what a mirror commit starts from\n"
    joined = repository.commit_tree(
        leave_out(repository, (), both.tree_with_ours, start, (), directories=others),
        parents=[start, parent],
        message=message,
        author=person,
        committer=person,
    )
    return joined, parent


def _guard_deletions(workspace: Workspace, binding: Binding, gathered: GatheredRevision, base: MirrorBase) -> None:
    deleted = [change.key for change in gathered.plan.plan.select("delete") if change.noun == "page"]
    existing = sum(anchor.kind == "page" for anchor in base.anchors.values())
    remain = len(gathered.placement.pages)
    guard_deletions(f"mirror.{binding.name}", deleted, existing, remain=remain, force=workspace.force)


def _build_signature(
    workspace: Workspace,
    binding: Binding,
    space: Space,
    step: _MirrorStep,
    state: _MirrorState,
    parents: tuple[str, ...],
) -> Signature:
    revision = step.revision
    causes = [proposal.change_request for proposal in step.merged]
    if not causes and revision.merged_from is not None and not step.is_restored:
        causes = [revision.merged_from]
    verb = "Restore" if step.is_restored else "Update" if state.last else "Mirror"
    subject = render_merged_subject(causes[-1].subject) if causes else ""
    message = render_mirror_message(
        subject or f"{verb} {space.title or space.id}",
        space=binding.space,
        revision=revision.id,
        change_requests=[cause.number for cause in causes],
        directory=binding.directory,
    )
    # So that two clones write the same commit for it; Git counts wrong where a commit is older than its parents.
    before = [workspace.repository.read_commit(parent).recorded for parent in parents]
    when = choose_moment(revision.created_at, workspace.now(), before)
    author = _build_person(workspace, causes[-1].created_by if causes else None, when)
    return Signature(message, author, parents)


def _build_person(workspace: Workspace, user: User | None, when: datetime) -> Person:
    if user is None:
        return replace(workspace.committer(), when=when)
    # In a commit, angle brackets enclose the address, so that none can be in a name or address.
    name = join_lines(user.display_name).translate({ord(c): None for c in "<>"}) or user.id
    email = join_lines(user.email or "").translate({ord(c): None for c in "<> "}) or f"{user.id}@users.invalid"
    return Person(name, email, when=when)
