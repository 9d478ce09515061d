"""Applying a template to a space's main content, or to one of its change requests."""

from fastapi import Response

from syncd.model.template import TemplateApply
from syncd.platform.change_requests import change_requests, main_content
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import CurrentCaller, declare_role
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage
from syncd.platform.templates.application import apply_template, prepare_template

router = create_router(tags=["templates"])


class TemplateApplication(RequestBody, TemplateApply):
    """Body of `POST /spaces/{spaceId}/content/template`."""


@router.post("/spaces/{space_id}/content/template", status_code=201, openapi_extra=declare_role("edit"))
def apply_template_to_space(
    storage: CurrentStorage, caller: CurrentCaller, space_id: str, body: TemplateApplication
) -> Response:
    """Append a copy of a template's pages to a change request, or directly to the main content of a space.

    Raises: Failure 409 when the edits of the space are locked, so that only a change request can take it.
    """
    onto = None
    if body.change_request_id is not None:
        with storage.read() as connection:
            require_space(connection, caller, space_id)
            onto = str(
                change_requests.require_live_change_request(connection, space_id, body.change_request_id).revision
            )
    prepared = prepare_template(storage, caller, space_id, body, onto=onto)
    with storage.write() as connection:
        space = require_space(connection, caller, space_id)
        if body.change_request_id is not None:
            row = change_requests.require_live_change_request(connection, space_id, body.change_request_id)
            _require_unchanged(prepared.onto, row.revision)
            saved = apply_template(storage, connection, prepared, by=caller.user_id)
            if saved.id != row.revision:
                change_requests.set_revision(storage, connection, row.id, saved.id)
            return Response(status_code=201)
        if space.edit_mode == "locked":
            raise Failure(409, "The edits of this space are locked. Apply the template to a change request.")
        _require_unchanged(prepared.onto, space.revision)
        saved = apply_template(storage, connection, prepared, by=caller.user_id)
        if saved.id != space.revision:
            main_content.set_main_content(storage, connection, saved)
    return Response(status_code=201)


def _require_unchanged(prepared: str, now: str) -> None:
    if prepared != now:
        raise Failure(409, "The content changed while the template was applied. Apply it again.")
