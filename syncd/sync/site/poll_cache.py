"""When a site was last looked at, and how it was then: so that most ticks of a service ask the platform nothing."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from syncd import __version__
from syncd.errors import FileInvalid
from syncd.model.ref import Ref
from syncd.plan.site.live_state import SiteLock
from syncd.plan.site.steps import SitePlan
from syncd.store.status import LATEST_FACTS, SiteState
from syncd.sync.branches import HEADS
from syncd.sync.outcome import Held, Outcome, Unchanged
from syncd.sync.site.approvals import is_approval_valid
from syncd.sync.site.lock import TRAILER
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.site_file import SiteFileTexts, read_at_commit
from syncd.sync.workspace import Workspace

_RECENT = 200
"""Commits among which the last one of the lock is searched; of older ones, most clones of a job know nothing either."""


@dataclass(frozen=True)
class LastLook:
    """The last look at a site, if any, against what would be looked at now."""

    workspace: Workspace
    options: SiteOptions
    source: SiteFileTexts
    inputs: str
    look: SiteState | None

    @classmethod
    def of(cls, workspace: Workspace, options: SiteOptions, source: SiteFileTexts) -> "LastLook":
        """Return the last look at a site, for its options and committed texts."""
        ways = [__version__, options.lock, options.ordering, sorted(options.kinds), source.inputs()]
        inputs = hashlib.sha256(json.dumps(ways).encode()).hexdigest()
        return cls(workspace, options, source, inputs, workspace.store.plans.read_site_state(options.file))

    def is_due(self) -> bool:
        """Return whether it is time to look: the file is another, time has passed, or a person agreed to a plan."""
        if self.look is None or self.workspace.force or self.look.inputs != self.inputs:
            return True
        now = self.workspace.now()
        age = now - datetime.fromisoformat(self.look.at)
        if not timedelta() <= age < timedelta(seconds=self.options.every):
            return True
        return any(
            is_approval_valid(plan, now) for plan in self.workspace.store.plans.list_pending(self._facts()["site"])
        )

    def repeat_outcome(self) -> Outcome:
        """Return what a run comes to that does not look: what waited for a person still does."""
        held = self._facts()["held"]
        return Held(**held) if held else Unchanged()

    def has_changed(self, facts: dict[str, Any]) -> bool:
        """Return whether a site was different the last time, or has not been read yet."""
        return any(self._facts().get(name) != value for name, value in facts.items())

    def read_last_applied(self) -> SiteFileTexts | None:
        """Return the site file as it was when it was last carried out, or None when it is the same or not known.

        A store that does not know, such as that of a job in CI, is told by the last commit of the lock.
        Raises: FileInvalid when that cannot be read any more.
        """
        commit = self._facts().get("carried", "")
        repository = self.workspace.repository
        if not commit or not repository.select_present([commit]):
            commit = self._find_lock_commit()
        if not commit:
            return None
        former = read_at_commit(
            repository, commit, self.options.file, FileInvalid("the file is gone", path=self.options.file)
        )
        return former if former.inputs() != self.source.inputs() else None

    def expire(self) -> None:
        """Let the next run look, whatever becomes of this one."""
        if self.look is not None:
            self.workspace.store.plans.save_site_state(replace(self.look, inputs=""))

    def note_beside_runs(self, facts: dict[str, Any]) -> None:
        """Record how a person found a site that was looked at before, until the next run records how that finds it."""
        if self.look is not None:
            text = json.dumps({**self._facts(), LATEST_FACTS: facts}, sort_keys=True, ensure_ascii=False)
            self.workspace.store.plans.save_site_state(replace(self.look, facts=text))

    def note(self, facts: dict[str, Any], outcome: Outcome, *, carried: bool = False) -> None:
        """Record how a site is and the outcome of the run, and the commit when it was carried out."""
        held = None
        if isinstance(outcome, Held):
            held = {"why": outcome.why, "hint": outcome.hint, "exit_code": outcome.exit_code}
            held |= {"approval": outcome.approval, "manual": outcome.manual, "command": outcome.command}
        commit = self.source.commit if carried else self._facts().get("carried", "")
        facts = {**facts, "held": held, "carried": commit}
        at = self.workspace.now().isoformat(timespec="seconds")
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        self.workspace.store.plans.save_site_state(SiteState(self.options.file, self.inputs, text, at))

    def _find_lock_commit(self) -> str:
        """The newest commit of the tracked branch that keeps a lock, when it is not long ago; its file was applied."""
        repository = self.workspace.repository
        tip = self.source.commit or repository.resolve(f"{HEADS}{self.workspace.branch}")
        recent = repository.list_commits(None, tip, limit=_RECENT) if tip else []
        return next((commit.oid for commit in recent if TRAILER in commit.trailers), "")

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.look.facts) if self.look else {}
        return facts


def summarize_site(plan: SitePlan, lock: SiteLock) -> dict[str, Any]:
    """Return how a site is, in numbers by state and area."""
    return {
        "site": plan.site,
        "owned": _count_by_area(lock.items),
        "unmanaged": {str(area): count for area, count in plan.unmanaged.items() if count},
        "drifted": _count_by_area(line.ref for line in plan.list_drift()),
        "blocked": _count_by_area(line.ref for line in plan.select_lines("blocked")),
    }


def _count_by_area(refs: Iterable[Ref]) -> dict[str, int]:
    return dict(Counter(ref.area for ref in refs))
