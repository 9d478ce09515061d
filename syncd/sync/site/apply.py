"""Apply: carry out a site's plan wave by wave, write down each step as it is done, and look again at the end.

What fails holds up only what depends on it, but nothing is widened or deleted on a site where anything failed before.
Source: ARCHITECTURE.md, "A redirect is applied".
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import islice

from syncd.api.parallel import run_parallel
from syncd.errors import NotFound, SyncdError
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Area, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.match.first_sections import take_first_part
from syncd.plan.site.options import Options
from syncd.plan.site.steps import SitePlan, Step
from syncd.sync.site.executor import FailedStep, PlanExecutor
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.site import WORKERS, read_live
from syncd.sync.workspace import Workspace

PASSES = 3
"""How often a plan may leave something to do that only shows once it was carried out."""
SAMPLE = 20
"""Redirects that are looked up after they were written."""

KeepBefore = Callable[[SitePlan, LiveSite, Collection[Ref]], object]


@dataclass(frozen=True)
class ApplyResult:
    """What became of a plan: the lock as it is now, what was done, what failed, and what had to be left.

    Shape: `skipped` waited for something that failed; `stale` are areas in which somebody changed something since the
    plan was made; `left` is what a new look at the site still asks for.
    """

    lock: SiteLock
    left: SitePlan
    steps: tuple[Step, ...] = ()
    failed: tuple[FailedStep, ...] = ()
    skipped: tuple[Step, ...] = ()
    stale: tuple[Area, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 when the site is as the file says, 6 when it moved meanwhile, 4 when a part is not done."""
        if self.stale:
            return 6
        return 4 if self.failed or self.left.steps else 0


def apply_plan(
    workspace: Workspace,
    file: SiteFile,
    plan: SitePlan,
    live: LiveSite,
    lock_writer: LockWriter,
    *,
    options: Options = Options(),
    keep_before: KeepBefore | None = None,
) -> ApplyResult:
    """Carry out a plan whose gates are open on the site that it was made from.

    Shape: `keep_before` is called before the first request that writes, with what the plan is about to change; and once
    more at the end, where that turned out to be less, with what got no answer. Later looks run only what the gates of
    this plan let through. Raises: Unreachable, RateLimited, NotThePlatform, Stopped, ConfigInvalid; what was done until
    then is recorded and committed.
    """
    first, done = plan, ApplyResult(lock_writer.lock, replace(plan, steps=()))
    before, changed, unanswered = live, set[Ref](), set[Ref]()
    keep = keep_before if any(not step.call.is_local for step in plan.steps) else None
    if keep is not None:
        keep(plan, live, ())
    try:
        for number in range(PASSES + bool(plan.expects)):
            waves = PlanExecutor(workspace, file, take_first_part(plan), live, lock_writer, watch=number == 0)
            try:
                waves.run()
            finally:
                changed |= waves.changed
                unanswered |= waves.unanswered
            done = replace(_join_results(done, waves), left=replace(plan, steps=()))
            if done.failed or done.stale or not waves.has_written:
                break
            live = replace(read_live(workspace, file, lock_writer.lock), abilities=live.abilities)
            plan = plan_site(file, live, lock_writer.lock, options)
            done = replace(done, left=plan)
            if not plan.steps or not _is_agreed(first, plan):
                break
        notes = _find_unserved(workspace, file, done.steps)
    except SyncdError:
        lock_writer.finish(first.digest)
        if keep is not None:
            _keep_changed(keep, first, before, changed, unanswered - changed)
        raise
    if keep is not None:
        _keep_changed(keep, first, before, changed, unanswered - changed)
    settled = options.is_whole and not (done.failed or done.stale or done.skipped or done.left.steps)
    note = lock_writer.finish(first.digest, settled=settled)
    return replace(done, lock=lock_writer.lock, notes=(*notes, *([note] if note else [])))


def _keep_changed(keep: KeepBefore, plan: SitePlan, before: LiveSite, changed: set[Ref], unanswered: set[Ref]) -> None:
    """Keep only what a plan changed, or may have, where that is not all that it was about."""
    if any(not step.call.is_local and step.ref not in changed for step in plan.steps):
        lines = tuple(line for line in plan.lines if line.ref in changed | unanswered)
        keep(replace(plan, lines=lines), before, unanswered)


def _join_results(done: ApplyResult, waves: PlanExecutor) -> ApplyResult:
    return replace(
        done,
        steps=(*done.steps, *waves.done),
        failed=(*done.failed, *waves.failed),
        skipped=(*done.skipped, *waves.skipped),
        stale=tuple(sorted({*done.stale, *waves.stale})),
    )


def _is_agreed(first: SitePlan, plan: SitePlan) -> bool:
    """Whether all that needs a person in a plan was in the one that somebody let through."""
    let = {gate.scope: set(gate.refs) for gate in first.gates}
    return all(set(gate.refs) <= let.get(gate.scope, set()) for gate in plan.gates)


def _find_unserved(workspace: Workspace, file: SiteFile, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Of some redirects that were written, those that lead nowhere."""
    written = [step for step in steps if step.call in (Call.REDIRECT_CREATE, Call.REDIRECT_UPDATE)]
    sources = dict.fromkeys(step.body.get("source", step.ref.key) for step in written)

    def serves(source: str) -> bool:
        try:
            workspace.client.redirects.get_by_source(file.organization, file.site, source)
        except NotFound:
            return False
        return True

    found = run_parallel(serves, islice(sources, SAMPLE), workers=WORKERS)
    nowhere = sorted(source for source, served in found if not served)
    return (f"written, but the site does not redirect yet: {', '.join(nowhere)}",) if nowhere else ()
