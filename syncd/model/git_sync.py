"""Git sync of a space: what asks for an import from a repository or an export to one, and what became of the last.

Source: @gitbook/api 0.202.0; the API document has none of it.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from syncd.model.base import ABSENT, Declared, Observed
from syncd.model.moment import parse_moment
from syncd.model.space import GitSync

URL_MAX, REF_MAX, DIRECTORY_MAX, MESSAGE_MAX = 2_000, 500, 1_000, 5_000
RUNNING, SUCCESS, FAILURE, TIMEOUT = "running", "success", "failure", "timeout"
"""The states of an operation."""
IMPORT, EXPORT = "import", "export"
"""The directions of an operation: into the space, and out of it."""


def _check_time(text: str) -> str:
    if parse_moment(text) is None:
        raise ValueError("must be a time of ISO 8601")
    return text


class GitTransfer(Declared):
    """What an import and an export have in common.

    Shape: `url` may carry a user name and a password; `ref` is a full name such as `refs/heads/main`; `timestamp` is
    when what asks for it happened, so that nothing older follows something newer, unless it has `force`;
    `repo_commit_url` is an address for people, which the id of a commit is put behind.
    """

    url: Annotated[str, Field(min_length=1, max_length=URL_MAX)]
    ref: Annotated[str, Field(min_length=1, max_length=REF_MAX)]
    repo_tree_url: Annotated[str, Field(max_length=URL_MAX, alias="repoTreeURL")] = ABSENT
    repo_commit_url: Annotated[str, Field(max_length=URL_MAX, alias="repoCommitURL")] = ABSENT
    repo_project_directory: Annotated[str, Field(max_length=DIRECTORY_MAX)] = ABSENT
    timestamp: Annotated[str, Field(max_length=64), AfterValidator(_check_time)] = ABSENT
    force: bool = False
    standalone: bool = False


class GitImport(GitTransfer):
    """A request to import a commit; with `standalone` it becomes a revision that is no main content."""


class GitExport(GitTransfer):
    """A request to export main content as a commit; with `standalone` the revision is not joined to that."""

    commit_message: Annotated[str, Field(min_length=1, max_length=MESSAGE_MAX)]


class GitOperation(Observed):
    """The last import or export of a space. Shape: `state` and `direction` are among the constants of this module."""

    state: str
    direction: str
    started_at: str
    ended_at: str | None = None
    error: str | None = None


class GitInfo(GitSync):
    """How a space is joined to a repository. Units: `operation_timeout` in milliseconds."""

    operation: GitOperation | None = None
    operation_timeout: float | None = None
