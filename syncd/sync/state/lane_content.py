"""Decide the tree and the parents of the commit that stands for a change request's content (its lane).

The parents record what the content has of the branch and of main content. The branch's commit is a parent when all of
it has arrived, else a part of it without what has not: manual steps, what a killed run did not send, and conflicts. The
same goes for main content. So the merge base with reviewers' edits is what the branch had sent.
Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.tree.paths import is_markdown, is_same_page
from syncd.layout.tree.placement import SUMMARY
from syncd.model.change_request import ChangeRequest
from syncd.plan.message import REVISION, render_mirror_message, render_proposed_subject
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.sync.binding import Binding
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import merge
from syncd.sync.merge.parts import PART_TRAILER, find_taken_in
from syncd.sync.merge.result import Base
from syncd.sync.merge.write_part import write_part
from syncd.sync.state.arrived import NOT_ARRIVED, SentContent, add_all_names, find_arrived, list_entries
from syncd.sync.workspace import Workspace

SENT_PARENTS = 3
"""Parents of the commit of something sent: the branch's commit, what it was planned upon, and the base of both."""
CONTENT = "Syncd-Content"
"""Names the tree that the platform holds, where it has merged in a way that undoes what Git knows to be merged."""


@dataclass(frozen=True)
class LaneContent:
    """The commit to record for content that was read: its tree and parents; `content` is the platform's tree, where
    that is another one, else ""."""

    tree: str
    parents: tuple[str, ...]
    content: str = ""


@dataclass(frozen=True)
class Update:
    """What is known of an update of a change request from main content.

    Shape: `is_fresh` says that syncd has just asked for it. `merged_commit` is the branch's commit that had merged both
    sides before, or "". `is_separate` says that edits made before the update were read as a revision of their own, so
    that the update changed nothing else. `moves` are the new paths of pages that moved with it, known by their ids.
    """

    is_fresh: bool = False
    merged_commit: str = ""
    is_separate: bool = False
    moves: Mapping[str, str] = field(default_factory=dict)


NO_UPDATE = Update()


def read_sent(repository: Repository, commit: str, main: str) -> SentContent:
    """Return what a commit that was sent was made from; `main` is the commit of main content.

    Shape: a commit with other parents was written by a former version, or by a person: it is its own branch's commit.
    """
    parents = repository.list_commits(None, commit, limit=1)[0].parents
    if len(parents) != SENT_PARENTS:
        return SentContent(commit, commit, main, main)
    return SentContent(commit, *parents)


def find_content(repository: Repository, commit: str) -> str:
    """Return the tree that the platform holds of a change request; `commit` is the one that stands for its content."""
    found = repository.list_commits(None, commit, limit=1)[0].trailers.get(CONTENT, [""])[-1]
    tree = repository.find_tree(commit)
    assert tree is not None
    return found if found in repository.select_present([found]) else tree


def find_taken_main(workspace: Workspace, request: ChangeRequest) -> str | None:
    """Return the newest commit of main content that a change request holds, as far as Git knows it.

    Shape: one that is merged is never outdated, and says itself what it had taken in before.
    """
    if request.status != "merged" and not request.outdated:
        return workspace.repository.resolve(workspace.main)
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find_commit(workspace.main, REVISION, start)
    return found.oid if found is not None else None


def find_start(workspace: Workspace, here: str, sent: Sequence[SentContent], taken: str | None) -> str:
    """Return the commit or tree on which the content of a change request is written.

    Files that the platform does not store come from there. Shape: `here` is what it held, `taken` the main content in
    it.
    """
    start = sent[-1].commit if sent else here
    if taken is None or has_taken_in(workspace, start, taken):
        return start
    return merge(workspace, start, taken).tree_with_ours


def has_taken_in(workspace: Workspace, commit: str, main: str) -> bool:
    """Return whether a commit's history has one of main content, or a part of it."""
    return find_taken_in(workspace.repository, commit, main) is not None


def record_lane(
    workspace: Workspace,
    binding: Binding,
    read: str,
    *,
    here: str,
    sent: Sequence[SentContent],
    taken: str | None,
    is_own: bool = False,
    update: Update = NO_UPDATE,
) -> LaneContent:
    """Return the tree and the parents that the commit of a change request is to have; `read` is its tree as it was
    read.

    Shape: `here` is the commit of what it held before, `taken` that of the main content in it. `is_own` says that
    nobody has written since syncd did, so that every difference was made by the platform. `update` says what is known
    of an update that brought main content.
    """
    repository = workspace.repository
    tree = _restore_intended(workspace, binding, read, here=here, sent=sent)
    arrived = [
        find_arrived(workspace, binding, one, here, tree, is_own=is_own, taken=taken, moves=update.moves)
        for one in sent
    ]
    parents = [part for part in arrived if part]
    # What was sent may lack what reviewers did since; where the update came right after what was read, that is known.
    before = sent[-1].commit if sent and not update.is_separate else here
    parents = parents or [here]
    known = find_taken_in(repository, before, taken) if taken is not None else None
    if known is not None:
        parents.append(known)
    if taken is not None and (known is None or update.is_fresh):
        tree, known_now = _read_update(workspace, binding, before, taken, tree, update)
        parents += known_now
    return LaneContent(tree, _drop_ancestors(repository, parents), read if tree != read else "")


def _restore_intended(
    workspace: Workspace, binding: Binding, read: str, *, here: str, sent: Sequence[SentContent]
) -> str:
    """The tree that was read, with edits of others that syncd's write has just replaced, and without what the
    platform's own merge had undone; the next write brings both to the platform."""
    repository = workspace.repository
    former, meant = find_content(repository, here), repository.find_tree(here)
    assert meant is not None
    changed = [found for found in repository.compare_trees(former, read) if binding.holds(found.path)]
    texts = [found for found in changed if not found.path.endswith(SUMMARY)]
    for one in reversed(sent if changed else ()):
        wanted = repository.list_files(one.commit)
        if all(found.after == wanted.get(found.path) for found in texts):
            planned = repository.find_tree(one.planned)
            assert planned is not None
            return read if planned == meant else merge(workspace, meant, read, base=Base(planned, ())).tree_with_ours
    return read if former == meant else merge(workspace, meant, read, base=Base(former, ())).tree_with_theirs


def write_lane_commit(repository: Repository, lane: LaneContent, message: str, author: Person) -> str:
    """Return the commit that stands for the content: the only parent if it is the same, else a new one with the
    parents."""
    for parent in lane.parents[:1] if len(lane.parents) == 1 else ():
        (found,) = repository.list_commits(None, parent, limit=1)
        is_own = not {PART_TRAILER, CONTENT} & found.trailers.keys()
        if is_own and repository.find_tree(parent) == lane.tree and not lane.content:
            return parent
    message += f"{CONTENT}: {lane.content}\n" if lane.content else ""
    return repository.commit_tree(lane.tree, parents=lane.parents, message=message, author=author, committer=author)


def compose_lane_message(binding: Binding, request: ChangeRequest, revision: str) -> str:
    """Return the message of a commit that stands for a revision of a change request."""
    subject = render_proposed_subject(request.number, request.subject)
    return render_mirror_message(subject, space=binding.space, revision=revision, change_requests=[request.number])


def _read_update(
    workspace: Workspace, binding: Binding, before: str, main: str, tree: str, update: Update
) -> tuple[str, tuple[str, ...]]:
    """The tree that an update from main content should have made, and the commits that it has taken in: main content,
    or the part of it that has arrived.

    The platform merges from an older base than Git knows of, so text that was sent before may be there twice, or be
    back after a deletion; and it cannot know what the branch has decided. Where nobody has written, Git's own merge
    counts, and the next write brings it to the platform.
    """
    repository = workspace.repository
    known = merge(workspace, before, main)
    is_clean = not any(binding.holds(path) for page in known.conflicts for path in page.paths)
    meant = repository.find_tree(update.merged_commit) if update.merged_commit else ""
    if not meant and is_clean and _has_same_files(repository, binding, before, known.tree_with_ours, tree):
        meant = known.tree_with_ours
    if update.is_fresh and meant and _has_only_known_lines(repository, binding, tree, (before, main, meant)):
        return meant, (update.merged_commit or main,)
    lacks = [paths for page in known.conflicts for paths in page.paths_per_page]
    moves = _find_moved_files(repository, before, known.tree_with_ours, tree, update.moves)
    late = _find_not_taken(repository, binding, before, known.tree_with_ours, tree, moves)
    lacks += add_all_names(workspace, late, (known.base.tree, before, main))
    if not update.is_separate:
        # An update keeps the change request's lines, so edits made just before it can hide lines of main content.
        unseen = merge(workspace, main, tree, base=known.base)
        lacks += [paths for page in unseen.conflicts for paths in page.paths_per_page]
    if not lacks:
        return tree, (main,)
    part_tree = leave_out(repository, workspace.bindings, main, known.base.tree, lacks)
    part = write_part(repository, main, known.base.commits, part_tree, name="main content", lacks=NOT_ARRIVED)
    return tree, (part,)


def _has_same_files(repository: Repository, binding: Binding, before: str, merged: str, tree: str) -> bool:
    """Whether an update has made the same files in a space as Git's merge: else the platform, which knows pages by id,
    may know better. A page that both sides added under one name is one file in Git, and two pages on the platform: the
    second one, with its former text, does not count."""
    former, wanted, actual = (repository.list_files(side, binding.directory) for side in (before, merged, tree))
    kept = {blob.oid for path, blob in former.items() if path in wanted}
    doubles = {path for path in actual.keys() - wanted.keys() - former.keys() if actual[path].oid in kept}
    return wanted.keys() == actual.keys() - doubles


def _has_only_known_lines(repository: Repository, binding: Binding, tree: str, sides: Sequence[str]) -> bool:
    """Whether every line that was read comes from one of these sides; another line means that somebody just wrote."""
    known: set[bytes] = set()
    blobs: set[str] = set()
    others: list[dict[str, str]] = []
    for side in sides:
        changes = [found for found in repository.compare_trees(side, tree) if binding.holds(found.path)]
        texts = [found for found in changes if is_markdown(found.path) and not found.path.endswith(SUMMARY)]
        known.update(line for c in texts if c.before is not None for line in repository.read(c.before.oid).splitlines())
        blobs.update(blob.oid for blob in repository.list_files(side, binding.directory).values())
        others.append({c.path: c.after.oid for c in texts if c.after is not None})
    new = {oid for path, oid in others[0].items() if all(path in other for other in others)} - blobs
    return all(line in known for oid in new for line in repository.read(oid).splitlines())


def _find_not_taken(
    repository: Repository, binding: Binding, before: str, after: str, tree: str, moves: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    """Entries that should have changed with the update and are as they were before it. What the update brought to
    another path, such as that of a page without children, counts as changed."""
    for paths in list_entries(repository, binding, before, after):
        was, wanted, now = (repository.lookup(commit, paths[0]) for commit in (before, after, tree))
        if now == wanted or now not in (was, None):
            continue
        former = repository.lookup(before, paths[-1])
        if is_same_page(paths[0], paths[-1]) and repository.lookup(tree, paths[-1]) not in (None, former):
            continue  # its text has arrived at the path that the page has here
        moved_blobs = {repository.lookup(tree, moves[path]) for path in paths if path in moves}
        if not (moved_blobs - {None}) or (wanted not in moved_blobs and former in moved_blobs):
            yield paths


def _find_moved_files(
    repository: Repository, before: str, after: str, tree: str, known: Mapping[str, str]
) -> dict[str, str]:
    """The paths at which a tree has new files of another one: known by page ids, else by Git's rename detection."""
    changes = repository.compare_trees(after, tree, renames=True)
    found = {change.old_path: change.path for change in changes if change.old_path is not None}
    return {old: new for old, new in found.items() if repository.lookup(before, new) is None} | dict(known)


def _drop_ancestors(repository: Repository, commits: Collection[str]) -> tuple[str, ...]:
    """Commits without those that are ancestors of another one."""
    each = list(dict.fromkeys(commits))
    return tuple(one for one in each if not any(other != one and repository.is_ancestor(one, other) for other in each))
