"""One way through a site's plan: narrow early, widen late, delete last, and each step written down once it is done."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from syncd.errors import AnswerLost, PlatformError, SyncdError
from syncd.fault_points import FaultPoint, reach
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREA, ROOT, SITE, Area, Ref
from syncd.model.wording import format_first
from syncd.plan.site.call import CREATES, DELETES, Call
from syncd.plan.site.live_state import IdOf, InFlightRequest, LiveSite, LockEntry, SiteLock, find_refs
from syncd.plan.site.lockfile.in_flight import CHOICES, is_noted
from syncd.plan.site.lockfile.snapshot import take_snapshot
from syncd.plan.site.steps import SitePlan, Step, Wave
from syncd.sync.site.bulk import RedirectSender, split_rounds
from syncd.sync.site.calls import CallSender, IdTable, is_fatal
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.parts import SiteReader
from syncd.sync.site.read.site import read_again
from syncd.sync.workspace import Workspace

_SERIAL = (Wave.PATHS, Wave.ORDER)
"""Waves in which each step counts on those before it, among the siblings of one place."""
_ONLY_AFTER_SUCCESS = (Wave.WIDEN, Wave.DELETE, Wave.SCHEMA_SHRINK)
_SHOWN = 5


@dataclass(frozen=True)
class FailedStep:
    """A step that the platform refused."""

    step: Step
    why: str
    hint: str = ""
    exit_code: int = 1


@dataclass
class PlanExecutor:
    """Carries out one plan; with `watch`, an area that moved since `live` was read is left alone."""

    workspace: Workspace
    file: SiteFile
    plan: SitePlan
    live: LiveSite
    lock_writer: LockWriter
    watch: bool = True
    done: list[Step] = field(default_factory=list)
    failed: list[FailedStep] = field(default_factory=list)
    skipped: list[Step] = field(default_factory=list)
    stale: set[Area] = field(default_factory=set)
    _sent: list[Step] = field(default_factory=list)
    _looked: set[Area] = field(default_factory=set)
    _spoilt: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        reader = SiteReader(self.workspace.client, self.file.organization, self.file.site)
        self._before = self.lock_writer.lock
        self._ids = collect_ids(self.plan, self.live, self._before)
        self._calls = CallSender(reader, self._ids, self.live.abilities.sort, _collect_spaces(self.file))
        self._redirects = RedirectSender(self._calls, self.live)

    @property
    def has_written(self) -> bool:
        """Whether anything was asked of the platform."""
        return any(not step.call.is_local for step in self.done)

    @property
    def changed(self) -> set[Ref]:
        """The items that the platform has changed."""
        return {step.ref for step in self.done if not step.call.is_local}

    @property
    def unanswered(self) -> set[Ref]:
        """The items that the platform may have changed, since nobody heard what came of a request."""
        settled = {id(step) for step in self.done}
        settled |= {id(one.step) for one in self.failed if one.exit_code != AnswerLost.exit_code}
        return {step.ref for step in self._sent if id(step) not in settled} - self.changed

    def run(self) -> None:
        """Carry out what can be. Raises: what `is_fatal`, Stopped; the hint says then what is left."""
        try:
            self._run()
        except SyncdError as error:
            done = set(map(id, self.done))
            refs = list_few(step.ref.label for step in self.plan.steps if id(step) not in done)
            count = f"{len(self.done)} of {len(self.plan.steps)} steps are done and written down"
            error.hint = "\n".join(filter(None, (error.hint, f"{count}; the next run does {refs}")))
            raise

    def _run(self) -> None:
        for wave, group in groupby(self.plan.steps, key=lambda step: step.wave):
            steps = list(group)
            if self._is_held_back(wave):
                self.skipped += [step for step in steps if not step.call.is_local]
                steps = [step for step in steps if step.call.is_local]
            many = [step for step in steps if step.kind == "redirect" and not step.call.is_local]
            many = [step for step in many if self._can_carry_out(step)]
            for round_ in split_rounds(many, self.live):
                self._begin(round_)
                for results in self._redirects.carry_out(round_):
                    self._settle(results)
            rest = [step for step in steps if step.kind != "redirect" or step.call.is_local]
            for local, some in groupby(rest, key=lambda step: step.call.is_local):
                if local:
                    self._settle([(step, None) for step in some if self._can_carry_out(step)])
                    continue
                for step in some:
                    self._settle([(step, self._error(step))] if self._can_carry_out(step) else [])

    def _is_held_back(self, wave: Wave) -> bool:
        trouble = bool(self.failed or self.stale or self.skipped)
        return trouble and wave in _ONLY_AFTER_SUCCESS

    def _can_carry_out(self, step: Step) -> bool:
        """Whether nothing that a step counts on went wrong; else it is skipped, and so is what counts on it."""
        areas = _find_touched_areas(step)
        for area in areas:
            self._note_stale_area(area)
        needed = _find_needed_refs(step)
        unknown = needed - self._ids.by_ref.keys() - ({step.ref} if step.call.is_create else set())
        spoilt = self._spoilt & {*_list_ancestors({step.ref, *needed}), *_list_places(step)} if self._spoilt else set()
        if unknown or spoilt or self.stale & areas or AREA[step.kind] in self.stale:
            self.skipped.append(step)
            self._spoil(step)
            return False
        return True

    def _note_stale_area(self, area: Area) -> None:
        """Before the first write to an area, see that it is as it was when the plan was made.

        Once is all that can be told: afterwards, what differs is what this very run has done.
        """
        if not self.watch or area in self._looked:
            return
        self._looked.add(area)
        now = read_again(self.workspace, self.file, self.live, area)
        if now != self.live and take_snapshot(self.file, now, self._before).get(area) != self.plan.snapshot.get(area):
            self.stale.add(area)

    def _begin(self, steps: Iterable[Step]) -> None:
        """Write down what could not be told any more if this run died over it."""
        requests: dict[Ref, InFlightRequest] = {}
        steps = list(steps)
        self._sent += steps
        for step in filter(is_noted, steps):
            id = "" if step.call.is_create else self._ids.resolve(step.id)
            requests[step.ref] = InFlightRequest(step.call, id, self._ids.resolve(step.body))
        self.lock_writer.begin(requests)

    def _error(self, step: Step) -> PlatformError | None:
        self._begin([step])
        try:
            self._calls.carry_out(step)
        except PlatformError as error:
            if is_fatal(error):
                raise
            return error
        return None

    def _settle(self, results: Iterable[tuple[Step, PlatformError | None]]) -> None:
        """Write down at once what was done, and remember what was not."""
        results = list(results)
        if any(not step.call.is_local for step, _ in results):
            reach(FaultPoint.PLAN_STEP_SENT)
        owned: dict[Ref, LockEntry | None] = {}
        heard: list[Ref] = []
        for step, error in results:
            heard += [step.ref] if self._is_heard(step, error) else []
            if error is None:
                self.done.append(step)
                owned |= self._find_ownership(step)
            else:
                self.failed.append(FailedStep(step, error.what, error.hint, error.exit_code))
                self._spoil(step)
        self.lock_writer.save(owned, heard)
        self.workspace.progress("site", len(self.done), len(self.plan.steps))

    def _is_heard(self, step: Step, error: PlatformError | None) -> bool:
        """Whether it is known what became of an item's request that was begun; of a value, no other step can tell."""
        begun = self.lock_writer.find_in_flight(step.ref)
        if begun is None or isinstance(error, AnswerLost):
            return False
        return not step.call.is_local or begun.call in CREATES | DELETES

    def _find_ownership(self, step: Step) -> Mapping[Ref, LockEntry | None]:
        if step.drops or step.call is Call.FORGET:
            return {step.ref: None}
        made = step.call.is_create
        if not (made or step.applied or step.call is Call.ADOPT):
            return {}
        if made and step.ref not in self._ids.by_ref:  # the platform did not say; the next look finds it
            return {}
        id = self._ids.by_ref[step.ref] if made else str(self._ids.resolve(step.id))
        former = self.lock_writer.entry(step.ref)
        by = former.by if former is not None and former.id == id else step.by
        return {step.ref: LockEntry(id, by, self._ids.resolve(step.applied))}

    def _spoil(self, step: Step) -> None:
        self._spoilt |= {step.ref, *_list_places(step)}
        if step.call is Call.SITE_UPDATE and step.wave in (Wave.NARROW, Wave.SCHEMA_EXPAND):
            # Whom the site is open to, or whether conditions hold, is not settled: so nothing may be put on it.
            self._spoilt |= {SITE, "structure"}


def list_few(refs: Iterable[str]) -> str:
    """Return the first few refs in words, and how many more there are."""
    return format_first(list(dict.fromkeys(refs)), _SHOWN)


def collect_ids(plan: SitePlan, live: LiveSite, lock: SiteLock) -> IdTable:
    """Return the ids that are known before a plan runs."""
    new = {step.id.ref for step in plan.steps if isinstance(step.id, IdOf)}
    known = {ref: entry.id for ref, entry in lock.items.items() if entry.id in live.items and ref not in new}
    known |= {step.ref: step.id for step in plan.steps if isinstance(step.id, str) and step.id}
    kinds = {one.id: one.kind for one in live.items.values()}
    return IdTable(known, dict(kinds), _find_first_variants(plan, known))


def _collect_spaces(file: SiteFile) -> dict[Ref, frozenset[str]]:
    """The spaces that each declared section and variant may show while it is made."""
    found: defaultdict[Ref, set[str]] = defaultdict(set)
    for item in file.of("variant"):
        for ref in (item.ref, item.parent):
            found[ref] |= {str(item.fields.get("space")), *filter(None, [file.holding])}
    return {ref: frozenset(spaces) for ref, spaces in found.items()}


def _find_first_variants(plan: SitePlan, known: Container[Ref]) -> dict[Ref, Ref]:
    """The variants that come with a section that is made, by its ref: those that are named and not made by a step."""
    made = {step.ref for step in plan.steps if step.call in (Call.VARIANT_CREATE, Call.SECTION_CREATE)}
    if not any(ref.kind == "section" for ref in made):
        return {}
    named = {ref for step in plan.steps for ref in (step.ref, *_find_needed_refs(step))}
    born = {
        Ref.of("section", ref.key.rpartition("/")[0]): ref
        for ref in sorted(named)
        if ref.kind == "variant" and ref not in made and ref not in known
    }
    return {section: ref for section, ref in born.items() if section in made}


def _find_touched_areas(step: Step) -> set[Area]:
    """The areas that a step's request changes; which section is the site's default is also a fact about sections."""
    if step.call.is_local:
        return set()
    chosen: set[Area] = {"structure"} if CHOICES & step.body.keys() else set()
    return {AREA[step.kind], *chosen}


def _find_needed_refs(step: Step) -> set[Ref]:
    """The refs of which a step needs the ids."""
    return set(find_refs([step.id, step.body, step.applied]))


def _list_ancestors(refs: Iterable[Ref]) -> Iterator[str]:
    """Refs, the variant of each override, the section of each variant, and `structure` for what is part of it."""
    for ref in refs:
        yield ref
        kind, key = ref.kind, ref.key
        if kind == "override":
            yield Ref.of("variant", key)
        if kind in ("override", "variant"):
            yield Ref.of("section", key.rpartition("/")[0])
        if kind in ("variant", "section", "group"):
            yield "structure"


def _list_places(step: Step) -> Iterator[str]:
    """Where a step stands that counts on those before it."""
    if step.wave in _SERIAL:
        above = step.ref.rpartition("/")[0] if step.kind == "variant" else ROOT
        yield f"{step.wave.name} {above}"
