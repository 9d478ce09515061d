"""Find the new pages and files of a branch that another change request brings to the platform already.

A branch may begin at a commit of another one that is proposed, too, and clones that share a branch propose it each by
itself. The platform knows no paths: two change requests that both add a page make two pages of it once both are merged.
So what one of them adds is left out of the other until it is in main content. Nothing but the present content of a
change request counts, so that two of them never wait for each other.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.placement import SUMMARY
from syncd.model.change_request import ChangeRequest
from syncd.model.revision import Revision
from syncd.model.space import Space
from syncd.plan.message import is_marked_elsewhere
from syncd.plan.propose.description import read_proposed_commit
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.merge import find_moves
from syncd.sync.mirror.anchors import LOST_PREFIX, recover_anchors
from syncd.sync.mirror.source import ProposedContent
from syncd.sync.propose.intent import NOTHING, ProposedElsewhere
from syncd.sync.state.proposals import Proposal, ProposalRecord, list_records
from syncd.sync.workspace import Workspace


def find_proposed_elsewhere(
    workspace: Workspace, binding: Binding, branch: str, space: Space, proposals: Sequence[Proposal]
) -> ProposedElsewhere:
    """Return what of a branch waits for change requests of other branches, and for those of other clones.

    Shape: `proposals` are the space's own change requests as they were read; one that this run has made is live. Costs
    nothing where the branch adds no file to main content, or no other change request is live.
    """
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    records = list_records(workspace, binding)
    over = {str(one.change_request.number) for one in proposals if not one.change_request.is_live}
    others = [item for item in records if item.branch != branch and item.number not in over]
    known = {item.number for item in records}
    has_foreign = (space.change_requests_open or 0) + (space.change_requests_draft or 0) > len(known)
    if tip is None or main is None or not (others or has_foreign):
        return NOTHING
    changes = [found for found in repository.compare_trees(main, tip, renames=True) if binding.holds(found.path)]
    new = {found.path for found in changes if found.before is None and not found.path.endswith(SUMMARY)}
    new -= _list_former(workspace, main, tip, new)
    if not new:
        return NOTHING
    added: dict[str, int] = {}
    for item in sorted(others, key=lambda item: int(item.number)):
        paths = _list_added_here(workspace, binding, item, main, tip, new)
        added |= {path: int(item.number) for path in new & paths if path not in added}
    for request in _list_foreign(workspace, binding, branch, known) if has_foreign else ():
        commit = repository.find_revision(read_proposed_commit(request.description))
        if commit is not None and repository.is_ancestor(commit, tip):
            content = ProposedContent(workspace.client, binding.space, request.id).content()
            paths = set(_list_added(workspace, binding, content, commit, tip))
            added |= {path: request.number for path in new & paths if path not in added}
    changed = [found.path for found in changes if found.after is not None and is_markdown(found.path)]
    return ProposedElsewhere(added, _read_links(workspace, tip, changed) if added else {})


def _list_added_here(
    workspace: Workspace, binding: Binding, other: ProposalRecord, main: str, tip: str, new: Collection[str]
) -> set[str]:
    """The paths in the tip of what the change request of another branch adds to main content.

    A file of the same path is the same one, as Git would take it when both branches are merged, and so is one that
    either branch has moved since they parted.
    """
    repository = workspace.repository
    here = repository.resolve(workspace.change_ref(binding, int(other.number)))
    if here is None:
        return set()
    changes = repository.compare_trees(main, here, renames=True)
    added = {found.path for found in changes if found.before is None and binding.holds(found.path)}
    added -= _list_former(workspace, main, here, added)
    base = repository.find_merge_base(other.commit, tip) if added.difference(new) else None
    if base is None:
        return added
    former = {path: old for old, path in find_moves(workspace, base, here).items()}
    later = find_moves(workspace, base, tip)
    began = {former.get(path, path) for path in added}
    return {later.get(path, path) for path in began}


def _list_former(workspace: Workspace, main: str, commit: str, paths: Iterable[str]) -> set[str]:
    """Those of the paths that a commit has and main content lacks because it was deleted there since they parted."""
    base = workspace.repository.find_merge_base(main, commit)
    return {path for path in paths if base is not None and workspace.repository.lookup(base, path) is not None}


def _list_foreign(
    workspace: Workspace, binding: Binding, branch: str, known: Collection[str]
) -> Iterator[ChangeRequest]:
    """The live change requests of other clones, and of branches that this one does not know of."""
    for status in ("draft", "open"):
        for request in workspace.client.change_requests.list(binding.space, status=status):
            is_foreign = is_marked_elsewhere(request.subject, branch, workspace.instance)
            if is_foreign and str(request.number) not in known:
                yield request


def _list_added(workspace: Workspace, binding: Binding, content: Revision, commit: str, tip: str) -> Iterator[str]:
    """The paths in the tip of what a change request adds; `commit` is the one that it says it was made from."""
    seen = workspace.store.read_last_seen(binding.space)
    in_main = seen.anchors if seen is not None else {}
    moves = find_moves(workspace, commit, tip)
    for at, later in ((commit, moves), (tip, dict[str, str]())):
        for id, anchor in recover_anchors(workspace.repository, binding, content, at).items():
            if id not in in_main and not id.startswith(LOST_PREFIX):
                path = binding.path(anchor.path)
                yield later.get(path, path)


def _read_links(workspace: Workspace, tip: str, pages: Iterable[str]) -> dict[str, frozenset[str]]:
    """The paths to which pages of a commit link."""
    found: dict[str, frozenset[str]] = {}
    for page in pages:
        oid = None if page.endswith(SUMMARY) else workspace.repository.lookup(tip, page)
        text = workspace.repository.read(oid).decode("utf-8", "replace") if oid is not None else ""
        targets = (resolve_address(target.text, at=page) for target in find_targets(text))
        found[page] = frozenset(target[0] for target in targets if target is not None)
    return found
