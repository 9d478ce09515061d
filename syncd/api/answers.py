"""What an answer means: the shape that was asked for, or the one error that names what happened."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from syncd.api.characters import replace_halves
from syncd.api.wire import Answer
from syncd.errors import (
    AnswerLost,
    AnswerTooLarge,
    NotFound,
    NotThePlatform,
    PlatformError,
    Rejected,
    Unauthorized,
    Unreachable,
)
from syncd.model.base import Observed
from syncd.model.item_count import ItemCount, TooManyItems
from syncd.model.text import mask_unprintable

Shape = TypeVar("Shape", bound=Observed)

MESSAGE_MAX = 300
"""Characters kept of a message from outside."""
CHECK_URL = "Check platform.url: something answers there, but not the platform's API."
CHECK_WHO = "Put a valid token into the file that --token-file or platform.token_file names, or into SYNCD_TOKEN."
CHECK_NETWORK = "Check that the platform runs there, and platform.url."
LIMITS = "The manual names the limits: start/servers. Of a space that is too large, make several."
IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})
"""Methods that may be sent again when nobody knows whether they arrived."""


def tidy(text: str, secret: str = "") -> str:
    """Given text from outside, return one line of at most 300 printable characters, the secret replaced by `***`."""
    hidden = text.replace(secret, "***") if secret else text
    return " ".join(mask_unprintable(hidden[: 4 * MESSAGE_MAX]).split())[:MESSAGE_MAX]


def mended(answer: Answer, *, what: str, notice: Callable[[str], object]) -> Answer | None:
    """Given an answer that cannot be read, return it without half characters, None when it is not for those.

    Shapes: `notice` is told where they were: one name must not keep a whole space from being read.
    """
    try:
        body, places = replace_halves(answer.body)
    except ValueError:
        return None
    for place in places:
        notice(f"{what}: {tidy(place)} holds half a character; it is read as U+FFFD")
    return replace(answer, body=body) if places else None


def shape_of(answer: Answer, into: type[Shape], *, method: str, what: str, notice: Callable[[str], object]) -> Shape:
    """Given a successful answer, return it in the shape that was asked for.

    Shapes: `notice` as `mended`.
    Raises: NotThePlatform (no JSON, nested too deep, or another shape: the first field that does not fit is named);
    Unreachable, or AnswerLost for POST and PATCH (JSON that breaks off, which no length had given away).
    """
    try:
        return into.model_validate_json(answer.body, context=ItemCount())
    except TooManyItems as error:
        raise AnswerTooLarge(f"{what}: {error}", hint=LIMITS) from None
    except ValidationError as error:
        # The cause would carry content into tracebacks: only the place and the kind of the mistake go on.
        first = error.errors(include_url=False, include_input=False)[0]
    reason = str(first.get("ctx", {}).get("error", ""))
    if first["type"] == "json_invalid" and (whole := mended(answer, what=what, notice=notice)) is not None:
        return shape_of(whole, into, method=method, what=what, notice=notice)
    if first["type"] != "json_invalid":
        place = ".".join(map(str, first["loc"])) or into.__name__
        misfit = tidy(f"{place}: {first['msg']}")
        raise NotThePlatform(f"{what}: {misfit}", status=answer.status, hint=CHECK_URL)
    if reason.startswith("EOF") and answer.body.lstrip()[:1] == b"{":
        lost = Unreachable if method in IDEMPOTENT else AnswerLost
        raise lost(f"{what}: the answer breaks off", status=answer.status)
    if "recursion" in reason:
        raise NotThePlatform(f"{what}: the answer is nested too deep", status=answer.status)
    raise NotThePlatform(f"{what}: the answer is not JSON", status=answer.status, hint=CHECK_URL)


def json_of(answer: Answer, *, what: str, notice: Callable[[str], object]) -> Any:
    """Given an answer, return its JSON. Shapes: `notice` as `mended`. Raises: NotThePlatform."""
    try:
        return from_json(answer.body)
    except ValueError:
        whole = mended(answer, what=what, notice=notice)
    if whole is None:
        raise NotThePlatform(f"{what}: the answer is not JSON", status=answer.status, hint=CHECK_URL)
    return json_of(whole, what=what, notice=notice)


def refusal(answer: Answer, *, what: str, secret: str = "") -> PlatformError:
    """Given an answer that is not a success, return the error that it stands for."""
    status = answer.status
    if status < 400:
        place = tidy(answer.headers.get("Location", "").partition("?")[0], secret)
        return NotThePlatform(f"{what}: redirected ({status}) to {place or 'nowhere'}", status=status, hint=CHECK_URL)
    said = _message(answer)
    if said is None and answer.body and status < 500:
        return NotThePlatform(f"{what}: {status} with an answer that is not JSON", status=status, hint=CHECK_URL)
    reason = tidy(said or "", secret)
    detail = f": {reason}" if reason else ""
    if status in (401, 403):
        hint = CHECK_WHO if status == 401 else "Check what the user of this token may do."
        return Unauthorized(f"{what}: not allowed ({status}){detail}", status=status, hint=hint)
    if status == 404:
        return NotFound(f"{what}: not found{detail}", status=status)
    if status >= 500:
        return Unreachable(f"{what}: the platform failed ({status}){detail}", status=status)
    return Rejected(f"{what}: refused ({status}){detail}", status=status)


def _message(answer: Answer) -> str | None:
    """The message of an error body, "" when it has none, None when it is not a JSON object."""
    try:
        content = json_of(answer, what="", notice=lambda _: None)
    except NotThePlatform:
        return None
    if not isinstance(content, dict):
        return None
    error = content.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""
