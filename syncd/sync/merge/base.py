"""Find the merge base of two commits: for each entry, the last version that both sides have known.

It is what `git merge-base` answers when a part of a commit counts as an ancestor of every commit that has that commit
in its history. Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from syncd.plan.message import REVISION
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Commit, Difference
from syncd.sync.branches import HEADS
from syncd.sync.merge.parts import PART_TRAILER, find_original, write_synthetic_commit
from syncd.sync.merge.result import Base
from syncd.sync.workspace import Workspace

BASES_MAX = 8
"""Best common ancestors (of a criss-cross history) that are merged into one base; others are passed over."""
TIP_REFS = "refs/syncd/tip/"
"""Below it, for each branch, the tip that was last in step with the platform, or about to be sent."""
SEVERAL_TIPS = "syncd: what a branch was"
"""The subject of a commit that such a ref names instead of a single tip. Its parents are the last tip, and former tips
of which main content has more than the branch; it has none once the branch is gone."""

MergeCommits = Callable[[str, str], tuple[str, frozenset[str]]]
"""Merges two commits into one tree, and returns with it the paths in conflict."""
PageNames = Mapping[str, Collection[str]]
"""For each path of a file that differs from a base on one of two sides, all paths that it has in the three."""


def find_base(workspace: Workspace, ours: str, theirs: str, merge_commits: MergeCommits) -> Base:
    """Return the merge base of two commits, parts counted; that of unrelated histories is empty.

    Raises: GitFailed when the history is cut off, as in a shallow clone.
    """
    repository = workspace.repository
    return _join_bases(repository, _find_common(workspace, ours, theirs), merge_commits)


def _find_common(workspace: Workspace, ours: str, theirs: str) -> list[str]:
    """The best common ancestors of two commits, parts counted."""
    repository = workspace.repository
    # A part that theirs has stands for some commit. Where ours has that commit, ours knows all that is in the part, so
    # the part counts as an ancestor of ours; and the other way round.
    our_parts, their_parts = repository.find_marked(ours, theirs, PART_TRAILER)
    ours_with_parts = _add_parts(workspace, ours, their_parts)
    theirs_with_parts = _add_parts(workspace, theirs, our_parts)
    return repository.find_merge_bases(ours_with_parts, theirs_with_parts)


def read_tips(repository: Repository, branch: str) -> tuple[str, ...]:
    """Return the recorded tips of a branch, the last one first; () for none, and for a branch that was deleted and came
    back."""
    record = repository.resolve(f"{TIP_REFS}{branch}")
    if record is None or record not in repository.select_present([record]):
        return ()
    commit = repository.read_commit(record)
    return commit.parents if commit.subject == SEVERAL_TIPS else (record,)


def list_former_tips(workspace: Workspace, branch: str, ours: str, theirs: str) -> tuple[str, ...]:
    """Return the commits that a branch was at before it was rewritten; () when it was not.

    Shape: `ours` is the branch's commit, `theirs` one of the platform. The recorded tips count, and what was last sent
    to the change request whose content `theirs` is: the tip may have been recorded since for another change request or
    for main content. Commits that the branch still has are left out, and so are ancestors of others.
    """
    repository, main = workspace.repository, workspace.repository.resolve(workspace.main)
    tips = read_tips(repository, branch)
    proposed = _list_proposed(workspace) if theirs != main else ()
    sent = {commit for ref, of, commit in proposed if of == branch and repository.resolve(ref) == theirs}
    present = sorted(repository.select_present({*sent, *tips}))
    lost = [one for one in present if not repository.is_ancestor(one, ours)]
    # Before anything is sent, main content is recorded as what was.
    lost = [one for one in lost if one in tips or main is None or not repository.is_ancestor(one, main)]
    return tuple(one for one in lost if not any(other != one and repository.is_ancestor(one, other) for other in lost))


def find_base_changes(
    workspace: Workspace,
    former_tips: Sequence[str],
    sides: tuple[str, str],
    bases: tuple[Base, Base],
    page_names: Sequence[PageNames],
    exchanged: Mapping[str, str],
) -> dict[str, Blob | bytes | None]:
    """Return what to change in the wide merge base of a rewritten branch so that no work of others is undone.

    Shape: `sides` are the branch's commit and one of the platform. `bases` are two merge bases of them: the plain one
    knows the branch as it is, the wide one also the history of the `former_tips` that the rewrite dropped. `page_names`
    has all paths of each page in the plain base, the branch and each former tip, seen from either end. `exchanged` are
    the paths in the plain base of files that took each other's place since, by those in the wide one: of these only the
    texts may become other ones, since the tables of contents say where they are.
    In the wide base, whatever the rewrite dropped stays dropped. An entry becomes as in the plain base where the
    rewrite changed it and a lost commit of the platform had changed it; for main content also where the branch has the
    entry exactly as the plain base and no commit of the branch changed it. Else the next push would undo what others
    wrote.
    """
    repository, (ours, theirs), (plain, wide) = workspace.repository, sides, bases
    changed_by_others = {path for tip in former_tips for path in _find_paths_of_others(repository, tip, ours)}
    is_main = theirs == repository.resolve(workspace.main)
    current, base = (repository.list_files(commit) for commit in (ours, plain.tree))
    changes: dict[str, Blob | bytes | None] = {}
    for difference, names in _list_rewritten(
        repository, former_tips, ours, (wide.tree, plain.tree), page_names, exchanged
    ):
        plain_path, wide_path = difference.path, difference.old_path or difference.path
        has_moved = any(repository.lookup(tip, name) for tip in former_tips for name in names - current.keys())
        has_arrived = any(repository.lookup(side, name) for side in (wide.tree, theirs) for name in names)
        # It moved to another space, and only that it left its own was merged: what brought it there was dropped.
        if names & current.keys() and has_moved and not has_arrived:
            continue
        is_left_out = is_main and all(current.get(name) == base.get(name) for name in names)
        if names & changed_by_others or (is_left_out and not _has_changed(repository, ours, plain, names)):
            changes |= {wide_path: None, plain_path: difference.after}
        elif is_main and wide_path not in current and plain_path in current:
            # Main content moved the page, and the branch has it at the former path with another text: only the move
            # counts as new, and the text as known.
            changes |= {wide_path: None, plain_path: difference.before}
    return changes


def _has_changed(repository: Repository, commit: str, base: Base, paths: Collection[str]) -> bool:
    """Whether a commit since the base changed one of some paths, even if a later one took that back."""
    return any(repository.find_last_change(commit, path, exclude=base.commits) for path in paths)


def _list_rewritten(
    repository: Repository,
    former_tips: Sequence[str],
    ours: str,
    bases: tuple[str, str],
    page_names: Sequence[PageNames],
    moves: Mapping[str, str],
) -> Iterator[tuple[Difference, set[str]]]:
    """The differences of two bases that a rewrite touched, each with all paths that its page has in them and in the
    branch, before and after that. Of any other, what the former tips knew still counts."""
    current, former = repository.list_files(ours), [repository.list_files(tip) for tip in former_tips]
    exchanged = {path: later for path, later in moves.items() if path in moves.values() and later in moves}
    for difference in repository.compare_trees(*bases, renames=True):
        names = {difference.path, difference.old_path or difference.path}
        if (later := exchanged.get(difference.path)) is not None:
            difference, names = replace(difference, after=repository.find_file(bases[1], later)), {*names, later}
        names |= {name for known in page_names for path in names for name in known.get(path, ())}
        if any(current.get(name) != before.get(name) for before in former for name in names):
            yield difference, names


def join_commits(repository: Repository, commit: str, others: Sequence[str]) -> str:
    """Return a commit with the tree of the first commit and all of them as parents; the first where it is alone."""
    missing = [other for other in dict.fromkeys(others) if other != commit]
    if not missing:
        return commit
    tree = repository.read_root_tree(commit)
    return write_synthetic_commit(repository, tree, [commit, *missing], "syncd: what is known")


def record_tip(workspace: Workspace, branch: str) -> None:
    """Record in `refs/syncd/tip/` the tip of a branch that is in step with the platform, or about to be sent.

    Shape: a branch at main content needs no record, unless it was reset to there while it has a change request: without
    the record, it would look as if it had not taken in that change request yet. Of a rewritten branch, former tips stay
    recorded as long as main content has more of them than the branch.
    """
    repository = workspace.repository
    tip, main, ref = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main), f"{TIP_REFS}{branch}"
    old, known = repository.resolve(ref), read_tips(repository, branch)
    if tip is not None and tip == main and old is not None:
        proposed = {of for _, of, _ in _list_proposed(workspace)}
        if branch not in proposed or all(repository.is_ancestor(one, tip) for one in known):
            repository.delete_ref(ref, old=old)
    elif tip is not None and tip != main:
        _write_tips(repository, branch, [tip, *(one for one in known if _says_more(workspace, one, tip, main))])


def record_former_tip(workspace: Workspace, branch: str, commit: str) -> None:
    """Record a commit that the platform has merged as a former tip of its branch, where the branch lost it since."""
    repository = workspace.repository
    tip, known = repository.resolve(f"{HEADS}{branch}"), read_tips(repository, branch)
    if tip is not None and not any(repository.is_ancestor(commit, one) for one in (tip, *known)):
        _write_tips(repository, branch, [*known, commit])


def forget_tips(repository: Repository, branch: str) -> None:
    """Record that a branch is gone, so that a later one of the same name does not count as rewritten."""
    if read_tips(repository, branch):
        _write_tips(repository, branch, [])


def _write_tips(repository: Repository, branch: str, tips: Sequence[str]) -> None:
    ref = f"{TIP_REFS}{branch}"
    old = repository.resolve(ref)
    if len(tips) == 1:
        record = tips[0]
    else:
        tree = repository.read_root_tree(tips[0]) if tips else repository.write_tree(None, {})
        record = write_synthetic_commit(repository, tree, tips, SEVERAL_TIPS)
    if old is None:
        # A branch `a` is gone where there is `a/b`, and what is recorded of it is in the way.
        for other, commit in repository.list_refs(TIP_REFS).items():
            if f"{ref}/".startswith(f"{other}/") or other.startswith(f"{ref}/"):
                repository.delete_ref(other, old=commit)
    if record != old:
        repository.update_ref(ref, record, old=old)


def _says_more(workspace: Workspace, former: str, tip: str, main: str | None) -> bool:
    """Whether main content has more of a former tip than a rewritten branch has."""
    repository = workspace.repository
    if main is None or former not in repository.select_present([former]) or repository.is_ancestor(former, tip):
        return False
    both = join_commits(repository, tip, [former])
    return set(_find_common(workspace, both, main)) != set(_find_common(workspace, tip, main))


def record_missed_tip(workspace: Workspace, branch: str, ours: str, theirs: str) -> None:
    """Record the tip of a branch that has merged a commit of the platform, if the run that did so died before it could.

    Shape: if the branch was rewritten since, the record stays, as it says what the rewrite dropped.
    """
    repository = workspace.repository
    former = next(iter(read_tips(repository, branch)), None)
    if former is None:
        is_missed = ours != theirs and len(repository.read_commit(ours).parents) > 1
    else:
        is_missed = (
            former != ours and repository.is_ancestor(former, ours) and not repository.is_ancestor(theirs, former)
        )
    if is_missed:
        record_tip(workspace, branch)


def _add_parts(workspace: Workspace, commit: str, parts: Sequence[Commit]) -> str:
    """The commit, joined with those of the parts whose originals are among its ancestors."""
    repository, known = workspace.repository, commit
    pending = [(part.oid, of) for part in parts if (of := _find_known_original(workspace, part)) is not None]
    # A part that is joined brings ancestors of its own, among which the originals of further parts may be.
    while True:
        found = [oid for oid, of in pending if repository.is_ancestor(of, known)]
        pending = [(oid, of) for oid, of in pending if oid not in found]
        if not found:
            return known
        known = join_commits(repository, known, found)


def _find_known_original(workspace: Workspace, part: Commit) -> str | None:
    """The commit that a part stands for; where this clone lacks that, this clone's commit of the same revision."""
    of = find_original(workspace.repository, part)
    if of is None:
        return None
    if of in workspace.repository.select_present([of]):
        return _find_first_with_tree(workspace.repository, of)
    # Two clones that mirror the same revision may write different commits for it.
    for revision in part.trailers.get(REVISION, []):
        found = workspace.repository.find_commit(workspace.main, REVISION, revision)
        if found is not None:
            return found.oid
    return None


def _find_first_with_tree(repository: Repository, commit: str) -> str:
    """The oldest of the commits up to this one that have the same tree. The later ones only record that the platform
    has the same content, so a branch with the oldest knows all that a part of the newest holds."""
    while True:
        found = repository.read_commit(commit)
        if len(found.parents) != 1 or repository.find_tree(found.parents[0]) != repository.find_tree(commit):
            return commit
        commit = found.parents[0]


def _join_bases(repository: Repository, bases: Sequence[str], merge_commits: MergeCommits) -> Base:
    """Merge several best common ancestors into one base."""
    if not bases:
        return Base(repository.write_tree(None, {}), ())
    commit, doubtful = bases[0], frozenset[str]()
    # As Git's own recursive merge does; but what conflicts here stays open, since any single base would favour a side.
    for other in bases[1:BASES_MAX]:
        tree, paths = merge_commits(commit, other)
        doubtful |= paths
        commit = write_synthetic_commit(repository, tree, [commit, other], "syncd: several bases")
    return Base(repository.read_root_tree(commit), tuple(bases), doubtful)


def _list_proposed(workspace: Workspace) -> Iterator[tuple[str, str, str]]:
    """The refs of the change requests of all spaces, each with its branch and the commit that was last sent to it."""
    for binding in workspace.bindings:
        for ref, commit in workspace.repository.list_refs(binding.proposed_refs).items():
            number, _, branch = ref.removeprefix(binding.proposed_refs).partition("/")
            yield workspace.change_ref(binding, number), branch, commit


def _find_paths_of_others(repository: Repository, tip: str, ours: str) -> Iterator[str]:
    """The paths that were changed by commits of the platform that the former tip has and the branch has not."""
    for commit in repository.find_marked(ours, tip, REVISION)[1]:
        if commit.parents:
            yield from (found.path for found in repository.compare_trees(commit.parents[0], commit.oid))
