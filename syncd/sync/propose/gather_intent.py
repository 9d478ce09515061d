"""Gather what a branch wants of one space: the branch, main content and its change request, merged into a commit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from syncd.plan.merge.restore_entries import group_paths
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.integrate.flow import Integrated, integrate_commit
from syncd.sync.merge.base import read_tips
from syncd.sync.merge.leave_out import leave_out, list_other_directories
from syncd.sync.merge.merge import find_merge_base, find_moves, list_page_names, merge
from syncd.sync.merge.parts import write_synthetic_commit
from syncd.sync.merge.result import EXCLUDED, EntryConflict, MergeResult
from syncd.sync.merge.summaries import read_summary
from syncd.sync.merge.write_part import NOT_SENT, write_part
from syncd.sync.propose.elsewhere import list_waiting
from syncd.sync.propose.intent import NOTHING, Intent, ProposedElsewhere, format_paths
from syncd.sync.propose.refused import Refusal, find_refusals, render_refusal
from syncd.sync.state.conflicts import describe_conflicts
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.request_commits import find_content, find_taken_main
from syncd.sync.workspace import Workspace

COMMITS_SHOWN = 50


def find_own_proposal(proposals: Sequence[Proposal], branch: str) -> Proposal | None:
    """Return the newest change request of a branch that is not merged, or None."""
    own = [p for p in proposals if p.branch == branch and p.change_request.status != "merged"]
    return max(own, key=lambda p: p.change_request.number, default=None)


def gather_intent(
    workspace: Workspace,
    binding: Binding,
    branch: str,
    live: Proposal | None,
    elsewhere: ProposedElsewhere = NOTHING,
) -> Intent | None:
    """Return what a branch wants of a space, merged with main content and with its live change request.

    Shape: None when the branch has no commit of its own, and its change request holds only main content. What other
    change requests add already (`elsewhere`) is left out.
    Raises: FileInvalid for a table of contents or settings that cannot be read; GitFailed for a cut history.
    Source: docs/decisions/0002-one-recorded-base.md.
    """
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None or _is_nothing_own(workspace, binding, branch, (tip, main), live):
        return None
    name = f"{workspace.remote}/main"
    both = integrate_commit(workspace, branch, tip, main, name=name)
    conflicts = describe_conflicts(workspace, both.result, branch, name, among=binding.holds) if both.result else ()
    ours, existing, added = both.commit, main, dict[str, tuple[str, ...]]()
    if live is not None:
        number = live.change_request.number
        existing = repository.resolve(workspace.change_ref(binding, number)) or main
        name = f"{workspace.remote}/changes/{binding.name}/{number}"
        taken = find_taken_main(workspace, live.change_request)
        added = _find_added_in_main(workspace, binding, taken, main, both.commit)
        if taken is not None and taken != main:
            # Only an update brings main content. Sent as the branch's, nothing would record that it is there, and what
            # reviewers take out of it would come back.
            outdated = _find_outdated(workspace, binding, taken, main, tip)
            ours = _restore_outdated(workspace, tip, taken, outdated.values())
            added |= outdated
    # What conflicts with main content, or only main content has added, is not merged again with the change request.
    excluded = {path for page in (both.result.conflicts if both.result else ()) for path in page.paths} | added.keys()
    excluded |= list_waiting(workspace, elsewhere, existing, tip)
    result, refusals, leaving = _merge_what_can_be_sent(workspace, binding, branch, (ours, existing), excluded)
    if existing != main:
        known = {outcome.paths for outcome in conflicts}
        more = describe_conflicts(workspace, result, branch, name, among=binding.holds)
        conflicts += tuple(outcome for outcome in more if outcome.paths not in known)
    left_out = _list_left_out(workspace, tip, both, result, added)
    conflicts += tuple(render_refusal(refusal, branch, tip) for refusal in refusals)
    deletes_unseen = _deletes_unseen(repository, both.commit, existing, added, elsewhere)
    desired = _write_desired(workspace, binding, branch, tip, result, left_out, deletes_unseen=deletes_unseen)
    commits = tuple(repository.list_commits(main, tip, limit=COMMITS_SHOWN))
    entry_conflicts = _list_entry_conflicts(
        binding, (f"{workspace.remote}/main", both.result), (name, result if existing != main else None)
    )
    later = (*_describe_later(workspace, binding, (main, both.commit), added, live), *_describe_leaving(leaving, live))
    staying = dict.fromkeys(leaving, live.change_request.number) if live is not None else {}
    return Intent(
        branch, tip, main, existing, desired, commits, left_out, conflicts, entry_conflicts, elsewhere, later, staying
    )


def _deletes_unseen(
    repository: Repository,
    merged: str,
    existing: str,
    added: Mapping[str, tuple[str, ...]],
    elsewhere: ProposedElsewhere,
) -> bool:
    """Whether the branch deleted a page that main content added after its change request last took main in, or that
    another change request is about to add.

    No operation can delete it here, and a later update brings it. So a part is sent, not the tip: else the deletion
    would count as arrived.
    """
    return any(all(repository.lookup(merged, name) is None for name in names) for names in added.values()) or any(
        repository.lookup(existing, path) is None for path in elsewhere.deleted
    )


def _merge_what_can_be_sent(
    workspace: Workspace, binding: Binding, branch: str, sides: tuple[str, str], excluded: Collection[str]
) -> tuple[MergeResult, Sequence[Refusal], frozenset[str]]:
    """Merge a branch and the content of its change request, and return with it what the platform would not take, and
    the pages that may not leave the space yet.

    Only the merged tree shows that; it stays as the change request has it.
    """
    ours, existing = sides
    result = merge(workspace, ours, existing, branch=branch, excluded=excluded)
    refusals = find_refusals(workspace, binding, result.tree_with_theirs, existing, ours)
    leaving = frozenset(_list_leaving(binding, result))
    if refusals or leaving:
        excluded = {*excluded, *leaving, *(path for refusal in refusals for path in refusal.paths)}
        result = merge(workspace, ours, existing, branch=branch, excluded=excluded)
    return result, refusals, leaving


def _list_leaving(binding: Binding, result: MergeResult) -> Iterator[str]:
    """The pages that a branch has moved to another space, and that have words of reviewers here which the branch lacks:
    the change request of the other space gets the page as the branch has it."""
    for decision in result.decisions.clean if result.decisions is not None else ():
        ours, theirs = decision.page.ours, decision.page.theirs
        if ours is None or theirs is None or decision.oid == ours.oid:
            continue
        if binding.holds(theirs.path) and not binding.holds(decision.path):
            yield theirs.path


def _describe_leaving(leaving: Collection[str], live: Proposal | None) -> tuple[str, ...]:
    """A note about pages that stay in the space until the branch has what reviewers wrote there."""
    if live is None or not leaving:
        return ()
    number = live.change_request.number
    return (
        f"{format_paths(leaving)} stays in #{number} too, where reviewers wrote what the branch lacks: "
        "syncd pull, then syncd push",
    )


def _describe_later(
    workspace: Workspace,
    binding: Binding,
    sides: tuple[str, str],
    added: Mapping[str, tuple[str, ...]],
    live: Proposal | None,
) -> tuple[str, ...]:
    """A note about pages that main content got after a change request began, and that differ in the branch; `sides` are
    main content, and the branch merged with it."""
    repository, (main, ours) = workspace.repository, sides
    changed = {
        names[-1]
        for names in added.values()
        if binding.holds(names[0])
        and (len(names) > 1 or repository.lookup(main, names[0]) != repository.lookup(ours, names[0]))
    }
    if live is None or not changed:
        return ()
    number = live.change_request.number
    return (
        f"main content got {format_paths(changed)} after #{number} began; what the branch says of it is sent once "
        f"#{number} is updated or merged",
    )


def _is_nothing_own(
    workspace: Workspace, binding: Binding, branch: str, commits: tuple[str, str], live: Proposal | None
) -> bool:
    """Whether all of a branch is in main content, and its change request, if any, holds nothing else;
    `commits` are the branch's and that of main content."""
    repository, (tip, main) = workspace.repository, commits
    if not repository.is_ancestor(tip, main):
        return False
    if not all(repository.is_ancestor(former, main) for former in read_tips(repository, branch)):
        return True  # it was reset to main content, which gives nothing up that it has proposed
    here = repository.resolve(workspace.change_ref(binding, live.change_request.number)) if live is not None else None
    return here is None or workspace.has_same_content(binding, find_content(repository, here), main)


def _find_outdated(
    workspace: Workspace, binding: Binding, taken: str, main: str, tip: str
) -> dict[str, tuple[str, ...]]:
    """Files that a branch has as main content once had them: changed there, or given another title, since the change
    request took it in (`taken`), and once more since the branch did.

    Sent as the branch's, what somebody took out of main content would come back.
    """
    repository = workspace.repository
    known = repository.find_merge_base(main, tip)
    if known is None or known == main or not repository.is_ancestor(taken, known):
        return {}
    sides = (known, tip, main)
    changed = [one.path for one in repository.compare_trees(taken, known) if binding.holds(one.path)]
    versions = {path: [repository.lookup(commit, path) for commit in sides] for path in changed}
    former, *later = (_list_titles(repository, binding, commit) for commit in (taken, *sides))
    titles = {path: [side.get(path) for side in later] for path, title in later[0].items() if title != former.get(path)}
    found = (*versions.items(), *titles.items())
    return {path: (path,) for path, (then, own, now) in found if own == then != now}


def _list_titles(repository: Repository, binding: Binding, commit: str) -> dict[str, str]:
    """The titles in a commit's table of contents, by path."""
    summary = read_summary(repository, binding, commit)
    return {path: entry.title for path, entry in summary.index_pages().items()} if summary is not None else {}


def _restore_outdated(workspace: Workspace, tip: str, taken: str, entries: Collection[tuple[str, ...]]) -> str:
    """A branch's commit with some entries as a commit of main content has them; itself where there are none."""
    if not entries:
        return tip
    tree = leave_out(workspace.repository, workspace.bindings, tip, taken, entries)
    return write_synthetic_commit(workspace.repository, tree, [tip], "syncd: a branch without what is outdated")


def _list_entry_conflicts(
    binding: Binding, *found: tuple[str, MergeResult | None]
) -> tuple[tuple[str, EntryConflict], ...]:
    """The pages of a space that are in conflict, each once, with the other side's name."""
    each = [(name, page) for name, result in found if result is not None for page in result.conflicts]
    ours = [(n, page) for n, page in each if page.why != EXCLUDED and any(map(binding.holds, page.paths))]
    first = {page.path: (name, page) for name, page in reversed(ours)}
    return tuple(dict.fromkeys(first[page.path] for _, page in ours))


def _list_left_out(
    workspace: Workspace, tip: str, both: Integrated, result: MergeResult, added: dict[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """All paths of each entry that is in conflict with main content or the change request, or that main content has
    added and the next update brings."""
    conflicts = (*(both.result.conflicts if both.result is not None else ()), *result.conflicts)
    held = [*(paths for page in conflicts for paths in page.paths_per_page), *added.values()]
    # A page that main content has moved has another path in the branch than in the merge of both.
    names = group_paths((*held, *_list_names(workspace, tip, both))) if held else {}
    return tuple(dict.fromkeys(tuple(sorted(names[path])) for paths in held for path in paths))


def _list_names(workspace: Workspace, tip: str, both: Integrated) -> Iterable[Collection[str]]:
    """All paths of each page that changed on the way from a branch to its merge with main content."""
    if both.result is not None and both.result.decisions is not None:
        return [decision.page.paths for decision in both.result.decisions.clean]
    return list_page_names(workspace, tip, tip, both.commit).values() if both.commit != tip else ()


def _write_desired(
    workspace: Workspace,
    binding: Binding,
    branch: str,
    tip: str,
    result: MergeResult,
    left_out: Sequence[Sequence[str]],
    *,
    deletes_unseen: bool,
) -> str:
    """Write the commit of what the space is to hold, and return its id; its parents say what it was made from.

    The same state gives the same commit, so that a second run sends the same.
    """
    repository = workspace.repository
    others = list_other_directories(workspace.bindings, binding)
    tree = leave_out(repository, (), result.tree_with_theirs, result.theirs, (), directories=others)
    base = find_merge_base(workspace, tip, result.theirs, branch=branch)
    first = tip
    part_tree = leave_out(repository, workspace.bindings, tip, base.tree, left_out, directories=others)
    if deletes_unseen or part_tree != repository.find_tree(tip):
        first = write_part(repository, tip, base.commits, part_tree, name=branch, lacks=NOT_SENT)
    base_commit = write_synthetic_commit(repository, base.tree, base.commits, "syncd: the base of what is sent")
    parents = [first, result.theirs, base_commit]
    return write_synthetic_commit(repository, tree, parents, f"syncd: what {binding.name} is to hold")


def _find_added_in_main(
    workspace: Workspace, binding: Binding, taken: str | None, main: str, ours: str
) -> dict[str, tuple[str, ...]]:
    """Files of a space that were added to main content since the change request took it in, with all paths of each by
    each path.

    They are not sent: after the next update of the change request they would be there twice.
    """
    repository = workspace.repository
    if taken is None or taken == main:
        return {}
    changes = repository.compare_trees(taken, main)
    new = [change.path for change in changes if change.before is None and binding.holds(change.path)]
    # Git may take a page of another space for one that was moved here: only the mirror's records tell.
    moved = set(find_moves(workspace, taken, main).values()) if new else set()
    added = [path for path in new if path not in moved]
    later = find_moves(workspace, main, ours) if added else {}
    names = [(path, later[path]) if path in later else (path,) for path in added]
    return {name: both for both in names for name in both}
