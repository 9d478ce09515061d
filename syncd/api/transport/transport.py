"""Operations of the API by method and path: JSON in, and out the shape that was asked for, or a typed error."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import httpx

from syncd.api.transport.addresses import Params, build_url
from syncd.api.transport.answers import Shape, make_error, parse_answer
from syncd.api.transport.limits import OBJECT, STREAM, Limit
from syncd.api.transport.outcomes import Answer, StreamedAnswer
from syncd.api.transport.request_loop import ApiRequest, Method, RequestLoop
from syncd.errors import NotFound, PlatformError
from syncd.model.base import Observed

Body = Mapping[str, Any] | Sequence[Any]

JSON = "application/json"
STREAM_PATIENCE = 3
"""A streamed answer may take this many deadlines of an ordinary request."""
NOTICES_MAX = 100


class Transport:
    """The operations of one platform; threads share it."""

    def __init__(self, loop: RequestLoop) -> None:
        self._loop, self._lock = loop, Lock()
        self._notices: dict[str, None] = {}

    def take_notices(self) -> tuple[str, ...]:
        """Return once what a person should know of answers that were readable all the same, the first hundred."""
        with self._lock:
            notices, self._notices = tuple(self._notices), {}
        return notices

    def add_notice(self, text: str) -> None:
        """Remember what a person should know of an answer until it is taken."""
        with self._lock:
            if len(self._notices) < NOTICES_MAX:
                self._notices[text] = None

    def call(
        self,
        method: Method,
        path: tuple[str, ...],
        into: type[Shape],
        *,
        params: Params | None = None,
        body: Body | None = None,
        limit: Limit = OBJECT,
    ) -> Shape:
        """Return the answer of an operation in the shape asked for.

        Shape: `path` holds raw segments below `/v1`; `body` is a JSON object or array; `limit` is that of the answer.
        Raises: PlatformError, Stopped.
        """
        with self._loop.large_answers.hold_until_end():
            label, answer = self.exchange(method, path, params, body, limit)
            return parse_answer(answer, into, method=method, label=label, add_notice=self.add_notice)

    def send(self, method: Method, path: tuple[str, ...], *, body: Body | None = None) -> None:
        """Call an operation that answers nothing. Raises: PlatformError, Stopped."""
        label, answer = self.exchange(method, path, None, body)
        if answer.body:
            parse_answer(answer, Observed, method=method, label=label, add_notice=self.add_notice)

    def exchange(
        self, method: Method, path: tuple[str, ...], params: Params | None, body: Body | None, limit: Limit = OBJECT
    ) -> tuple[str, Answer]:
        """Return the label of an operation for messages, and its answer, which is a success.

        Raises: PlatformError, Stopped.
        """
        request = replace(self._make_json_request(method, path, params, body), limit=limit)
        label, answer = request.label, self._loop.perform(request)
        if not 200 <= answer.status < 300:
            raise self._make_error(answer, label)
        return label, answer

    @contextmanager
    def stream(
        self, method: Method, path: tuple[str, ...], *, params: Params | None = None, body: Body | None = None
    ) -> Iterator[tuple[str, StreamedAnswer]]:
        """Open the answer of an operation that streams it; yields its label for messages and the answer, which is a
        success.

        Only opening it is tried again; reading raises what `pieces` does. Raises: PlatformError, Stopped.
        """
        request = self._make_json_request(method, path, params, body, accept="text/event-stream")
        request = replace(request, seconds=STREAM_PATIENCE * self._loop.deadline, limit=STREAM)
        with ExitStack() as stack:
            answer = self._loop.perform(request, stack)
            if not isinstance(answer, StreamedAnswer):
                raise self._make_error(answer, request.label)
            yield request.label, replace(answer, pieces=self._loop.read_stream(request.label, answer.pieces))

    def delete(self, path: tuple[str, ...]) -> None:
        """Delete what a path names; that it did not exist is success too (204, 205 and 404).

        Raises: PlatformError, Stopped.
        """
        (label, url), build = build_url(self._loop.base, "DELETE", path, None), self._loop.credential.build_headers
        answer = self._loop.perform(
            self._make_request("DELETE", label, lambda: httpx.Request("DELETE", url, headers=build()))
        )
        if answer.status in (204, 205):
            return
        if 200 <= answer.status < 300:
            if answer.body:
                parse_answer(answer, Observed, method="DELETE", label=label, add_notice=self.add_notice)
            return
        error = self._make_error(answer, label)
        if not isinstance(error, NotFound):
            raise error

    def _make_json_request(
        self, method: Method, path: tuple[str, ...], params: Params | None, body: Body | None, accept: str = JSON
    ) -> ApiRequest:
        label, url = build_url(self._loop.base, method, path, params)
        content = None if body is None else json.dumps(body).encode()
        build = partial(self._loop.credential.build_headers, accept=accept, has_body=body is not None)
        return self._make_request(method, label, lambda: httpx.Request(method, url, headers=build(), content=content))

    def _make_request(self, method: Method, label: str, build: Callable[[], httpx.Request]) -> ApiRequest:
        return ApiRequest(method, label, self._loop.origin, build, self._loop.deadline)

    def _make_error(self, answer: Answer, label: str) -> PlatformError:
        return make_error(answer, label=label, secret=self._loop.credential.token)
