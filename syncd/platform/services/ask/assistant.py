"""The assistant of a site, as renderers speak with it: the last question of a conversation, answered by Ask.

Shape: events of @gitbook/api 0.202.0 (`AIStreamResponse`). A document grows by blocks and loses none, so that only a
whole answer is sent: whatever a model said before it failed is not.
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.layout.richtext.reading import to_document
from syncd.model.ask import QUESTION_MAX
from syncd.model.assistant import AssistantMessage
from syncd.platform.services.ask.answers import AnswerStream
from syncd.web.blocks.members import collect_words

NO_ANSWER = "No page of this site says something about that."


def find_question(messages: Sequence[AssistantMessage]) -> str:
    """Return what a conversation asks last, "" when nobody asks anything."""
    for message in reversed(messages):
        if message.role == "user":
            content = message.content
            words = content if isinstance(content, str) else collect_words(content)
            return " ".join(words.split())[:QUESTION_MAX]
    return ""


def stream_response(answers: AnswerStream | None, previous: str) -> Iterator[str]:
    """Yield the events of a response; without answers, to a conversation that asks nothing, it is empty.

    Shape: `previous` is the id of the response before, or "".
    """
    message = {"messageId": secrets.token_hex(10)}
    yield _write_event({"type": "response_start", **message})
    if answers is not None:
        *_, last = answers.list_events()
        yield _write_event({"type": "response_step_start", **message, "stepIndex": 0, "phase": "final_answer"})
        document = last.get("answer", {}).get("document") or to_document(NO_ANSWER).wire()
        blocks = {"operation": "insert", "blocks": document["nodes"]}
        yield _write_event({"type": "response_document", **message, "stepIndex": 0, **blocks})
        if last.get("followupQuestions"):
            suggestions = list(last["followupQuestions"])
            yield _write_event({"type": "response_followup_suggestion", **message, "suggestions": suggestions})
    response = {"id": secrets.token_hex(10), **({"previous": previous} if previous else {})}
    yield _write_event({"type": "response_finish", **message, "responseId": response["id"], "response": response})
    yield END


END = "event: done\ndata: done\n\n"
"""The event at which the product's client ends."""


def _write_event(event: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}\n\n"
