"""Values of a run: what it is to do, and what each flow came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syncd.errors import Stopped
from syncd.sync.outcome import BIND, CONFLICT, PAGE, PARTLY_DONE, Outcome
from syncd.sync.policy import PreferredSide, ReadReviews
from syncd.sync.publish.target.options import PublishOptions
from syncd.sync.site.options import SiteOptions


@dataclass(frozen=True)
class RunOptions:
    """Which flows to run, and for which branches: the named ones, and those that match a pattern now.

    Shape: `publication` says where the site of the first branch goes. `should_publish` pushes branches to their
    upstream. `prefer` says by a space's name which side wins where Git and the platform differ when they are joined for
    the first time. `reviews` says when reviews of our change requests are read.
    """

    branches: tuple[str, ...] = ("main",)
    patterns: tuple[str, ...] = ()
    integrate: bool = True
    propose: bool = True
    site: SiteOptions | None = None
    publication: PublishOptions | None = None
    subject: str = ""
    should_publish: bool = True
    prefer: Mapping[str, PreferredSide] | None = None
    reviews: ReadReviews = "never"

    @property
    def is_complete(self) -> bool:
        """Whether every tracked branch takes part in every flow, so that what none of them finds is gone."""
        return self.integrate and self.propose

    @property
    def others(self) -> tuple[str, ...]:
        """Further branches to fetch, which never become branches here."""
        return (self.publication.branch,) if self.publication is not None and self.publication.branch else ()


@dataclass(frozen=True)
class Result:
    """What one flow came to; `key` is the space, branch or site that it was about."""

    flow: str
    key: str
    outcome: Outcome


RUN = "run"
"""The flow that stands for a run as a whole, in the result of one that ended before all of its flows had their turn."""
SUBJECTS_OF_FLOWS = {
    RUN: "repository",
    "upstream": "upstream",
    BIND: "space",
    "import": "space",
    "mirror": "space",
    "review": "space",
    "close": "space",
    "integrate": "repository",
    "propose": "space",
    "merge": "space",
    CONFLICT: "repository",
    PAGE: "repository",
    "site": "site",
    "publish": "publish",
}
"""What each flow of a run is about; the key of a result about a space is its name, or `<space>/<branch>`."""


def is_stopped(results: Sequence[Result]) -> bool:
    """Return whether somebody asked the run to end before its time."""
    return any(result.outcome.exit_code == Stopped.exit_code for result in results)


def find_exit_code(results: Sequence[Result]) -> int:
    """Return the exit code of results: 0, the one code of all failures, or 4 when some flows succeeded.

    Source: syncd/manual/reference/exit-codes.md, "One code for many flows".
    """
    codes = {result.outcome.exit_code for result in results} - {0}
    if not codes:
        return 0
    if all(result.flow in (CONFLICT, PAGE) for result in results if result.outcome.exit_code):
        return codes.pop() if len(codes) == 1 else PARTLY_DONE
    failed = {result.key for result in results if result.outcome.exit_code}
    spaces = {result.key for result in results if result.flow == "mirror"}
    return codes.pop() if len(codes) == 1 and (len(spaces) == 1 or spaces <= failed) else PARTLY_DONE
