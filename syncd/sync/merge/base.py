"""The base of two commits: for each entry, the last version that both have known, as Git's graph and its parts say.

It is what `git merge-base` answers when a part of a commit counts as an ancestor of every commit that has that commit.
Source: two-way, section 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from syncd.plan.message import REVISION
from syncd.repo import Blob, Commit, Repository
from syncd.sync.branches import HEADS
from syncd.sync.merge.parts import PART_TRAILER, UNNAMED, find_original
from syncd.sync.workspace import Workspace

BASES_MAX = 8
"""Best common ancestors that are merged into one base; more only make a person's help likelier."""
TIP_REFS = "refs/syncd/tip/"
"""Below it, for each branch, the tip that was last in step with the platform, or about to be sent."""

MergeCommits = Callable[[str, str], tuple[str, frozenset[str]]]
"""Merges two commits into one tree, and names the paths that do not merge."""


@dataclass(frozen=True)
class Base:
    """The tree that two commits have grown from, and the commits that say so.

    Shape: the commits are those of the branch as it is now. `doubtful` are paths on whose version several bases do not
    agree; where the two sides differ in one of them, it is in conflict, since any one of the bases would take
    somebody's part.
    """

    tree: str
    commits: tuple[str, ...]
    ambiguous: frozenset[str] = frozenset()


def find_base(workspace: Workspace, ours: str, theirs: str, fold: MergeCommits) -> Base:
    """Given two commits, return their base; that of unrelated histories is empty.

    Raises: GitFailed where the history is cut off.
    """
    repository = workspace.repository
    left, right = repository.marked(ours, theirs, PART_TRAILER)
    here = _add_parts(workspace, ours, right)
    there = _add_parts(workspace, theirs, left)
    return _join_bases(repository, repository.merge_bases(here, there), fold)


def find_branch_base(workspace: Workspace, branch: str, ours: str, theirs: str, fold: MergeCommits) -> Base:
    """Given a branch's commit and one of the platform, return their base, also where the branch was rewritten.

    Shape: what the branch said before stays said, so that what it dropped is dropped; but of what others did to an
    entry, that the branch has not as it had it then, the commits that are left decide, so that others' words come in
    again; and so they do in main content wherever the branch has an entry as these say.
    """
    repository = workspace.repository
    plain = find_base(workspace, ours, theirs, fold)
    tip = repository.resolve(f"{TIP_REFS}{branch}")
    if tip is None or repository.is_ancestor(tip, ours) or tip not in repository.present([tip]):
        return plain
    wide = find_base(workspace, join_commits(repository, ours, [tip]), theirs, fold)
    if wide.tree == plain.tree:
        return plain
    touched = set(_find_paths_of_others(repository, tip, ours))
    is_main = theirs == repository.resolve(workspace.main)
    now, then, former = (repository.tree(commit) for commit in (ours, tip, plain.tree))
    changes: dict[str, Blob | bytes | None] = {}
    for difference in repository.differences(wide.tree, plain.tree, renames=True):
        path, later = difference.path, difference.old_path or difference.path
        names = {path, later}
        if all(now.get(name) == then.get(name) for name in names):
            continue
        is_published = is_main and all(now.get(name) == former.get(name) for name in names)
        if names & touched or is_published:
            changes |= {later: None, path: difference.after}
        elif is_main and later not in now and path in now:
            changes |= {later: None, path: difference.before}  # its move is published, and its text was rewritten
    tree = repository.replaced(wide.tree, changes) if changes else wide.tree
    return Base(tree, plain.commits, wide.ambiguous | plain.ambiguous)


def join_commits(repository: Repository, commit: str, others: Sequence[str]) -> str:
    """Given a commit and others, return one that has all of them as parents; no ref ever names it."""
    missing = [other for other in dict.fromkeys(others) if other != commit]
    if not missing:
        return commit
    tree = repository.subtree(commit)
    assert tree is not None
    message = "syncd: what is known\n"
    return repository.commit_tree(tree, parents=[commit, *missing], message=message, author=UNNAMED, committer=UNNAMED)


def record_tip(workspace: Workspace, branch: str) -> None:
    """Given a branch that is in step with the platform, or about to be sent, remember its tip.

    Shape: of a branch that has nothing of its own there is nothing to remember, unless it was reset while it has a
    change request: else it would be taken for one that has yet to follow that.
    """
    repository = workspace.repository
    tip, main, ref = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main), f"{TIP_REFS}{branch}"
    old = repository.resolve(ref)
    if tip is not None and tip == main and old is not None:
        prefixes = map(workspace.proposed_refs, workspace.bindings)
        proposed = {name.removeprefix(p).partition("/")[2] for p in prefixes for name in repository.refs(p)}
        if branch not in proposed or repository.is_ancestor(old, tip):
            repository.delete_ref(ref, old=old)
    elif tip is not None and tip not in (main, old):
        repository.update_ref(ref, tip, old=old)


def _add_parts(workspace: Workspace, commit: str, parts: Sequence[Commit]) -> str:
    """A commit with all parts as parents that stand for one of its ancestors."""
    repository, known = workspace.repository, commit
    pending = [(part.oid, of) for part in parts if (of := _find_known_original(workspace, part)) is not None]
    while True:
        found = [oid for oid, of in pending if repository.is_ancestor(of, known)]
        pending = [(oid, of) for oid, of in pending if oid not in found]
        if not found:
            return known
        known = join_commits(repository, known, found)


def _find_known_original(workspace: Workspace, part: Commit) -> str | None:
    """The commit that a part stands for, as it is called here: another clone may have made it of the same revision."""
    of = find_original(workspace.repository, part)
    if of is None or of in workspace.repository.present([of]):
        return of
    for revision in part.trailers.get(REVISION, []):
        found = workspace.repository.find(workspace.main, REVISION, revision)
        if found is not None:
            return found.oid
    return None


def _join_bases(repository: Repository, bases: Sequence[str], fold: MergeCommits) -> Base:
    """Several best common ancestors as one."""
    if not bases:
        return Base(repository.replaced(None, {}), ())
    commit, doubtful = bases[0], frozenset[str]()
    for other in bases[1:BASES_MAX]:
        tree, paths = fold(commit, other)
        doubtful |= paths
        commit = repository.commit_tree(
            tree, parents=[commit, other], message="syncd: several bases\n", author=UNNAMED, committer=UNNAMED
        )
    found = repository.subtree(commit)
    assert found is not None
    return Base(found, tuple(bases), doubtful)


def _find_paths_of_others(repository: Repository, tip: str, ours: str) -> Iterator[str]:
    """The paths that commits of the platform changed which a branch had and has no more."""
    for commit in repository.marked(ours, tip, REVISION)[1]:
        if commit.parents:
            yield from (found.path for found in repository.differences(commit.parents[0], commit.oid))
