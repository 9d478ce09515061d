"""Files that a page in conflict links to: they are not deleted as long as its text, with the link, may stand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from syncd.errors import FileInvalid
from syncd.layout.page.links import resolve, targets
from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.pages import SIDES, Decision, Page, Side
from syncd.repo import Repository
from syncd.sync.summary_files import read_settings_at
from syncd.sync.workspace import Binding


def find_deleted_targets(
    repository: Repository,
    bindings: Sequence[Binding],
    trees: Mapping[Side, str],
    free: Iterable[Decision],
    knots: Iterable[Sequence[Decision]],
) -> list[tuple[Page, Page]]:
    """Given both sides' trees, what is decided and the pages in conflict, return pairs of such a page and a file that
    only one side has deleted, and that the page links to on the other one."""
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
        for knot in knots
        for decision in knot
        for side in SIDES
        for path in _list_targets(repository, bindings, trees[side], decision.page, side)
        if (side, path) in deleted
    ]


def _list_targets(
    repository: Repository, bindings: Iterable[Binding], tree: str, page: Page, side: Side
) -> Iterator[str]:
    """Every path that a page may mean by a link on one side: a page may be named without `.md` or by its folder."""
    version = page.at(side)
    if version is None or not version.is_regular or not is_markdown(version.path):
        return
    root = next((_find_link_root(repository, b, tree) for b in bindings if b.holds(version.path)), None)
    for target in targets(repository.read(version.oid).decode("utf-8", "replace")):
        found = resolve(target.text, at=version.path, root=root)
        if found is not None:
            yield from (found[0], f"{found[0]}.md", f"{found[0]}/README.md")


def _find_link_root(repository: Repository, binding: Binding, tree: str) -> str | None:
    """What an address that begins with a slash is seen from; None where the settings cannot be read."""
    try:
        return binding.path(read_settings_at(repository, binding, tree).below(""))
    except FileInvalid:
        return None
