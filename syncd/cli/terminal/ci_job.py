"""What a CI service says of a job in its environment: the branch, its target, and where the job summary goes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class CiJob:
    """One job of GitHub Actions, of GitLab CI, or of anything else; what is not known is empty.

    Shape: `pushed` is the commit that was pushed, and `former` the one upon which it was pushed to the branch.
    `is_repeated` says that the job was run for its commit before.
    """

    name: Literal["github", "gitlab", ""] = ""
    project: str = ""
    branch: str = ""
    target: str = ""
    summary: Path | None = None
    is_fork: bool = False
    pushed: str = ""
    former: str = ""
    is_repeated: bool = False


def read_ci_job(environ: Mapping[str, str]) -> CiJob:
    """Return the CI job that the environment describes; an empty one outside of CI.

    Source: GitHub, default environment variables; GitLab, predefined CI/CD variables.
    """
    if environ.get("GITHUB_ACTIONS") == "true":
        return _read_github_job(environ)
    if environ.get("GITLAB_CI"):
        return _read_gitlab_job(environ)
    return CiJob()


def _read_github_job(environ: Mapping[str, str]) -> CiJob:
    """The job of GitHub Actions: of a pull request its own branch, else the branch that was pushed."""
    pushed = environ.get("GITHUB_REF_NAME", "") if environ.get("GITHUB_REF_TYPE", "branch") == "branch" else ""
    summary = environ.get("GITHUB_STEP_SUMMARY", "")
    event = _read_event(environ.get("GITHUB_EVENT_PATH", ""))
    is_pull_request = environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request")
    return CiJob(
        "github",
        project=environ.get("GITHUB_REPOSITORY", ""),
        branch=environ.get("GITHUB_HEAD_REF", "") or pushed,
        target=environ.get("GITHUB_BASE_REF", "") or _find_text(event, "repository", "default_branch"),
        summary=Path(summary) if summary else None,
        # A pull request without a known origin may be anybody's, so it counts as one from a fork.
        is_fork=is_pull_request
        and _find_text(event, "pull_request", "head", "repo", "full_name") != environ.get("GITHUB_REPOSITORY"),
        pushed=_find_text(event, "after"),
        # A push by force drops what the branch was.
        former="" if not isinstance(event, dict) or event.get("forced") else _find_text(event, "before"),
        is_repeated=environ.get("GITHUB_RUN_ATTEMPT", "1") != "1",
    )


def _read_event(path: str) -> Any:
    """The event that started the job; a runner that is not GitHub's own need not write it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError):
        return None


def _find_text(document: Any, *keys: str) -> str:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) else ""


def _read_gitlab_job(environ: Mapping[str, str]) -> CiJob:
    is_tag = bool(environ.get("CI_COMMIT_TAG"))
    source = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "")
    return CiJob(
        "gitlab",
        project=environ.get("CI_PROJECT_PATH", ""),
        branch=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "")
        or ("" if is_tag else environ.get("CI_COMMIT_REF_NAME", "")),
        target=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "") or environ.get("CI_DEFAULT_BRANCH", ""),
        is_fork=bool(source) and source != environ.get("CI_PROJECT_PATH", ""),
    )
