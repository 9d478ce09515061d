"""Ask over HTTP: events that each hold the answer so far, then `done`."""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fastapi.responses import StreamingResponse

from syncd.layout.richtext.reading import to_document
from syncd.model.ask import AskQuestion
from syncd.platform.http import addresses
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.services.ask import endpoint, quotes
from syncd.platform.services.ask.retrieval import Passage, RetrievalResult, find_passages
from syncd.platform.services.ask.scope import find_published_spaces
from syncd.platform.settings import CurrentSettings, ServiceEndpoint
from syncd.platform.sites.structure import AtSite

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-ask"])

FOLLOW_UPS_MAX = 3
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
"""The second keeps a proxy from holding the stream back until it ends."""
_QUESTIONS = ("how", "what", "why", "when", "where", "who", "which", "can", "is", "are", "do", "does")

_STREAM: dict[str, Any] = {"text/event-stream": {}}

Format = Literal["document", "markdown"]
_log = logging.getLogger(__name__)


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
    answering = _AnswerStream(
        question.question,
        find_passages(at.storage, where, question.question),
        addresses.build_published_url(at.request, basename),
        format,
        settings.ask,
    )
    return StreamingResponse(answering.stream(), media_type="text/event-stream", headers=_HEADERS)


@dataclass(frozen=True)
class _AnswerStream:
    """One question with what was found for it."""

    question: str
    found: RetrievalResult
    base: str
    format: Format
    endpoint: ServiceEndpoint | None

    def stream(self) -> Iterator[str]:
        """The events as they are sent; the last one has a name too, at which the product's client ends."""
        for event in self.list_events():
            text = json.dumps({"type": "answer", "answer": event}, ensure_ascii=False, separators=(",", ":"))
            yield f"data: {text}\n\n"
        yield "event: done\ndata: done\n\n"

    def list_events(self) -> Iterator[dict[str, Any]]:
        passages = self.found.passages
        if not passages:
            # An honest end: no answer, no sources.
            yield self.build_event(None, ())
            return
        if self.endpoint is not None:
            try:
                yield from self.list_answer_events(
                    endpoint.stream_answer(self.endpoint, self.question, passages), passages
                )
                return
            except endpoint.NoAnswer as failure:
                _log.warning("the endpoint for answers gave none: %s", failure)
        # Whatever part of a model's answer went out before: the last event counts, and it is this one.
        chosen = quotes.choose_quotes(passages)
        yield from self.list_answer_events(quotes.render_quotes(chosen, self.question, self.base), chosen)

    def list_answer_events(self, texts: Iterator[str], passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
        last = None
        for text in texts:
            last = text
            yield self.build_event(text, passages)
        follow_ups = [_format_question(heading) for heading in self.found.related_headings[:FOLLOW_UPS_MAX]]
        yield self.build_event(last, passages if last is not None else (), follow_ups)

    def build_event(
        self, text: str | None, passages: Sequence[Passage], follow_ups: Sequence[str] = ()
    ) -> dict[str, Any]:
        said = {} if text is None else {"answer": self.format_answer(text)}
        return {**said, "followupQuestions": list(follow_ups), "sources": _list_sources(passages)}

    def format_answer(self, text: str) -> dict[str, Any]:
        return {"markdown": text} if self.format == "markdown" else {"document": to_document(text).wire()}


def _list_sources(passages: Sequence[Passage]) -> list[dict[str, str]]:
    """One source for each page, with the heading that is its best passage's. Shape: @gitbook/api 0.146.0."""
    sources: dict[tuple[str, str], dict[str, str]] = {}
    for one in passages:
        key = (one.place.space, one.page)
        page = {"type": "page", "page": one.page, "space": one.place.space, "revision": one.place.revision}
        sources.setdefault(key, {**page, "reason": one.heading})
    return list(sources.values())


def _format_question(heading: str) -> str:
    if heading.endswith("?"):
        return heading
    first = heading.split(" ", 1)[0].casefold()
    return f"{heading}?" if first in _QUESTIONS else f"What about “{heading}”?"
