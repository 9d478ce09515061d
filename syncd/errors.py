"""The one error tree. Leaves are named by what happened; each carries an exit code and says when a retry makes sense.

SyncdError                         exit  retry
+ ConfigInvalid                     78   never: the file must change
  - NotTrusted                      78   never: a repository says what only its owner may say
+ FileInvalid                       65   never: a file in the repository must change (file:line:column)
  - FileUnsupported                 65   never: another program may read it
  - LockUnusable                    78   never: what syncd owns on a site must not be guessed
+ AnotherRuns                        7   later
+ ServiceUnavailable                69   later: no running service answers a command that is for one
+ Stopped                          143   never: asked to stop
  - Interrupted                    130   never: asked to stop by Ctrl-C
  - LeaseLost                      143   never: another worker of the fleet has the repository
+ GuardRefused                       5   never: a guard waits for a person
  - BecameEmpty                      5   one side is suddenly empty
  - TooMuch                          5   more than a run may delete or open unasked
  - WentBack                         5   a space holds an earlier state, as after a restored backup
  - WorkTreeInTheWay                 5   an uncommitted edit would be overwritten
  - OperationInProgress              5   a rebase, merge, cherry-pick or bisect is not finished
+ Conflict                           6   never: a person chooses
  - MergeConflict                    6   the same lines changed on both sides
  - RefMoved                         6   later: a ref is not where it was read
  - StalePlan                        6   what would be done is not what was approved
+ PlatformError                      1   never
  - Unreachable                     69   later: no answer, a broken answer, or 5xx
  - NotThePlatform                  69   never: what answers is not the API
  - AnswerTooLarge                  69   never: more answers than is read
  - RateLimited                     75   at a known time
  - AnswerLost                      75   later: a write may or may not have happened; look before repeating
  - Unauthorized                    77   never: the token is wrong or may not do this
  - NotFound                        78   never: no such thing under this id
    - ContentMissing                69   never: a space lists what the platform has no content for
  - Rejected                         1   never: the platform refuses this request
+ RepositoryError                    1   never
  - NotARepository                  78   never
  - GitFailed                        1   never
    - HistoryCut                     5   never: this shallow clone lacks what has to be known
    - RepositoryDenied              78   never: this user may not read or write what is needed
  - PathRefused                      1   never: a name that must not reach a repository
+ StoreError                         1   never
  - StoreNewer                      78   never: written by a newer syncd
  - StoreDenied                     78   never: this user may not read or write it
+ FleetUnreachable                  69   later: the database of the fleet gives no answer
+ DiskFull                           1   later
"""

from enum import Enum
from errno import EDQUOT, EFBIG, ENOSPC
from typing import ClassVar

NO_SPACE = frozenset({ENOSPC, EDQUOT, EFBIG})
"""The numbers of an OSError that says that a disk is full, a quota used up, or a file as large as it may become."""
DENIED_HINT = (
    "your user needs to read and write there: see its owner and mode with ls -ld, and whether its disk is read-only"
)


class Retry(Enum):
    """When another try can succeed without a person."""

    NEVER = "never"
    LATER = "later"
    AT_TIME = "at a known time"


class SyncdError(Exception):
    """What failed on what (ids and paths, never content), and a hint that names the next command."""

    exit_code: ClassVar[int] = 1
    retry: ClassVar[Retry] = Retry.NEVER

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class ConfigInvalid(SyncdError):
    """The operator's configuration cannot be used."""

    exit_code = 78


class NotTrusted(ConfigInvalid):
    """A configuration that comes with a repository needs the word of its owner: `syncd trust`."""


class FileInvalid(SyncdError):
    """A file in the repository cannot be used; `path:line:column` says where, with line 0 only which file."""

    exit_code = 65

    def __init__(self, what: str, *, path: str, line: int = 1, column: int = 1, hint: str = "") -> None:
        super().__init__(f"{path}:{line}:{column}: {what}" if line else f"{path}: {what}", hint=hint)
        self.reason, self.path, self.line, self.column = what, path, line, column


class FileUnsupported(FileInvalid):
    """A file says what syncd does not read, though another program may: YAML with aliases, too large, too deep."""


class LockUnusable(FileInvalid):
    """A site's lock file is not what syncd wrote, or is another site's."""

    exit_code = 78


class AnotherRuns(SyncdError):
    """Another syncd holds the lock."""

    exit_code = 7
    retry = Retry.LATER


class ServiceUnavailable(SyncdError):
    """No running service answers a command that is for one."""

    exit_code = 69
    retry = Retry.LATER


class Stopped(SyncdError):
    """The run was asked to stop and did so between two steps."""

    exit_code = 143


class Interrupted(Stopped):
    """A person pressed Ctrl-C, and the run stopped between two steps."""

    exit_code = 130


class LeaseLost(Stopped):
    """A worker of a fleet may not write any more: its lease ran out, and another worker may have the repository."""


class GuardRefused(SyncdError):
    """A guard stopped the run until a person decides."""

    exit_code = 5


class BecameEmpty(GuardRefused):
    """One side is suddenly empty; that is never read as an instruction to empty the other."""


class TooMuch(GuardRefused):
    """The plan deletes or opens more than a run may do unasked."""


class WentBack(GuardRefused):
    """A space holds a state from before the last one that was read: it was restored, and only people know why."""


class WorkTreeInTheWay(GuardRefused):
    """Moving the checked-out branch would overwrite an uncommitted edit."""

    def __init__(self, what: str, *, paths: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.paths = paths


class OperationInProgress(GuardRefused):
    """The repository is in the middle of a rebase, merge, cherry-pick, revert or bisect."""


class Conflict(SyncdError):
    """Both sides changed and a person must choose."""

    exit_code = 6


class MergeConflict(Conflict):
    """The same lines changed on both sides, in a file that no space holds."""

    def __init__(self, what: str, *, paths: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.paths = paths


class RefMoved(Conflict):
    """A ref is not where it was read; nothing was changed."""

    retry = Retry.LATER


class StalePlan(Conflict):
    """The plan that would be applied is not the plan that was approved."""


class PlatformError(SyncdError):
    """The platform did not do what was asked."""

    def __init__(self, what: str, *, status: int | None = None, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.status = status


class Unreachable(PlatformError):
    """No answer, a broken answer or a server failure, after all tries."""

    exit_code = 69
    retry = Retry.LATER


class NotThePlatform(PlatformError):
    """Something answers at this address, but not the platform's API."""

    exit_code = 69


class AnswerTooLarge(PlatformError):
    """The platform's answer is larger than syncd reads."""

    exit_code = 69


class RateLimited(PlatformError):
    """The platform asks to wait longer than a run may; `until` is in epoch seconds."""

    exit_code = 75
    retry = Retry.AT_TIME

    def __init__(self, what: str, *, until: float, hint: str = "") -> None:
        super().__init__(what, status=429, hint=hint)
        self.until = until


class AnswerLost(PlatformError):
    """A write was sent and its answer was lost: it may have happened."""

    exit_code = 75
    retry = Retry.LATER


class Unauthorized(PlatformError):
    """The token is rejected, or may not do this."""

    exit_code = 77


class NotFound(PlatformError):
    """Nothing exists under this id, or the token may not see it."""

    exit_code = 78


class ContentMissing(NotFound):
    """A space lists a page or file, and the platform has no content for it."""

    exit_code = 69


class Rejected(PlatformError):
    """The platform refuses this request as it stands."""


class RepositoryError(SyncdError):
    """Git did not do what was asked."""


class NotARepository(RepositoryError):
    """There is no usable Git repository at this path."""

    exit_code = 78


class GitFailed(RepositoryError):
    """A git command failed; the message carries its last line, never content."""


class HistoryCut(GitFailed):
    """What has to be known of the history is not in this shallow clone; nobody can say here what it is."""

    exit_code = 5

    def __init__(self, what: str) -> None:
        super().__init__(what, hint="fetch the whole history: git fetch --unshallow")


class RepositoryDenied(GitFailed):
    """The operating system lets this user not read or write a file or directory of a repository."""

    exit_code = 78

    def __init__(self, what: str) -> None:
        super().__init__(what, hint=DENIED_HINT)


class PathRefused(RepositoryError):
    """A name from outside that must not become a path in a repository."""


class StoreError(SyncdError):
    """The state database cannot be used; it may be deleted at the cost of time."""


class StoreNewer(StoreError):
    """The state database was written by a newer syncd."""

    exit_code = 78


class StoreDenied(StoreError):
    """The operating system lets this user not read or write the state."""

    exit_code = 78

    def __init__(self, what: str) -> None:
        super().__init__(what, hint=DENIED_HINT)


class FleetUnreachable(SyncdError):
    """The database of a fleet gives no answer, or not the one that is needed."""

    exit_code = 69
    retry = Retry.LATER


class DiskFull(SyncdError):
    """No space is left where syncd writes; nothing half-done was published."""

    retry = Retry.LATER

    def __init__(self, what: str, *, hint: str = "make room on that disk, then run again") -> None:
        super().__init__(what, hint=hint)


def make_disk_full(error: OSError, what: object) -> DiskFull:
    """Return the error of a system call, one of NO_SPACE, that left no space for something."""
    if error.errno == EFBIG:
        return DiskFull(
            f"no space is left for {what}: it meets a limit on the size of files",
            hint="raise that limit (ulimit -f, LimitFSIZE=), or make it smaller, then run again",
        )
    return DiskFull(f"no space is left for {what}")
