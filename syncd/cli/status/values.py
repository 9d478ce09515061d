"""Values of `status`: what is known of a repository, its branches, spaces, change requests, sites and plans."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncd.cli.service.run_status import RunStatus
from syncd.cli.sync.unsent import BranchWork
from syncd.errors import Conflict, FileInvalid, GuardRefused
from syncd.store.status import FlowOutcome
from syncd.sync.outcome import CONFLICT, PAGE, PARTLY_DONE, format_pending_command
from syncd.sync.state.request_state import RequestState, Verdict

_DECIDED = {"merged": "pull", "archived": "reopening"}
"""What a change request waits for that nobody reviews any more."""


@dataclass(frozen=True)
class SpaceStatus:
    """One space: the last mirrored revision, and the change requests of branches.

    Shape: `undecided` while Git and the space differ and nobody has chosen which side goes first.
    """

    name: str
    space: str
    directory: str
    revision: str
    undecided: bool
    change_requests: tuple[str, ...]


@dataclass(frozen=True)
class RequestStatus:
    """One own change request: for which space and branch, and its state when a run last saw it.

    Shape: `has_all` says that it holds all that the branch says of the space; `left_out` are files of that which other
    change requests bring. `is_commented` says that it is its comments that hold it.
    """

    space: str
    number: int
    branch: str
    has_all: bool
    state: RequestState
    left_out: tuple[str, ...] = ()
    is_commented: bool = False

    @property
    def objections(self) -> list[Verdict]:
        """The reviews that ask for changes."""
        return [verdict for verdict in self.state.verdicts if verdict.status == "changes-requested"]

    @property
    def approvals(self) -> list[Verdict]:
        """The reviews that approve it, also of former content."""
        return [verdict for verdict in self.state.verdicts if verdict.status == "approved"]

    @property
    def next_step(self) -> str:
        """What it waits for: `author`, `text`, `review`, `merge`, `pull`, `reopening`; "" before a run has seen it."""
        state = self.state
        if not state.status:
            return ""
        if state.status in _DECIDED:
            return _DECIDED[state.status]
        if not (self.has_all or self.left_out) or self.objections or state.is_outdated:
            return "author"
        if self.is_commented:  # those comments are open, too
            return "text"
        if state.comments:
            return "author"
        is_approved = any(not verdict.is_outdated for verdict in self.approvals)
        return "merge" if is_approved else "review"


@dataclass(frozen=True)
class BranchStatus:
    """One branch against main content: commits that only one side has; `can_pull` says that a pull brings these in."""

    branch: str
    ahead: int
    behind: int
    can_pull: bool = True


@dataclass(frozen=True)
class SiteStatus:
    """A site when it was last read: how many resources each state has, by area."""

    file: str
    site: str
    at: str
    states: Mapping[str, Mapping[str, int]]

    def count(self, state: str) -> int:
        """Return how many resources of all areas have a state."""
        return sum(self.states[state].values())


@dataclass(frozen=True)
class PlanStatus:
    """A plan that waits for a person, with the reasons.

    Shape: `approved` is the time of its approval, or ""; `commands` are the group of commands that are about it.
    """

    digest: str
    site: str
    file: str
    at: str
    approved: str
    why: tuple[str, ...]
    commands: str = "syncd site"

    @property
    def command(self) -> str:
        """The command that shows it."""
        return format_pending_command(self.digest, self.commands)

    @property
    def approve_command(self) -> str:
        """The command that lets it through."""
        return f"{self.commands} approve {self.digest}"


@dataclass(frozen=True)
class RepositoryStatus:
    """One repository, with the last outcome of every flow.

    Shape: `former` are spaces that were mirrored and are no longer configured; `current` is the branch of the work tree
    around the current directory, and `detached` the commit of its HEAD when that is on no branch; `work_tree` is its
    top directory, "" for a bare repository, and `operation` what is in progress there, such as a merge, or "".
    `is_unborn` says that `current` has no commit, although main content is mirrored, as after a clone that was cut off.
    `imported` is the branch that is written to main content without a change request, or ""; `config` is the
    configuration that the command line names, or ""; `is_job` says that it is the checkout of a job in CI.
    `is_service_hidden` says that this user cannot see whether a service runs; `daemon` is None then.
    `is_disk_full` says that no run has room to write into the git directory.
    """

    path: str
    daemon: int | None
    branches: tuple[BranchStatus, ...]
    spaces: tuple[SpaceStatus, ...]
    former: tuple[str, ...]
    outcomes: tuple[FlowOutcome, ...]
    plans: tuple[PlanStatus, ...] = ()
    sites: tuple[SiteStatus, ...] = ()
    works: tuple[BranchWork, ...] = ()
    requests: tuple[RequestStatus, ...] = ()
    current: str = ""
    detached: str = ""
    is_unborn: bool = False
    operation: str = ""
    work_tree: str = ""
    imported: str = ""
    config: str = ""
    is_job: bool = False
    run: RunStatus = field(default_factory=RunStatus)
    is_service_hidden: bool = False
    is_disk_full: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of the last run when it failed, else of what waits for a person now."""
        held = [outcome for outcome in self.problems if outcome.state == "held"]
        codes = {self._code_of(outcome) for outcome in held}
        codes |= {GuardRefused.exit_code for plan in self.plans if not plan.approved}
        if self.run.exit_code or not codes:
            return self.run.exit_code
        return codes.pop() if len(codes) == 1 else GuardRefused.exit_code

    @property
    def needs_person(self) -> bool:
        """Whether something waits for a person who has not acted since the last run."""
        return any(each.state == "held" for each in self.problems) or any(not plan.approved for plan in self.plans)

    def _code_of(self, held: FlowOutcome) -> int:
        is_blocked = any(site.states["blocked"] for site in self.sites if site.file == held.key)
        if held.flow == "site" and is_blocked:
            return PARTLY_DONE
        codes = {CONFLICT: Conflict.exit_code, PAGE: FileInvalid.exit_code}
        return codes.get(held.flow, GuardRefused.exit_code)

    @property
    def problems(self) -> list[FlowOutcome]:
        """The outcomes that a person should read first; those about a waiting plan are left out for the plan itself."""
        known = {plan.command for plan in self.plans}
        found = [outcome for outcome in self.outcomes if outcome.state in ("held", "waiting")]
        return [outcome for outcome in found if outcome.command not in known]

    def list_held(self, flow: str, branch: str = "") -> list[str]:
        """Return the paths of the pages of a flow that wait for a person, each once, in any branch or in that one.

        Shape: an older version recorded no branch; that can be any.
        """
        held = [outcome for outcome in self.problems if (outcome.flow, outcome.state) == (flow, "held")]
        return list(dict.fromkeys(one.key for one in held if not branch or one.branch in ("", branch)))


@dataclass(frozen=True)
class BrokenStatus:
    """A repository that cannot be read, with its last run where that is known."""

    path: str
    error: str
    hint: str
    exit_code: int
    run: RunStatus
