"""What the status page shows, as frozen values; moments are ISO 8601 in UTC, or "" for never."""

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "decide", "notice"]
"""What keeps work from getting through; what waits for a person; what is good to know."""


@dataclass(frozen=True)
class Problem:
    """Something that a person should know, with the next command to type, and where the page says more.

    Shape: `command`, `page` (a path of this server) and `address` (a page of the platform) may each be "".
    """

    severity: Severity
    repository: str
    subject: str
    what: str
    hint: str = ""
    command: str = ""
    page: str = ""
    address: str = ""
    since: str = ""


@dataclass(frozen=True)
class RequestRow:
    """A change request of a branch; `awaits` says whom it waits for, `reviews` has a line for each."""

    repository: str
    space: str
    number: int
    branch: str
    subject: str
    address: str
    status: str
    is_outdated: bool
    comments: int
    reviews: tuple[str, ...] = ()
    awaits: str = ""
    has_all: bool = True


@dataclass(frozen=True)
class BranchRow:
    """A branch against main content: commits that only one side has; `unsent` counts files not proposed yet."""

    name: str
    ahead: int
    behind: int
    unsent: int = 0
    uncommitted: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class ConflictRow:
    """A page in conflict: `page` is the path here that shows both sides."""

    path: str
    space: str
    why: str
    command: str
    page: str
    at: str


@dataclass(frozen=True)
class SpaceRow:
    """A space of a repository. Shape: `state` is that of its last run; `unsent` and `conflicts` count files."""

    repository: str
    name: str
    space: str
    directory: str
    revision: str
    state: str
    why: str = ""
    hint: str = ""
    at: str = ""
    succeeded: str = ""
    unsent: int = 0
    conflicts: int = 0
    requests: int = 0
    outdated: int = 0


@dataclass(frozen=True)
class PlanRow:
    """A plan of a site that waits, or waited, for a person."""

    repository: str
    digest: str
    file: str
    site: str
    at: str
    approved: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class AreaCount:
    """How many resources of an area of a site have which state."""

    area: str
    owned: int
    unmanaged: int
    drifted: int
    blocked: int


@dataclass(frozen=True)
class SiteRow:
    """A site when it was last read."""

    repository: str
    file: str
    site: str
    at: str
    areas: tuple[AreaCount, ...]

    @property
    def drifted(self) -> int:
        """How many resources were changed on the platform, outside of the file."""
        return sum(area.drifted for area in self.areas)


@dataclass(frozen=True)
class RepositoryRow:
    """A repository: its last run, its branches, spaces, change requests and sites."""

    name: str
    path: str
    state: str
    why: str = ""
    at: str = ""
    succeeded: str = ""
    is_running: bool = False
    pause: str = ""
    branches: tuple[BranchRow, ...] = ()
    spaces: tuple[SpaceRow, ...] = ()
    requests: tuple[RequestRow, ...] = ()
    conflicts: tuple[ConflictRow, ...] = ()
    plans: tuple[PlanRow, ...] = ()
    sites: tuple[SiteRow, ...] = ()
    next_command: str = ""


@dataclass(frozen=True)
class LoggedOperation:
    """Something that happened, as `syncd log` knows it."""

    at: str
    kind: str
    what: str
    repository: str
    space: str = ""
    author: str = ""
    numbers: tuple[int, ...] = ()
    commit: str = ""
    revision: str = ""
    branch: str = ""
    path: str = ""


@dataclass(frozen=True)
class RequestMinute:
    """The requests to the platform within one minute.

    Units: `at` in epoch seconds, of its begin; `seconds` is the sum of all answers' times, `longest` the longest one.
    Shape: `remaining` of `limit` is what was left of the rate limit at last, or None where no answer said it.
    """

    at: float
    count: int
    failures: int
    seconds: float
    longest: float
    remaining: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Overview:
    """All that the page shows of a service; `version` is another after a change. Units: `now` in epoch seconds."""

    now: float
    version: str
    syncd_version: str
    platform: str
    headline: str
    repositories: tuple[RepositoryRow, ...]
    problems: tuple[Problem, ...]
    minutes: tuple[RequestMinute, ...] = ()


@dataclass(frozen=True)
class WorkerRow:
    """A worker of a fleet, or all of them together. Units: `clone_bytes` in bytes; `seen` ISO 8601."""

    name: str
    state: str
    running: int
    jobs: int
    runs: int
    failed_runs: int
    lost_leases: int
    clones: int
    clone_bytes: int
    seen: str = ""
    version: str = ""


@dataclass(frozen=True)
class FleetRow:
    """A repository of a fleet, in one line. Units: `late` in seconds that it is due and no worker has it."""

    name: str
    state: str
    worker: str
    at: str
    due: str
    late: float
    spaces: int
    conflicts: int
    requests: int
    plans: int


@dataclass(frozen=True)
class FleetOverview:
    """All that the first page of a fleet shows; `rows` are those from `first` on of `count` that were sought.

    Units: `now` in epoch seconds. Shape: `more_problems` are not shown.
    """

    now: float
    version: str
    syncd_version: str
    headline: str
    workers: tuple[WorkerRow, ...]
    total: WorkerRow
    problems: tuple[Problem, ...]
    more_problems: int
    rows: tuple[FleetRow, ...]
    first: int
    count: int
    sought: str = ""


@dataclass(frozen=True)
class SideView:
    """One side of a hunk: who wrote it, and its lines."""

    label: str
    authors: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class HunkComparison:
    """Lines that both sides changed, with those around them and those of their base."""

    number: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    base: tuple[str, ...] | None
    ours: SideView
    theirs: SideView


@dataclass(frozen=True)
class ConflictView:
    """A page in conflict with both sides. Shape: without hunks, `actions` say what each side did."""

    repository: str
    path: str
    why: str
    branch: str
    lane: str
    hunks: tuple[HunkComparison, ...]
    actions: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PlanView:
    """A plan that waits, exactly as it will be approved.

    Shape: `lines` are styles and texts, `gates` scopes and reasons. `commands` is the group of commands by which it is
    approved.
    """

    row: PlanRow
    gates: tuple[tuple[str, str], ...]
    lines: tuple[tuple[str, str], ...]
    is_approved: bool
    comment: str = ""
    commands: str = "syncd site"


@dataclass(frozen=True)
class Frame:
    """What surrounds each page: its title, the place in the navigation, and the token that its forms send.

    Shape: `link_command` makes a link to a new session; `has_operations` says whether there is a page of what happened.
    """

    title: str
    current: str = ""
    token: str = ""
    version: str = ""
    note: str = ""
    trail: tuple[tuple[str, str], ...] = field(default=())
    link_command: str = "syncd web"
    has_operations: bool = True
