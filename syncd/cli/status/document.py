"""The status as one JSON document."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from syncd.cli.status.next_command import suggest_command
from syncd.cli.status.values import BrokenStatus, RepositoryStatus, RequestStatus
from syncd.cli.sync.unsent import build_unsent_document

if TYPE_CHECKING:  # most ask for the whole
    from syncd.cli.status.files import FileStatus


def build_status_document(status: RepositoryStatus | BrokenStatus, *, start: str) -> dict[str, Any]:
    """Return the JSON object of a repository's status; paths are relative to the current directory."""
    if isinstance(status, BrokenStatus):
        return asdict(status)
    facts = asdict(replace(status, works=(), requests=()))
    del facts["works"]
    return facts | {
        "requests": [build_request_state(request) for request in status.requests],
        "unsent": [build_unsent_document(work) for work in status.works],
        "next": suggest_command(status, start=start) or None,
        "exit_code": status.exit_code,
    }


def build_request_state(request: RequestStatus) -> dict[str, Any]:
    """Return the JSON object of a change request."""
    state = request.state
    return {
        "space": request.space,
        "number": request.number,
        "branch": request.branch,
        "url": state.address or None,
        "status": state.status or None,
        "subject": state.subject,
        "outdated": state.is_outdated,
        "open_comments": state.comments,
        "has_all": request.has_all,
        "left_out": list(request.left_out),
        "requested": list(state.requested),
        "reviews": [asdict(verdict) for verdict in state.verdicts] if state.has_reviews else None,
        "awaits": request.next_step or None,
    }


def build_file_document(file: "FileStatus") -> dict[str, Any]:
    """Return the JSON object of a file that was named."""
    facts = asdict(replace(file, requests=()))
    requests = [build_request_state(request) for request in file.requests]
    del facts["address"]
    return facts | {"requests": requests, "url": file.address or None, "exit_code": file.exit_code}
