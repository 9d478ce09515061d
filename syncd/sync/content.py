"""The content that a proposal starts from: main content, or a change request's, with an anchor for every part."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from syncd.layout.links import resolve, targets
from syncd.layout.placement import Placement, match, place
from syncd.layout.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.message import REVISION, SPACE, bare_subject, mirror_message
from syncd.plan.mirror import wanted
from syncd.plan.proposal import Existing
from syncd.repo import Repository
from syncd.sync.base import base_of, entries_at, save_lane
from syncd.sync.proposals import Proposal, head_of
from syncd.sync.snapshot import (
    TRIES,
    Base,
    RevisionMoved,
    Signature,
    Written,
    gather_content,
    known_of,
    write_content,
)
from syncd.sync.source import MainContent, ProposedContent
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Content:
    """Existing content: `commit` holds it in Git, `translation` knows the addresses of its parts."""

    existing: Existing
    commit: str
    translation: Translation


def main_content(workspace: Workspace, binding: Binding) -> Content:
    """Given a space whose main content is mirrored, return that content with its anchors.

    Raises: RevisionMoved when the platform has gone on since.
    """
    revision = MainContent(workspace.client, binding.space).content()
    last = workspace.repository.find(workspace.main, SPACE, binding.space)
    if last is None or last.trailers.get(REVISION) != [revision.id]:
        raise RevisionMoved(f"space {binding.space} changed meanwhile", hint="the next run reads it again")
    base = base_of(workspace, binding, revision, last.oid, {})
    return _content(revision, place(revision, known=known_of(base.anchors.values())), base.anchors, last.oid)


def proposed_content(
    workspace: Workspace, binding: Binding, proposal: Proposal, written: Mapping[str, Anchor], *, guide: str = ""
) -> Content:
    """Given a change request and what was just written to it, bring its content to its ref and return it.

    Shape: when the content is that of the proposed commit, the ref is that commit; else a commit upon it. `guide` is
    the commit that says where new pages belong, the proposed one by default.
    """
    for left in reversed(range(TRIES)):
        try:
            return _bring(workspace, binding, proposal, written, guide or proposal.commit)
        except RevisionMoved:
            if not left:
                raise
    raise AssertionError("unreachable")


def _bring(
    workspace: Workspace, binding: Binding, proposal: Proposal, written: Mapping[str, Anchor], guide: str
) -> Content:
    repository, request = workspace.repository, proposal.change_request
    ref = workspace.changes(binding, request.number)
    here, ground = repository.resolve(ref), head_of(workspace, binding, proposal)
    source = ProposedContent(workspace.client, binding.space, request.id)
    revision = source.content()
    last = repository.find(workspace.main, SPACE, binding.space)
    base = base_of(workspace, binding, revision, last.oid if last else None, {proposal.lane: ground})
    anchors = _placed_as_proposed(workspace, binding, revision, {**base.anchors}, written, guide)
    gathered = gather_content(workspace, binding, source, revision, Base(anchors, ground, settled=False))
    subject = f"Change request #{request.number}: {bare_subject(request.subject)}"
    message = mirror_message(subject, space=binding.space, revision=revision.id, change_requests=[request.number])
    parents = tuple(dict.fromkeys((ground, *_contained(workspace, proposal, ground))))
    signature = Signature(message, workspace.committer(), parents)
    result = write_content(workspace, binding, gathered, ref=ref, old=here, signature=signature)
    commit = result.commit
    if workspace.alike(binding, commit, ground):
        repository.update_ref(ref, ground, old=commit)
        commit = ground
    lane = workspace.store.seen(binding.space, proposal.lane)
    own = {id: anchor for id, anchor in result.anchors.items() if base.stored.get(id) != anchor}
    save_lane(workspace, binding, proposal.lane, revision.id, Written(commit, own), lane.anchors if lane else {})
    return _content(revision, gathered.placement, result.anchors, commit)


def _contained(workspace: Workspace, proposal: Proposal, ground: str) -> tuple[str, ...]:
    """Main content's commit, when the change request contains it and Git does not know that yet."""
    tip = workspace.repository.resolve(workspace.main)
    if tip is None or proposal.change_request.outdated or workspace.repository.is_ancestor(tip, ground):
        return ()
    return (tip,)


def _placed_as_proposed(
    workspace: Workspace,
    binding: Binding,
    revision: Revision,
    anchors: dict[str, Anchor],
    written: Mapping[str, Anchor],
    commit: str,
) -> dict[str, Anchor]:
    """Given a change request's revision, return anchors that keep each proposed page where the branch has it.

    What was written in this run is known by id; what an earlier, interrupted run wrote is found by its place in the
    branch's SUMMARY.md. A body that the platform does not name by blob id counts as stored as it was sent.
    """
    plain = place(revision)
    forms = plain.forms
    loose = {id for id, form in forms.items() if id not in anchors or anchors[id].form != form}
    aligned = match(revision.pages, entries_at(workspace.repository, binding, commit)) if loose - written.keys() else {}
    listing = workspace.repository.tree(commit, binding.directory)
    for item in wanted(revision, plain):
        former = anchors.get(item.id)
        sent = written.get(item.id)
        if sent is not None:
            oid = sent.oid or (former.oid if former else "")
            same = item.blob == oid if item.blob else bool(sent.oid)
            kept = former.fingerprint if former is not None and not sent.oid else ""
            anchors[item.id] = sent._replace(form=item.form, fingerprint=item.fingerprint if same else kept, oid=oid)
        elif item.id in loose and (path := aligned.get(item.id)) in listing and path is not None:
            fingerprint, oid = (former.fingerprint, former.oid) if former else ("", listing[path].oid)
            anchors[item.id] = Anchor(item.id, item.kind, path, item.form, fingerprint, oid)
    return anchors


def _content(revision: Revision, placement: Placement, anchors: Mapping[str, Anchor], commit: str) -> Content:
    present = {item.id for item in wanted(revision, placement)}
    kept = {id: anchor for id, anchor in anchors.items() if id in present}
    return Content(Existing(revision, kept), commit, Translation(placement))


def linked_files(repository: Repository, pages: Iterable[str], blobs: Mapping[str, str]) -> Iterator[str]:
    """Given changed pages, return the files outside `.gitbook/assets` that they link to."""
    for page in pages:
        text = repository.read(blobs[page]).decode("utf-8", "replace")
        for target in targets(text):
            found = resolve(target.text, at=page)
            if found is not None and found[0] in blobs and not found[0].endswith(".md"):
                yield found[0]
