"""What a site's plan changes, kept in the store before it runs: the history that a rollback starts from."""

import json
from datetime import timedelta

from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.rollback import FormerState, parse_former_state, record_former_state
from syncd.plan.site.steps import SitePlan
from syncd.store.status import Backup
from syncd.sync.workspace import Workspace

BACKUP_AGE = timedelta(days=90)


def save_backup(workspace: Workspace, path: str, plan: SitePlan, live: LiveSite, lock: SiteLock) -> None:
    """Given a plan that is about to run, of the site file at a path, keep what it changes as it is now.

    Shape: a plan that only takes things over changes nothing on the site, and is not kept.
    """
    kept = record_former_state(path, plan, live, lock)
    if not kept.things:
        return
    now = workspace.now()
    document = json.dumps(vars(kept), ensure_ascii=False, sort_keys=True)
    backup = Backup(plan.site, plan.digest(), now.isoformat(timespec="milliseconds"), document)
    workspace.store.backups.save(backup, since=(now - BACKUP_AGE).isoformat(timespec="milliseconds"))


def list_backups(workspace: Workspace, site: str = "") -> list[tuple[Backup, FormerState]]:
    """Given a site or nothing, return the plans that ran on it, or on any, and what they changed, the newest first."""
    return [(one, parse_former_state(one.document)) for one in workspace.store.backups.list_backups(site)]
