"""Send edited pages from what Git and the store know, and record them by what the platform says has changed.

Most pushes change the text of a few pages and nothing else. Then neither the tree of main content nor that of the
change request is read: whatever is unusual, before the write or after it, is left to `existing.py`, which reads both.
The guarantees are the same: a write is made to the revision that was merged, and what others wrote meanwhile is found
by comparing what the platform says has changed with what was written.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import ASSETS, INCLUDES, is_decodable, is_markdown
from syncd.layout.tree.placement import Placement
from syncd.layout.tree.settings import SETTINGS_PATH, Settings
from syncd.layout.tree.translate import Translation, normalize_line_ends
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.anchor import Anchor
from syncd.model.change_request import ChangeRequest
from syncd.model.changes import Change as RevisionChange
from syncd.model.revision import Revision
from syncd.plan.change import Plan
from syncd.plan.message import REVISION, SPACE
from syncd.plan.propose.proposal import ContentPlan, ExistingSide, UpdateStep
from syncd.plan.propose.steps import build_change
from syncd.sync.binding import Binding
from syncd.sync.mirror.history import NOT_SHOWN
from syncd.sync.propose.intent import ExistingContent, Intent
from syncd.sync.settings import read_settings_at
from syncd.sync.state.lane_content import (
    Update,
    compose_lane_message,
    find_content,
    find_taken_main,
    has_taken_in,
    read_sent,
    record_lane,
    write_lane_commit,
)
from syncd.sync.state.manual_steps import NO_REQUEST, has_waiting_steps
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.sent_log import list_sent, record_read
from syncd.sync.workspace import Workspace

EDITED_MAX = 50
"""Pages of one push that are sent so: as many as one request may bring, so that there is one revision to look at."""
CHANGES_MAX = 1_000
"""Changes that are read; a change request with more is read as a whole."""
_TABLE = re.compile(
    r"(?:#[^\n]*\n|\n|\*\*\*\n|[ \t]*[*+-] \[(?:[^\[\]\\\n]|\\.)*\]"
    r"\((?:https?://[^()<>\\\s]*|[^()<>\\\s:/#][^()<>\\\s:]*\.md)(?: \"[^\"\\\n]*\")?\)\n)*"
)
"""A table of contents of pages and web addresses alone: it leads to no other file, and nothing of it is skipped."""
_LEADS_OUT = re.compile(r"\.\./|%2e", re.IGNORECASE)


@dataclass(frozen=True)
class EditedPages:
    """Pages whose text alone differs from what the platform has, with all that is needed to send them.

    Shape: `content` has the anchors of these pages only, and `revision` is the one that they are in; `former` are the
    changes that the change request had before by page, and `request` is how it was, None for a new one.
    """

    content: ExistingContent
    plan: ContentPlan
    former: tuple[RevisionChange, ...] = ()
    request: ChangeRequest | None = None

    @property
    def revision(self) -> str:
        """The revision that has the existing content."""
        return self.content.existing.revision.id


def find_edited_pages(
    workspace: Workspace, binding: Binding, intent: Intent, live: Proposal | None
) -> EditedPages | None:
    """Return the edited pages, where a branch asks for nothing else; None where both sides have to be read."""
    if workspace.is_dry_run or intent.left_out or intent.notes:
        return None
    repository = workspace.repository
    changes = repository.list_changes(intent.existing, intent.desired, binding.directory)
    paths = {change.path: change.oid for change in changes}
    if not 0 < len(changes) <= EDITED_MAX or not all(
        (change.status, change.mode) == ("M", "100644") and is_markdown(change.path) and is_decodable(change.path)
        for change in changes
    ):
        return None
    revision = _find_known_revision(workspace, binding, intent, live)
    settings = _read_plain_settings(workspace, binding, intent)
    if revision is None or settings is None:
        return None
    targets = set(_list_targets(workspace, paths, settings))
    anchors = _find_anchors(workspace, binding, live, {*paths, *targets})
    edited = {anchor.id: anchor for path in paths if (anchor := anchors.get(path)) and anchor.kind == "page"}
    if len(edited) < len(paths) or not _has_all_files(workspace, binding, intent, settings, anchors, targets):
        return None
    if any(anchor.oid != repository.lookup(intent.existing, binding.path(anchor.path)) for anchor in edited.values()):
        return None
    if live is None and not _has_other_text(workspace, edited.values(), paths):
        return None
    steps = tuple(UpdateStep(id, anchor.path, oid=paths[anchor.path]) for id, anchor in edited.items())
    former = _read_changes(workspace, binding, live) if live is not None else ()
    if former is None:
        return None
    content = ExistingContent(
        ExistingSide(Revision(id=revision), edited), intent.existing, _build_translation(anchors.values(), settings)
    )
    plan = ContentPlan(steps, Plan.of(map(build_change, steps)))
    return EditedPages(content, plan, former, live.change_request if live is not None else None)


def _find_known_revision(workspace: Workspace, binding: Binding, intent: Intent, live: Proposal | None) -> str | None:
    """The revision that the existing content is; None where the store is not about the very commit that Git has."""
    repository = workspace.repository
    last = repository.find_commit(workspace.main, SPACE, binding.space)
    main = workspace.store.read_lane(binding.space)
    if last is None or main is None or main.commit != last.oid or last.trailers.get(REVISION) != [main.revision]:
        return None
    if live is None:
        is_known = intent.existing == intent.main and not has_waiting_steps(repository, binding, NO_REQUEST)
        return main.revision if is_known else None
    request = live.change_request
    lane, taken = workspace.store.read_lane(binding.space, live.lane), find_taken_main(workspace, request)
    is_quiet = not (
        list_sent(workspace, binding, request.number) or has_waiting_steps(repository, binding, request.number)
    )
    is_known = (
        lane is not None
        and (lane.commit, lane.revision) == (intent.existing, request.revision)
        and intent.existing == repository.resolve(workspace.change_ref(binding, request.number))
        and find_content(repository, intent.existing) == repository.find_tree(intent.existing)
        and taken is not None
        and has_taken_in(workspace, intent.existing, taken)
    )
    return request.revision if is_known and is_quiet else None


def _read_plain_settings(workspace: Workspace, binding: Binding, intent: Intent) -> Settings | None:
    """The settings, where these are the same everywhere, nothing in the tables of the space is skipped or leads to a
    file, and there are no variables or tags, which only the platform's tree tells about."""
    repository = workspace.repository
    main = repository.find_commit(workspace.main, SPACE, binding.space)
    commits = (intent.existing, intent.desired, *((main.oid,) if main is not None else ()))
    if len({repository.lookup(commit, binding.path(SETTINGS_PATH)) for commit in commits}) > 1:
        return None
    settings = read_settings_at(repository, binding, intent.desired)
    found = {
        name: repository.lookup(intent.desired, binding.path(settings.add_root(name)))
        for name in (settings.summary, VARIABLES, TAGS)
    }
    summary = found.pop(settings.summary)
    if summary is None or settings.skipped or any(found.values()):
        return None
    text = repository.read(summary).decode("utf-8", "replace")
    return settings if _TABLE.fullmatch(text) and not _LEADS_OUT.search(text) else None


def _list_targets(workspace: Workspace, paths: Mapping[str, str], settings: Settings) -> Iterator[str]:
    """The paths that links of edited pages lead to."""
    for path, oid in paths.items():
        text = normalize_line_ends(workspace.repository.read_content(oid).decode("utf-8", "replace"))
        for target in find_targets(text):
            found = resolve_address(target.text, at=path, root=settings.add_root(""))
            if found is not None:
                yield found[0]


def _find_anchors(workspace: Workspace, binding: Binding, live: Proposal | None, paths: set[str]) -> dict[str, Anchor]:
    """The anchors at some paths by path, and those of all files and reusable contents."""
    wanted = [path for path in paths if is_decodable(path)]
    main = workspace.store.find_anchors(binding.space, wanted)
    lane = workspace.store.find_anchors(binding.space, None, lane=live.lane) if live is not None else []
    known = {anchor.id: anchor for anchor in (*main, *lane)}
    return {anchor.path: anchor for anchor in known.values()}


def _has_all_files(
    workspace: Workspace,
    binding: Binding,
    intent: Intent,
    settings: Settings,
    anchors: Mapping[str, Anchor],
    targets: set[str],
) -> bool:
    """Whether the platform has every file and reusable content of the branch, and every file that an edited page links
    to: then none is to be uploaded, and none to be told of."""
    repository = workspace.repository
    for folder in (ASSETS, INCLUDES):
        inner = settings.add_root(folder)
        listing = repository.list_files(intent.desired, binding.path(inner.rstrip("/")))
        known = {path: anchor.oid for path, anchor in anchors.items() if path.startswith(inner)}
        if {f"{inner.rstrip('/')}/{path}": blob.oid for path, blob in listing.items()} != known:
            return False
    others = {anchor.path: anchor.oid for anchor in anchors.values() if anchor.kind != "page"}
    if any(repository.lookup(intent.desired, binding.path(path)) != oid for path, oid in others.items()):
        return False
    files = (path for path in targets if not path.endswith(".md") and path not in others)
    return all(repository.lookup(intent.desired, binding.path(path)) is None for path in files)


def _has_other_text(workspace: Workspace, edited: Iterable[Anchor], oids: Mapping[str, str]) -> bool:
    """Whether a page has another text than the platform, whatever its line ends."""
    pairs = [(anchor.oid, oids[anchor.path]) for anchor in edited]
    present = workspace.repository.select_present(former for former, _ in pairs)

    def read_normalized(oid: str) -> str:
        return normalize_line_ends(workspace.repository.read_content(oid).decode("utf-8", "surrogateescape"))

    return any(one not in present or read_normalized(one) != read_normalized(other) for one, other in pairs)


def _build_translation(anchors: Iterable[Anchor], settings: Settings) -> Translation:
    """The translation of addresses, of what the edited pages may link to."""
    known = list(anchors)
    paths = {kind: {a.id: a.path for a in known if a.kind == kind} for kind in ("page", "file", "include")}
    forms = {anchor.id: anchor.form for anchor in known}
    return Translation(Placement(paths["page"], paths["file"], paths["include"], forms, root=settings.add_root("")))


def record_edited_pages(
    workspace: Workspace,
    binding: Binding,
    intent: Intent,
    live: Proposal,
    edited: EditedPages,
    revisions: Sequence[str],
) -> bool:
    """Record the commit that stands for a change request after its edited pages were written; return whether nobody
    else has written, and every page arrived as it was sent. If not, nothing is recorded: its tree has to be read."""
    repository, number = workspace.repository, live.change_request.number
    if len(revisions) != 1 or revisions[0] in ("", edited.revision):
        return False
    arrived = _find_arrived_anchors(workspace, binding, live, edited, revisions[0])
    if arrived is None:
        return False
    request = workspace.client.change_requests.get(binding.space, live.change_request.id)
    before = edited.request or live.change_request
    is_same = before.revision_merged_ancestor == request.revision_merged_ancestor
    if request.revision != revisions[0] or not request.is_live or not is_same:
        return False
    ref = workspace.change_ref(binding, number)
    old, taken = repository.resolve(ref), find_taken_main(workspace, request)
    main, tree = taken or repository.resolve(workspace.main), repository.find_tree(intent.desired)
    if old != (None if edited.request is None else intent.existing) or main is None or tree is None:
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
        replace=edited.request is None,
    )
    return True


def _find_arrived_anchors(
    workspace: Workspace, binding: Binding, live: Proposal, edited: EditedPages, revision: str
) -> list[Anchor] | None:
    """The anchors of the edited pages as they are now; None where one arrived in another form, or anything else has
    changed: in the revision, or in the change request since it was last known."""
    anchors = edited.content.existing.anchors
    try:
        made = workspace.client.revisions.get_changes(binding.space, revision, limit=CHANGES_MAX)
    except NOT_SHOWN:
        return None
    after = _read_changes(workspace, binding, live)
    if made.more or after is None:
        return None
    of_write, former, now = (_index_changes(each, anchors) for each in (made.changes, edited.former, after))
    if of_write.others or of_write.texts.keys() != anchors.keys() or former.others != now.others:
        return None
    oids = {step.id: step.oid for step in edited.plan.steps if isinstance(step, UpdateStep)}
    for id, (before, here) in of_write.texts.items():
        # What the page was right before this write has to be what was known of it: else others wrote in between.
        known = former.texts[id][1] if id in former.texts else now.texts.get(id, ("", ""))[0]
        if not known or before != known or here != oids[id]:
            return None
    return [anchor._replace(fingerprint=f"git:{oids[id]}", oid=oids[id] or "") for id, anchor in anchors.items()]


@dataclass
class _ChangeIndex:
    """Changes of a change request or revision: `texts` are the documents of pages before and after, by the page's id;
    `others` is all else."""

    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)


def _index_changes(changes: Iterable[RevisionChange], pages: Collection[str]) -> _ChangeIndex:
    """Tell the changes of the texts of some pages from all other changes."""
    found = _ChangeIndex()
    for change in changes:
        attributes = change.attributes or {}
        text = attributes.get("document")
        if change.page is not None and change.page.id in pages and text is not None and len(attributes) == 1:
            found.texts[change.page.id] = str(text.before or ""), str(text.after or "")
        else:  # an address to download a file from differs from answer to answer
            found.others.add(change.model_dump_json(exclude={"file": {"download_url"}}))
    return found


def _read_changes(workspace: Workspace, binding: Binding, live: Proposal) -> tuple[RevisionChange, ...] | None:
    """What a change request changes; None where that is too much, or the platform does not say it."""
    content = workspace.client.change_request_content
    try:
        found = content.get_changes(binding.space, live.change_request.id, limit=CHANGES_MAX)
    except NOT_SHOWN:
        return None
    return None if found.more else found.changes
