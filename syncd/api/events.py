"""Events of a streamed answer: lines `data: <JSON>`, ended by `data: done` (API document, Events 4)."""

from collections.abc import Callable, Iterable, Iterator

from syncd.api.answers import CHECK_URL, LIMITS, Shape, shape_of
from syncd.api.failures import describe_failure
from syncd.api.limits import OBJECT, Arriving
from syncd.api.wire import Answer, Streamed
from syncd.errors import AnswerTooLarge, NotThePlatform, Unreachable
from syncd.net.failures import TooLarge

DONE = b"done"


def events(answer: Streamed, into: type[Shape], *, what: str, notice: Callable[[str], object]) -> Iterator[Shape]:
    """Given a streamed answer, return its events in the shape asked for, each as soon as it is there.

    Shapes: `notice` is told of what was read all the same.
    Raises: NotThePlatform (no stream of events, or an event of another shape), AnswerTooLarge, Unreachable (it ends
    without `done`: what came until then is not known to be all; nothing was changed, so it may be asked again).
    """
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise NotThePlatform(f"{what}: the answer is not a stream of events", status=answer.status, hint=CHECK_URL)
    for line in _lines(answer.pieces, what):
        name, _, value = line.partition(b":")
        # Empty lines part events, and other fields than `data` say nothing here.
        if name != b"data":
            continue
        data = value.strip()
        if data == DONE:
            return
        event = Answer(answer.status, answer.headers, _checked(data, what))
        yield shape_of(event, into, method="GET", what=what, notice=notice)
    raise Unreachable(f"{what}: the answer ends before it is done")


def _checked(data: bytes, what: str) -> bytes:
    arriving = Arriving(OBJECT)
    try:
        arriving.add(data)
        return arriving.whole()
    except TooLarge as error:
        raise AnswerTooLarge(f"{what}: {describe_failure(error)}", hint=LIMITS) from None


def _lines(pieces: Iterable[bytes], what: str) -> Iterator[bytes]:
    rest = bytearray()
    for piece in pieces:
        head, *tail = piece.split(b"\n")
        rest += head
        for following in tail:
            yield bytes(rest.removesuffix(b"\r"))
            rest = bytearray(following)
        if len(rest) > OBJECT.size:
            raise AnswerTooLarge(f"{what}: a line of the answer is longer than {OBJECT.size} bytes", hint=LIMITS)
    if rest:
        yield bytes(rest.removesuffix(b"\r"))
