"""Steps of a run at which a test stops the process, by name; without a test they do nothing.

A kill that is to fall between two steps cannot be timed: on a busy machine it falls elsewhere. So the code says where
it is, and what happens there is set from outside. `SYNCD_STOP_AT=move-noted` in the environment lets the process stop
itself (SIGSTOP) when it gets there, for a test that waits for that and then kills it or lets it go on;
`SYNCD_STOP_AT=move-noted:2` does so when it gets there for the second time. A test in the same process sets `on_reach`.
CONTRIBUTING.md, "Fault points", has a recipe.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

VARIABLE = "SYNCD_STOP_AT"


class FaultPoint(StrEnum):
    """Every step that has a name, in the order of a run."""

    COMMIT_STREAMED = "commit-streamed"
    """All of a commit was sent to Git; it is not there yet."""
    COMMIT_WRITTEN = "commit-written"
    """A commit is there; no ref names it yet."""
    REF_MOVED = "ref-moved"
    """A ref names what it is to name; the note of its locks, where there is one, is left."""
    MIRROR_WRITTEN = "mirror-written"
    """A revision is mirrored; the store does not know."""
    CHANGE_REQUEST_OPENED = "change-request-opened"
    """A change request was made and is empty; nothing here knows of it."""
    CONTENT_WRITTEN = "content-written"
    """A change request has its content; nothing here knows what became of it."""
    CHANGE_REQUEST_DESCRIBED = "change-request-described"
    """A change request is complete and open; no ref says that the branch was proposed."""
    MERGE_WRITTEN = "merge-written"
    """A branch was merged with main content; the branch is where it was."""
    SITE_BUILT = "site-built"
    """A site is built for a branch of the Git remote; nothing of it is in Git."""
    SITE_PUBLISHED = "site-published"
    """A site is where readers find it; no ref here says so."""
    PLAN_BEGUN = "plan-begun"
    """A plan of a site may be carried out; nothing of it is done."""
    PLAN_STEP_SENT = "plan-step-sent"
    """The platform has carried out a step of a plan; no lock says so."""
    PLAN_DONE = "plan-done"
    """A plan is carried out, and its lock is kept; no run says so."""
    BRANCH_PUSHED = "branch-pushed"
    """The Git remote has a branch as it is to be; no ref here says so."""
    IMPORT_COMPARED = "import-compared"
    """Main content is what a branch was merged with; the platform was not asked to import the branch yet."""
    IMPORT_REQUESTED = "import-requested"
    """The platform was asked to import a branch; nobody has looked what became of it."""
    IMPORT_DONE = "import-done"
    """The platform has imported a branch; no mirror commit says so."""
    MOVE_LOCKED = "move-locked"
    """Git's lock of the index is ours; the move is not noted."""
    MOVE_NOTED = "move-noted"
    """A move of the work tree is noted; no file is touched."""
    MOVE_FILES_DONE = "move-files-done"
    """All files are those of the later commit; Git's index is the earlier one."""
    MOVE_INDEX_DONE = "move-index-done"
    """The index is the later one, too; the branch is at the earlier commit."""
    MOVE_BRANCH_DONE = "move-branch-done"
    """The branch has moved; its note and the lock of the index are left."""


on_reach: Callable[[FaultPoint], None] | None = None
"""What happens at each point; None, for a process without a test, is nothing."""


def reach(point: FaultPoint) -> None:
    """Say that the process has come to a point."""
    if on_reach is not None:
        on_reach(point)


def stop_at(wanted: str) -> Callable[[FaultPoint], None]:
    """Return a function that stops the process when it reaches a point, named as `NAME` or `NAME:N` for the N-th time.

    Raises: ValueError.
    """
    name, _, count = wanted.partition(":")
    at, times = FaultPoint(name), int(count or 1)
    reached = Counter[FaultPoint]()

    def stop(point: FaultPoint) -> None:
        reached[point] += 1
        if point is at and reached[point] == times:
            os.kill(os.getpid(), signal.SIGSTOP)

    return stop


if VARIABLE in os.environ:
    on_reach = stop_at(os.environ[VARIABLE])
