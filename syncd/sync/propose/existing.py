"""Read the existing content that a proposal is planned against: main content, or a change request's.

That of a change request is recorded in Git below `refs/remotes/<platform>/changes/` when it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from posixpath import dirname, join, normpath

from syncd.errors import FileInvalid
from syncd.layout.tree.paths import is_decodable, list_forms
from syncd.layout.tree.placement import Placement, assign_paths
from syncd.layout.tree.summary import parse_summary, walk_entries
from syncd.layout.tree.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.change_request import ChangeRequest
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.plan.message import REVISION, SPACE
from syncd.plan.mirror.revision import list_bodies
from syncd.plan.propose.alignment import DesiredSide, ExistingSide
from syncd.plan.propose.description import read_commit_unless_partial, read_sent_part, read_written_revision
from syncd.plan.propose.steps import ROOT, FormerPage
from syncd.repo.repository import Repository
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.moves import drop_false_moves, render_moves
from syncd.sync.merge.parts import find_original, write_synthetic_commit
from syncd.sync.mirror.anchors import find_mirror_base, save_anchors
from syncd.sync.mirror.history import NOT_SHOWN, find_passed
from syncd.sync.mirror.plan_revision import gather_content, list_known
from syncd.sync.mirror.request_base import Reading, RevisionStep, find_request_base
from syncd.sync.mirror.roots import choose_settings_commit, move_below_root
from syncd.sync.mirror.source import MainContent, PastContent, ProposedContent
from syncd.sync.mirror.values import TRIES, MainMoved, RevisionMoved, Signature, Source, WrittenCommit
from syncd.sync.mirror.write_commit import write_content
from syncd.sync.propose.intent import ExistingContent
from syncd.sync.settings import read_settings_at, read_text_at
from syncd.sync.state.lane_content import NO_UPDATE, Update, find_start, has_taken_in, record_lane
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.request_commits import (
    SentContent,
    compose_lane_message,
    find_taken_main,
    read_sent,
    write_lane_commit,
)
from syncd.sync.state.sent_log import record_read
from syncd.sync.workspace import Workspace


def read_main_content(workspace: Workspace, binding: Binding, *, layout_commit: str | None = None) -> ExistingContent:
    """Return the main content of a mirrored space, with an anchor for each page and file.

    Shape: where the commit `layout_commit` has changed the root directory, paths are below the new one.
    Raises: MainMoved when the space has a newer revision than the mirror.
    """
    revision = MainContent(workspace.client, binding.space).content()
    last = find_mirrored(workspace, binding, revision.id)
    if last is None:
        raise MainMoved(binding.space)
    base = find_mirror_base(workspace, binding, revision, last.oid, {})
    settings = read_settings_at(
        workspace.repository, binding, choose_settings_commit(workspace.repository, binding, last.oid, layout_commit)
    )
    anchors = move_below_root(base.anchors, base.settings, settings)
    placement = assign_paths(revision, base=list_known(anchors.values()), settings=settings)
    link_titles = _read_link_titles(workspace.repository, binding, last.oid)
    return _build_content(revision, placement, anchors, last.oid, link_titles)


def record_proposed_content(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    written: Mapping[str, Anchor],
    *,
    layout_commit: str = "",
    own_revisions: Sequence[str] = (),
    update: Update = NO_UPDATE,
) -> ExistingContent:
    """Bring the content of a change request to its ref in Git, and return it; `written` is what was just written to it.

    Shape: the parents of the commit say what of the branch and of main content has arrived (`lane_content.py`).
    `layout_commit` is the commit that says where new pages belong. `own_revisions` are the revisions that the writes of
    this run made: while the last of them is current, every difference from what was written was made by the platform.
    `update` says what is known of an update from main content.
    Raises: RevisionMoved when the change request keeps changing while it is read; MainMoved when it has taken in main
    content that the mirror does not have.
    """
    reading = Reading(workspace, binding, proposal, written, layout_commit, tuple(own_revisions))
    for left in reversed(range(TRIES)):
        try:
            return _record_revisions(reading, update)
        except MainMoved:
            raise
        except RevisionMoved:
            if not left:
                raise
    raise AssertionError("unreachable")


def _record_revisions(reading: Reading, update: Update) -> ExistingContent:
    """Record the current revision, and, while something is being sent or after an update from main content, each one
    since the last known: else edits made in between could be overwritten, or be taken for a merge with main content."""
    workspace, own = reading.workspace, reading.own_revisions
    source: Source = ProposedContent(workspace.client, reading.binding.space, reading.proposal.change_request.id)
    revision, known = source.content(), _find_known_revision(reading)
    reading = _renew_request(reading, revision, known)
    _guard_main_mirrored(workspace, reading.binding, reading.proposal.change_request)
    main_in_request = find_taken_main(workspace, reading.proposal.change_request)
    is_news = _has_new_main(reading, main_in_request)
    past: tuple[PastContent, ...] = ()
    if known not in ("", revision.id) and (is_news or reading.list_sent()):
        past = find_passed(workspace.client, reading.binding.space, revision, known).between
    # Of our own revisions only the last is read, and only where somebody wrote after it: their edit started from there.
    # The earlier ones are half-written.
    own = own if revision.id in own else own[:-1]
    update = replace(update, is_separate=bool(past) or revision.parents[:1] == (known,))
    before_own = _list_before_own(reading, [*(one.revision() for one in past), revision.id])
    try:
        for one, content in [(one, one.content()) for one in past if one.revision() not in own]:
            joined = _find_joined_main(workspace, content) or (None if is_news else main_in_request)
            # What was written later says nothing of where pages were before.
            then = replace(reading, written={}) if content.id in before_own else reading
            _record_revision(then, RevisionStep(one, content, joined), _reduce_update(update, content, known))
    except NOT_SHOWN:  # a platform may show the tree of a past revision, and not its pages
        update = replace(update, is_separate=False)
    step = RevisionStep(source, revision, main_in_request)
    return _record_revision(reading, step, _reduce_update(update, revision, known))


def _list_before_own(reading: Reading, revisions: Sequence[str]) -> Sequence[str]:
    """The revisions, of these in their order, that others made before the last write of this run."""
    last = next((revisions.index(one) for one in reading.own_revisions[-1:] if one in revisions), 0)
    return [one for one in revisions[:last] if one not in reading.own_revisions]


def _renew_request(reading: Reading, revision: Revision, known: str) -> Reading:
    """Read the change request again where others may have written since, and with that taken in main content."""
    request = reading.proposal.change_request
    is_own = revision.id in reading.own_revisions and revision.parents[:1] == (known,)
    if is_own or revision.id == request.revision:
        return reading
    request = reading.workspace.client.change_requests.get(reading.binding.space, request.id)
    if request.revision != revision.id:
        raise RevisionMoved(f"change request {request.id} changed after it was read")
    return replace(reading, proposal=replace(reading.proposal, change_request=request))


def _guard_main_mirrored(workspace: Workspace, binding: Binding, request: ChangeRequest) -> None:
    """Check that Git has the main content in a change request.

    Else that would pass for what reviewers wrote, and come back once it is taken out of main content.
    """
    taken = request.revision_merged_ancestor or request.revision_initial or ""
    if not request.is_live or workspace.repository.find_commit(workspace.main, REVISION, taken) is not None:
        return
    # Where the platform does not show past revisions, Git has none that was current between two runs.
    if find_mirrored(workspace, binding, workspace.client.spaces.get(binding.space).revision or "") is None:
        raise MainMoved(binding.space)


def find_mirrored(workspace: Workspace, binding: Binding, revision: str) -> Commit | None:
    """Return the newest mirror commit of a space, if it is of this revision; else None."""
    last = workspace.repository.find_commit(workspace.main, SPACE, binding.space)
    return last if last is not None and last.trailers.get(REVISION) == [revision] else None


def _reduce_update(update: Update, revision: Revision, known: str) -> Update:
    """What is known of the update that made a revision; where others wrote before it, no commit had merged that."""
    return update if revision.parents[:1] == (known,) else replace(update, merged_commit="")


def _has_new_main(reading: Reading, main_in_request: str | None) -> bool:
    """Whether a change request has taken in main content since it was last read, or since it was opened."""
    workspace, here = reading.workspace, reading.find_recorded()
    if here is None:
        opened_at = reading.proposal.change_request.revision_initial or ""
        found = workspace.repository.find_commit(workspace.main, REVISION, opened_at)
        here = found.oid if found is not None else None
    return here is not None and main_in_request is not None and not has_taken_in(workspace, here, main_in_request)


def _find_joined_main(workspace: Workspace, revision: Revision) -> str | None:
    """The commit of the main content that a revision was merged with, where the platform names it."""
    found = (workspace.repository.find_commit(workspace.main, REVISION, id) for id in revision.parents[1:])
    return next((commit.oid for commit in found if commit is not None), None)


def _find_known_revision(reading: Reading) -> str:
    """The revision that Git has of a change request; of one that was just opened, that of main content.

    In a place without memory, such as a job's or a new clone, the description names what Git has: what was sent last.
    """
    request, here = reading.proposal.change_request, reading.find_recorded()
    seen = reading.workspace.store.read_last_seen(reading.binding.space, reading.proposal.lane)
    if seen is not None and seen.commit == here:
        return seen.revision
    if here is None:
        return request.revision_initial or ""
    if seen is not None:
        return ""
    sent = read_sent_part(request.description)
    named = sent.commit or read_commit_unless_partial(request.description)
    revision = sent.revision or read_written_revision(request.description)
    return revision if named in (reading.proposal.commit, here) else ""


def _record_revision(reading: Reading, step: RevisionStep, update: Update) -> ExistingContent:
    """Mirror one revision into a commit on top of what Git had; then write the commit that stands for it, whose parents
    say what of the branch and of main content has arrived; move the ref, and save the anchors."""
    workspace, binding, proposal = reading.workspace, reading.binding, reading.proposal
    repository, request = workspace.repository, proposal.change_request
    main = step.main_in_request or repository.resolve(workspace.main) or proposal.commit
    sent = [read_sent(repository, commit, main) for commit in reading.list_sent()]
    old = reading.find_recorded()
    here = old or (sent[0].planned if sent else main)
    start = _commit_tree(workspace, find_start(workspace, binding, here, sent, step.main_in_request), here)
    base = find_request_base(reading, step, start, here, sent)
    layout_commit = reading.layout_commit or start
    gathered = gather_content(workspace, binding, step.source, step.revision, base, layout_commit=layout_commit)
    signature = Signature(compose_lane_message(binding, request, step.revision.id), workspace.committer(), (here,))
    result = write_content(
        workspace, binding, gathered, ref=reading.ref, old=old, signature=signature, former=base.anchors
    )
    tree = repository.read_root_tree(result.commit)
    found = drop_false_moves(repository, here, result.commit, result.moves)
    lane = record_lane(
        workspace,
        binding,
        tree,
        here=here,
        sent=sent,
        taken=step.main_in_request,
        is_own=reading.is_own(step),
        update=replace(update, moves=found),
    )
    if here not in lane.parents and _has_taken_in_since(repository, proposal.branch, here, sent):
        lane = replace(lane, parents=(*lane.parents, here))
    moves = {old: new for old, new in found.items() if repository.lookup(lane.tree, new) is not None}
    commit = write_lane_commit(repository, lane, signature.message + render_moves(moves), signature.author)
    record_read(workspace, binding, request.number, result.commit if lane.content else "")
    if commit != result.commit:
        repository.update_ref(reading.ref, commit, old=result.commit)
    known = workspace.store.read_last_seen(binding.space, proposal.lane)
    news = {id: anchor for id, anchor in result.anchors.items() if base.stored.get(id) != anchor}
    written_commit = WrittenCommit(commit, news, is_partial=result.is_partial)
    save_anchors(workspace, binding, proposal.lane, step.revision.id, written_commit, known.anchors if known else {})
    link_titles = _read_link_titles(repository, binding, commit)
    return _build_content(step.revision, gathered.placement, result.anchors, commit, link_titles)


def _has_taken_in_since(repository: Repository, branch: str, here: str, sent: Sequence[SentContent]) -> bool:
    """Whether a branch has taken in a commit of its change request after what was sent last, such as by settling a
    conflict with it: without that commit as a parent, the next merge would not know of it."""
    tip = repository.resolve(f"{HEADS}{branch}")
    if tip is None or not repository.is_ancestor(here, tip):
        return False
    commits = (one.branch_commit for one in sent)
    originals = (find_original(repository, repository.read_commit(commit)) or commit for commit in commits)
    return not any(repository.is_ancestor(here, original) for original in originals)


def find_deleted_pages(
    workspace: Workspace, binding: Binding, existing: ExistingSide, desired: DesiredSide
) -> dict[str, FormerPage]:
    """Return the pages that a change request has deleted, and that a branch has again, by path.

    Shape: main content is read only where there may be one. Left out is a page below which main content has others
    that are to stay deleted: they would come back with it.
    """
    known = {anchor.path for anchor in existing.anchors.values()}
    new = [path for path in desired.draft.documents if path in desired.blobs and path not in known]
    each = ((form, path) for path in filter(is_decodable, new) for form in (path, *list_forms(path)))
    paths = {form: path for form, path in each if form not in known}
    anchors = workspace.store.find_anchors(binding.space, paths) if paths else []
    there = {page.id for page, _ in walk_pages(existing.revision.pages)} if anchors else set()
    gone = {anchor.id: paths[anchor.path] for anchor in anchors if anchor.kind == "page" and anchor.id not in there}
    if not gone:
        return {}
    main = MainContent(workspace.client, binding.space).content()
    return {
        gone[page.id]: FormerPage(page.id, page.slug or "", parent.id if parent is not None else ROOT, main.id)
        for page, parent in walk_pages(main.pages)
        if page.id in gone and all(below.id in there or below.id in gone for below, _ in walk_pages(page.pages))
    }


def _commit_tree(workspace: Workspace, start: str, here: str) -> str:
    """A tree to start from as a commit, which no ref ever names."""
    if workspace.repository.is_tree(start):
        return write_synthetic_commit(workspace.repository, start, [here], "syncd: what content lies upon")
    return start


def _build_content(
    revision: Revision,
    placement: Placement,
    anchors: Mapping[str, Anchor],
    commit: str,
    link_titles: Mapping[str, str],
) -> ExistingContent:
    present = {item.id for item in list_bodies(revision, placement)}
    kept = {id: anchor for id, anchor in anchors.items() if id in present}
    return ExistingContent(ExistingSide(revision, kept, link_titles), commit, Translation(placement))


def _read_link_titles(repository: Repository, binding: Binding, commit: str) -> dict[str, str]:
    """The link titles that SUMMARY.md has in a commit, by the path of the page."""
    settings = read_settings_at(repository, binding, commit)
    summary = settings.add_root(settings.summary)
    text = read_text_at(repository, commit, binding.path(summary))
    if text is None or '"' not in text:
        return {}
    try:
        listed = [
            entry for entry, _ in walk_entries(parse_summary(text, at=summary)) if entry.path and entry.link_title
        ]
    except FileInvalid:
        return {}
    return {normpath(join(dirname(summary), entry.path or "")): entry.link_title or "" for entry in listed}
