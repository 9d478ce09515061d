"""Find the new pages and files of a branch that another change request adds already.

A branch may start from a commit of another proposed branch, and clones that share a branch each propose it. The
platform knows no paths: a page that two change requests add becomes two pages once both are merged. So what one of them
adds is left out of the other until it is in main content. Only the present content of a change request counts, so that
two of them never wait for each other.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from posixpath import basename

from syncd.errors import HistoryCut
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.path_allocator import strip_number
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.placement import SUMMARY
from syncd.layout.tree.settings import derive_page_slug
from syncd.layout.tree.summary import walk_entries
from syncd.model.change_request import ChangeRequest
from syncd.model.changes import Change
from syncd.model.revision import Revision
from syncd.model.space import Space
from syncd.model.text import clean_title
from syncd.plan.message import is_marked_elsewhere
from syncd.plan.propose.description import read_proposed_commit
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.merge import find_moves
from syncd.sync.mirror.anchors import LOST_PREFIX, read_entries, recover_anchors
from syncd.sync.mirror.history import read_request_changes
from syncd.sync.mirror.source import ProposedContent
from syncd.sync.propose.intent import NOTHING, ProposedElsewhere
from syncd.sync.settings import read_settings_at
from syncd.sync.state.proposals import Proposal, has_foreign_requests, list_records
from syncd.sync.state.proposed_refs import ProposalRecord
from syncd.sync.workspace import Workspace

COMMITS_READ = 50
"""Commits of a branch in which deletions are looked for, before anything is asked of the platform."""
_SLUG_NUMBER = re.compile(r"-[0-9]{1,9}$")
"""What a platform adds to a slug that a sibling has already."""


def find_proposed_elsewhere(
    workspace: Workspace, binding: Binding, branch: str, space: Space, proposals: Sequence[Proposal]
) -> ProposedElsewhere:
    """Return what of a branch waits for change requests of other branches and of other clones.

    Shape: `proposals` are the space's own change requests as they were read; one that this run has opened is live. It
    costs nothing where no other change request is live.
    """
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    records = list_records(workspace, binding)
    over = {str(one.change_request.number) for one in proposals if not one.change_request.is_live}
    others = [one for one in records if one.branch != branch and one.number.isdecimal() and one.number not in over]
    known = {item.number for item in records}
    has_foreign = has_foreign_requests(space, proposals)
    if tip is None or main is None or not (others or has_foreign):
        return NOTHING
    # A page that the branch has moved to where another branch adds one waits as well.
    placed = _list_new(workspace, binding, main, tip, moved=True) if others else set()
    added: dict[str, int] = {}
    deleted: set[str] = set()
    for item in sorted(others, key=lambda item: int(item.number)):
        paths, gone = _compare_with_branch(workspace, binding, item, main, tip, placed)
        added |= {path: int(item.number) for path in placed & paths if path not in added}
        deleted |= gone
    new = _list_new(workspace, binding, main, tip) if has_foreign else set()
    has_foreign = has_foreign and bool(new or _has_deletions(repository, main, tip))
    for request in _list_foreign(workspace, binding, branch, known) if has_foreign else ():
        commit = repository.find_revision(read_proposed_commit(request.description))
        # The commit may not have come here: it may be amended and not pushed, or its branch deleted and squashed.
        base = _find_shared_base(repository, commit, main, tip) if commit else None
        paths, gone = _compare_with_clone(workspace, binding, request, base, tip, new)
        added |= {path: request.number for path in new & paths if path not in added}
        deleted |= gone
    links = _read_links(workspace, binding, main, tip) if added else {}
    return ProposedElsewhere(added, links, frozenset(deleted))


def list_waiting(workspace: Workspace, elsewhere: ProposedElsewhere, existing: str, tip: str) -> frozenset[str]:
    """Return the paths of a branch's tip that wait for other change requests; `existing` is what its own one holds."""
    # Where the branch has moved a page away, what it has at that path is another one.
    moves = find_moves(workspace, existing, tip) if elsewhere.added else {}
    lookup = workspace.repository.lookup
    return elsewhere.list_waiting(lambda path: lookup(existing, path) is not None and path not in moves)


def _compare_with_branch(
    workspace: Workspace, binding: Binding, other: ProposalRecord, main: str, tip: str, new: Collection[str]
) -> tuple[set[str], set[str]]:
    """The paths, in the tip, of what the change request of another branch adds to main content; and the paths of such
    files that the tip has deleted.

    A file at the same path is the same file, as it is for Git when both branches are merged; so is a file that either
    branch has moved since they diverged.
    """
    repository = workspace.repository
    here = repository.resolve(workspace.change_ref(binding, int(other.number)))
    base = _find_shared_base(repository, other.commit, main, tip)
    if here is None or not (new or base):
        return set(), set()
    added = _list_new(workspace, binding, main, here)
    if base is None:
        return added, set()
    former = {path: old for old, path in find_moves(workspace, base, here).items()}
    return _follow_to_tip(workspace, base, tip, (former.get(path, path) for path in added))


def _find_shared_base(repository: Repository, commit: str, main: str, tip: str) -> str | None:
    """The newest commit that a proposed one and a branch's tip share; None where main content has it, too.

    Shape: both may share one of main content's beside it, where each was updated.
    """
    try:
        bases = repository.find_merge_bases(commit, tip)
    except HistoryCut:  # of the other branch alone; its paths still say something
        return None
    return next((base for base in bases if not repository.is_ancestor(base, main)), None)


def _follow_to_tip(workspace: Workspace, base: str, tip: str, paths: Iterable[str]) -> tuple[set[str], set[str]]:
    """The tip's paths of files at some paths of an older commit, with the paths that other files have taken over; and
    which of the files the tip has deleted."""
    lookup, moves = workspace.repository.lookup, find_moves(workspace, base, tip)
    later = {path: moves.get(path, path) for path in paths}
    gone = {old for old, path in later.items() if lookup(base, old) is not None and lookup(tip, path) is None}
    replaced = {old for old, path in later.items() if old != path and lookup(tip, old) is not None}
    return {*later.values(), *replaced}, gone


def _list_new(workspace: Workspace, binding: Binding, main: str, commit: str, *, moved: bool = False) -> set[str]:
    """The paths of files that a commit has added since it diverged from main content, or edited while main content has
    deleted them; with `moved`, also those to which it has moved a file."""
    repository = workspace.repository
    base = repository.find_merge_base(main, commit) or main
    changes = [found for found in repository.compare_trees(base, commit) if binding.holds(found.path)]
    new = {found.path for found in changes if found.before is None and not found.path.endswith(SUMMARY)}
    edited = {found.path for found in changes if found.before is not None and found.after is not None}
    revived = {path for path in edited if repository.lookup(main, path) is None}
    revived -= find_moves(workspace, base, main).keys() if revived else set()
    left: set[str] = set()
    if new and any(found.after is None or found.before is not None for found in changes):
        moves = find_moves(workspace, base, commit)
        # Where a page has moved away, and the commit has another one, that is new, too.
        left = {old for old in moves.keys() - moves.values() if repository.lookup(commit, old) is not None}
        new -= set() if moved else set(moves.values())
    return left | revived | {path for path in new if repository.lookup(main, path) is None}


def _has_deletions(repository: Repository, main: str, tip: str) -> bool:
    """Whether one of the newest commits of a branch deletes or moves a file: main content may never have had it."""
    commits = repository.list_commits(main, tip, limit=COMMITS_READ)
    steps = [(commit.parents[0], commit.oid) for commit in commits if len(commit.parents) == 1]
    here = repository.select_present([before for before, _ in steps])  # not all are, in a shallow clone
    return any(
        change.after is None
        for before, after in steps
        if before in here
        for change in repository.compare_trees(before, after)
    )


def _list_foreign(
    workspace: Workspace, binding: Binding, branch: str, known: Collection[str]
) -> Iterator[ChangeRequest]:
    """The live change requests of other clones, and of branches that this one does not know of."""
    for status in ("draft", "open"):
        for request in workspace.client.change_requests.list(binding.space, status=status):
            is_foreign = is_marked_elsewhere(request.subject, branch, workspace.instance)
            if is_foreign and str(request.number) not in known:
                yield request


def _compare_with_clone(
    workspace: Workspace, binding: Binding, request: ChangeRequest, base: str | None, tip: str, new: Collection[str]
) -> tuple[set[str], set[str]]:
    """As `_compare_with_branch`, for another clone's change request; `base` is the newest commit that both share, if
    any beside main content's. Its content has all pages of the space, and is read only where it may matter."""
    changes = read_request_changes(workspace.client, binding.space, request.id)
    if changes is not None:
        created = [change for change in changes if change.type.endswith("_created")]
        if not created or (base is None and not _may_be_among(workspace, binding, created, new, tip)):
            return set(), set()
    content = ProposedContent(workspace.client, binding.space, request.id).content()
    added = _list_added(workspace, binding, content, base) if base else ()
    paths, gone = _follow_to_tip(workspace, base or tip, tip, added)
    return paths | set(_list_added(workspace, binding, content, tip)), gone


def _may_be_among(
    workspace: Workspace, binding: Binding, created: Iterable[Change], new: Collection[str], tip: str
) -> bool:
    """Whether something that a change request has created may be one of the new files of a tip: a page by its slug or
    title, a file by its name; of all else nothing is known."""
    settings = read_settings_at(workspace.repository, binding, tip)
    paths = {binding.inner(path) for path in new}
    slugs = {derive_page_slug(path, settings=settings).lower() for path in paths}
    names = {strip_number(basename(path)).lower() for path in paths}
    titles = {
        clean_title(entry.title)
        for entry, _ in walk_entries(read_entries(workspace.repository, binding, tip) if paths else ())
        if entry.path in paths
    }
    for change in created:
        page, file = change.page, change.file
        if page is not None and page.path is not None:
            slug = page.path.rpartition("/")[2].lower()
            if {slug, _SLUG_NUMBER.sub("", slug)} & slugs or clean_title(page.title) in titles:
                return True
        elif file is None or strip_number(file.name).lower() in names:
            return bool(paths)
    return False


def _list_added(workspace: Workspace, binding: Binding, content: Revision, commit: str) -> Iterator[str]:
    """The paths that a commit has for what a change request adds to main content."""
    seen = workspace.store.read_last_seen(binding.space)
    in_main = seen.anchors if seen is not None else {}
    for id, anchor in recover_anchors(workspace.repository, binding, content, commit).items():
        if id not in in_main and not id.startswith(LOST_PREFIX):
            yield binding.path(anchor.path)


def _read_links(workspace: Workspace, binding: Binding, main: str, tip: str) -> dict[str, frozenset[str]]:
    """The paths to which the pages of a commit link that differ from main content."""
    repository = workspace.repository
    found: dict[str, frozenset[str]] = {}
    for change in repository.compare_trees(main, tip):
        if change.after is not None and binding.holds(change.path) and is_markdown(change.path):
            is_table = change.path.endswith(SUMMARY)
            text = "" if is_table else repository.read(change.after.oid).decode("utf-8", "replace")
            targets = (resolve_address(target.text, at=change.path) for target in find_targets(text))
            found[change.path] = frozenset(target[0] for target in targets if target is not None)
    return found
