"""What people do to a change request: each form calls one operation, and leads back to the page."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from syncd.layout.richtext.reading import to_document
from syncd.model.change_request import ChangeRequest
from syncd.model.space import Space
from syncd.net.page_values import PageResponse
from syncd.platform.app_pages.context import AppRequest, build_space_frame
from syncd.platform.http.failures import Failure

_DONE = {"open": "opened", "draft": "opened", "archived": "closed"}


async def change_request(at: AppRequest, space: Space, number: str, action: Sequence[str]) -> PageResponse:
    """Do what a form asks for, and answer with the way back. Raises: Failure as the operation, 404 for no such form."""
    path, request = await at.find_change_request(space, number)
    form = at.page.read_form()
    address = f"{build_space_frame(space, 'changes').address}/~/changes/{request.number}"
    match action:
        case ["comments"]:
            return _lead_back(address, await _post_comment(at, path, form))
        case ["comments", id, "reply"]:
            reply = {"body": {"markdown": _require_text(form)}}
            await at.client.call("postCommentReplyInChangeRequest", {**path, "comment_id": id}, body=reply)
            return _lead_back(address, f"#_comment-{quote(id)}")
        case ["comments", id, "resolve" | "reopen" as verb]:
            resolved = {"resolved": verb == "resolve"}
            await at.client.call("updateCommentInChangeRequest", {**path, "comment_id": id}, body=resolved)
            return _lead_back(address, f"#_comment-{quote(id)}")
        case ["review"]:
            return _lead_back(address, await _submit_review(at, path, request, form))
        case ["merge"]:
            _require_seen(request, form)
            answer = await at.client.call("mergeChangeRequest", path)
            return _lead_back(address, "?done=merged" if answer["result"] == "merge" else "?done=merge-conflicts")
        case ["update"]:
            answer = await at.client.call("updateChangeRequest", path)
            return _lead_back(address, "?done=updated" if answer["result"] == "update" else "?done=update-conflicts")
        case ["status"]:
            status = form.get("status", "")
            await at.client.call("updateChangeRequestById", path, body={"status": status})
            return _lead_back(address, f"?done={_DONE.get(status, '')}")
        case ["reviewers"]:
            asked = {"users": [form.get("who", "")]}
            await at.client.call("requestReviewersForChangeRequest", path, body=asked)
            return _lead_back(address, "#_reviewers")
        case ["reviewers", "remove"]:
            who = {"user_id": form.get("who", "")}
            await at.client.call("removeRequestedReviewerFromChangeRequest", {**path, **who})
            return _lead_back(address, "#_reviewers")
    raise Failure(404, "There is nothing to do here.")


async def _post_comment(at: AppRequest, path: Mapping[str, str], form: Mapping[str, str]) -> str:
    body: dict[str, Any] = {"body": {"markdown": _require_text(form)}}
    body |= {name: form[name] for name in ("page", "node") if form.get(name)}
    comment = await at.client.call("postCommentInChangeRequest", path, body=body)
    place = f"#_comment-{quote(comment['id'])}"
    return f"/diff?{urlencode({'page': form['page']})}{place}" if form.get("page") else place


async def _submit_review(
    at: AppRequest, path: Mapping[str, str], request: ChangeRequest, form: Mapping[str, str]
) -> str:
    verdict, text = form.get("verdict", ""), form.get("body", "").strip()
    if verdict == "comment":
        return await _post_comment(at, path, {"body": text})
    # A review is of what the person has seen, and not of what somebody wrote meanwhile.
    _require_seen(request, form)
    said = {"comment": to_document(text).wire()} if text else {}
    await at.client.call("submitChangeRequestReview", path, body={"status": verdict, **said})
    return f"?{urlencode({'done': verdict})}"


def _require_seen(request: ChangeRequest, form: Mapping[str, str]) -> None:
    if form.get("revision") != request.revision:
        raise Failure(409, "The change request has changed since you loaded the page. Look at it again.")


def _require_text(form: Mapping[str, str]) -> str:
    text = form.get("body", "").replace("\r\n", "\n").strip()
    if not text:
        raise Failure(400, "A comment needs some words.")
    return text


def _lead_back(address: str, place: str) -> PageResponse:
    return PageResponse(status=303, headers=(("Location", address + place),), cache="no-store")
