"""Read the existing content that a proposal is planned against: main content, or a change request's.

That of a change request is recorded in Git below `refs/remotes/<platform>/changes/` when it is read.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import dirname, join, normpath

from syncd.errors import FileInvalid
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import ASSETS, is_decodable, is_markdown
from syncd.layout.tree.placement import SUMMARY, Placement, assign_paths, match_pages
from syncd.layout.tree.summary import parse_summary, walk_entries
from syncd.layout.tree.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.message import REVISION, SPACE
from syncd.plan.mirror.revision import list_bodies
from syncd.plan.propose.proposal import ExistingSide
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.moves import drop_false_moves, render_moves
from syncd.sync.merge.parts import SYNTHETIC_AUTHOR
from syncd.sync.mirror.anchors import LOST_PREFIX, find_mirror_base, read_entries, save_anchors
from syncd.sync.mirror.history import find_passed
from syncd.sync.mirror.plan_revision import gather_content, list_known
from syncd.sync.mirror.roots import choose_settings_commit, move_below_root
from syncd.sync.mirror.source import MainContent, PastContent, ProposedContent
from syncd.sync.mirror.values import TRIES, MirrorBase, RevisionMoved, Signature, Source, WrittenCommit
from syncd.sync.mirror.write_commit import write_content
from syncd.sync.propose.intent import ExistingContent
from syncd.sync.settings import read_settings_at, read_text_at
from syncd.sync.state.lane_content import (
    NO_UPDATE,
    SentContent,
    Update,
    compose_lane_message,
    find_start,
    find_taken_main,
    has_taken_in,
    read_sent,
    record_lane,
    write_lane_commit,
)
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.sent_log import list_sent, record_read
from syncd.sync.workspace import Workspace


def read_main_content(workspace: Workspace, binding: Binding, *, layout_commit: str | None = None) -> ExistingContent:
    """Return the main content of a mirrored space, with an anchor for each page and file.

    Shape: where the commit `layout_commit` has changed the root directory, paths are below the new one.
    Raises: RevisionMoved when the space has a newer revision than the mirror.
    """
    revision = MainContent(workspace.client, binding.space).content()
    last = workspace.repository.find_commit(workspace.main, SPACE, binding.space)
    if last is None or last.trailers.get(REVISION) != [revision.id]:
        raise RevisionMoved(f"space {binding.space} changed meanwhile", hint="the next run reads it again")
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
    Raises: RevisionMoved when the change request keeps changing while it is read.
    """
    for left in reversed(range(TRIES)):
        try:
            return _record_revisions(
                workspace,
                binding,
                proposal,
                written,
                layout_commit=layout_commit,
                own_revisions=own_revisions,
                update=update,
            )
        except RevisionMoved:
            if not left:
                raise
    raise AssertionError("unreachable")


def _record_revisions(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    written: Mapping[str, Anchor],
    *,
    layout_commit: str,
    own_revisions: Sequence[str],
    update: Update,
) -> ExistingContent:
    """Record the current revision, and, while something is being sent or after an update from main content, each one
    since the last known: else edits made in between could be overwritten, or be taken for a merge with main content."""
    source: Source = ProposedContent(workspace.client, binding.space, proposal.change_request.id)
    revision = source.content()
    main_in_request = find_taken_main(workspace, proposal.change_request)
    known = _find_known_revision(workspace, binding, proposal)
    is_sending = bool(list_sent(workspace, binding, proposal.change_request.number))
    is_news = _has_new_main(workspace, binding, proposal, main_in_request)
    past: tuple[PastContent, ...] = ()
    if known not in ("", revision.id) and (is_sending or is_news):
        past = find_passed(workspace.client, binding.space, revision, known).between
    # Of our own revisions only the last is read, and only where somebody wrote after it: their edit started from there.
    # The earlier ones are half-written.
    own = own_revisions if revision.id in own_revisions else own_revisions[:-1]
    steps = [(one, one.content()) for one in past if one.revision() not in own]
    update = replace(update, is_separate=bool(past) or revision.parents[:1] == (known,))
    for one, content in steps:
        joined = _find_joined_main(workspace, content) or (None if is_news else main_in_request)
        step = _RevisionStep(one, content, joined, _reduce_update(update, content, known))
        _record_revision(
            workspace, binding, proposal, written, step, layout_commit=layout_commit, own_revisions=own_revisions
        )
    step = _RevisionStep(source, revision, main_in_request, _reduce_update(update, revision, known))
    return _record_revision(
        workspace, binding, proposal, written, step, layout_commit=layout_commit, own_revisions=own_revisions
    )


@dataclass(frozen=True)
class _RevisionStep:
    """One revision of a change request: where to read it, and the commit of the main content in it, if known."""

    source: Source
    revision: Revision
    main_in_request: str | None
    update: Update = NO_UPDATE


def _reduce_update(update: Update, revision: Revision, known: str) -> Update:
    """What is known of the update that made a revision; where others wrote before it, no commit had merged that."""
    return update if revision.parents[:1] == (known,) else replace(update, merged_commit="")


def _has_new_main(workspace: Workspace, binding: Binding, proposal: Proposal, main_in_request: str | None) -> bool:
    """Whether a change request has taken in main content since it was last read."""
    here = workspace.repository.resolve(workspace.change_ref(binding, proposal.change_request.number))
    return here is not None and main_in_request is not None and not has_taken_in(workspace, here, main_in_request)


def _find_joined_main(workspace: Workspace, revision: Revision) -> str | None:
    """The commit of the main content that a revision was merged with, where the platform names it."""
    found = (workspace.repository.find_commit(workspace.main, REVISION, id) for id in revision.parents[1:])
    return next((commit.oid for commit in found if commit is not None), None)


def _find_known_revision(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """The revision that Git has of a change request; of one that was just opened, that of main content."""
    seen = workspace.store.read_last_seen(binding.space, proposal.lane)
    here = workspace.repository.resolve(workspace.change_ref(binding, proposal.change_request.number))
    if seen is not None and seen.commit == here:
        return seen.revision
    return proposal.change_request.revision_initial or "" if here is None else ""


def _record_revision(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    written: Mapping[str, Anchor],
    step: _RevisionStep,
    *,
    layout_commit: str,
    own_revisions: Sequence[str],
) -> ExistingContent:
    """Mirror one revision into a commit on top of what Git had; then write the commit that stands for it, whose parents
    say what of the branch and of main content has arrived; move the ref, and save the anchors."""
    repository, request = workspace.repository, proposal.change_request
    revision, main_in_request = step.revision, step.main_in_request
    ref = workspace.change_ref(binding, request.number)
    old = repository.resolve(ref)
    main = main_in_request or repository.resolve(workspace.main) or proposal.commit
    sent = [read_sent(repository, commit, main) for commit in list_sent(workspace, binding, request.number)]
    here = old or (sent[0].planned if sent else main)
    is_own = revision.id in own_revisions[-1:]
    base = _find_reading_base(
        workspace, binding, proposal, step, here, sent, written=written, layout_commit=layout_commit, is_own=is_own
    )
    gathered = gather_content(
        workspace, binding, step.source, revision, base, layout_commit=layout_commit or base.start
    )
    signature = Signature(compose_lane_message(binding, request, revision.id), workspace.committer(), (here,))
    result = write_content(workspace, binding, gathered, ref=ref, old=old, signature=signature, former=base.anchors)
    tree = repository.find_tree(result.commit)
    assert tree is not None
    found = drop_false_moves(repository, here, result.commit, result.moves)
    update = replace(step.update, moves=found)
    lane = record_lane(
        workspace, binding, tree, here=here, sent=sent, taken=main_in_request, is_own=is_own, update=update
    )
    moves = {old: new for old, new in found.items() if repository.lookup(lane.tree, new) is not None}
    signature = replace(signature, message=signature.message + render_moves(moves))
    commit = write_lane_commit(repository, lane, signature.message, signature.author)
    record_read(workspace, binding, request.number, result.commit if lane.content else "")
    if commit != result.commit:
        repository.update_ref(ref, commit, old=result.commit)
    known = workspace.store.read_last_seen(binding.space, proposal.lane)
    news = {id: anchor for id, anchor in result.anchors.items() if base.stored.get(id) != anchor}
    written_commit = WrittenCommit(commit, news, is_partial=result.is_partial)
    save_anchors(workspace, binding, proposal.lane, revision.id, written_commit, known.anchors if known else {})
    link_titles = _read_link_titles(repository, binding, commit)
    return _build_content(revision, gathered.placement, result.anchors, commit, link_titles)


def _find_reading_base(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    step: _RevisionStep,
    here: str,
    sent: Sequence[SentContent],
    *,
    written: Mapping[str, Anchor],
    layout_commit: str,
    is_own: bool,
) -> MirrorBase:
    """What is known before a revision of a change request is read: where its pages belong, and what was sent.

    `here` is the commit that Git has of it; `is_own` says that the last write of this run made the revision. Where no
    `layout_commit` says where new pages belong, the commit that the content lies upon does.
    """
    repository, revision = workspace.repository, step.revision
    start = _commit_tree(workspace, find_start(workspace, here, sent, step.main_in_request), here)
    layout_commit = layout_commit or start
    last = repository.find_commit(workspace.main, SPACE, binding.space)
    base = find_mirror_base(workspace, binding, revision, last.oid if last else None, {proposal.lane: here})
    settings_commit = choose_settings_commit(repository, binding, here, layout_commit)
    settings = read_settings_at(repository, binding, settings_commit)
    anchors = move_below_root(base.anchors, base.settings, settings)
    anchors = _keep_proposed_paths(workspace, binding, revision, anchors, written, layout_commit)
    known = {anchor.path for anchor in anchors.values()}
    anchors |= _find_left_behind(workspace, binding, start, known)
    anchors |= _find_unsent_assets(workspace, binding, start, here, known)
    return replace(
        base,
        anchors=anchors,
        start=start,
        is_complete=False,
        written={id: anchor.oid for id, anchor in written.items() if is_own},
        sent=tuple(one.commit for one in sent),
        planned=tuple(one.planned for one in sent),
        at=settings_commit,
        settings=settings,
    )


def _commit_tree(workspace: Workspace, start: str, here: str) -> str:
    """A tree to start from as a commit, which no ref ever names."""
    if start == workspace.repository.find_tree(start):
        words = "syncd: what content lies upon\n"
        return workspace.repository.commit_tree(
            start, parents=[here], message=words, author=SYNTHETIC_AUTHOR, committer=SYNTHETIC_AUTHOR
        )
    return start


def _keep_proposed_paths(
    workspace: Workspace,
    binding: Binding,
    revision: Revision,
    anchors: dict[str, Anchor],
    written: Mapping[str, Anchor],
    commit: str,
) -> dict[str, Anchor]:
    """Return anchors that keep each proposed page of a change request's revision where the branch has it.

    What was written in this run is known by id; what an earlier, interrupted run wrote is found by its place in the
    branch's SUMMARY.md. A page that the platform does not name by blob id is read back, to see what became of it.
    """
    plain = assign_paths(revision)
    forms = plain.platform_paths
    loose = {id for id, form in forms.items() if id not in anchors or anchors[id].form != form}
    aligned: dict[str, str] = {}
    if loose - written.keys():
        settings = read_settings_at(workspace.repository, binding, commit)
        aligned = match_pages(revision.pages, read_entries(workspace.repository, binding, commit), settings=settings)
    listing = workspace.repository.list_files(commit, binding.directory)
    for item in list_bodies(revision, plain):
        former = anchors.get(item.id)
        sent = written.get(item.id)
        if sent is not None:
            oid = sent.oid or (former.oid if former else "")
            same = item.blob == oid if item.blob or item.kind == "page" else bool(sent.oid)
            same = same or (former is not None and former.oid == oid and former.fingerprint == item.fingerprint)
            # An empty fingerprint makes the mirror fetch the body again: needed unless the platform shows that it has
            # exactly the blob that was sent.
            kept = former.fingerprint if former is not None and not sent.oid else ""
            anchors[item.id] = sent._replace(form=item.form, fingerprint=item.fingerprint if same else kept, oid=oid)
        elif item.id in loose and (path := aligned.get(item.id)) in listing and path is not None:
            fingerprint, oid = (former.fingerprint, former.oid) if former else ("", listing[path].oid)
            anchors[item.id] = Anchor(item.id, item.kind, path, item.form, fingerprint, oid)
    return anchors


def _find_left_behind(workspace: Workspace, binding: Binding, commit: str, taken: Collection[str]) -> dict[str, Anchor]:
    """Made-up anchors for files that no page of the revision stands for: the mirror deletes files whose anchor has no
    page, and leaves files without an anchor alone."""
    blobs = workspace.repository.list_files(commit, binding.directory)
    if all(path in taken or not is_markdown(path) or path.endswith(SUMMARY) for path in blobs):
        return {}
    listed = {
        entry.path for entry, _ in walk_entries(read_entries(workspace.repository, binding, commit)) if entry.path
    }
    return {
        LOST_PREFIX + path: Anchor(LOST_PREFIX + path, "page", path, path, "", blobs[path].oid)
        for path in listed - set(taken)
        if path in blobs
    }


def _find_unsent_assets(
    workspace: Workspace, binding: Binding, start: str, here: str, known: Collection[str]
) -> dict[str, Anchor]:
    """Made-up anchors for new assets that the platform does not have, such as one that is too large for the API.

    Without them the commit would say that these have arrived, and nobody would be told of them again."""
    assets = read_settings_at(workspace.repository, binding, start).add_root(ASSETS)
    changes = workspace.repository.list_changes(here, start, binding.directory)
    added = {change.path for change in changes if change.path.startswith(assets) and is_decodable(change.path)}
    added -= set(known)
    former = workspace.repository.list_files(here, binding.directory) if added else {}
    listing = workspace.repository.list_files(start, binding.directory) if added else {}
    return {
        LOST_PREFIX + path: Anchor(LOST_PREFIX + path, "page", path, path, "", listing[path].oid)
        for path in (added & listing.keys()) - former.keys()
    }


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


def find_linked_files(
    repository: Repository, pages: Iterable[str], blobs: Mapping[str, str], *, root: str
) -> Iterator[str]:
    """Yield the files outside `.gitbook/assets` that changed pages link to."""
    for page in pages:
        text = repository.read(blobs[page]).decode("utf-8", "replace")
        for target in find_targets(text):
            found = resolve_address(target.text, at=page, root=root)
            if found is not None and found[0] in blobs and not found[0].endswith(".md"):
                yield found[0]
