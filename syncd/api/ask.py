"""Questions about a site's content."""

from collections.abc import Iterator
from typing import Literal

from syncd.api.operation import operation
from syncd.api.transport.events import read_events
from syncd.api.transport.transport import Transport
from syncd.model.ask import AskEvent, AskQuestion


class SiteAsk:
    """The operation that answers questions. Source: API document, Ask."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("streamAskInSite")
    def stream(
        self,
        organization: str,
        site: str,
        question: AskQuestion,
        *,
        format: Literal["document", "markdown"] = "markdown",
    ) -> Iterator[AskEvent]:
        """Ask a question about a site's content, and yield the answer so far as it comes; the last event has all of it.

        Raises: NotThePlatform (an event of another shape), Unreachable (the stream ends early), AnswerLost (the
        platform may or may not be answering; asking again does no harm), PlatformError, Stopped.
        """
        path = ("orgs", organization, "sites", site, "ask")
        # The scope always goes along: the public API demands it, the API document leaves it open.
        body = {**question.wire(), "scope": question.scope.wire()}
        with self._transport.stream("POST", path, params={"format": format}, body=body) as (what, answer):
            yield from read_events(answer, AskEvent, label=what, add_notice=self._transport.add_notice)
