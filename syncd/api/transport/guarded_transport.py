"""Requests that a breaker stands before: of a host that is down, a run asks once."""

from contextlib import ExitStack
from typing import Any

from syncd.api.transport.answers import make_error
from syncd.api.transport.breaker import Breaker
from syncd.api.transport.connections import Answer
from syncd.api.transport.retries import Retries
from syncd.api.transport.transport import UNAUTHORIZED, ApiRequest, Transport


class GuardedTransport(Transport):
    """Requests to one platform; what its breaker knows to be in vain is not sent."""

    def __init__(self, url: str, token: str, *, breaker: Breaker, **options: Any) -> None:
        super().__init__(url, token, **options)
        self._breaker, self._start_all_tries = breaker, self._start_tries
        self._start_tries = self._start_some_tries
        breaker.use_secret(token)

    def perform(self, request: ApiRequest, stack: ExitStack | None = None) -> Answer:
        """Return the final answer to a request. Raises: as the transport does, also for a request that is not sent."""
        if request.origin != self.origin:
            return super().perform(request, stack)
        with self._breaker.guard(request.label):
            answer = super().perform(request, stack)
            if answer.status == UNAUTHORIZED:
                raise make_error(answer, label=request.label, secret=self._login.token)
            return answer

    def _start_some_tries(self, left: float) -> Retries:
        tries = self._start_all_tries(left)
        return tries.limit(1) if self._breaker.is_failing else tries
