"""What a site's plan changes, kept in the store before it runs: the history that a rollback starts from."""

import json
from collections.abc import Collection
from datetime import timedelta

from syncd.model.ref import Ref
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.rollback import FormerState, parse_former_state, record_former_state
from syncd.plan.site.steps import SitePlan
from syncd.store.status import Backup
from syncd.sync.workspace import Workspace

BACKUP_AGE = timedelta(days=90)


def save_backup(
    workspace: Workspace, path: str, plan: SitePlan, live: LiveSite, unanswered: Collection[Ref], *, lock: SiteLock
) -> None:
    """Save what a plan changes as it was before, by its digest; `path` is that of the site file.

    Shape: of what is `unanswered`, nobody knows whether it was changed. Nothing is kept of a plan whose lines change
    nothing on the site, such as one that only adopts things.
    """
    kept = record_former_state(path, plan, live, lock, unanswered)
    if not kept.things:
        workspace.store.backups.delete(plan.site, plan.digest)
        return
    now = workspace.now()
    document = json.dumps(vars(kept), ensure_ascii=False, sort_keys=True)
    backup = Backup(plan.site, plan.digest, now.isoformat(timespec="milliseconds"), document)
    workspace.store.backups.save(backup, since=(now - BACKUP_AGE).isoformat(timespec="milliseconds"))


def list_backups(workspace: Workspace, site: str = "") -> list[tuple[Backup, FormerState]]:
    """Return the plans that ran on a site, or with "" on any, and what they changed, newest first."""
    return [(one, parse_former_state(one.document)) for one in workspace.store.backups.list_backups(site)]
