"""What became of own change requests since people were last told: merged, outdated, reviewed. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from syncd.store.incidents import Incident, SeenRequest
from syncd.sync.state.request_state import RequestState, Verdict, parse_request_state

REQUEST = "change request"
"""The flow of what is told of a change request."""
_VERDICTS = {"approved": "approved it", "changes-requested": "asks for changes"}


def describe_requests(requests: Mapping[tuple[str, int], str]) -> tuple[SeenRequest, ...]:
    """Return own change requests as they are compared, from the facts of a state database by space and number."""
    return tuple(
        _describe_request(space, number, parse_request_state(facts))
        for (space, number), facts in sorted(requests.items())
    )


def find_news(
    before: Sequence[SeenRequest], now: Sequence[SeenRequest], is_merged: Callable[[SeenRequest], bool], at: str
) -> tuple[Incident, ...]:
    """Return what there is to tell, each once.

    Units: `at` in ISO 8601. Shape: `before` is what people were told of last. `is_merged` is asked only about a change
    request that is not there any more. A review that says again what its reviewer said last is news, too.
    """
    known = {(one.space, one.number): one for one in before}
    present = {(one.space, one.number) for one in now}
    gone = [one for place, one in known.items() if place not in present and is_merged(one)]
    news = [_build_news(one, "merged", "it is main content now", "", at) for one in gone]
    for one in now:
        former = known.get((one.space, one.number))
        news += _compare_request(one, former, at)
    return tuple(news)


def _describe_request(space: str, number: int, state: RequestState) -> SeenRequest:
    is_live = state.status in ("draft", "open")
    reviews = tuple(map(_format_verdict, state.verdicts)) if is_live else ()
    return SeenRequest(space, str(number), state.subject, state.address, is_live and state.is_outdated, reviews)


def _format_verdict(verdict: Verdict) -> str:
    said = f"{verdict.reviewer} {_VERDICTS.get(verdict.status, f'reviewed it: {verdict.status}')}"
    return f"{said} ({verdict.at})" if verdict.at else said


def _compare_request(one: SeenRequest, former: SeenRequest | None, at: str) -> Iterator[Incident]:
    if one.is_outdated and not (former is not None and former.is_outdated):
        yield _build_news(one, "outdated", "main content has moved on since", "syncd sync, or merge in your branch", at)
    for said in one.reviews:
        if former is None or said not in former.reviews:
            yield _build_news(one, "reviewed", said, "syncd review", at)


def _build_news(one: SeenRequest, event: str, why: str, hint: str, at: str) -> Incident:
    subject = f"{one.subject}: " if one.subject else ""
    return Incident(REQUEST, f"#{one.number}", event, f"{subject}{why}", hint, at, one.address)
