"""Ask over HTTP: events that each hold the answer so far, then `done`."""

from typing import Any

from fastapi.responses import StreamingResponse

from syncd.model.ask import AskQuestion
from syncd.platform.http import addresses
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.services.ask.answers import AnswerStream, Format
from syncd.platform.services.ask.retrieval import find_passages
from syncd.platform.services.ask.scope import find_published_spaces
from syncd.platform.settings import CurrentSettings
from syncd.platform.sites.structure import AtSite

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-ask"])

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
"""The second keeps a proxy from holding the stream back until it ends."""

_STREAM: dict[str, Any] = {"text/event-stream": {}}


class Question(RequestBody, AskQuestion):
    """Body of `POST …/ask`."""


@router.post(
    "/ask",
    openapi_extra=declare_role("read", visitors=True),
    response_class=StreamingResponse,
    responses={
        200: {"description": "Lines `data: <JSON>`; the last event is named `done`, `data: done`.", "content": _STREAM}
    },
)
def stream_ask_in_site(
    at: AtSite, settings: CurrentSettings, question: Question, format: Format = "document"
) -> StreamingResponse:
    """Answer a question with a stream of events that have the answer so far; the last one before `done` is complete."""
    with at.storage.read() as connection:
        where = find_published_spaces(at, connection, question.scope, question.context)
        basename = str(at.require_site(connection).basename)
    answering = AnswerStream(
        question.question,
        find_passages(at.storage, where, question.question),
        addresses.build_published_url(at.request, basename),
        format,
        settings.ask,
    )
    return StreamingResponse(answering.stream(), media_type="text/event-stream", headers=_HEADERS)
