"""Take a plan back that ran: the inverse is a plan of its own, with the same gates, from what was kept before it."""

from dataclasses import dataclass, replace

from syncd.errors import ConfigInvalid, StalePlan
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Ref
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import Live
from syncd.plan.site.options import Options
from syncd.plan.site.rollback import Former, concerned, inverse
from syncd.plan.site.steps import Gate, SitePlan
from syncd.store.status import Backup
from syncd.sync.site.apply import Done, apply_plan
from syncd.sync.site.approvals import open_gates
from syncd.sync.site.backup import history, keep_before
from syncd.sync.site.lock import Keeping
from syncd.sync.site.options import SiteWish
from syncd.sync.site.read.site import read_live
from syncd.sync.workspace import Workspace

SHOWN = 10


@dataclass(frozen=True)
class Back:
    """The way back from a plan: the inverse plan, and what it was made from; `file` is what it says the site was."""

    backup: Backup
    kept: Former
    file: SiteFile
    live: Live
    keeping: Keeping
    plan: SitePlan
    options: Options

    @property
    def anew(self) -> tuple[Ref, ...]:
        """The refs of what was deleted and is made again, under another id."""
        return tuple(line.ref for line in self.plan.only("create"))


def kept_plan(workspace: Workspace, site: str, beginning: str) -> tuple[Backup, Former]:
    """Given how the digest of a plan begins, return what is kept of the one that is meant.

    Raises: StalePlan when nothing is kept of it; ConfigInvalid when several begin so.
    """
    all_kept = history(workspace, site)
    meant = [one for one in all_kept if beginning and one[0].digest.startswith(beginning)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        several = ", ".join(backup.digest for backup, _ in meant)
        raise ConfigInvalid(f"{beginning} stands for {len(meant)} plans: {several}", hint="type more of the digest")
    known = ", ".join(backup.digest for backup, _ in all_kept[:SHOWN])
    hint = f"kept, newest first: {known}" if known else "nothing that syncd did to this site is kept on this machine"
    raise StalePlan(f"nothing is kept of a plan {beginning}", hint=f"{hint}\nsyncd site history")


def plan_back(workspace: Workspace, file: SiteFile, wish: SiteWish, beginning: str) -> Back:
    """Given a site file as it is now and how a plan's digest begins, return the way back from that plan.

    Shape: only what that plan changed is planned; what somebody changed again since then is blocked as a conflict.
    Raises: as `kept_plan`; PlatformError.
    """
    backup, kept = kept_plan(workspace, file.site, beginning)
    keeping = Keeping(workspace, file, wish.lock)
    lock = keeping.load()
    former = inverse(file, kept, lock)
    live = read_live(workspace, former, lock, kinds=wish.kinds)
    options = Options(areas=former.managed, target=concerned(kept))
    return Back(backup, kept, former, live, keeping, plan_site(former, live, lock, options), options)


def closed_gates(workspace: Workspace, back: Back) -> tuple[Gate, ...]:
    """Given a way back, return the gates of it that nobody has opened."""
    return open_gates(workspace, back.plan)


def take_back(workspace: Workspace, back: Back) -> Done:
    """Given a way back whose gates are open, go it; it is kept like every plan, so that it can be taken back, too."""
    file = replace(back.file, path=back.kept.path)
    return apply_plan(
        workspace,
        file,
        back.plan,
        back.live,
        back.keeping,
        options=back.options,
        keep_before=lambda plan, live: keep_before(workspace, file.path, plan, live, back.keeping.lock),
    )
