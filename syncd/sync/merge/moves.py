"""Moves of files, as commits record them in trailers.

Git takes a file that stays at a path for the same file, whatever it holds, and one whose text was rewritten as it moved
for another; only the platform's ids tell which page is which. So the commit of a revision records which pages it moves,
and a record counts more than Git's own rename detection. Source: docs/decisions/0002-one-recorded-base.md.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from syncd.layout.tree.paths import is_markdown
from syncd.model.anchor import Anchor
from syncd.plan.merge.pages import Version
from syncd.plan.merge.pair_pages import FileChange
from syncd.plan.message import MOVED
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Commit, Difference
from syncd.sync.binding import Binding
from syncd.sync.merge.parts import PART_TRAILER, find_present_original

RecordedMoves = tuple[dict[str, str], dict[str, str]]
"""For each of two sides, the new paths of files of the base, by their paths in the base."""


def find_moves_by_id(binding: Binding, before: Mapping[str, Anchor], after: Mapping[str, Anchor]) -> dict[str, str]:
    """Return the new path of each page that was moved between two revisions, by its old path."""
    moved = {id: (former, after[id]) for id, former in before.items() if id in after and former.kind == "page"}
    pairs = sorted((former.path, later.path) for former, later in moved.values() if former.path != later.path)
    return {binding.path(old): binding.path(new) for old, new in pairs}


def render_moves(moves: Mapping[str, str]) -> str:
    """Return the trailers that record moves, a line each; `moves` has new paths by old ones."""
    return "".join(f"{MOVED}: {json.dumps(pair)}\n" for pair in moves.items())


def find_recorded_moves(
    repository: Repository, base: str, ours: str, theirs: str, *, bases: Sequence[str]
) -> RecordedMoves:
    """Return, for each of two commits to merge, the recorded moves of the base's files.

    Shape: `base` is the base's tree, `bases` are the commits that it comes from. Records are followed along first
    parents, with Git's renames in between. A record counts only if the other commit does not know it already; where
    the other commit has a part of it, only for entries that the part leaves out.
    """
    recorded = repository.find_marked(ours, theirs, MOVED)
    if recorded == ([], []):
        return {}, {}
    return (
        _follow_records(repository, base, bases, (ours, theirs), recorded[0]),
        _follow_records(repository, base, bases, (theirs, ours), recorded[1]),
    )


def find_moves_since(repository: Repository, base: str, commit: str) -> dict[str, str]:
    """Return the new paths of an older commit's files in a later one, as far as records name them.

    Shape: as in `find_recorded_moves`.
    """
    return find_recorded_moves(repository, repository.read_root_tree(base), commit, base, bases=[base])[0]


def _find_part(repository: Repository, commit: str, other: str) -> tuple[str, str] | None:
    """The newest part in another commit's history whose original contains the given commit, and that original."""
    for part in repository.find_marked(commit, other, PART_TRAILER)[1]:
        original = find_present_original(repository, part)
        if original is not None and repository.is_ancestor(commit, original):
            return part.oid, original
    return None


def _follow_records(
    repository: Repository, base: str, bases: Sequence[str], sides: tuple[str, str], recorded: Sequence[Commit]
) -> dict[str, str]:
    """The new paths of the base's files that the records of the first side name.

    Walks the side's recorded commits along first parents, oldest first, and carries base path -> present path: through
    Git's renames up to each commit, then through the commit's own record.
    """
    side, other = sides
    line = _find_first_parent_line(repository, list(_drop_known_parts(repository, recorded, sides)))
    present_paths = _find_other_paths(repository, bases, line[-1].parents[0]) if line else {}
    previous = line[-1].parents[0] if present_paths else base
    for commit in reversed(line):
        former = commit.parents[0]
        present_paths = _follow_paths(present_paths, find_renames(repository, previous, former))
        back = {new: old for old, new in find_renames(repository, base, former).items()}
        part_and_original = _find_part(repository, commit.oid, other)
        moves = dict(_read_trailers(commit))
        for old in moves.keys() - present_paths.values():
            path = back.get(old, old)
            is_left_out = (
                part_and_original is None or len({repository.lookup(one, old) for one in part_and_original}) > 1
            )
            if is_left_out and repository.lookup(base, path) is not None:
                present_paths.setdefault(path, old)
        present_paths = _follow_paths(present_paths, moves)
        previous = commit.oid
    final = _follow_paths(present_paths, find_renames(repository, previous, side)) if present_paths else {}
    return {path: later for path, later in final.items() if path != later}


def _find_other_paths(repository: Repository, bases: Sequence[str], commit: str) -> dict[str, str]:
    """The paths, in a commit that does not have all of the base in its history, of files of the base that moved in
    between.

    There, two clones mirrored the same revisions separately. So this starts from the merge base of both, and carries
    its paths to both; a base that was merged from several has what moved in any of them.
    """
    found: dict[str, str] = {}
    for base in bases:
        common = repository.find_merge_base(base, commit)
        if common is not None and common != base:
            moved: dict[str, str] = {}
            for one in bases:
                moved |= find_moves_since(repository, common, one) if repository.is_ancestor(common, one) else {}
            back = {new: old for old, new in moved.items()}
            there = find_moves_since(repository, common, commit)
            paths = {path: path for path in there.keys() - back.values()} | back
            found = {path: there.get(former, former) for path, former in paths.items()} | found
    return found


def drop_false_moves(repository: Repository, before: str, after: str, moves: Mapping[str, str]) -> dict[str, str]:
    """Return the moves that a commit is to record, without those from a path where it has the file of the one before.

    Where an update from main content has conflicts, a page's former path is that in main content, and another page may
    have it in the change request. Of two pages with the same bytes, either may have moved.
    """

    def is_false(old: str, new: str) -> bool:
        blob = repository.lookup(before, old)
        return blob is not None and blob == repository.lookup(after, old) != repository.lookup(after, new)

    return {old: new for old, new in moves.items() if not is_false(old, new)}


def find_moves_by_text(
    repository: Repository, changes: Iterable[FileChange], known: Mapping[str, str], *, by_lines: bool = True
) -> dict[str, str]:
    """Return a side's moves of files onto, or away from, paths of other files: those that are known, and those that the
    text tells.

    Shape: new paths by old ones. A file that kept its bytes is found by them, an edited page by its lines. Git reports
    both as edits: it looks for renames only among paths that are gone and paths that are new.
    """
    listed = list(changes)
    before = {old.path: old for old, _ in listed if old is not None}
    after = {new.path: new for _, new in listed if new is not None}
    moves = dict(known)
    first, later = (_index_by_text(left) for left in _drop_moved(before, after, moves))
    exact = {path: later[oid] for oid, path in first.items() if oid in later and later[oid] != path}
    stay = set(_find_copied(repository, before, after, exact))
    moves |= {path: new for path, new in exact.items() if path not in stay}
    if by_lines and len(before) > 1:
        texts = ({one.path: _read_lines(repository, one) for one in left} for left in _drop_moved(before, after, moves))
        moves |= _find_moves_by_lines(*texts)
    return {path: new for path, new in moves.items() if path in known or new in before or path in after}


def _find_copied(
    repository: Repository, before: Mapping[str, Version], after: Mapping[str, Version], exact: Mapping[str, str]
) -> Iterator[str]:
    """The pages that were copied, and not moved: their former bytes are at another path, and they themselves, edited,
    where they were. As with moves, only lines that one text alone had tell that, where there are any."""
    former = {version.oid for version in before.values()}
    candidates = [path for path in exact if path in after and after[path].oid not in former]
    if not candidates:
        return
    texts = {path: _read_lines(repository, version) for path, version in before.items()}
    number = Counter(line for lines in texts.values() for line in lines)
    for path in candidates:
        lines = {line for line in texts[path] if number[line] == 1} or texts[path]
        if 2 * len(lines & _read_lines(repository, after[path])) > len(lines):
            yield path


def _drop_moved(
    before: Mapping[str, Version], after: Mapping[str, Version], moves: Mapping[str, str]
) -> tuple[list[Version], list[Version]]:
    """The versions before and after of which no move is known."""
    taken = set(moves.values())
    return (
        [old for path, old in before.items() if path not in moves],
        [new for path, new in after.items() if path not in taken],
    )


def _read_lines(repository: Repository, version: Version) -> set[bytes]:
    """The lines of a page that say something; none of what is no page."""
    if not (version.is_regular and is_markdown(version.path)):
        return set()
    return {line for line in repository.read(version.oid).splitlines() if line.strip()}


def _find_moves_by_lines(before: Mapping[str, set[bytes]], after: Mapping[str, set[bytes]]) -> dict[str, str]:
    """The new path of each text of which most lines are at one other path, where most of that path's former lines are
    gone. Only lines that one text alone had count."""
    number = Counter(line for lines in before.values() for line in lines)
    owners = {line: path for path, lines in before.items() for line in lines if number[line] == 1}
    sizes = Counter(owners.values())
    found: dict[str, list[str]] = {}
    for path, lines in after.items():
        kept = Counter(owners[line] for line in lines & owners.keys())
        for former, many in kept.items():
            is_replaced = path not in before or 2 * kept[path] < sizes[path]
            if 2 * many > sizes[former] and (former == path or is_replaced):
                found.setdefault(former, []).append(path)
    once = Counter(path for paths in found.values() for path in paths)
    return {former: paths[0] for former, paths in found.items() if len(paths) == 1 == once[paths[0]]}


def _index_by_text(versions: Iterable[Version]) -> dict[str, str]:
    """The path of each text that only one file has."""
    found: dict[str, list[str]] = {}
    for version in versions:
        found.setdefault(version.oid, []).append(version.path)
    return {oid: paths[0] for oid, paths in found.items() if len(paths) == 1}


def find_renames(repository: Repository, before: str, after: str) -> dict[str, str]:
    """Return the new path of each file that Git detects as renamed, or that its text tells, by its old path."""
    changes = repository.compare_trees(before, after, renames=True)
    found = {change.old_path: change.path for change in changes if change.old_path is not None}
    exact = find_exchanged(repository, before, after)
    return {old: new for old, new in found.items() if new not in exact.values()} | exact


def find_exchanged(repository: Repository, before: str, after: str) -> dict[str, str]:
    """Return the new path of each file that took the place of another one, or left its own to one, by its old path."""
    listed = [
        (_build_version(change.path, change.before), _build_version(change.path, change.after))
        for change in repository.compare_trees(before, after)
    ]
    return find_moves_by_text(repository, listed, {})


def list_file_changes(
    differences: Iterable[Difference], former: Collection[str], later: Collection[str]
) -> Iterator[FileChange]:
    """Yield differences as changes of files, without `former` paths of the base and `later` ones of the side."""
    for change in differences:
        old = _build_version(change.old_path or change.path, change.before)
        new = _build_version(change.path, change.after)
        old = None if old is not None and old.path in former else old
        new = None if new is not None and new.path in later else new
        if old is not None or new is not None:
            yield old, new


def pair_moved_files(
    repository: Repository, changes: Iterable[FileChange], moves: Mapping[str, str], base: str, side: str
) -> list[FileChange]:
    """Return what a side changed with moved files paired by known moves instead of as Git sees them."""
    listed = list(changes)
    before = {old.path: old for old, _ in listed if old is not None}
    after = {new.path: new for _, new in listed if new is not None}
    pairs: list[FileChange] = []
    for path, later in moves.items():
        old = before.get(path) or _read_version(repository, base, path)
        new = after.get(later) or _read_version(repository, side, later)
        if old is not None and new is not None:
            pairs.append((old, new))
    gone = {old.path for old, _ in pairs if old is not None}
    come = {new.path for _, new in pairs if new is not None}
    rest = [
        (None if old is None or old.path in gone else old, None if new is None or new.path in come else new)
        for old, new in listed
    ]
    return [change for change in (*pairs, *rest) if change[0] != change[1]]


def _drop_known_parts(repository: Repository, recorded: Iterable[Commit], sides: tuple[str, str]) -> Iterator[Commit]:
    """The commits without parts whose original one of the sides has.

    If the same side has it, the original's own records say the same; if the other side has it, the part is below the
    base.
    """
    for commit in recorded:
        original = find_present_original(repository, commit)
        if original is None or not any(repository.is_ancestor(original, side) for side in sides):
            yield commit


def _find_first_parent_line(repository: Repository, recorded: Iterable[Commit]) -> list[Commit]:
    """The newest of the commits, then the newest that is an ancestor of its first parent, and so on."""
    line: list[Commit] = []
    for commit in recorded:
        if commit.parents and (not line or repository.is_ancestor(commit.oid, line[-1].parents[0])):
            line.append(commit)
    return line


def _read_trailers(commit: Commit) -> Iterator[tuple[str, str]]:
    for value in commit.trailers.get(MOVED, []):
        with suppress(ValueError):
            pair = json.loads(value)
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(path, str) for path in pair):
                yield pair[0], pair[1]


def _follow_paths(found: Mapping[str, str], moves: Mapping[str, str]) -> dict[str, str]:
    return {path: moves.get(later, later) for path, later in found.items()}


def _read_version(repository: Repository, tree: str, path: str) -> Version | None:
    """Return the file that a tree has at a path; None where that is none."""
    return _build_version(path, repository.find_file(tree, path))


def _build_version(path: str, blob: Blob | None) -> Version | None:
    return Version(path, blob.oid, blob.mode) if blob is not None else None
