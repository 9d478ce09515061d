"""Parts: a merge that leaves pages out is a real commit, which stands for another one without them.

A part of a commit X has X's tree with the entries that are left out as the base has them, and the commits of that base
as parents, so that Git never takes X for merged. It counts only while its tree is the one that it names: a rebase or a
cherry-pick copies the trailer, and not the tree. Source: two-way, sections 1 and 2.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from syncd.plan.merge.left_out import restore_entries
from syncd.plan.message import REVISION, SPACE
from syncd.repo import Blob, Commit, Person, Repository
from syncd.sync.merge.tables import read_summary
from syncd.sync.workspace import COMMITTER, Binding

PART_TRAILER = "Syncd-Part"
"""Names the commit that a part stands for, and the tree that makes it one."""
UNNAMED = Person("syncd", "syncd@localhost", datetime(2100, 1, 1, tzinfo=UTC))
"""Signs commits that no ref ever names: always the same, so that the same question leaves no second object; and late,
because git looks for common ancestors from the youngest commit on."""


def find_original(repository: Repository, commit: Commit) -> str | None:
    """Given a commit with the trailer of a part, return the commit that it stands for; None when it is no part."""
    words = commit.trailers.get(PART_TRAILER, [""])[-1].split()
    if len(words) != 2 or repository.subtree(commit.oid) != words[1]:
        return None
    return words[0]


def write_part(repository: Repository, commit: str, base: Sequence[str], tree: str, *, name: str) -> str:
    """Given a commit, the commits of the base and the tree without what is left out, write the part and return its id.

    Shape: the same question has the same answer, so that a second run writes no second commit.
    """
    (whole,) = repository.commits(None, commit, limit=1)
    kept = [f"{key}: {value}" for key in (SPACE, REVISION) for value in whole.trailers.get(key, [])[-1:]]
    lines = [f"Take in {name} but for pages in conflict", "", *kept, f"{PART_TRAILER}: {commit} {tree}", ""]
    person = replace(whole.author, name=COMMITTER[0], email=COMMITTER[1])
    return repository.commit_tree(tree, parents=base, message="\n".join(lines), author=person, committer=person)


def leave_out(
    repository: Repository,
    bindings: Iterable[Binding],
    tree: str,
    base: str,
    entries: Collection[Collection[str]],
    *,
    directories: Sequence[str] = (),
) -> str:
    """Given a commit or tree, return its tree with some entries, and whole directories, as the base's tree has them.

    Shape: an entry is named by all paths that its page has on any side; its place and title in the table of contents
    are the base's too.
    """
    changes: dict[str, Blob | bytes | None] = {}
    paths = {path for paths in entries for path in paths}
    if paths or directories:
        inside = tuple(f"{directory}/" for directory in directories)
        for found in repository.differences(tree, base):
            if found.path in paths or found.path.startswith(inside):
                changes[found.path] = found.after
    for binding in bindings:
        knots = [frozenset(entry) for entry in entries if any(map(binding.holds, entry))]
        listing, former = (read_summary(repository, binding, side) for side in (tree, base))
        if not knots or listing is None or former is None or listing.oid == former.oid or listing.path in changes:
            continue
        table = restore_entries(listing.entries, knots, former.index_pages())
        if table != listing.entries:
            changes[listing.path] = listing.render_entries(table)
    whole = repository.subtree(tree)
    assert whole is not None
    return repository.replaced(whole, changes) if changes else whole
