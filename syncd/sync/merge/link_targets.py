"""Find deleted files that a page in conflict links to: they stay as long as the text with the link may be chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from syncd.errors import FileInvalid
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import find_targets
from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.pages import SIDES, Decision, Page, Side
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.settings import read_settings_at


def find_deleted_targets(
    repository: Repository,
    bindings: Sequence[Binding],
    trees: Mapping[Side, str],
    free: Iterable[Decision],
    conflicts: Iterable[Sequence[Decision]],
) -> list[tuple[Page, Page]]:
    """Return pairs of a page in conflict and a file that it links to on one side and that the other side deleted.

    Shape: `free` are the decisions without a conflict, `conflicts` groups of those with one.
    """
    deleted: dict[tuple[Side, str], Page] = {
        (side, version.path): decision.page
        for decision in free
        if decision.target is None
        for side in SIDES
        if (version := decision.page.at(side)) is not None
    }
    if not deleted:
        return []
    return [
        (decision.page, deleted[side, path])
        for group in conflicts
        for decision in group
        for side in SIDES
        for path in _list_targets(repository, bindings, trees[side], decision.page, side)
        if (side, path) in deleted
    ]


def _list_targets(
    repository: Repository, bindings: Iterable[Binding], tree: str, page: Page, side: Side
) -> Iterator[str]:
    """Every path that a link of a page may mean on one side: a page may be named without `.md` or by its folder."""
    version = page.at(side)
    if version is None or not version.is_regular or not is_markdown(version.path):
        return
    root = next((_find_link_root(repository, b, tree) for b in bindings if b.holds(version.path)), None)
    for target in find_targets(repository.read(version.oid).decode("utf-8", "replace")):
        found = resolve_address(target.text, at=version.path, root=root)
        if found is not None:
            yield from (found[0], f"{found[0]}.md", f"{found[0]}/README.md")


def _find_link_root(repository: Repository, binding: Binding, tree: str) -> str | None:
    """The directory that links with a leading slash start from; None where the settings cannot be read."""
    try:
        return binding.path(read_settings_at(repository, binding, tree).add_root(""))
    except FileInvalid:
        return None
