"""Answers webhooks: who sent one, what it names, and which repositories it wakes; nothing else comes of one.

| Answer | Meaning |
|--------|---------|
| 202    | a repository was woken |
| 204    | it was understood, and there is nothing to do |
| 400    | the sender is known, and what it sent makes no sense |
| 401    | no secret of this sender signed it, or too long ago |
| 404    | there is no such sender |
| 405    | it is no POST |
| 413    | it is larger than a webhook is |
| 429    | the sender asks too often, or too many ask at once |
| 503    | nobody can be woken now, and the sender may try again |
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from syncd.daemon.hooks.matching import WakeableRepository, find_named_repositories
from syncd.daemon.hooks.payloads import read_payload
from syncd.errors import FleetUnreachable
from syncd.net.signatures import Sender, find_forgery

UNKNOWN = "unknown"
"""Stands for senders that are not configured."""
PATH = "/hooks/"
BODY_BYTES_MAX = 1 << 20
"""A push of hundreds of commits fits; what is larger, and GitHub sends up to 25 MiB, is seen at the next interval."""
REQUESTS_MAX, WINDOW_SECONDS = 120, 60.0
"""Signed webhooks of one sender that are read in a minute; more of them say nothing new."""
_SEEN_MAX = 1024


@dataclass(frozen=True)
class WebhookSource:
    """A sender: the name in its path, how it signs, and the secrets that count now."""

    name: str
    sender: Sender
    secrets: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class WebhookAnswer:
    """What is answered: a status and one line; `source` is the sender's name, or "" where it is not known."""

    status: int
    text: str
    source: str = ""

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was done that the sender asked for."""
        return self.status >= 400


class WebhookReceiver:
    """Reads webhooks; safe in any thread. `wake` gets each repository that one means, or raises FleetUnreachable."""

    def __init__(
        self,
        wake: Callable[[WakeableRepository], object],
        report: Callable[[WebhookAnswer, int], None],
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without a sender.

        Units: `now` in epoch seconds, `clock` in seconds. Shape: `report` gets each answer; of those that refuse, one
        in a minute for each sender, with how many more there were since the last.
        """
        self._wake, self._report, self._now, self._clock = wake, report, now, clock
        self._sources: Mapping[str, WebhookSource] = {}
        self._repositories: Sequence[WakeableRepository] = ()
        self._lock = Lock()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._windows: dict[str, tuple[float, int]] = {}
        self._said: dict[str, tuple[float, int]] = {}
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()

    def configure(self, sources: Sequence[WebhookSource], repositories: Sequence[WakeableRepository]) -> None:
        """Hear these senders for these repositories from now on, and no others."""
        self._sources, self._repositories = {source.name: source for source in sources}, tuple(repositories)

    def count_answers(self) -> Mapping[tuple[str, int], int]:
        """Return how often each sender got each answer."""
        with self._lock:
            return dict(self._answers)

    def note_refusal(self, status: int, reason: str) -> None:
        """Count what was refused before its sender was known."""
        self._count_answer(WebhookAnswer(status, reason))

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        """Return the answer to a request, after doing what it asks for.

        Shape: the names of `headers` are in lower case.
        """
        answer = self._find_answer(method, path, headers, body)
        self._count_answer(answer)
        return answer

    def _find_answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        source = self._sources.get(path.removeprefix(PATH)) if path.startswith(PATH) else None
        if source is None:
            return WebhookAnswer(404, f"webhooks go to {PATH}NAME, and NAME is one of the configuration")
        if method != "POST":
            return WebhookAnswer(405, "a webhook is a POST", source.name)
        if forgery := find_forgery(source.sender, headers, body, source.secrets, self._now()):
            return WebhookAnswer(401, f"the request is not believed: {forgery}", source.name)
        if self._is_repeated(source, headers):
            return WebhookAnswer(204, "it came before", source.name)
        if self._is_too_often(source.name):
            self._forget_moment(source, headers)
            return WebhookAnswer(429, f"more than {REQUESTS_MAX} webhooks in a minute", source.name)
        try:
            return self._wake_named(source, headers, body)
        except FleetUnreachable:
            self._forget_moment(source, headers)
            return WebhookAnswer(503, "nobody can be woken now", source.name)

    def _wake_named(self, source: WebhookSource, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        try:
            named = read_payload(source.sender, headers, body)
        except ValueError as error:
            return WebhookAnswer(400, f"the body makes no sense: {type(error).__name__}", source.name)
        repositories = list(find_named_repositories(named, self._repositories)) if named is not None else []
        for repository in repositories:
            self._wake(repository)
        if not repositories:
            return WebhookAnswer(204, "nothing here is meant", source.name)
        return WebhookAnswer(202, f"woken: {', '.join(repository.name for repository in repositories)}", source.name)

    def _is_too_often(self, name: str) -> bool:
        with self._lock:
            begin, count = self._windows.get(name, (self._clock(), 0))
            if self._clock() - begin >= WINDOW_SECONDS:
                begin, count = self._clock(), 0
            self._windows[name] = begin, count + 1
            return count >= REQUESTS_MAX

    def _forget_moment(self, source: WebhookSource, headers: Mapping[str, str]) -> None:
        """Let a webhook of which nothing came be sent again."""
        with self._lock:
            self._seen.pop((source.name, _find_moment(source, headers)), None)

    def _is_repeated(self, source: WebhookSource, headers: Mapping[str, str]) -> bool:
        moment = _find_moment(source, headers)
        if not moment:
            return False
        with self._lock:
            is_known = (source.name, moment) in self._seen
            self._seen[source.name, moment] = None
            while len(self._seen) > _SEEN_MAX:
                self._seen.popitem(last=False)
            return is_known

    def _count_answer(self, answer: WebhookAnswer) -> None:
        name, more = answer.source or UNKNOWN, 0
        with self._lock:
            self._answers[name, answer.status] += 1
            if answer.is_refusal:
                last, more = self._said.get(name, (-WINDOW_SECONDS, 0))
                is_due = self._clock() - last >= WINDOW_SECONDS
                self._said[name] = (self._clock(), 0) if is_due else (last, more + 1)
                if not is_due:
                    return
        self._report(answer, more)


def _find_moment(source: WebhookSource, headers: Mapping[str, str]) -> str:
    """What no honest sender signs twice, since a time is in it; "" where the sender signs no time."""
    match source.sender:
        case "platform":
            return headers.get("x-gitbook-signature", "")
        case "gitlab" if "webhook-signature" in headers:
            # Not the signature itself: it may stand among others, whatever they are.
            return f"{headers.get('webhook-id', '')} {headers.get('webhook-timestamp', '')}"
        case _:
            return ""
