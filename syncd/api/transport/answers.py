"""What an answer means: the shape that was asked for, or the one error that names what happened."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from syncd.api.transport.half_characters import replace_halves
from syncd.api.transport.outcomes import Answer, FailedTry, Failure
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
CHECK_URL = "Check the platform's address: something answers there, but not its API."
CHECK_WHO = (
    "Put a valid token into the file that --token-file or platform.token_file names, or into SYNCD_TOKEN,\n"
    "or save one: syncd auth login"
)
CHECK_NETWORK = "Check that the platform runs there, and that this is its address."
CHECK_CERTIFICATE = (
    "Name the certificate of an authority of your own in SSL_CERT_FILE, or\n"
    "check that this is the platform's address, and that its certificate is for that and has not expired."
)
LIMITS = "The manual names the limits: how-to/servers. Of a space that is too large, make several."
IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})
"""Methods that may be sent again when nobody knows whether they arrived."""


def clean_message(text: str, secret: str = "") -> str:
    """Return text from outside as one line of at most 300 printable characters, the secret replaced by `***`."""
    hidden = text.replace(secret, "***") if secret else text
    return " ".join(mask_unprintable(hidden[: 4 * MESSAGE_MAX]).split())[:MESSAGE_MAX]


def repair_answer(answer: Answer, *, label: str, add_notice: Callable[[str], object]) -> Answer | None:
    """Return an unreadable answer with U+FFFD in place of half characters; None when it has none.

    Shape: `add_notice` is called with where they were: one name must not keep a whole space from being read.
    """
    try:
        body, places = replace_halves(answer.body)
    except ValueError:
        return None
    for place in places:
        add_notice(f"{label}: {clean_message(place)} holds half a character; it is read as U+FFFD")
    return replace(answer, body=body) if places else None


def parse_answer(
    answer: Answer, into: type[Shape], *, method: str, label: str, add_notice: Callable[[str], object]
) -> Shape:
    """Return a successful answer in the shape that was asked for.

    Shape: `add_notice` as for `repair_answer`. Raises: NotThePlatform when it is not JSON, nested too deep, or of
    another shape (the first field that does not fit is named); AnswerTooLarge for too many items; Unreachable, or
    AnswerLost for POST and PATCH, when the JSON breaks off, which no length had shown.
    """
    try:
        return into.model_validate_json(answer.body, context=ItemCount())
    except TooManyItems as error:
        raise AnswerTooLarge(f"{label}: {error}", hint=LIMITS) from None
    except ValidationError as error:
        # The cause would carry content into tracebacks: only the place and the kind of the mistake go on.
        first = error.errors(include_url=False, include_input=False)[0]
    reason = str(first.get("ctx", {}).get("error", ""))
    if (
        first["type"] == "json_invalid"
        and (repaired := repair_answer(answer, label=label, add_notice=add_notice)) is not None
    ):
        return parse_answer(repaired, into, method=method, label=label, add_notice=add_notice)
    if first["type"] != "json_invalid":
        place = ".".join(map(str, first["loc"])) or into.__name__
        misfit = clean_message(f"{place}: {first['msg']}")
        raise NotThePlatform(f"{label}: {misfit}", status=answer.status, hint=CHECK_URL)
    if reason.startswith("EOF") and answer.body.lstrip()[:1] == b"{":
        lost = Unreachable if method in IDEMPOTENT else AnswerLost
        raise lost(f"{label}: the answer breaks off", status=answer.status)
    if "recursion" in reason:
        raise NotThePlatform(f"{label}: the answer is nested too deep", status=answer.status)
    raise NotThePlatform(f"{label}: the answer is not JSON", status=answer.status, hint=CHECK_URL)


def parse_json(answer: Answer, *, label: str, add_notice: Callable[[str], object]) -> Any:
    """Return the JSON of an answer; `add_notice` as for `repair_answer`. Raises: NotThePlatform when it is not JSON."""
    try:
        return from_json(answer.body)
    except ValueError:
        repaired = repair_answer(answer, label=label, add_notice=add_notice)
    if repaired is None:
        raise NotThePlatform(f"{label}: the answer is not JSON", status=answer.status, hint=CHECK_URL)
    return parse_json(repaired, label=label, add_notice=add_notice)


def is_foreign(answer: Answer) -> bool:
    """Return whether an answer is a web page, such as one that asks to sign in, or leads to another address."""
    return 300 <= answer.status < 400 or (answer.status < 500 and answer.body.lstrip()[:1] == b"<")


def make_error(answer: Answer, *, label: str, secret: str = "") -> PlatformError:
    """Return the error that an answer stands for which is no success, or is foreign."""
    status = answer.status
    if status < 300:
        return NotThePlatform(f"{label}: the answer is not JSON", status=status, hint=CHECK_URL)
    if status < 400:
        place = clean_message(answer.headers.get("Location", "").partition("?")[0], secret)
        return NotThePlatform(f"{label}: redirected ({status}) to {place or 'nowhere'}", status=status, hint=CHECK_URL)
    message = _read_message(answer)
    if message is None and answer.body and status < 500:
        return NotThePlatform(f"{label}: {status} with an answer that is not JSON", status=status, hint=CHECK_URL)
    reason = clean_message(message or "", secret)
    detail = f": {reason}" if reason else ""
    if status in (401, 403):
        hint = CHECK_WHO if status == 401 else "Check what the user of this token may do."
        return Unauthorized(f"{label}: not allowed ({status}){detail}", status=status, hint=hint)
    if status == 404:
        return NotFound(f"{label}: not found{detail}", status=status)
    if status >= 500:
        return Unreachable(f"{label}: the platform failed ({status}){detail}", status=status)
    return Rejected(f"{label}: refused ({status}){detail}", status=status)


def make_unusable_error(label: str, broken: FailedTry) -> PlatformError:
    """Return the error for an answer that is too large, or not the platform's."""
    if broken.failure is Failure.TOO_LARGE:
        return AnswerTooLarge(f"{label}: {broken.reason}", hint=LIMITS)
    return NotThePlatform(f"{label}: {broken.reason}", hint=CHECK_URL)


def _read_message(answer: Answer) -> str | None:
    """The message of an error body, "" when it has none, None when it is not a JSON object."""
    try:
        content = parse_json(answer, label="", add_notice=lambda _: None)
    except NotThePlatform:
        return None
    if not isinstance(content, dict):
        return None
    error = content.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""
