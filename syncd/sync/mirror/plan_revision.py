"""One revision of a space as it is read and planned, before anything is fetched or written for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from syncd.errors import Unreachable
from syncd.layout.tree.placement import Known, Placement, place
from syncd.layout.tree.settings import PATH, Settings
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.mirror.revision import MirrorPlan, plan_mirror
from syncd.sync.mirror.roots import choose_settings_commit, follow_root, move_below_root
from syncd.sync.mirror.source import Source
from syncd.sync.summary_files import read_settings_at
from syncd.sync.workspace import Binding, Workspace


class RevisionMoved(Unreachable):
    """The content changed while it was read; what was read of its tree is discarded."""


@dataclass(frozen=True)
class MirrorBase:
    """What is known before the revision is read.

    Shape: `anchors` by id; `start` the commit whose tree the new one starts from; `settled` says that `start` holds
    exactly the anchors, so that nothing needs to be listed; `stored` and `shape` what the store
    remembers of this lane. `seen` is the last mirror commit of the space, and `at` the commit whose `.gitbook.yaml`,
    the `settings`, gave the anchors their paths. `written` are blobs by id that this run has just sent, with nobody
    else in between; `sent` are commits that an earlier run may have sent, or that a person was asked to paste.
    """

    anchors: Mapping[str, Anchor]
    start: str | None
    is_complete: bool = True
    stored: Mapping[str, Anchor] = field(default_factory=dict)
    shape: str = ""
    seen: str | None = None
    at: str | None = None
    settings: Settings = field(default_factory=Settings)
    written: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[str, ...] = ()


@dataclass(frozen=True)
class GatheredRevision:
    """One revision, read and planned, with nothing written yet.

    Shape: `carried` is the `.gitbook.yaml` of a branch that changed the root, which goes into the commit as it is.
    """

    source: Source
    revision: Revision
    placement: Placement
    plan: MirrorPlan
    base: MirrorBase
    settings: Settings
    carried_settings: str | None = None


def list_known(anchors: Iterable[Anchor]) -> dict[str, Known]:
    """Given anchors, return what the layout needs of them to keep paths as they are."""
    return {anchor.id: Known(anchor.path, anchor.form, anchor.oid) for anchor in anchors}


def gather_content(
    workspace: Workspace,
    binding: Binding,
    source: Source,
    revision: Revision,
    base: MirrorBase,
    *,
    guide: str | None = None,
) -> GatheredRevision:
    """Given a revision and a base, return where everything goes and what has to be fetched.

    Shape: `guide` is the commit of a branch: a root that was changed there is the root from now on. A root that was
    changed in the commit to start from has its files there already.
    """
    repository = workspace.repository
    ruler = choose_settings_commit(repository, binding, base.start, guide)
    settings, former = (read_settings_at(repository, binding, commit) for commit in (ruler, base.start))
    if former.root != base.settings.root:
        anchors = follow_root(repository, binding, base.anchors, base.at, base.start)
        base = replace(base, anchors=anchors, is_complete=False, settings=former)
    known = base.anchors
    if settings.root != former.root:
        base, known = replace(base, is_complete=False), move_below_root(known, former, settings)
    placement = place(revision, known=list_known(known.values()), settings=settings)
    plan = plan_mirror(revision, placement, base.anchors)
    carried = repository.lookup(ruler, binding.path(PATH)) if ruler is not None and ruler != base.start else None
    return GatheredRevision(source, revision, placement, plan, base, settings, carried)
