"""Events of a streamed answer: lines `data: <JSON>`, ended by `data: done` (API document, Events 4)."""

from collections.abc import Callable, Iterator

from syncd.api.transport.answers import CHECK_URL, LIMITS, Shape, parse_answer
from syncd.api.transport.limits import OBJECT, AnswerBuffer
from syncd.api.transport.outcomes import Answer, StreamedAnswer, describe_failure
from syncd.errors import AnswerTooLarge, NotThePlatform, Unreachable
from syncd.net.failures import TooLarge
from syncd.net.limits import split_lines

DONE = b"done"


def read_events(
    answer: StreamedAnswer, into: type[Shape], *, label: str, add_notice: Callable[[str], object]
) -> Iterator[Shape]:
    """Yield the events of a streamed answer in the shape asked for, each as soon as it arrives.

    Shape: `add_notice` gets a sentence about what was read although it is not as documented.
    Raises: NotThePlatform when it is no stream of events, or an event has another shape; AnswerTooLarge; Unreachable
    when it ends without `done`: what came until then is not known to be all, and it may be asked again.
    """
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise NotThePlatform(f"{label}: the answer is not a stream of events", status=answer.status, hint=CHECK_URL)
    try:
        for line in split_lines(answer.pieces, OBJECT.size):
            name, _, value = line.partition(b":")
            # Empty lines part events, and other fields than `data` say nothing here.
            if name != b"data":
                continue
            data = value.strip()
            if data == DONE:
                return
            arrived = AnswerBuffer(OBJECT)
            arrived.add(data)
            event = Answer(answer.status, answer.headers, arrived.read_all())
            yield parse_answer(event, into, method="GET", label=label, add_notice=add_notice)
    except TooLarge as error:
        raise AnswerTooLarge(f"{label}: {describe_failure(error)}", hint=LIMITS) from None
    raise Unreachable(f"{label}: the answer ends before it is done")
