"""What is looked at before a merge: the same questions that the merge itself asks."""

from collections.abc import Sequence
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from syncd.model.change_request import ChangeRequest
from syncd.model.review import Review
from syncd.model.space import Space
from syncd.platform.app_pages.context import AppRequest
from syncd.platform.change_requests.change_requests import ChangeRequestScope
from syncd.platform.change_requests.merge_request import count_conflicts, require_merge_allowed
from syncd.platform.http.failures import Failure
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.people.auth import read_needed_role
from syncd.web.app.values import MergeCheck


async def read_checks(
    at: AppRequest, space: Space, request: ChangeRequest, reviews: Sequence[Review]
) -> tuple[list[MergeCheck], str]:
    """Return the checks of a change request, and why the person may not merge it now, "" where it may be merged.

    Raises: Failure 503 where too much is computed at once.
    """
    route = at.request.app.state.operations["mergeChangeRequest"]
    caller = replace(at.session.caller, needed=read_needed_role(route.openapi_extra))
    scope = ChangeRequestScope(at.request, at.storage, caller, space.id, request.id)
    refusal = await run_in_threadpool(_find_refusal, scope)
    checks = [_check_age(request), _check_reviews(reviews)]
    if request.is_live and request.outdated:
        scheduler: RequestScheduler = at.request.app.state.scheduler
        reader = replace(scope, caller=replace(at.session.caller, needed="read"))
        async with scheduler.acquire_slot("content", at.request):
            checks.append(_check_conflicts(await run_in_threadpool(count_conflicts, reader)))
    elif request.is_live:
        checks.append(_check_conflicts(0))
    if request.is_live:
        state = ("bad", refusal) if refusal else ("good", "You may merge it now.")
        checks.append(MergeCheck("Rules", *state))
    return checks, refusal


def _find_refusal(scope: ChangeRequestScope) -> str:
    try:
        require_merge_allowed(scope)
    except Failure as failure:
        return failure.message
    return ""


def _check_age(request: ChangeRequest) -> MergeCheck:
    if request.status == "merged":
        return MergeCheck("Main content", "good", "It is merged.")
    if request.outdated:
        return MergeCheck("Main content", "decide", "The space has changed since; an update takes that in.")
    return MergeCheck("Main content", "good", "It has all that the space has.")


def _check_reviews(reviews: Sequence[Review]) -> MergeCheck:
    """The latest word of each reviewer; an approval counts for the content that it was given for."""
    latest = {review.reviewer.id: review for review in reviews}.values()
    refused = sum(review.status == "changes-requested" for review in latest)
    approved = sum(review.status == "approved" and not review.outdated for review in latest)
    earlier = sum(review.status == "approved" and review.outdated for review in latest)
    if refused:
        return MergeCheck("Reviews", "bad", f"Changes are requested by {refused}.")
    if approved:
        return MergeCheck("Reviews", "good", f"Approved by {approved}.")
    if earlier:
        return MergeCheck("Reviews", "decide", f"Approved by {earlier}, for earlier content.")
    return MergeCheck("Reviews", "idle", "Nobody has reviewed it yet.")


def _check_conflicts(count: int) -> MergeCheck:
    if count:
        text = f"{count} {'was' if count == 1 else 'were'} changed on both sides; a merge takes this version of them."
        return MergeCheck("Conflicts", "decide", text)
    return MergeCheck("Conflicts", "good", "Nothing was changed on both sides in the same place.")
