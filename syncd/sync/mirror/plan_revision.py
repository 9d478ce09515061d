"""One revision of a space as it is read and planned, before anything is fetched or written for it."""

from collections.abc import Iterable
from dataclasses import replace

from syncd.layout.tree.path_allocator import BasePath
from syncd.layout.tree.placement import Placement, assign_paths
from syncd.layout.tree.settings import SETTINGS_PATH
from syncd.model.anchor import Anchor
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.plan.mirror.revision import plan_mirror
from syncd.sync.binding import Binding
from syncd.sync.mirror.anchors import list_page_paths
from syncd.sync.mirror.roots import choose_settings_commit, follow_root, move_below_root
from syncd.sync.mirror.values import GatheredRevision, MirrorBase, Source
from syncd.sync.settings import read_settings_at
from syncd.sync.workspace import Workspace


def list_known(anchors: Iterable[Anchor]) -> dict[str, BasePath]:
    """Return what the layout needs of anchors to keep paths as they are."""
    return {anchor.id: BasePath(anchor.path, anchor.form, anchor.oid) for anchor in anchors}


def gather_content(
    workspace: Workspace,
    binding: Binding,
    source: Source,
    revision: Revision,
    base: MirrorBase,
    *,
    layout_commit: str | None = None,
) -> GatheredRevision:
    """Return where everything in a revision goes, and what has to be fetched.

    Shape: `layout_commit` is the commit of a branch: a root directory that was changed there is the root from now on. A
    root that was changed in the commit to start from has its files there already.
    """
    repository = workspace.repository
    settings_commit = choose_settings_commit(repository, binding, base.start, layout_commit)
    settings, former = (read_settings_at(repository, binding, commit) for commit in (settings_commit, base.start))
    if former.root != base.settings.root:
        anchors = follow_root(repository, binding, base.anchors, base.at, base.start)
        base = replace(base, anchors=anchors, is_complete=False, settings=former)
    known = base.anchors
    if settings.root != former.root:
        base, known = replace(base, is_complete=False), move_below_root(known, former, settings)
    placement = assign_paths(revision, base=list_known(known.values()), settings=settings)
    if occupied := _find_occupied_paths(workspace, binding, base, placement, revision):
        placement = assign_paths(revision, base=list_known(known.values()), settings=settings, reserved=occupied)
    plan = plan_mirror(revision, placement, base.anchors)
    carried = None
    if settings_commit is not None and settings_commit != base.start:
        carried = repository.lookup(settings_commit, binding.path(SETTINGS_PATH)) or ""
    return GatheredRevision(source, revision, placement, plan, base, settings, carried)


def _find_occupied_paths(
    workspace: Workspace, binding: Binding, base: MirrorBase, placement: Placement, revision: Revision
) -> list[str]:
    """The paths at which pages of a revision would come to lie on files that are no pages, such as one that a branch
    took out of its table of contents: these are the branch's own, and the platform has never had their text. In what
    a change request starts from, another page that main content has moved may be at the path of a page.
    """
    anchors, start, repository = base.anchors, base.start, workspace.repository
    known = (anchors, base.former)
    coming = {
        id: path for id, path in placement.pages.items() if {each[id].path for each in known if id in each} != {path}
    }
    if start is None or not anchors or not coming:
        return []
    files = {id: oid for id, path in coming.items() if (oid := repository.lookup(start, binding.path(path)))}
    if not files:
        return []
    listed = list_page_paths(repository, binding, start)
    same = {page.id for page, _ in walk_pages(revision.pages) if page.git and page.git.oid == files.get(page.id)}
    return [coming[id] for id in files if listed and id not in same and coming[id] not in listed]
