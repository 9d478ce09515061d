"""Take a plan back that ran: the inverse is a plan of its own, with the same gates, from what was kept before it."""

from dataclasses import dataclass, replace
from functools import partial

from syncd.errors import ConfigInvalid, StalePlan
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Ref
from syncd.model.wording import format_first
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import LiveSite
from syncd.plan.site.options import Options
from syncd.plan.site.rollback import FormerState, build_inverse, list_concerned_refs
from syncd.plan.site.steps import SitePlan
from syncd.store.status import Backup
from syncd.sync.site.apply import ApplyResult, apply_plan
from syncd.sync.site.backup import list_backups, save_backup
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.site import read_live
from syncd.sync.workspace import Workspace

SHOWN = 10


@dataclass(frozen=True)
class Rollback:
    """The way back from a plan: the inverse plan, and what it was made from; `file` is what it says the site was."""

    backup: Backup
    kept: FormerState
    file: SiteFile
    live: LiveSite
    lock_writer: LockWriter
    plan: SitePlan
    options: Options

    @property
    def anew(self) -> tuple[Ref, ...]:
        """The refs of what was deleted and is made again, under another id."""
        return tuple(line.ref for line in self.plan.select_lines("create"))


def find_backup(workspace: Workspace, site: str, beginning: str) -> tuple[Backup, FormerState]:
    """Return the backup of the plan whose digest begins so.

    Raises: StalePlan when there is none; ConfigInvalid when several begin so.
    """
    all_kept = list_backups(workspace, site)
    meant = [one for one in all_kept if beginning and one[0].digest.startswith(beginning)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        several = ", ".join(backup.digest for backup, _ in meant)
        raise ConfigInvalid(f"{beginning} stands for {len(meant)} plans: {several}", hint="type more of the digest")
    known = format_first([backup.digest for backup, _ in all_kept], SHOWN)
    hint = f"kept, newest first: {known}" if known else "nothing that syncd did to this site is kept on this machine"
    raise StalePlan(f"nothing is kept of a plan {beginning}", hint=f"{hint}\nsyncd site history")


def plan_rollback(workspace: Workspace, file: SiteFile, site_options: SiteOptions, beginning: str) -> Rollback:
    """Return the rollback of a plan whose digest begins so; `file` is the site file as it is now.

    Shape: only what that plan changed is planned; what somebody changed again since then is blocked as a conflict.
    Raises: as `find_backup`; PlatformError.
    """
    backup, kept = find_backup(workspace, file.site, beginning)
    lock_writer = LockWriter(workspace, file, site_options.lock)
    lock = lock_writer.load()
    former = build_inverse(file, kept, lock)
    live = read_live(workspace, former, lock, kinds=site_options.kinds)
    options = Options(areas=former.managed, target=list_concerned_refs(kept))
    return Rollback(backup, kept, former, live, lock_writer, plan_site(former, live, lock, options), options)


def roll_back(workspace: Workspace, back: Rollback) -> ApplyResult:
    """Carry out a rollback whose gates are open; it is saved like every plan, so that it can be rolled back, too."""
    file, lock = replace(back.file, path=back.kept.path), back.lock_writer.lock
    return apply_plan(
        workspace,
        file,
        back.plan,
        back.live,
        back.lock_writer,
        options=back.options,
        keep_before=partial(save_backup, workspace, file.path, lock=lock),
    )
