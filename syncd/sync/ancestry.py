"""Where two commits have parted: their common ground, when partial meetings count as much as real merges."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from syncd.plan.message import REVISION
from syncd.plan.met import MET, TIP, Claim, Knot, claim_of
from syncd.repo import Blob, Commit, Person, Repository
from syncd.sync.workspace import Workspace

NOBODY = Person("syncd", "syncd@localhost", datetime(2100, 1, 1, tzinfo=UTC))
"""Signs commits that no ref ever names: always the same, so that the same question leaves no second object; and late,
because git looks for common ancestors from the youngest commit on."""
BASES_MAX = 8
"""Best common ancestors that are merged into one base; more only make a person's help likelier."""


Fold = Callable[[str, str], str]
"""Merges two commits into one tree, in conflict or not."""


@dataclass(frozen=True)
class Common:
    """The tree that two commits have grown from, and the commits that it is made of.

    Shape: pages that an earlier meeting held are as they were before it, in `earlier` the trees to look them up in.
    """

    tree: str
    since: tuple[str, ...]
    earlier: tuple[tuple[tuple[Knot, ...], str], ...] = field(default=())


def common(
    repository: Repository,
    ours: str,
    theirs: str,
    fold: Fold,
    *,
    met: Sequence[Claim] = (),
    known: Sequence[Claim] = (),
) -> Common:
    """Given two commits, return their common ground.

    Shape: `met` is what ours counts as having taken in without being its child, `known` the same of theirs. Without
    them and without partial meetings it is the merge base, or, where there are several, these folded into one.
    """
    left, right = (
        (*extra, *_valid(repository, tip, found))
        for extra, (tip, found) in zip((met, known), _claims(repository, ours, theirs), strict=True)
    )
    ground = _Ground(repository, ours, theirs, fold)
    bases = ground.bases(left, right)
    tree = ground.tree(bases)
    knots = list(dict.fromkeys(knot for claim in (*left, *right) for knot in claim.held))
    groups: dict[tuple[tuple[Claim, ...], tuple[Claim, ...]], list[Knot]] = {}
    for knot in knots:
        views = [tuple(c for c in claims if not any(map(c.holds, knot))) for claims in (left, right)]
        groups.setdefault((views[0], views[1]), []).append(knot)
    earlier = []
    for (one, other), held in groups.items():
        former = ground.tree(ground.bases(one, other))
        since = {s for claim in (*left, *right) if any(knot in held for knot in claim.held) for s in claim.since}
        held = [knot.union(*(ground.followed(s, t, knot) for s in since for t in (tree, former))) for knot in held]
        held = _united(held)
        paths = sorted(path for knot in held for path in knot)
        changes: dict[str, Blob | bytes | None] = {d.path: d.after for d in repository.differences(tree, former, paths)}
        tree = repository.replaced(tree, changes) if changes else tree
        earlier.append((tuple(held), former))
    return Common(tree, tuple(bases), tuple(earlier))


def _united(knots: Iterable[Knot]) -> list[Knot]:
    """Knots, those with a path in common as one: what one claim tells of as two pages may be one to another."""
    found: dict[str, Knot] = {}
    for knot in knots:
        whole = knot.union(*(found[path] for path in knot if path in found))
        found |= dict.fromkeys(whole, whole)
    return list(dict.fromkeys(found.values()))


def tip_of(workspace: Workspace, commit: str) -> str:
    """Given a proposed commit, return the commit of its branch that it was made from."""
    found = _proposed(workspace, commit)
    return found.trailers[TIP][-1] if TIP in found.trailers else found.oid


def origin_of(workspace: Workspace, commit: str) -> str:
    """Given a proposed commit, return the commit that says all that the branch knew of it.

    Shape: the branch's own commit, where what was proposed holds all of that; else the proposed one, which lacks main
    content that the change request lacks, or, without what reviewers did that the branch had not taken in, its second
    parent.
    """
    found, repository = _proposed(workspace, commit), workspace.repository
    tip = tip_of(workspace, commit)
    is_here = tip in repository.present([tip])
    if is_here and (MET in found.trailers or repository.is_ancestor(tip, found.oid)):
        return tip
    if len(found.parents) < 2 or (is_here and repository.is_ancestor(found.parents[0], tip)):
        return found.oid
    return found.parents[1]


def sent_in(workspace: Workspace, commit: str) -> Claim:
    """Given a proposed commit, return what was sent, which holds some pages not as the branch has them."""
    found = _proposed(workspace, commit)
    return claim_of(found.oid, found.trailers)


def held_by(repository: Repository, commit: str) -> tuple[Knot, ...]:
    """Given a commit, return the pages that its meeting held."""
    return claim_of(commit, repository.commits(None, commit, limit=1)[0].trailers).held


def _proposed(workspace: Workspace, commit: str) -> Commit:
    """The commit that was proposed, below what reviewers and the platform did to it."""
    while True:
        found = workspace.repository.commits(None, commit, limit=1)[0]
        if TIP in found.trailers or REVISION not in found.trailers or not found.parents or _is_mirror(workspace, found):
            return found
        commit = found.parents[0]


def _is_mirror(workspace: Workspace, commit: Commit) -> bool:
    """Whether this is a commit of main content, and none of a change request."""
    found = workspace.repository.find(workspace.main, REVISION, commit.trailers[REVISION][-1])
    return found is not None and found.oid == commit.oid


def _claims(repository: Repository, ours: str, theirs: str) -> Iterator[tuple[str, list[Claim]]]:
    for tip, commits in zip((ours, theirs), repository.marked(ours, theirs, MET), strict=True):
        yield tip, [claim_of(commit.oid, commit.trailers) for commit in commits]


def _valid(repository: Repository, tip: str, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Claims that hold here: a commit carried elsewhere without what it grew from has not taken in the rest."""
    here = repository.present(oid for claim in claims for oid in (*claim.met, *claim.since))
    known: list[str] = []
    valid: list[Claim] = []
    for claim in reversed(claims):
        met = tuple(commit for commit in claim.met if commit in here)  # what nothing names goes in time
        if here.issuperset(claim.since) and all(
            since in known or repository.is_ancestor(since, _knowing(repository, tip, known)) for since in claim.since
        ):
            known += met
            valid.append(replace(claim, met=met))
    return tuple(valid)


def _knowing(repository: Repository, commit: str, met: Iterable[str]) -> str:
    """Given a commit and what it has taken in, return a commit that is a child of all; no ref ever names it."""
    others = [other for other in dict.fromkeys(met) if other != commit]
    if not others:
        return commit
    tree = repository.subtree(commit)
    assert tree is not None
    return repository.commit_tree(
        tree, parents=[commit, *others], message="syncd: what is known\n", author=NOBODY, committer=NOBODY
    )


@dataclass(frozen=True)
class _Ground:
    repository: Repository
    ours: str
    theirs: str
    fold: Fold

    def bases(self, left: Sequence[Claim], right: Sequence[Claim]) -> list[str]:
        """Given which claims count, return the best common ancestors."""
        repository = self.repository
        ours = _knowing(repository, self.ours, _met(left))
        theirs = _knowing(repository, self.theirs, _met(right))
        found = repository.merge_bases(ours, theirs)
        if len(found) < 2 or not (left or right):
            return found
        known = {base: self._with_claims(base, [*left, *right]) for base in found}
        return [
            base for base in found
            if not any(other != base and repository.is_ancestor(base, known[other]) for other in found)
        ] or found  # fmt: skip

    def _with_claims(self, base: str, claims: Sequence[Claim]) -> str:
        own = [claim for claim in claims if self.repository.is_ancestor(claim.commit, base)]
        return _knowing(self.repository, base, _met(own))

    def followed(self, since: str, tree: str, knot: Knot) -> set[str]:
        """Given the paths of a page, return those to which it has been moved in a tree since a commit."""
        moves = self.repository.differences(since, tree, renames=True)
        return {move.path for move in moves if move.old_path in knot}

    def tree(self, bases: Sequence[str]) -> str:
        """Given common ancestors, return the tree of their merge, in conflict or not; the empty one of none."""
        repository = self.repository
        if not bases:
            return repository.replaced(None, {})
        commit = bases[0]
        for other in bases[1:BASES_MAX]:
            tree = self.fold(commit, other)
            message = "syncd: what both sides grew from\n"
            commit = repository.commit_tree(
                tree, parents=[commit, other], message=message, author=NOBODY, committer=NOBODY
            )
        found = repository.subtree(commit)
        assert found is not None
        return found


def _met(claims: Iterable[Claim]) -> list[str]:
    return [met for claim in claims for met in claim.met]
