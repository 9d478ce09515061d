"""Which failures are tried again, when, and what becomes of the rest.

| what happened                                       | GET             | PUT, DELETE     | POST, PATCH     |
|-----------------------------------------------------|-----------------|-----------------|-----------------|
| no connection could be made                         | again           | again           | again           |
| the host's certificate is not believed              | Unreachable     | Unreachable     | Unreachable     |
| the connection broke, timed out, or the body is cut | again           | again           | AnswerLost      |
| 408, 502, 503, 504                                  | again           | again           | AnswerLost      |
| 500                                                 | again           | Unreachable     | AnswerLost      |
| 501 (surely not done)                               | Unreachable     | Unreachable     | Unreachable     |
| any other 5xx                                       | Unreachable     | Unreachable     | AnswerLost      |
| 429                                                 | at the time that the platform names, else again       |
| 401 where the token can be renewed                  | again, once, with the new one                         |
| 401, 403 · 404 · other 4xx                          | Unauthorized · NotFound (success for DELETE) · Rejected |
| 3xx, no JSON, JSON of another shape                 | NotThePlatform                                      |

"Again" is five tries in all, with full jitter: a random time up to 1, 2, 4, 8 seconds, and not before a `Retry-After`;
then Unreachable. A longer wait than two minutes is the next run's: RateLimited says until when, at most a day later.
"""

from collections.abc import Callable

from syncd.api.options import ClientOptions
from syncd.api.transport.answers import CHECK_CERTIFICATE, CHECK_NETWORK, IDEMPOTENT, make_error, make_unusable_error
from syncd.api.transport.credential import Credential
from syncd.api.transport.outcomes import Answer, FailedTry, Failure
from syncd.api.transport.rate_limit import NAMED_WAIT_MAX, WAIT_MAX, read_retry_after
from syncd.errors import AnswerLost, RateLimited, Unreachable
from syncd.model.moment import format_moment
from syncd.model.wording import format_count

BACKOFF_BASE = 1.0
BACKOFF_CAP = 60.0
"""Seconds before the second try, doubled for each further one, and the most that they grow to."""
TOO_MANY_REQUESTS = 429


class Retries:
    """The tries of one request, at most `tries`. Units: they took `spent` seconds and may take `left` more."""

    def __init__(self, left: float, random: Callable[[], float], tries: int) -> None:
        self.made, self.spent, self.left = 0, 0.0, left
        self._random, self._tries = random, tries

    @property
    def is_over(self) -> bool:
        """Whether no other try is to be made."""
        return self.made >= self._tries or self.left <= 0

    def add_try(self, seconds: float) -> None:
        """Count one more try that took these seconds."""
        self.made += 1
        self.spent += seconds
        self.left -= seconds

    def format_made(self) -> str:
        """Return how many tries were made, and in how many seconds where that is worth a word."""
        spent = f" in {self.spent:.0f} s" if self.spent >= 1 else ""
        return f"{format_count(self.made, 'try')}{spent}"

    def compute_backoff(self) -> float:
        """Return the seconds until the next try, with full jitter."""
        return self._random() * min(BACKOFF_CAP, BACKOFF_BASE * 2.0 ** (self.made - 1))


class RetryPolicy:
    """What becomes of each try of the requests to one platform."""

    def __init__(self, base: str, credential: Credential, options: ClientOptions) -> None:
        self._base, self._credential, self._options = base, credential, options

    def start_tries(self, seconds: float) -> Retries:
        """Return the tries of one request, which may take so long together; of a host that is down, it is one."""
        breaker = self._options.breaker
        tries = 1 if breaker is not None and breaker.is_failing else self._options.tries
        return Retries(seconds, self._options.random, tries)

    def decide(self, method: str, label: str, outcome: Answer | FailedTry, tries: Retries) -> Answer | float:
        """Return the answer of a try when it is final, else the seconds until the next try.

        Raises: AnswerLost, AnswerTooLarge, NotThePlatform, RateLimited, Unreachable.
        """
        if isinstance(outcome, FailedTry):
            return self._decide_after_break(method, label, outcome, tries)
        status = outcome.status
        if status == TOO_MANY_REQUESTS:
            return self._decide_after_limit(label, outcome, tries)
        if method not in IDEMPOTENT:
            if status == 408 or (status >= 500 and status != 501):
                lost = f"{self._describe_refusal(label, outcome)}; it may or may not have happened"
                raise AnswerLost(lost, status=status)
            return outcome
        if status not in (408, 502, 503, 504) and not (status == 500 and method == "GET"):
            return outcome
        wait = read_retry_after(outcome.headers, self._options.clock()) or 0.0
        if tries.is_over or wait > WAIT_MAX:
            made = format_count(tries.made, "time") + (f"; it asks to wait {wait:.0f} s" if wait else "")
            raise Unreachable(f"{self._describe_refusal(label, outcome)}, {made}", status=status)
        return max(wait, tries.compute_backoff())

    def make_rate_limited(self, label: str, wait: float) -> RateLimited:
        """Return the error of a request that would have to wait too long for the rate limit."""
        wait = min(wait, NAMED_WAIT_MAX)
        until = self._options.clock() + wait
        return RateLimited(
            f"{label}: the rate limit is used up for {wait:.0f} s, until {format_moment(until)}", until=until
        )

    def _decide_after_break(self, method: str, label: str, broken: FailedTry, tries: Retries) -> float:
        if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
            raise make_unusable_error(label, broken) from broken.cause
        if broken.failure is Failure.UNTRUSTED:
            raise Unreachable(f"{self._base}: {label}: {broken.reason}", hint=CHECK_CERTIFICATE) from broken.cause
        if broken.failure is Failure.BROKEN and method not in IDEMPOTENT:
            lost = f"{label}: the answer was lost; it may or may not have happened ({broken.reason})"
            raise AnswerLost(lost) from broken.cause
        if tries.is_over:
            said = f"{self._base}: {label}: no answer after {tries.format_made()} ({broken.reason})"
            raise Unreachable(said, hint=CHECK_NETWORK) from broken.cause
        return tries.compute_backoff()

    def _decide_after_limit(self, label: str, answer: Answer, tries: Retries) -> float:
        stated_wait = read_retry_after(answer.headers, self._options.clock())
        wait = tries.compute_backoff() if stated_wait is None else stated_wait
        if wait > WAIT_MAX or tries.is_over:
            raise self.make_rate_limited(label, wait)
        return wait

    def _describe_refusal(self, label: str, answer: Answer) -> str:
        return make_error(answer, label=label, secret=self._credential.token).what
