"""Decide the tree and the parents of the commit that stands for a change request's content (its lane).

The parents record what the content has of the branch and of main content. The branch's commit is a parent when all of
it has arrived, else a part of it without what has not: manual steps, what a killed run did not send, and conflicts. The
same goes for main content. So the merge base with reviewers' edits is what the branch had sent.
Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.tree.paths import is_markdown, is_same_page
from syncd.layout.tree.placement import SUMMARY
from syncd.plan.merge.restore_entries import restore_entries
from syncd.plan.merge.summary import merge_entries
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.leave_out import leave_out, list_other_directories
from syncd.sync.merge.merge import add_page_names, find_moves, merge
from syncd.sync.merge.parts import find_original, find_taken_in
from syncd.sync.merge.result import Base, MergeResult
from syncd.sync.merge.summaries import read_summary
from syncd.sync.merge.texts import join_texts
from syncd.sync.merge.write_part import write_part
from syncd.sync.state.request_commits import LaneContent, SentContent, find_content
from syncd.sync.workspace import Workspace

NOT_ARRIVED = "what has not arrived"


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


def has_equal_content(workspace: Workspace, binding: Binding, here: str, commit: str) -> bool:
    """Return whether a change request and a commit of its branch have the same content of the space.

    Shape: main content that the branch has not taken in yet is merged into it first, if that needs no person.
    """
    repository = workspace.repository
    if workspace.has_same_content(binding, here, commit):
        return True
    main = repository.resolve(workspace.main)
    if main is None or repository.is_ancestor(main, commit):
        return False
    both = merge(workspace, commit, main)
    return not both.has_conflict_in(binding) and workspace.has_same_content(binding, here, both.tree_with_ours)


def find_start(
    workspace: Workspace, binding: Binding, here: str, sent: Sequence[SentContent], taken: str | None
) -> str:
    """Return the commit or tree from which the content of a change request starts, with the files that the platform
    does not store.

    Shape: `here` is the commit of what it held before, `taken` that of the main content in it.
    """
    start = sent[-1].commit if sent else here
    if taken is None or has_taken_in(workspace, start, taken):
        return start
    merged = merge(workspace, start, taken)
    return _unlist_drafts(workspace.repository, binding, merged, _restore_other_spaces(workspace, binding, merged))


def _unlist_drafts(repository: Repository, binding: Binding, merged: MergeResult, tree: str) -> str:
    """The tree of a change request's content merged with main content, in which SUMMARY.md lists no file that the
    change request has without an entry: the platform has never had its text, so that its content says nothing of it.
    """
    summary, ours = (read_summary(repository, binding, one) for one in (tree, merged.ours))
    if summary is None or ours is None or merged.decisions is None:
        return tree
    listed = ours.index_pages()
    former = {decision.path: decision.page.ours.path for decision in merged.decisions.clean if decision.page.ours}
    revived = {path: former.get(path, path) for path in merged.revived_paths}
    drafts = [[path] for path, old in revived.items() if old not in listed and repository.lookup(merged.ours, old)]
    if not drafts:
        return tree
    entries = restore_entries(summary.entries, drafts, {})
    return repository.write_tree(tree, {summary.path: summary.render_entries(entries)})


def _restore_other_spaces(workspace: Workspace, binding: Binding, merged: MergeResult) -> str:
    """The tree of a change request's content merged with main content, with each other space as main content has it
    where the merge has lost a new page of that: a page that moved there is deleted in this space, and no more."""
    repository, tree, main = workspace.repository, merged.tree_with_ours, merged.theirs
    others = list_other_directories(workspace.bindings, binding)
    changes = repository.compare_trees(merged.base.tree, main) if others else ()
    lost = [one.path for one in changes if one.status == "A" and repository.lookup(tree, one.path) is None]
    directories = [directory for directory in others if any(path.startswith(f"{directory}/") for path in lost)]
    return leave_out(repository, (), tree, main, (), directories=directories)


def has_taken_in(workspace: Workspace, commit: str, main: str) -> bool:
    """Return whether a commit has a commit of main content, or a part of it, in its history."""
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
    """Return the tree and the parents of the commit that stands for a change request; `read` is the tree that was read.

    Shape: `here` is the commit of what it held before, `taken` that of the main content in it. `is_own` says that
    nobody has written since syncd did, so that every difference was made by the platform. `update` says what is known
    of an update that brought main content.
    """
    repository = workspace.repository
    tree = _restore_intended(workspace, binding, read, here=here, sent=sent)
    arrived = [
        find_arrived(workspace, binding, one, here, tree, is_own=is_own, taken=taken, moves=update.moves)
        for one in sent
        if not repository.is_ancestor(one.branch_commit, here)
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
    """The tree that was read, with edits of others put back that our write has just replaced, and with what the
    platform's own merge had undone. The next write brings both to the platform."""
    repository = workspace.repository
    former, meant = find_content(repository, here), repository.read_root_tree(here)
    changed = [found for found in repository.compare_trees(former, read) if binding.holds(found.path)]
    texts = [found for found in changed if not found.path.endswith(SUMMARY)]
    for one in reversed(sent if changed else ()):
        wanted = repository.list_files(one.commit)
        if all(found.after == wanted.get(found.path) for found in texts):
            planned = repository.read_root_tree(one.planned)
            return read if planned == meant else merge(workspace, meant, read, base=Base(planned, ())).tree_with_ours
    return read if former == meant else merge(workspace, meant, read, base=Base(former, ())).tree_with_theirs


def find_arrived(
    workspace: Workspace,
    binding: Binding,
    sent: SentContent,
    here: str,
    tree: str,
    *,
    is_own: bool,
    taken: str | None = None,
    moves: Mapping[str, str] = NO_UPDATE.moves,
) -> str:
    """Return the branch's commit, or the part of it that has arrived in the tree that was read; "" when nothing has.

    Shape: `is_own` says that nobody else has written; `taken` is the commit of the main content in the tree, and
    `moves` are the new paths of pages that the revision moved.
    """
    repository = workspace.repository
    missing = {found.path for found in repository.compare_trees(sent.commit, tree) if binding.holds(found.path)}
    # A path that had this content before the write, and has another one now, was edited since.
    missing &= {found.path for found in repository.compare_trees(sent.commit, here)}
    missing |= _find_deletions_not_made(workspace, binding, sent, here, tree, taken, moves)
    late = [
        paths
        for paths in _list_entries(repository, binding, sent.planned, sent.commit)
        if missing.intersection(paths) and not _is_edited_since(repository, paths[0], sent, tree)
    ]
    original = find_original(repository, repository.read_commit(sent.branch_commit)) or sent.branch_commit
    known = find_taken_in(repository, here, original) if late else None
    if known is not None:  # what has arrived stays so: what of it lacks later, somebody took out again
        lookup = repository.lookup
        late = [paths for paths in late if any(lookup(known, one) != lookup(original, one) for one in paths)]
    if not late:
        return sent.branch_commit
    listing = read_summary(repository, binding, sent.commit)
    left_out = add_page_names(workspace, late, sent.base, sent.branch_commit, sent.planned)
    part_tree = leave_out(repository, workspace.bindings, sent.branch_commit, sent.base, left_out)
    if is_own and listing is not None and (listing.path,) in late:
        table = _merge_arrived_summary(repository, binding, sent, here, tree)
        part_tree = repository.write_tree(part_tree, {listing.path: table}) if table is not None else part_tree
    if part_tree == repository.find_tree(sent.base):
        return ""
    base = repository.read_commit(sent.base).parents
    return write_part(repository, original, base, part_tree, name="a branch", lacks=NOT_ARRIVED)


def _find_deletions_not_made(
    workspace: Workspace,
    binding: Binding,
    sent: SentContent,
    here: str,
    tree: str,
    taken: str | None,
    moves: Mapping[str, str],
) -> set[str]:
    """The former paths of pages that were to be deleted and that are still there, at another path: a page moves into a
    folder of its own when it gets its first page below it. Given is also what main content and the revision moved."""
    repository = workspace.repository
    entries = _list_entries(repository, binding, sent.planned, sent.commit)
    deleted = {path for path, *_ in entries if repository.lookup(sent.commit, path) is None}
    if not deleted:
        return set()
    before = find_moves(workspace, sent.planned, here)
    moves = {**find_moves(workspace, here, taken), **moves} if taken is not None else moves
    paths = {path: moves.get(later, later) for path in deleted if (later := before.get(path, path))}
    return {old for old, new in paths.items() if old != new and repository.lookup(tree, new) is not None}


def _is_edited_since(repository: Repository, path: str, sent: SentContent, tree: str) -> bool:
    """Whether a text has all lines that were sent and none that was taken out: then it arrived and was edited since.
    Lines are counted; their order alone says nothing."""
    oids = [repository.lookup(commit, path) for commit in (sent.planned, sent.commit, tree)]
    if not all(oids[1:]) or not is_markdown(path) or path.endswith(SUMMARY):
        return False
    before, after, now = (Counter(repository.read(oid).splitlines() if oid else []) for oid in oids)
    added, removed = after - before, before - after
    is_added = all(now[line] >= after[line] for line in added)
    return bool(added or removed) and is_added and all(now[line] <= after[line] for line in removed)


def _merge_arrived_summary(
    repository: Repository, binding: Binding, sent: SentContent, here: str, tree: str
) -> bytes | None:
    """The branch's SUMMARY.md without manual steps that nobody has done yet, given what was there before the write and
    is there now; None where reviewers changed the table just before the write, so that what is there may be theirs."""
    commits = (sent.commit, sent.branch_commit, tree)
    desired, ours, arrived = (read_summary(repository, binding, commit) for commit in commits)
    if desired is None or ours is None or arrived is None:
        return None
    if repository.lookup(sent.planned, desired.path) != repository.lookup(here, desired.path):
        return None
    # A write that changes nothing is answered with the revision that somebody has just made.
    known = desired.index_pages().keys() | ours.index_pages().keys()
    if any(repository.lookup(sent.planned, path) is None for path in arrived.index_pages().keys() - known):
        return None
    # An entry whose file does not exist in any of them has not arrived.
    present = set(arrived.index_pages())
    others = (ours.index_pages().keys() | desired.index_pages().keys()) - present
    present |= {path for path in others if any(repository.lookup(commit, path) is not None for commit in commits)}
    found = merge_entries(
        desired.entries, ours.entries, arrived.entries, ours_paths={}, theirs_paths={}, present=present
    )
    return repository.read(arrived.oid) if found.entries == arrived.entries else ours.render_entries(found.entries)


def _list_entries(repository: Repository, binding: Binding, before: str, after: str) -> Iterator[tuple[str, ...]]:
    """The paths of each file that differs: its new one and, after a move, its old one."""
    for found in repository.compare_trees(before, after, renames=True):
        if binding.holds(found.path):
            yield (found.path,) if found.old_path is None else (found.path, found.old_path)


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
        meant = _restore_other_spaces(workspace, binding, known)
    if update.is_fresh and meant and _has_only_known_lines(repository, binding, tree, (before, main, meant)):
        return meant, (update.merged_commit or main,)
    conflicts = [*known.conflicts]
    moves = _find_moved_files(repository, before, known.tree_with_ours, tree, update.moves)
    late = _find_not_taken(repository, binding, before, known.tree_with_ours, tree, moves)
    lacks = add_page_names(workspace, late, known.base.tree, before, main)
    if not update.is_separate:
        # An update keeps the change request's lines, so edits made just before it can hide lines of main content.
        conflicts += merge(workspace, main, tree, base=known.base).conflicts
    elif update.is_fresh and conflicts and not update.merged_commit:
        # They came just before it: whoever merges the change request would take main content's lines out, unseen. What
        # the branch had merged, it has decided.
        both = join_texts(repository, merge(workspace, main, tree, base=known.base))
        both = {path: text for path, text in both.items() if binding.holds(path)}
        conflicts = [page for page in conflicts if page.path not in both]
        tree = repository.write_tree(tree, both)
    lacks += [paths for page in conflicts for paths in page.paths_per_page]
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
    for paths in _list_entries(repository, binding, before, after):
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
