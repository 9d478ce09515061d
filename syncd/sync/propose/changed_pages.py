"""Send a few pages that were edited, inserted or renamed from what Git and the store know.

Most pushes change a few pages and nothing else. Then neither the tree of main content nor that of the change request is
read: whatever is unusual, before the write or after it, is left to `existing.py`, which reads both. The guarantees are
the same: a write is made to the revision that was merged, and what others wrote meanwhile is found by comparing what
the platform says has changed with what was written (`arrived_pages.py`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import ASSETS, INCLUDES, is_decodable, is_markdown
from syncd.layout.tree.placement import Placement
from syncd.layout.tree.settings import SETTINGS_PATH, Settings
from syncd.layout.tree.summary import Entry, walk_entries
from syncd.layout.tree.translate import Translation, normalize_form, normalize_line_ends
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.message import REVISION, SPACE
from syncd.plan.propose.alignment import ExistingSide
from syncd.plan.propose.excerpt import abridge_tables, plan_excerpt
from syncd.plan.propose.steps import UpdateStep
from syncd.repo.values import FileChange
from syncd.sync.binding import Binding
from syncd.sync.merge.result import parse_entries
from syncd.sync.mirror.history import read_request_changes
from syncd.sync.propose.intent import ChangedPages, ExistingContent, Intent
from syncd.sync.settings import read_settings_at
from syncd.sync.state.lane_content import has_taken_in
from syncd.sync.state.manual_steps import has_waiting_steps
from syncd.sync.state.notes import NO_REQUEST
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.request_commits import find_content, find_taken_main
from syncd.sync.state.sent_log import list_sent
from syncd.sync.workspace import Workspace

PAGES_MAX = 50
"""Pages of one push that are sent so: as many as one request may bring, so that there is one revision to look at."""
_TABLE = re.compile(
    r"(?:#[^\n]*\n|\n|\*\*\*\n|[ \t]*[*+-] \[(?:[^\[\]\\\n]|\\.)*\]"
    r"\((?:https?://[^()<>\\\s]*|[^()<>\\\s:/#][^()<>\\\s:]*\.md)(?: \"[^\"\\\n]*\")?\)\n)*"
)
"""A table of contents of pages and web addresses alone: it leads to no other file, and nothing of it is skipped."""
_LEADS_OUT = re.compile(r"\.\./|%2e", re.IGNORECASE)


def find_changed_pages(
    workspace: Workspace, binding: Binding, intent: Intent, live: Proposal | None
) -> ChangedPages | None:
    """Return the pages that a branch changes, where it asks for nothing else; None where both sides have to be read."""
    if workspace.is_dry_run or intent.left_out or intent.notes:
        return None
    repository = workspace.repository
    changes = repository.list_changes(intent.existing, intent.desired, binding.directory)
    if not 0 < len(changes) <= 2 * PAGES_MAX or not all(map(_is_page_change, changes)):
        return None
    revision = _find_known_revision(workspace, binding, intent, live)
    settings = _read_plain_settings(workspace, binding, intent)
    if revision is None or settings is None:
        return None
    blobs = {change.path: change.oid if change.status != "D" else None for change in changes}
    entries = _read_excerpt(workspace, binding, intent, settings) if blobs.pop(_locate(settings), None) else ((), ())
    texts = {path: oid for path, oid in blobs.items() if oid is not None}
    targets = set(_list_targets(workspace, texts, settings))
    listed = {entry.path for entry, _ in walk_entries(entries[0]) if entry.path is not None}
    anchors = _find_anchors(workspace, binding, live, {*blobs, *targets, *listed})
    pages = {path: anchor for path, anchor in anchors.items() if anchor.kind == "page"}
    if any(change.status == "A" and change.path in pages for change in changes):
        return None  # the change request has deleted it, and it is to come back as the same page
    plan = plan_excerpt(
        entries,
        pages,
        blobs,
        settings,
        renames=_find_renames(workspace, binding, intent, changes),
        read=lambda path: repository.read_content(repository.lookup(intent.desired, binding.path(path)) or ""),
    )
    if plan is None or not 0 < len(plan.steps) <= PAGES_MAX:
        return None
    existing = {step.id: step for step in plan.steps if isinstance(step, UpdateStep)}
    touched = {anchor.id: anchor for anchor in pages.values() if anchor.id in existing}
    if any(anchor.oid != repository.lookup(intent.existing, binding.path(anchor.path)) for anchor in touched.values()):
        return None
    if not _has_all_files(workspace, binding, intent, settings, anchors, targets):
        return None
    is_edit = all(isinstance(step, UpdateStep) and step.slug is None for step in plan.steps)
    if live is None and is_edit and not _has_other_text(workspace, touched.values(), texts):
        return None
    former = read_request_changes(workspace.client, binding.space, live.change_request.id) if live is not None else ()
    if former is None:
        return None
    content = ExistingContent(
        ExistingSide(Revision(id=revision), touched), intent.existing, _build_translation(anchors.values(), settings)
    )
    return ChangedPages(content, plan, former, live.change_request if live is not None else None)


def _is_page_change(change: FileChange) -> bool:
    is_plain = change.status in ("A", "M", "D") and change.mode == "100644"
    return is_plain and is_markdown(change.path) and is_decodable(change.path)


def _locate(settings: Settings) -> str:
    return settings.add_root(settings.summary)


def _read_excerpt(
    workspace: Workspace, binding: Binding, intent: Intent, settings: Settings
) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """The entries of both tables of contents, without what is below those that are alike."""
    before, after = abridge_tables(
        _read_table(workspace, binding, settings, intent.existing),
        _read_table(workspace, binding, settings, intent.desired),
    )

    def parse(text: str, commit: str) -> Sequence[Entry]:
        def exists(path: str) -> bool:
            return workspace.repository.lookup(commit, binding.path(path)) is not None

        return parse_entries(_locate(settings), text.encode(), exists)

    return parse(before, intent.existing), parse(after, intent.desired)


def _read_table(workspace: Workspace, binding: Binding, settings: Settings, commit: str) -> str:
    """The text of the space's table of contents in a commit; "" where it has none."""
    oid = workspace.repository.lookup(commit, binding.path(_locate(settings)))
    return workspace.repository.read(oid).decode("utf-8", "replace") if oid is not None else ""


def _find_renames(
    workspace: Workspace, binding: Binding, intent: Intent, changes: Sequence[FileChange]
) -> dict[str, str]:
    """The new paths of files that Git detects as renamed, by their old ones."""
    if all(change.status != "D" for change in changes):
        return {}
    found = workspace.repository.list_changes(intent.existing, intent.desired, binding.directory, renames=True)
    return {change.old_path: change.path for change in found if change.old_path is not None}


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
    above = (binding.path(settings.add_root(name)) for name in (VARIABLES, TAGS))
    if settings.skipped or any(repository.lookup(intent.desired, path) for path in above):
        return None
    tables = {_read_table(workspace, binding, settings, commit) for commit in (intent.existing, intent.desired)}
    return settings if all(map(_is_plain_table, tables)) else None


def _is_plain_table(text: str) -> bool:
    return bool(text and _TABLE.fullmatch(text)) and not _LEADS_OUT.search(text)


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
    """Whether a page has another text than the platform, whatever its line ends and the end of the file."""
    pairs = [(anchor.oid, oids[anchor.path]) for anchor in edited]
    present = workspace.repository.select_present(former for former, _ in pairs)

    def read_normalized(oid: str) -> str:
        return normalize_form(workspace.repository.read_content(oid).decode("utf-8", "surrogateescape"))

    return any(one not in present or read_normalized(one) != read_normalized(other) for one, other in pairs)


def _build_translation(anchors: Iterable[Anchor], settings: Settings) -> Translation:
    """The translation of addresses, of what the edited pages may link to."""
    known = list(anchors)
    paths = {kind: {a.id: a.path for a in known if a.kind == kind} for kind in ("page", "file", "include")}
    forms = {anchor.id: anchor.form for anchor in known}
    return Translation(Placement(paths["page"], paths["file"], paths["include"], forms, root=settings.add_root("")))
