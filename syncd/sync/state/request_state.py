"""What the last run saw of each own change request, recorded so that `status` can say it without the platform."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syncd.model.text import join_lines
from syncd.sync.binding import Binding

if TYPE_CHECKING:  # `status` reads what was recorded, and needs none of these shapes
    from syncd.model.change_request import ChangeRequest
    from syncd.model.review import RequestedReviewer, Review
    from syncd.model.user import User
    from syncd.sync.workspace import Workspace

PAST_MAX = 200
"""Revisions of a change request that are remembered."""


@dataclass(frozen=True)
class Verdict:
    """What a reviewer said last: `status` is `approved` or `changes-requested`.

    Shape: `is_outdated` says that the content has changed since; `at` is ISO 8601.
    """

    reviewer: str
    status: str
    is_outdated: bool
    at: str


@dataclass(frozen=True)
class RequestState:
    """A change request as the last run saw it.

    Shape: everything is empty while no run has recorded it; `has_reviews` says whether reviews were read, `requested`
    are the names of people and teams that were asked for one. `comments` counts open ones.
    """

    address: str = ""
    status: str = ""
    subject: str = ""
    is_outdated: bool = False
    comments: int = 0
    has_reviews: bool = False
    verdicts: tuple[Verdict, ...] = ()
    requested: tuple[str, ...] = ()


def record_request(workspace: "Workspace", binding: Binding, request: "ChangeRequest") -> bool:
    """Record the state of a change request that was read just now, and return whether it has changed."""
    facts: dict[str, Any] = {
        "id": request.id,
        "address": request.address,
        "status": join_lines(request.status),
        "subject": join_lines(request.subject),
        "outdated": request.outdated,
        "comments": request.comments,
        "revision": request.revision,
    }
    former = _parse_facts(workspace.store.read_request(binding.space, request.number))
    if request.revision in former.get("past", ()):
        return False  # it was read before the last write
    if (revision := former.get("revision", request.revision)) != request.revision:
        facts["past"] = [*former.get("past", ()), revision][-PAST_MAX:]
    if former | facts == former:
        return False
    workspace.store.record_request(binding.space, request.number, json.dumps(former | facts))
    return True


def read_recorded_id(workspace: "Workspace", binding: Binding, number: int) -> str:
    """Return the id of the change request that was recorded under a number, or "" where none was."""
    return str(_parse_facts(workspace.store.read_request(binding.space, number)).get("id", ""))


def is_older(workspace: "Workspace", binding: Binding, request: "ChangeRequest") -> bool:
    """Return whether a change request is at a revision that came before the last recorded one: the platform was
    restored from a backup."""
    facts = _parse_facts(workspace.store.read_request(binding.space, request.number))
    return bool(request.revision in facts.get("past", ()))


def record_reviews(
    workspace: "Workspace",
    binding: Binding,
    request: "ChangeRequest",
    verdicts: "Sequence[Review]",
    requested: "Sequence[RequestedReviewer]",
) -> None:
    """Record the latest review of each reviewer of a change request, and who was asked for one."""
    latest = [
        {
            "reviewer": _name_user(review.reviewer),
            "status": join_lines(review.status),
            "outdated": review.outdated,
            "at": join_lines(review.updated_at),
        }
        for review in verdicts
    ]
    names = [_name_reviewer(each) for each in requested]
    reviews = {"verdicts": latest, "requested": names, "revision": request.revision}
    former = _parse_facts(workspace.store.read_request(binding.space, request.number))
    workspace.store.record_request(binding.space, request.number, json.dumps({**former, "reviews": reviews}))


def parse_request_state(text: str) -> RequestState:
    """Return the state of a change request from what was recorded of it, "" for nothing."""
    facts = _parse_facts(text)
    reviews: dict[str, Any] = facts.get("reviews") or {}
    # Content that arrived after the reviews were read is younger than all of them.
    has_changed = reviews.get("revision") != facts.get("revision")
    return RequestState(
        address=facts.get("address", ""),
        status=facts.get("status", ""),
        subject=facts.get("subject", ""),
        is_outdated=facts.get("outdated", False),
        comments=facts.get("comments", 0),
        has_reviews=bool(reviews),
        verdicts=tuple(
            Verdict(one["reviewer"], one["status"], has_changed or one["outdated"], one["at"])
            for one in reviews.get("verdicts", ())
        ),
        requested=tuple(reviews.get("requested", ())),
    )


def _parse_facts(text: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(text) if text else {}
    return facts


def _name_user(user: "User") -> str:
    return join_lines(user.display_name) or user.email or user.id


def _name_reviewer(requested: "RequestedReviewer") -> str:
    if requested.user is not None:
        return _name_user(requested.user)
    title = (requested.team or {}).get("title")
    return join_lines(title) if isinstance(title, str) else "a team"
