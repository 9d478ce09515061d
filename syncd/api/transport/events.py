"""Events of a streamed answer: lines `data: <JSON>`, ended by `data: done` (API document, Events 4)."""

from collections.abc import Callable, Iterable, Iterator

from syncd.api.transport.answers import CHECK_URL, LIMITS, Shape, parse_answer
from syncd.api.transport.limits import OBJECT, AnswerBuffer
from syncd.api.transport.outcomes import Answer, StreamedAnswer, describe_failure
from syncd.errors import AnswerTooLarge, NotThePlatform, Unreachable
from syncd.net.failures import TooLarge

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
    for line in _lines(answer.pieces, label):
        name, _, value = line.partition(b":")
        # Empty lines part events, and other fields than `data` say nothing here.
        if name != b"data":
            continue
        data = value.strip()
        if data == DONE:
            return
        event = Answer(answer.status, answer.headers, _check_event(data, label))
        yield parse_answer(event, into, method="GET", label=label, add_notice=add_notice)
    raise Unreachable(f"{label}: the answer ends before it is done")


def _check_event(data: bytes, label: str) -> bytes:
    arriving = AnswerBuffer(OBJECT)
    try:
        arriving.add(data)
        return arriving.read_all()
    except TooLarge as error:
        raise AnswerTooLarge(f"{label}: {describe_failure(error)}", hint=LIMITS) from None


def _lines(pieces: Iterable[bytes], label: str) -> Iterator[bytes]:
    rest = bytearray()
    for piece in pieces:
        head, *tail = piece.split(b"\n")
        rest += head
        for following in tail:
            yield bytes(rest.removesuffix(b"\r"))
            rest = bytearray(following)
        if len(rest) > OBJECT.size:
            raise AnswerTooLarge(f"{label}: a line of the answer is longer than {OBJECT.size} bytes", hint=LIMITS)
    if rest:
        yield bytes(rest.removesuffix(b"\r"))
