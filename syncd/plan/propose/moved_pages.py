"""Which pages the steps of a proposal move on the platform, so that no link is sent with the path of before."""

from collections.abc import Iterable, Iterator, Mapping
from posixpath import basename, dirname

from syncd.plan.propose.steps import AddFile, DeleteStep, InsertStep, Step, UpdateStep

_README = "README.md"


def find_moved_pages(steps: Iterable[Step], paths: Mapping[str, str]) -> frozenset[str]:
    """Return the ids of the pages to which steps may give another path on the platform.

    Shape: `paths` are those that pages have there now, by id. A page has another path when its slug, its parent or a
    page above it changes, when it gets its first page below it or loses its last one, and when it becomes the first
    page of the space or another one does. Linear in the pages where a step moves one.
    """
    moving = [step for step in steps if not isinstance(step, AddFile) and _moves_pages(step)]
    if not moving:
        return frozenset()
    folders = {_find_folder(path): id for id, path in paths.items()}
    moved = {step.id for step in moving if not isinstance(step, InsertStep)} & paths.keys()
    if folders.get("") in moved:
        return frozenset(paths)  # whichever page comes first then has another path, too
    tops = {_find_folder(paths[id]) for id in moved}
    below = {id for folder, id in folders.items() if not tops.isdisjoint(_list_parents(folder))}
    neighbours = {id for step in moving for id in _list_neighbours(step, paths, folders)}
    return frozenset(moved | below | neighbours) & paths.keys()


def _moves_pages(step: InsertStep | UpdateStep | DeleteStep) -> bool:
    return not isinstance(step, UpdateStep) or any(value is not None for value in (step.slug, step.into, step.at))


def _list_neighbours(
    step: InsertStep | UpdateStep | DeleteStep, paths: Mapping[str, str], folders: Mapping[str, str]
) -> Iterator[str]:
    """The page that gets another page below it, the one that loses it, and the first page of the space."""
    match step:
        case DeleteStep():
            yield _find_parent(step.id, paths, folders)
        case UpdateStep(into=str(into)):
            yield into
            yield _find_parent(step.id, paths, folders)
        case InsertStep():
            yield step.into
    if not isinstance(step, DeleteStep) and step.at == 0:
        yield folders.get("", "")


def _find_parent(id: str, paths: Mapping[str, str], folders: Mapping[str, str]) -> str:
    return folders.get(dirname(_find_folder(paths[id])), "") if id in paths else ""


def _list_parents(folder: str) -> Iterator[str]:
    while folder := dirname(folder):
        yield folder


def _find_folder(path: str) -> str:
    """The directory of the pages below a page; "" for the first page of a space."""
    return dirname(path) if basename(path) == _README else path.removesuffix(".md")
