"""Ask over HTTP: streams of answers, of questions that pages answer, and of the responses of an assistant."""

import json
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict

from syncd.model.ask import AskContext, AskQuestion, Id, Scope, SpecificScope, WholeScope
from syncd.model.assistant import AssistantRequest
from syncd.platform.http import addresses
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.services.ask.answers import AnswerStream, Format
from syncd.platform.services.ask.assistant import END, find_question, stream_response
from syncd.platform.services.ask.questions import recommend_questions
from syncd.platform.services.ask.retrieval import find_passages
from syncd.platform.services.ask.scope import find_published_spaces
from syncd.platform.settings import CurrentSettings, PlatformSettings
from syncd.platform.sites.structure import AtSite, SiteRequest

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-ask"])

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
"""The second keeps a proxy from holding the stream back until it ends."""

_STREAM: dict[str, Any] = {"text/event-stream": {}}


class AssistantBody(RequestBody, AssistantRequest):
    """Body of `POST …/ai/response`."""

    model_config = ConfigDict(extra="ignore")


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
    answering = _prepare_answer(at, settings, question, format)
    return StreamingResponse(answering.stream(), media_type="text/event-stream", headers=_HEADERS)


@router.get(
    "/ask/questions",
    openapi_extra=declare_role("read", extension=True, visitors=True),
    response_class=StreamingResponse,
    responses={200: {"description": "Lines `data: <JSON>`, one for each question.", "content": _STREAM}},
)
def stream_recommended_questions_in_site(
    at: AtSite, site_space_id: Annotated[Id | None, Query(alias="siteSpaceId")] = None
) -> StreamingResponse:
    """Recommend questions that pages of a site answer, as a stream; with `siteSpaceId`, those that are read there."""
    scope: Scope = WholeScope(mode="all")
    if site_space_id is not None:
        scope = SpecificScope(mode="specific", site_space_ids=(site_space_id,))
    with at.storage.read() as connection:
        where = find_published_spaces(at, connection, scope, AskContext(), member="siteSpaceId")
    found = recommend_questions(at.storage, where)
    events = [f"data: {json.dumps({'question': one}, ensure_ascii=False)}\n\n" for one in found]
    return StreamingResponse(iter([*events, END]), media_type="text/event-stream", headers=_HEADERS)


@router.post(
    "/ai/response",
    openapi_extra=declare_role("read", extension=True, visitors=True),
    response_class=StreamingResponse,
    responses={200: {"description": "Lines `data: <JSON>`, the events of one response.", "content": _STREAM}},
)
def stream_ai_response_in_site(at: AtSite, settings: CurrentSettings, body: AssistantBody) -> StreamingResponse:
    """Answer the last question of a conversation, as `streamAskInSite` does, in the events of an assistant.

    Nothing of a conversation is kept: each question is answered for itself, and no tool is called.
    """
    asked = find_question(body.input)
    answering = None
    if asked:
        question = AskQuestion(question=asked, scope=WholeScope(mode="all"))
        answering = _prepare_answer(at, settings, question, "document")
    else:
        with at.storage.read() as connection:
            at.require_site(connection)
    previous = body.previous_response_id if "previous_response_id" in body.model_fields_set else ""
    return StreamingResponse(stream_response(answering, previous), media_type="text/event-stream", headers=_HEADERS)


def _prepare_answer(at: SiteRequest, settings: PlatformSettings, question: AskQuestion, format: Format) -> AnswerStream:
    with at.storage.read() as connection:
        where = find_published_spaces(at, connection, question.scope, question.context)
        basename = str(at.require_site(connection).basename)
    return AnswerStream(
        question.question,
        find_passages(at.storage, where, question.question),
        addresses.build_published_url(at.request, basename),
        format,
        settings.ask,
    )
