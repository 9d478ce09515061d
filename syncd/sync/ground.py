"""The ground of a proposal: what a branch asks of one space, merged with all that is known of the other side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncd.plan.met import Claim, met_message
from syncd.repo import Commit
from syncd.sync.ancestry import held_by, origin_of, sent_in, tip_of
from syncd.sync.branches import HEADS
from syncd.sync.conflicts import conflicts_of
from syncd.sync.content import Content
from syncd.sync.meeting import SET_ASIDE, Meeting, meet, moved
from syncd.sync.memory import merged_origins
from syncd.sync.outcome import Held
from syncd.sync.proposals import Proposal
from syncd.sync.renditions import renditions
from syncd.sync.taken import contains, taken_in
from syncd.sync.workspace import Binding, Workspace

COMMITS_SHOWN = 50


@dataclass(frozen=True)
class Ground:
    """What a branch asks of one space: `desired` is a commit whose tree is the branch merged with all that is known.

    Shape: `origin` is what the branch said of its change request last. A desired commit that lacks something of the
    branch is no child of it, or the branch would be fast-forwarded over its own words:

    * while pages are in conflict with main content (`held`), they are in it as the platform has them, and the rest is
      what the branch itself did; `said` is that without what reviewers did;
    * while a change request lacks main content, files that are new there are not sent to it a second time; `met` are
      the commits that it holds but for those, `lacks` their paths.
    """

    branch: str
    tip: str
    main: str
    desired: str
    commits: tuple[Commit, ...]
    origin: str = ""
    sent: Claim | None = None
    asks: bool = True
    said: str = ""
    met: tuple[str, ...] = ()
    lacks: tuple[tuple[str, ...], ...] = ()
    held: tuple[tuple[str, ...], ...] = ()
    conflicts: tuple[Held, ...] = ()


def own_proposal(proposals: Sequence[Proposal], branch: str) -> Proposal | None:
    """The branch's newest change request that is not merged."""
    mine = [p for p in proposals if p.branch == branch and p.change_request.status != "merged"]
    return max(mine, key=lambda p: p.change_request.number, default=None)


def ground_of(workspace: Workspace, binding: Binding, branch: str, proposals: Sequence[Proposal]) -> Ground | None:
    """Given a branch, return what it asks of the space, or None when the platform has all its commits already."""
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None or tip == main or repository.is_ancestor(tip, main):
        return None
    own = own_proposal(proposals, branch)
    origin = origin_of(workspace, own.commit) if own is not None else ""
    commits = tuple(repository.commits(main, tip, limit=COMMITS_SHOWN))
    sent = sent_in(workspace, own.commit) if own is not None else None
    ground = _with_main(workspace, binding, Ground(branch, tip, main, tip, commits, origin, sent))
    if own is None or not own.change_request.is_live:
        return replace(ground, asks=not workspace.alike(binding, ground.desired, main))
    number = own.change_request.number
    edits = repository.resolve(workspace.changes(binding, number))
    if edits is None:
        return ground
    if ground.said:
        return _apart(workspace, binding, ground, edits, number)
    if not contains(workspace, edits, main):
        return _beside(workspace, binding, ground, edits, number)
    return _with_edits(workspace, binding, ground, edits, number)


def joined_with(workspace: Workspace, binding: Binding, ground: Ground, live: Proposal, content: Content) -> Ground:
    """Given content read back, return the ground joined with it: what a reviewer did meanwhile is kept, not undone."""
    number = live.change_request.number
    if not ground.said:
        joined = _with_edits(workspace, binding, ground, content.commit, number)
    else:
        meeting = meet(workspace, ground.desired, content.commit, met=_origins(ground), aside=_paths(ground.held))
        joined = _held(workspace, binding, ground, meeting, _changes(workspace, binding, number))
        joined = replace(joined, desired=_commit(workspace, joined, meeting.kept_theirs, [content.commit, ground.said]))
    return ground if workspace.alike(binding, joined.desired, ground.desired) else joined


def _with_main(workspace: Workspace, binding: Binding, ground: Ground) -> Ground:
    """The ground joined with main content, as a new change request is to have it."""
    if workspace.repository.is_ancestor(ground.main, ground.tip):
        return ground
    meeting = meet(workspace, ground.tip, ground.main, met=merged_origins(workspace, ground.branch))
    if not meeting.held:
        desired = _commit(workspace, ground, meeting.kept_ours, [ground.tip, ground.main])
        return replace(ground, desired=desired)
    ground = _held(workspace, binding, ground, meeting, f"{workspace.remote}/main")
    ground = replace(ground, lacks=ground.held)
    said = _commit(workspace, ground, meeting.kept_theirs, [ground.main])
    return replace(ground, desired=said, said=said)


def _with_edits(workspace: Workspace, binding: Binding, ground: Ground, edits: str, number: int) -> Ground:
    """The ground joined with a change request that has main content; with a rewritten branch, only edits count."""
    repository = workspace.repository
    rewritten = bool(ground.origin) and not any(
        repository.is_ancestor(ground.origin, commit) for commit in (ground.tip, ground.main)
    )
    if repository.is_ancestor(edits, ground.desired):
        return ground
    is_ahead = repository.is_ancestor(ground.desired, edits) and not renditions(repository, ground.desired, edits)
    if not rewritten and is_ahead:
        return replace(ground, desired=edits)
    meeting = meet(workspace, ground.desired, edits, met=_origins(ground))
    if meeting.held:
        return _apart(workspace, binding, ground, edits, number)
    if not rewritten:
        return replace(ground, desired=_commit(workspace, ground, meeting.kept_ours, [ground.desired, edits]))
    if meeting.kept_ours == repository.subtree(ground.desired):
        return ground
    ground = replace(ground, met=(ground.origin, edits))
    return replace(ground, desired=_commit(workspace, ground, meeting.kept_ours, [ground.desired]))


def _beside(workspace: Workspace, binding: Binding, ground: Ground, edits: str, number: int) -> Ground:
    """The ground joined with a change request that lacks main content: all that the branch says, but what is new."""
    added = _added(workspace, ground, edits)
    meeting = meet(workspace, ground.desired, edits, met=_origins(ground), aside=added.keys())
    if any(page.why != SET_ASIDE for page in meeting.held):
        return _apart(workspace, binding, ground, edits, number)
    lacks = [{name for path in page.paths for name in (path, *added.get(path, ()))} for page in meeting.held]
    ground = replace(ground, met=(ground.tip, ground.main), lacks=tuple(tuple(sorted(names)) for names in lacks))
    if meeting.kept_theirs == workspace.repository.subtree(edits) and tip_of(workspace, edits) == ground.tip:
        return replace(ground, desired=edits)
    return replace(ground, desired=_commit(workspace, ground, meeting.kept_theirs, [edits]))


def _apart(workspace: Workspace, binding: Binding, ground: Ground, edits: str, number: int) -> Ground:
    """The ground upon what a change request has: only what the branch itself did, and no page that is held."""
    repository = workspace.repository
    aside = _paths(ground.held) | _added(workspace, ground, edits).keys()
    # A page that was not sent is in the branch's commit as the change request never had it: that is no origin of it.
    origin = ground.sent.commit if ground.sent is not None and ground.sent.held else ground.origin or edits
    known, former = Claim.whole(ground.main), held_by(repository, origin)
    ground = replace(ground, met=(), lacks=tuple(tuple(sorted(knot)) for knot in former))
    meeting = meet(workspace, ground.tip, edits, met=_origins(ground), known=known, aside=aside)
    ground = _held(workspace, binding, ground, meeting, _changes(workspace, binding, number))
    if meeting.kept_theirs == repository.subtree(edits) and tip_of(workspace, edits) == ground.tip:
        return replace(ground, desired=edits, said=origin_of(workspace, edits))
    own = meet(workspace, ground.tip, origin, met=Claim.whole(origin), known=known, aside=aside | _paths(ground.held))
    said = _commit(workspace, ground, own.kept_theirs, [origin])
    desired = said if edits == origin else _commit(workspace, ground, meeting.kept_theirs, [edits, said])
    return replace(ground, desired=desired, said=said)


def _added(workspace: Workspace, ground: Ground, edits: str) -> dict[str, tuple[str, ...]]:
    """Files of main content that are new since a change request took it in: sent to it, they would be there twice.

    Shape: all names of each by its name there, and by the one that the branch has given it since.
    """
    repository, main = workspace.repository, ground.main
    taken = taken_in(workspace, edits, main)
    if taken is None or taken == main:
        return {}
    changes = repository.differences(taken, main, renames=True)
    added = [change.path for change in changes if change.before is None]
    later = moved(workspace, main, ground.tip) if added else {}
    names = [(path, later[path]) if path in later else (path,) for path in added]
    return {name: both for both in names for name in both}


def _held(workspace: Workspace, binding: Binding, ground: Ground, meeting: Meeting, name: str) -> Ground:
    conflicts = conflicts_of(workspace, meeting, ground.branch, name, among=binding.holds)
    held = tuple(dict.fromkeys((*ground.held, *(page.paths for page in meeting.held))))
    return replace(ground, held=held, conflicts=(*ground.conflicts, *conflicts))


def _origins(ground: Ground) -> tuple[Claim, ...]:
    """What the branch said of its change request counts as known, but for pages that were not sent."""
    held = ground.sent.held if ground.sent is not None else ()
    return (Claim(ground.origin, (ground.origin,), (), held),) if ground.origin else ()


def _paths(held: Sequence[Sequence[str]]) -> set[str]:
    return {path for paths in held for path in paths}


def _changes(workspace: Workspace, binding: Binding, number: int) -> str:
    return f"{workspace.remote}/changes/{binding.name}/{number}"


def _commit(workspace: Workspace, ground: Ground, tree: str, parents: Sequence[str]) -> str:
    """Record a tree without moving any ref; the date is the branch's, so that it is the same commit each time."""
    message = met_message(f"Propose {ground.branch}", met=ground.met, held=ground.lacks, tip=ground.tip)
    person = replace(workspace.committer(), when=ground.commits[0].author.when)
    return workspace.repository.commit_tree(tree, parents=parents, message=message, author=person, committer=person)
