"""Answers to a question: a model's where the operator has one, else quotes of the passages that were found."""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from syncd.layout.richtext.reading import to_document
from syncd.platform.services.ask import endpoint, quotes
from syncd.platform.services.ask.retrieval import Passage, RetrievalResult
from syncd.platform.settings import ServiceEndpoint

FOLLOW_UPS_MAX = 3
_QUESTIONS = ("how", "what", "why", "when", "where", "who", "which", "can", "is", "are", "do", "does")

Format = Literal["document", "markdown"]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AnswerStream:
    """The answers to one question from what was found for it.

    Shape: `base` is the address of the site, `endpoint` that of the operator's model, None for quotes alone.
    """

    question: str
    found: RetrievalResult
    base: str
    format: Format
    endpoint: ServiceEndpoint | None

    def stream(self) -> Iterator[str]:
        """Yield the events as they are sent; the last one has a name too, at which the product's client ends."""
        for event in self.list_events():
            text = json.dumps({"type": "answer", "answer": event}, ensure_ascii=False, separators=(",", ":"))
            yield f"data: {text}\n\n"
        yield "event: done\ndata: done\n\n"

    def list_events(self) -> Iterator[dict[str, Any]]:
        """Yield the answer so far, again and again; the last one is whole, and says nothing where nothing was found."""
        passages = self.found.passages
        if not passages:
            # An honest end: no answer, no sources.
            yield self._build_event(None, ())
            return
        if self.endpoint is not None:
            try:
                yield from self._list_answer_events(
                    endpoint.stream_answer(self.endpoint, self.question, passages), passages
                )
                return
            except endpoint.NoAnswer as failure:
                _log.warning("the endpoint for answers gave none: %s", failure)
        # Whatever part of a model's answer went out before: the last event counts, and it is this one.
        chosen = quotes.choose_quotes(passages)
        yield from self._list_answer_events(quotes.render_quotes(chosen, self.question, self.base), chosen)

    def _list_answer_events(self, texts: Iterator[str], passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
        last = None
        for text in texts:
            last = text
            yield self._build_event(text, passages)
        follow_ups = [format_question(heading) for heading in self.found.related_headings[:FOLLOW_UPS_MAX]]
        yield self._build_event(last, passages if last is not None else (), follow_ups)

    def _build_event(
        self, text: str | None, passages: Sequence[Passage], follow_ups: Sequence[str] = ()
    ) -> dict[str, Any]:
        said = {} if text is None else {"answer": self._format_answer(text)}
        return {**said, "followupQuestions": list(follow_ups), "sources": _list_sources(passages)}

    def _format_answer(self, text: str) -> dict[str, Any]:
        return {"markdown": text} if self.format == "markdown" else {"document": to_document(text).wire()}


def _list_sources(passages: Sequence[Passage]) -> list[dict[str, str]]:
    """One source for each page, with the heading that is its best passage's. Shape: @gitbook/api 0.146.0."""
    sources: dict[tuple[str, str], dict[str, str]] = {}
    for one in passages:
        key = (one.place.space, one.page)
        page = {"type": "page", "page": one.page, "space": one.place.space, "revision": one.place.revision}
        sources.setdefault(key, {**page, "reason": one.heading})
    return list(sources.values())


def format_question(heading: str) -> str:
    """Return a heading as a question about what stands below it."""
    if heading.endswith("?"):
        return heading
    first = heading.split(" ", 1)[0].casefold()
    return f"{heading}?" if first in _QUESTIONS else f"What about “{heading}”?"
