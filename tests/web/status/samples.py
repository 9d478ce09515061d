"""A service with a hundred spaces and everything that can be wrong, as the status page gets it."""

from collections.abc import Sequence
from pathlib import Path

from syncd.errors import StalePlan
from syncd.web.status.values import (
    AreaCount,
    BranchRow,
    ConflictRow,
    ConflictView,
    HunkComparison,
    LoggedOperation,
    Overview,
    PlanRow,
    PlanView,
    Problem,
    RepositoryRow,
    RequestMinute,
    RequestRow,
    SideView,
    SiteRow,
    SpaceRow,
)

NOW = 1777629600.0
AT, BEFORE = "2026-05-01T09:58:00+00:00", "2026-04-28T07:00:12+00:00"
DIGEST = "3f9a0c12be77"
CONFLICT_PAGE = "/conflict?repository=docs&path=guide%2Finstall.md&branch=main"
NAMES = ("guide", "api", "cli", "release-notes", "security", "billing", "sdk-python", "sdk-go", "faq", "tutorials")


def make_space(number: int) -> SpaceRow:
    """One of many spaces; some of them are in trouble."""
    name = f"{NAMES[number % len(NAMES)]}-{number:02}"
    state = {3: "failed", 17: "held", 40: "conflict", 41: "waiting"}.get(number, "ok")
    return SpaceRow(
        "docs",
        name,
        f"space{number:04}",
        f"docs/{name}",
        f"{120 + number * 7}",
        state,
        "GET /v1/spaces/space0003: the platform answered 403" if state == "failed" else "",
        "ask for a token that may read it" if state == "failed" else "",
        AT,
        BEFORE if state == "failed" else AT,
        int(number % 13 == 0),
        int(number == 40),
        int(number % 9 == 0),
        int(number == 18),
    )


def make_requests() -> tuple[RequestRow, ...]:
    """Change requests in each of their states."""
    address = "https://app.example.org/s/guide/~/changes"
    return (
        RequestRow(
            "docs", "guide-00", 12, "main", "Explain the installer", f"{address}/12", "open", False, 0, (), "a review"
        ),
        RequestRow(
            *("docs", "release-notes-18", 4, "feature/long-branch-name", "Notes for 2.0", f"{address}/4", "open"),
            *(
                True,
                3,
                ("Ada Lovelace: changes requested", "Grace Hopper: approved before the last change"),
                "you",
                False,
            ),
        ),
        RequestRow(
            "docs", "sdk-go-27", 9, "main", "Fix a typo", "", "draft", False, 1, ("Ada Lovelace: approved",), ""
        ),
    )


PLAN = PlanRow("docs", DIGEST, "site.yaml", "site_1", BEFORE, "", ("redirects: 12 redirects would be deleted",))


def make_repository(spaces: int = 100) -> RepositoryRow:
    """A repository with so many spaces."""
    return RepositoryRow(
        "docs",
        "/srv/docs",
        "partial",
        "mirror release-notes-03: the platform answered 403",
        AT,
        BEFORE,
        branches=(BranchRow("main", 3, 1, 4, 1, 1), BranchRow("release/2.0", 0, 0)),
        spaces=tuple(make_space(number) for number in range(spaces)),
        requests=make_requests(),
        conflicts=(
            ConflictRow(
                *(
                    "guide/install.md",
                    "guide-40",
                    "both sides changed the same lines",
                    "syncd resolve guide/install.md",
                ),
                *(CONFLICT_PAGE, AT),
            ),
        ),
        plans=(PLAN,),
        sites=(
            SiteRow(
                *("docs", "site.yaml", "site_1", AT),
                (AreaCount("redirects", 120, 3, 2, 0), AreaCount("structure", 14, 0, 0, 1)),
            ),
        ),
        next_command="syncd resolve guide/install.md",
    )


PROBLEMS = (
    Problem(
        *("error", "docs", "space release-notes-03", "failed, 4 runs in a row: the platform answered 403"),
        *("the token may not read this space", "syncd doctor", "/space/docs/release-notes-03", "", BEFORE),
    ),
    Problem(
        *("decide", "docs", "guide/install.md", "both sides changed the same lines; it stays as each side has it"),
        *("", "syncd resolve guide/install.md", CONFLICT_PAGE, "", AT),
    ),
    Problem(
        *("decide", "docs", f"plan {DIGEST} of site.yaml", "redirects: 12 redirects would be deleted", ""),
        *(f"syncd site approve {DIGEST}", f"/plan/{DIGEST}", "", BEFORE),
    ),
    Problem(
        *("notice", "docs", "release-notes-18 #4", "Outdated: main content has moved on.", "", "syncd pull", ""),
        "https://app.example.org/s/guide/~/changes/4",
    ),
)


def make_minutes() -> tuple[RequestMinute, ...]:
    """An hour of requests."""
    return tuple(
        RequestMinute(
            NOW // 60 * 60 - 60 * back, 10 + back * 7 % 23, back % 19 == 0, 2.0 + back % 5, 0.9, 1000 - back, 1000
        )
        for back in range(58, 0, -1)
    )


def make_overview(version: str = "v1", spaces: int = 100, now: float = NOW) -> Overview:
    """All of it."""
    headline = "service 4711: docs: mirror release-notes-03: the platform answered 403"
    rows = (make_repository(spaces), RepositoryRow("handbook", "/srv/handbook", "ok", "", AT, AT))
    address = "https://api.example.org"
    return Overview(now, version, "1.0.0", address, headline, rows, PROBLEMS, make_minutes())


OPERATIONS = tuple(
    LoggedOperation(
        f"2026-05-01T{9 - number // 20:02}:{59 - number % 20 * 2:02}:10+00:00",
        ("revision", "merged", "sent", "integrated", "applied")[number % 5],
        "Explain how the installer finds its configuration" if number % 2 else "Fix a typo",
        "docs",
        f"{NAMES[number % len(NAMES)]}-{number % 100:02}",
        "Ada Lovelace" if number % 3 else "",
        (number,) if number % 5 == 1 else (),
        f"{number:040x}",
    )
    for number in range(100)
)


def make_conflict() -> ConflictView:
    """A page with one hunk in conflict."""
    before, after = ("# Install", ""), ("", "Then restart the service.")
    ours = SideView(
        "main (ours)", ("Ada Lovelace, 2026-05-01 09:00:00 UTC, 1a2b3c4 Say which port",), ("Open port 8443 first.",)
    )
    theirs = SideView(
        "platform/main (theirs)",
        ("somebody on the platform, 2026-05-01 09:30:00 UTC",),
        ("Open port 443 first, and <b>wait</b>.",),
    )
    hunk = HunkComparison(1, before, after, ("Open a port first.",), ours, theirs)
    command = "syncd resolve guide/install.md"
    commands = ((f"{command} --ours", "Keep the branch's"), (f"{command} --theirs", "Take the platform's"))
    why = "both sides changed the same lines"
    return ConflictView("docs", "guide/install.md", why, "main", "platform/main", (hunk,), (), commands)


def make_plan(approved: str = "") -> PlanView:
    """A plan that deletes redirects."""
    lines = (
        *(("title", "redirects"), ("delete", "  - /old/start"), ("create", "  + /start -> /guide")),
        *(("update", "  ~ /faq -> /help"), ("plain", ""), ("plain", "1 to create, 1 to update, 12 to delete")),
    )
    row = PlanRow("docs", DIGEST, "site.yaml", "site_1", BEFORE, approved, ())
    return PlanView(row, (("redirects", "12 redirects would be deleted"),), lines, bool(approved))


class SampleReader:
    """Gives the samples, and notes approvals."""

    def __init__(self, spaces: int = 100) -> None:
        self.spaces = spaces
        self.approved: list[tuple[str, str]] = []
        self.reads = 0
        self.now = NOW
        self.waits = True

    def read_overview(self, version: str) -> Overview:
        self.reads += 1
        return make_overview(version, self.spaces, self.now)

    def read_operations(self) -> Sequence[LoggedOperation]:
        return OPERATIONS

    def read_conflict(self, repository: str, path: str, branch: str) -> ConflictView | None:
        is_it = (repository, path, branch) == ("docs", "guide/install.md", "main")
        return make_conflict() if is_it else None

    def read_plan(self, digest: str) -> PlanView | None:
        return make_plan(AT if self.approved else "") if digest == DIGEST and self.waits else None

    def approve_plan(self, digest: str, comment: str) -> None:
        if digest != DIGEST or not self.waits:
            raise StalePlan(f"no plan {digest} waits for approval", hint="read the plan that waits now")
        self.approved.append((digest, comment))

    def list_files(self) -> Sequence[Path]:
        return ()
