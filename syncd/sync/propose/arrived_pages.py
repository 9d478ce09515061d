"""Record a few pages that were sent by what the platform says has changed, without reading a tree."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.errors import NotFound
from syncd.model.anchor import Anchor
from syncd.model.changes import Change, ChangedPage
from syncd.plan.propose.steps import InsertStep, UpdateStep
from syncd.sync.binding import Binding
from syncd.sync.mirror.history import read_request_changes, read_revision_changes
from syncd.sync.propose.intent import ChangedPages, Intent
from syncd.sync.state.lane_content import Update, has_taken_in, record_lane
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.request_commits import compose_lane_message, find_taken_main, read_sent, write_lane_commit
from syncd.sync.state.sent_log import list_sent, record_read
from syncd.sync.workspace import Workspace

_OWN = ("document", "slug")
"""What a write changes of a page that exists."""
_GIT = "git:"
"""Starts the fingerprint of a text that the platform names by its Git blob."""


def record_changed_pages(
    workspace: Workspace,
    binding: Binding,
    intent: Intent,
    live: Proposal,
    changed: ChangedPages,
    inserted: Mapping[str, str],
    revisions: Sequence[str],
) -> bool:
    """Record the commit that stands for a change request after a few pages were written to it; return whether nobody
    else has written, and every page arrived as it was sent. If not, nothing is recorded: its tree has to be read.

    Shape: `inserted` are the ids of new pages by path; `revisions` are those that the writes made.
    """
    repository, number = workspace.repository, live.change_request.number
    if len(revisions) != 1 or revisions[0] in ("", changed.revision):
        return False
    arrived = _find_arrived_anchors(workspace, binding, live, changed, inserted, revisions[0])
    if arrived is None:
        return False
    request = workspace.client.change_requests.get(binding.space, live.change_request.id)
    before = changed.request or live.change_request
    is_same = before.revision_merged_ancestor == request.revision_merged_ancestor
    if request.revision != revisions[0] or not request.is_live or not is_same:
        return False
    ref = workspace.change_ref(binding, number)
    old, taken = repository.resolve(ref), find_taken_main(workspace, request)
    main, tree = taken or repository.resolve(workspace.main), repository.find_tree(intent.desired)
    if old != (None if changed.request is None else intent.existing) or main is None or tree is None:
        return False
    here = intent.existing
    sent = [read_sent(repository, commit, main) for commit in list_sent(workspace, binding, number)]
    if [one.commit for one in sent] != [intent.desired] or taken is None or not has_taken_in(workspace, here, taken):
        return False
    lane = record_lane(
        workspace, binding, tree, here=here, sent=sent, taken=taken, is_own=True, update=Update(is_separate=True)
    )
    if lane.content or lane.tree != tree:
        return False
    message = compose_lane_message(binding, live.change_request, revisions[0])
    commit = write_lane_commit(repository, lane, message, workspace.committer())
    record_read(workspace, binding, number, "")
    if commit != old:
        repository.update_ref(ref, commit, old=old)
    workspace.store.save_last_seen(
        binding.space,
        live.lane,
        revision=revisions[0],
        commit=commit,
        put=arrived,
        removed=(),
        replace=changed.request is None,
    )
    return True


@dataclass(frozen=True)
class _SentPage:
    """A page as it was sent: its anchor then, and which of its values the write has changed to what.

    Shape: the anchor of a new page has no `form` yet; `title` is "" for one that was there.
    """

    anchor: Anchor
    values: Mapping[str, str]
    title: str = ""

    @property
    def is_read(self) -> bool:
        """Whether the platform gives it a new path, which only the page itself tells."""
        return bool(self.title) or "slug" in self.values


def _list_sent_pages(changed: ChangedPages, inserted: Mapping[str, str]) -> dict[str, _SentPage]:
    """The pages of a plan by id; a new one that the platform gave no id is left out."""
    found: dict[str, _SentPage] = {}
    for step in changed.plan.steps:
        if isinstance(step, InsertStep) and step.path in inserted:
            id = inserted[step.path]
            anchor = Anchor(id, "page", step.path, "", _GIT + step.oid, step.oid)
            found[id] = _SentPage(anchor, {"slug": step.slug}, step.title)
        elif isinstance(step, UpdateStep):
            former = changed.content.existing.anchors[step.id]
            anchor = former._replace(path=step.path)
            if step.oid is not None:
                anchor = anchor._replace(fingerprint=_GIT + step.oid, oid=step.oid)
            values = {"document": step.oid, "slug": step.slug}
            found[step.id] = _SentPage(anchor, {name: value for name, value in values.items() if value is not None})
    return found


def _find_arrived_anchors(
    workspace: Workspace,
    binding: Binding,
    live: Proposal,
    changed: ChangedPages,
    inserted: Mapping[str, str],
    revision: str,
) -> list[Anchor] | None:
    """The anchors of the pages as they are now; None where one arrived in another form, or anything else has changed:
    in the revision, or in the change request since it was last known."""
    pages = _list_sent_pages(changed, inserted)
    made = read_revision_changes(workspace.client, binding.space, revision)
    after = read_request_changes(workspace.client, binding.space, live.change_request.id)
    if len(pages) < len(changed.plan.steps) or made is None or after is None:
        return None
    of_write, former, now = (_index_changes(each, pages) for each in (made, changed.former, after))
    existing = changed.content.existing.anchors
    new = {id for id, page in pages.items() if page.title}
    if of_write.others or of_write.created.keys() != new or of_write.values.keys() != pages.keys() - new:
        return None
    if former.others != now.others or former.created.keys() != now.created.keys() - new:
        return None
    if any(page.title != now.created[id].title for id, page in former.created.items()):
        return None
    for id, values in of_write.values.items():
        if {name: after for name, (_, after) in values.items()} != pages[id].values:
            return None
        # What the page was right before this write has to be what was known of it: else others wrote in between.
        known = _find_known_values(existing[id], former, now)
        if any(before != known.get(name) for name, (before, _) in values.items()):
            return None
    anchors = [_read_anchor(workspace, binding, live, page) if page.is_read else page.anchor for page in pages.values()]
    found = [anchor for anchor in anchors if anchor is not None]
    return found if len(found) == len(anchors) else None


def _find_known_values(anchor: Anchor, former: "_ChangeIndex", now: "_ChangeIndex") -> dict[str, str]:
    """The values that a page had before the write: as the change request had changed it, or as in main content, which
    is what the change request has changed since."""
    created = former.created.get(anchor.id)
    if created is not None:
        return {"document": anchor.fingerprint.removeprefix(_GIT), "slug": (created.path or "").rpartition("/")[2]}
    base = {name: before for name, (before, _) in now.values.get(anchor.id, {}).items()}
    return base | {name: after for name, (_, after) in former.values.get(anchor.id, {}).items()}


def _read_anchor(workspace: Workspace, binding: Binding, live: Proposal, sent: _SentPage) -> Anchor | None:
    """The anchor of a page as the platform has it; None where it is not the page that was sent."""
    anchor = sent.anchor
    try:
        page = workspace.client.change_request_content.get_page(binding.space, live.change_request.id, anchor.id)
    except NotFound:  # a reviewer has deleted it since
        return None
    is_same = (page.id, page.type, page.slug) == (anchor.id, "document", sent.values["slug"])
    if not is_same or page.title != (sent.title or page.title) or page.git is None or page.git.oid != anchor.oid:
        return None
    return anchor._replace(form=page.git.path)


@dataclass
class _ChangeIndex:
    """Changes of a change request or revision, told apart for some pages.

    Shape: `created` are those of these pages that are new; `values` are what else changed of them, before and after, by
    the page's id and the name of the value; `others` is all the rest.
    """

    created: dict[str, ChangedPage] = field(default_factory=dict)
    values: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)


def _index_changes(changes: Iterable[Change], pages: Collection[str]) -> _ChangeIndex:
    """Tell what may come of the write of some pages from all other changes."""
    found = _ChangeIndex()
    for change in changes:
        page, attributes = change.page, change.attributes or {}
        if page is not None and page.id in pages and change.type == "page_created":
            found.created[page.id] = page
        elif page is not None and page.id in pages and change.type == "page_edited":
            own = {name: attributes[name] for name in _OWN if name in attributes}
            found.values[page.id] = {name: (str(one.before or ""), str(one.after or "")) for name, one in own.items()}
            rest = {name: one.model_dump_json() for name, one in attributes.items() if name not in own}
            found.others |= {f"{page.id} {name} {one}" for name, one in rest.items()}
        else:  # an address to download a file from differs from answer to answer
            found.others.add(change.model_dump_json(exclude={"file": {"download_url"}}))
    return found
