"""Pages that one side has moved to another space, where the other side knows one half of the move alone.

One change request deletes such a page and another one creates it. While one of them is merged and the other is not, the
base and the other side have the page in both spaces. Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.pages import Version
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.sync.binding import Binding, find_directory
from syncd.sync.merge.texts import follow_links, store_texts

FindRenames = Callable[[str, str], Mapping[str, str]]
"""Returns the new path of each renamed file of a commit in a later one, by its old path."""
COMMITS_MAX = 100
"""The newest commits of a side, in which a move to another space is looked for."""


class _Halves(NamedTuple):
    """A page in both spaces: where one side has it no more, and where it moved to or came from."""

    gone: Version
    kept: Version


def join_halves(
    repository: Repository,
    bindings: Sequence[Binding],
    sides: tuple[str, str],
    trees: tuple[str, str, str],
    recorded: tuple[Mapping[str, str], Mapping[str, str]],
    find_renames: FindRenames,
    *,
    former_tips: Sequence[str] = (),
    excluded: frozenset[str] = frozenset(),
) -> tuple[tuple[str, str, str], frozenset[str]]:
    """Return the trees of a merge in which a page that one side has moved to another space is one page for the others,
    and the paths of these pages.

    Shape: it is left where this side does not have it any more, with what the other side made of both halves, so that
    this goes with the page; where both were given other lines, nothing is joined. `sides` are the commits, `trees`
    those of base, ours and theirs, and `recorded` the moves of each side, by which the other side may have given a half
    another path. `former_tips` are those of ours: the move may be one that a rewrite dropped or made anew. A page with
    a path in `excluded` stays apart. SUMMARY.md may list a page that its tree has no more.
    """
    base, found, paths = trees[0], list(trees), set[str]()
    for number, other in ((1, 2), (2, 1)) if len(bindings) > 1 else ():
        moved = recorded[other - 1]
        changes = repository.compare_trees(base, trees[other])
        edited = {one.path for one in changes if one.status == "M" and is_markdown(one.path)} | moved.keys()
        others = repository.compare_trees(base, trees[number])
        gone = [one.path for one in others if one.status == "D" and is_markdown(one.path)]
        here, there = sides[number - 1], sides[other - 1]
        lines = [(there, here), *((here, tip) for tip in former_tips if number == 1)]
        known = _index_halves(repository, bindings, lines, find_renames) if gone and edited else {}
        for path in gone:
            halves = known.get(path, ())
            half = _find_half(repository, base, path, halves)
            is_there = any(repository.lookup(trees[number], one) is not None for one in halves)
            if half is None or edited.isdisjoint((path, half)) or not is_there:
                continue
            now = [moved.get(one, one) for one in (path, half)]
            before, after = (_read_halves(repository, *one) for one in ((base, path, half), (trees[other], *now)))
            if before is None or after is None or not excluded.isdisjoint((path, half, *now)):
                continue
            if texts := _join_texts(repository, before, after):
                for place, files, oid in (0, before, texts[0]), (other, after, texts[1]):
                    joined = {files.kept.path: None, files.gone.path: Blob(oid, files.gone.mode)}
                    found[place] = repository.write_tree(found[place], joined)
                paths.update((path, half, *now))
    return (found[0], found[1], found[2]), frozenset(paths)


def _read_halves(repository: Repository, tree: str, gone: str, kept: str) -> _Halves | None:
    """Both halves of a page in a tree; None where it lacks one."""
    files = [(path, repository.find_file(tree, path)) for path in (gone, kept)]
    found = [Version(path, file.oid, file.mode) for path, file in files if file is not None]
    return _Halves(*found) if len(found) == len(files) else None


def _join_texts(repository: Repository, before: _Halves, after: _Halves) -> tuple[str, str] | None:
    """The page's text in the base, and what the other side made of both halves, in the place of the one that is gone;
    None where both were given other lines.

    Who has moved the page knows it as the kept half has it in the base: what was edited in the other half is added to
    that. Where this is in the same lines, a person is asked, as about two edits of the former page.
    """
    # The links of both halves are compared as they stand in the place of the kept one.
    former, edit = (_move_text(repository, one.gone, to=one.kept.path) for one in (before, after))
    (text,) = repository.merge_texts([(former, after.kept.oid, edit)])
    base = _move_text(repository, before.kept, to=before.gone.path)
    if text.conflicts:
        (text,) = repository.merge_texts([(before.kept.oid, edit, after.kept.oid)])
        base = before.gone.oid
    joined = _move_text(repository, replace(after.kept, oid=text.oid), to=after.gone.path)
    return None if text.conflicts else (base, joined)


def _move_text(repository: Repository, version: Version, *, to: str) -> str:
    """The text of a page with links that lead from another path to the same files."""
    text = follow_links(repository, version, {}, to=to)
    return version.oid if text is None else store_texts(repository, [text])[0]


def _find_half(repository: Repository, base: str, path: str, halves: Iterable[str]) -> str | None:
    """The path of a page's other half in the base: of those that it had, the one with most of its lines."""
    here = repository.find_file(base, path)
    if here is None:
        return None
    lines = set(repository.read(here.oid).splitlines())
    found = [(one, file) for one in halves if (file := repository.find_file(base, one)) is not None]
    common = {one: len(lines.intersection(repository.read(file.oid).splitlines())) for one, file in found}
    return max(common, key=lambda one: common[one], default=None)


def _index_halves(
    repository: Repository,
    bindings: Sequence[Binding],
    lines: Iterable[tuple[str, str]],
    find_renames: FindRenames,
) -> dict[str, list[str]]:
    """For each path the paths in other spaces to or from which a commit moved its file, and those that it got there
    later, newest first; of each two commits, those of the second that the first lacks."""
    found: dict[str, list[str]] = {}
    for without, tip in lines:
        if repository.is_tree(without) or repository.is_tree(tip):
            continue  # a plain tree has no history that could say it
        commits = repository.list_commits(without, tip, limit=COMMITS_MAX)
        steps = [(one.parents[0], one.oid) for one in commits if len(one.parents) == 1]  # a merge brings others' moves
        here = repository.select_present([before for before, _ in steps])  # not all are, in a shallow clone
        for before, after in reversed(steps):
            pairs = list(_find_pairs(find_renames(before, after), bindings, found)) if before in here else ()
            for old, new in pairs:
                found.setdefault(old, []).insert(0, new)
                found.setdefault(new, []).insert(0, old)
    return found


def _find_pairs(
    renames: Mapping[str, str], bindings: Sequence[Binding], known: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """The paths in two spaces that a commit makes those of one page, given what is known of the commits before."""
    for old, new in renames.items():
        spaces = [find_directory(bindings, path) for path in (old, new)]
        if None not in spaces and spaces[0] != spaces[1]:
            yield old, new
        elif spaces[0] == spaces[1]:
            yield from ((other, new) for other in known.get(old, ()))
