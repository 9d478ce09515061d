"""The content that a proposal starts from: main content, or a change request's, with an anchor for every part."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import dirname, join, normpath

from syncd.errors import FileInvalid
from syncd.layout.links import resolve, targets
from syncd.layout.paths import is_markdown
from syncd.layout.placement import SUMMARY, Placement, match, place
from syncd.layout.summary import parse, walk
from syncd.layout.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.change_request import ChangeRequest
from syncd.model.revision import Revision
from syncd.plan.meeting import stem
from syncd.plan.message import REVISION, SPACE, mirror_message, proposed_subject
from syncd.plan.mirror import wanted
from syncd.plan.proposal import Existing
from syncd.repo import Repository
from syncd.sync.ancestry import tip_of
from syncd.sync.base import LOST, base_of, entries_at, save_lane
from syncd.sync.gathered import RevisionMoved, gather_content, known_of
from syncd.sync.proposals import Proposal, head_of
from syncd.sync.renditions import Rest, outdone, render
from syncd.sync.roots import below_root, ruling
from syncd.sync.sending import commented, sent_to
from syncd.sync.snapshot import TRIES, Signature, Written, write_content
from syncd.sync.source import MainContent, ProposedContent
from syncd.sync.tables import settings_at, text_at
from syncd.sync.taken import NO_UPDATE, Footing, Update, adds_nothing, footing, standing
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Content:
    """Existing content: `commit` holds it in Git, `translation` knows the addresses of its parts."""

    existing: Existing
    commit: str
    translation: Translation


def main_content(workspace: Workspace, binding: Binding, *, guide: str | None = None) -> Content:
    """Given a space whose main content is mirrored, return that content with its anchors.

    Shape: a root that the commit `guide` has changed has taken everything along.
    Raises: RevisionMoved when the platform has gone on since.
    """
    revision = MainContent(workspace.client, binding.space).content()
    last = workspace.repository.find(workspace.main, SPACE, binding.space)
    if last is None or last.trailers.get(REVISION) != [revision.id]:
        raise RevisionMoved(f"space {binding.space} changed meanwhile", hint="the next run reads it again")
    base = base_of(workspace, binding, revision, last.oid, {})
    settings = settings_at(workspace.repository, binding, ruling(workspace.repository, binding, last.oid, guide))
    anchors = below_root(base.anchors, base.settings, settings)
    placement = place(revision, known=known_of(anchors.values()), settings=settings)
    link_titles = _link_titles(workspace.repository, binding, last.oid)
    return _content(revision, placement, anchors, last.oid, link_titles)


def proposed_content(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    written: Mapping[str, Anchor],
    *,
    guide: str = "",
    wrote: str = "",
    update: Update = NO_UPDATE,
) -> Content:
    """Given a change request and what was just written to it, bring its content to its ref and return it.

    Shape: when the content is that of the proposed commit, the ref is that commit; else a commit upon it. `guide` is
    the commit that says where new pages belong, the proposed one by default; `wrote` is the revision that the last
    write made: as long as it is the content, all that differs from what was written is the platform's own doing.
    `update` says what is known of an update from main content.
    """
    for left in reversed(range(TRIES)):
        try:
            guide = guide or proposal.commit
            return _bring(workspace, binding, proposal, written, guide=guide, wrote=wrote, update=update)
        except RevisionMoved:
            if not left:
                raise
    raise AssertionError("unreachable")


def _bring(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    written: Mapping[str, Anchor],
    *,
    guide: str,
    wrote: str,
    update: Update,
) -> Content:
    repository, request = workspace.repository, proposal.change_request
    ref = workspace.changes(binding, request.number)
    here, ground = repository.resolve(ref), head_of(workspace, binding, proposal)
    source = ProposedContent(workspace.client, binding.space, request.id)
    revision = source.content()
    last = repository.find(workspace.main, SPACE, binding.space)
    base = base_of(workspace, binding, revision, last.oid if last else None, {proposal.lane: ground})
    ruler = ruling(repository, binding, ground, guide)
    settings = settings_at(repository, binding, ruler)
    anchors = below_root(base.anchors, base.settings, settings)
    anchors = _placed_as_proposed(workspace, binding, revision, anchors, written, guide)
    feet = footing(workspace, binding, request, ground)
    anchors |= _left_behind(workspace, binding, feet.start, {anchor.path for anchor in anchors.values()})
    own = {id: anchor.oid for id, anchor in written.items() if revision.id == wrote}
    sent = sent_to(workspace, binding, request.number)
    base = replace(base, anchors=anchors, start=feet.start, settled=False, written=own, sent=sent)
    base = replace(base, at=ruler, settings=settings)
    gathered = gather_content(workspace, binding, source, revision, base, guide=guide)
    message = _message(binding, request, revision.id)
    signature = Signature(message, workspace.committer(), (ground,))
    result = write_content(workspace, binding, gathered, ref=ref, old=here, signature=signature)
    commit = result.commit
    if feet.taken:
        commit = _standing(workspace, binding, feet, commit, signature, update)
    else:
        # Of what comments propose, a person may just have put in the whole.
        said = (ground, commented(workspace, binding, request.number) or ground)
        known = (one for one in said if repository.is_ancestor(ground, one) and workspace.alike(binding, commit, one))
        commit = next(known, commit)
    if commit != result.commit:
        repository.update_ref(ref, commit, old=result.commit)
    lane = workspace.store.seen(binding.space, proposal.lane)
    news = {id: anchor for id, anchor in result.anchors.items() if base.stored.get(id) != anchor}
    held = Written(commit, news, partial=result.partial)
    save_lane(workspace, binding, proposal.lane, revision.id, held, lane.anchors if lane else {})
    link_titles = _link_titles(repository, binding, commit)
    return _content(revision, gathered.placement, result.anchors, commit, link_titles)


def _standing(
    workspace: Workspace, binding: Binding, feet: Footing, content: str, signed: Signature, update: Update
) -> str:
    """The commit of content that has taken in main content.

    The platform merges from an older base than Git knows of, so words of main content that syncd had sent before may
    stand twice in what it makes, or be back. What both sides make together counts then, and the platform is told it.
    """
    sides = (feet.ground, feet.taken)
    whole = update.settled
    if feet.merges and not whole and _same_pages(workspace, binding, feet, content):
        whole = _signed(workspace, feet.start, replace(signed, parents=sides))
    if not update.fresh or not whole or not adds_nothing(workspace, binding, content, (*sides, whole)):
        parents, claims = standing(workspace, feet, content, disputed=update.disputed)
        return _signed(workspace, content, replace(signed, parents=parents, message=signed.message + claims))
    if workspace.alike(binding, whole, content):
        return _signed(workspace, content, replace(signed, parents=sides))
    parents = sides if update.settled else (whole,)
    return _signed(workspace, content, replace(signed, parents=parents, message=signed.message + outdone(whole)))


def _same_pages(workspace: Workspace, binding: Binding, feet: Footing, content: str) -> bool:
    """Whether content has the pages of what it stands on; else the platform, which knows them by id, may know better.

    Shape: a page more is none that it knows better when the branch has had its text from main content. If the branch
    has it no more, a change request that never had the page cannot say that it is deleted, so an update brings it; if
    the branch has it, the page is one file in Git and two on the platform, and one of them is to go.
    """
    tree = workspace.repository.tree
    start, there = (tree(commit, binding.directory) for commit in (feet.start, content))
    less, more = start.keys() - there.keys(), there.keys() - start.keys()
    forms = {name: path for path in sorted(more) if (name := stem(path))}  # a page with children and without
    turned = {path: forms[stem(path)] for path in less if stem(path) in forms}
    added = {there[path].oid for path in more - set(turned.values())}
    return less == turned.keys() and (not added or added <= _known_better(workspace, binding, feet))


def _known_better(workspace: Workspace, binding: Binding, feet: Footing) -> set[str]:
    """The texts of main content that the branch of a change request has really merged, and of which Git knows better:
    the branch has them no more, or what the content stands on has them, or the pages that main content has of them."""
    repository, tip = workspace.repository, tip_of(workspace, feet.ground)
    if tip not in repository.present([tip]):
        return set()

    def tree(commit: str) -> dict[str, str]:
        return {path: blob.oid for path, blob in repository.tree(commit, binding.directory).items()}

    had = {oid for commit in repository.merge_bases(tip, feet.taken) for oid in tree(commit).values()}
    start = tree(feet.start)
    missing = {oid for path, oid in tree(feet.taken).items() if path not in start} - set(start.values())
    return had - (missing & set(tree(tip).values()))


def _signed(workspace: Workspace, commit: str, signed: Signature) -> str:
    """What a commit holds, with other parents and another message."""
    tree, person = workspace.repository.subtree(commit), signed.author
    assert tree is not None
    return workspace.repository.commit_tree(
        tree, parents=signed.parents, message=signed.message, author=person, committer=person
    )


def settle(workspace: Workspace, binding: Binding, live: Proposal, content: Content) -> None:
    """Given a proposal and its content as it was read, let its ref be the proposed commit, or the rendition of it."""
    ref, revision = workspace.changes(binding, live.change_request.number), content.existing.revision
    commit, here = live.commit, workspace.repository.resolve(ref)
    if here == commit:
        return
    if not workspace.alike(binding, content.commit, commit):
        feet = footing(workspace, binding, live.change_request, commit)
        others = (feet.taken,) if feet.taken and feet.start == commit else ()
        rest = Rest(_message(binding, live.change_request, revision.id), others)
        commit = render(workspace, binding, commit, content.commit, content.existing.anchors.values(), rest)
    workspace.repository.update_ref(ref, commit, old=here)
    workspace.store.save_seen(binding.space, live.lane, revision=revision.id, commit=commit, put=[], removed=[])


def _message(binding: Binding, request: ChangeRequest, revision: str) -> str:
    subject = proposed_subject(request.number, request.subject)
    return mirror_message(subject, space=binding.space, revision=revision, change_requests=[request.number])


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
    branch's SUMMARY.md. A page that the platform does not name by blob id is read back, to see what became of it.
    """
    plain = place(revision)
    forms = plain.forms
    loose = {id for id, form in forms.items() if id not in anchors or anchors[id].form != form}
    aligned: dict[str, str] = {}
    if loose - written.keys():
        settings = settings_at(workspace.repository, binding, commit)
        aligned = match(revision.pages, entries_at(workspace.repository, binding, commit), settings=settings)
    listing = workspace.repository.tree(commit, binding.directory)
    for item in wanted(revision, plain):
        former = anchors.get(item.id)
        sent = written.get(item.id)
        if sent is not None:
            oid = sent.oid or (former.oid if former else "")
            same = item.blob == oid if item.blob or item.kind == "page" else bool(sent.oid)
            same = same or (former is not None and former.oid == oid and former.fingerprint == item.fingerprint)
            kept = former.fingerprint if former is not None and not sent.oid else ""
            anchors[item.id] = sent._replace(form=item.form, fingerprint=item.fingerprint if same else kept, oid=oid)
        elif item.id in loose and (path := aligned.get(item.id)) in listing and path is not None:
            fingerprint, oid = (former.fingerprint, former.oid) if former else ("", listing[path].oid)
            anchors[item.id] = Anchor(item.id, item.kind, path, item.form, fingerprint, oid)
    return anchors


def _left_behind(workspace: Workspace, binding: Binding, commit: str, taken: Collection[str]) -> dict[str, Anchor]:
    """Anchors of the pages that a commit lists and that are elsewhere or gone now, so that no copy of them stays."""
    blobs = workspace.repository.tree(commit, binding.directory)
    if all(path in taken or not is_markdown(path) or path.endswith(SUMMARY) for path in blobs):
        return {}
    listed = {entry.path for entry, _ in walk(entries_at(workspace.repository, binding, commit)) if entry.path}
    return {
        LOST + path: Anchor(LOST + path, "page", path, path, "", blobs[path].oid)
        for path in listed - set(taken)
        if path in blobs
    }


def _content(
    revision: Revision,
    placement: Placement,
    anchors: Mapping[str, Anchor],
    commit: str,
    link_titles: Mapping[str, str],
) -> Content:
    present = {item.id for item in wanted(revision, placement)}
    kept = {id: anchor for id, anchor in anchors.items() if id in present}
    return Content(Existing(revision, kept, link_titles), commit, Translation(placement))


def _link_titles(repository: Repository, binding: Binding, commit: str) -> dict[str, str]:
    """The link titles that SUMMARY.md has in a commit, by the path of the page."""
    settings = settings_at(repository, binding, commit)
    summary = settings.below(settings.summary)
    text = text_at(repository, commit, binding.path(summary))
    if text is None or '"' not in text:
        return {}
    try:
        listed = [entry for entry, _ in walk(parse(text, at=summary)) if entry.path and entry.link_title]
    except FileInvalid:
        return {}
    return {normpath(join(dirname(summary), entry.path or "")): entry.link_title or "" for entry in listed}


def linked_files(repository: Repository, pages: Iterable[str], blobs: Mapping[str, str], *, root: str) -> Iterator[str]:
    """Given changed pages and where content lies, return the files outside `.gitbook/assets` that they link to."""
    for page in pages:
        text = repository.read(blobs[page]).decode("utf-8", "replace")
        for target in targets(text):
            found = resolve(target.text, at=page, root=root)
            if found is not None and found[0] in blobs and not found[0].endswith(".md"):
                yield found[0]
