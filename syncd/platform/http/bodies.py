"""The base class of request bodies: unknown members are ignored, and all text can be stored."""

from collections.abc import Iterable
from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, ValidationError, model_validator

from syncd.model.base import Declared

UNKNOWN_MAX = 1_000
"""Unknown members that are ignored in one body; no real client sends more."""


def _remove_members(value: Any, places: Iterable[tuple[int | str, ...]]) -> Any:
    """Return a copy of a JSON value without the members at some places, in the notation of pydantic's error locations.

    Shape: a location also names variants of unions, which are not in the value; such parts are skipped. Returns None
    when an object would become empty: then none of its members is known, and ignoring them all would do nothing.
    """
    found = {"": value}
    for place in places:
        holder: Any = found
        last: int | str = ""
        for part in place:
            # Only the path to the place is copied: a body may be large, and deeper than Python can recurse.
            holder[last] = holder[last].copy()
            inner = holder[last]
            if (isinstance(inner, dict) and part in inner) or (isinstance(inner, list) and isinstance(part, int)):
                holder, last = inner, part
            if not isinstance(holder[last], dict | list):
                break
        if isinstance(holder, dict) and last == place[-1]:
            del holder[last]
            if not holder:
                return None
    return found[""]


class RequestBody(Declared):
    """A request body: members that this server does not know are passed over, as clients of newer releases need.

    JSON can spell halves of characters (`"\\ud800"`), which no file and no database can hold, and the character NUL,
    which PostgreSQL cannot: kept within a document, it would fail whoever asks for a member of that.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _passes_over_unknown(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Validate what is known. Raises: ValidationError too when nothing of a body is known."""
        try:
            return handler(value)
        except ValidationError as refusal:
            if refusal.error_count() > UNKNOWN_MAX:
                raise
            unknown = [problem["loc"] for problem in refusal.errors() if problem["type"] == "extra_forbidden"]
            known = _remove_members(value, unknown)
            if not unknown or not known:
                raise
            return handler(known)

    @model_validator(mode="before")
    @classmethod
    def _is_unicode(cls, value: Any) -> Any:
        pending = [value]
        while pending:
            here = pending.pop()
            if isinstance(here, str):
                if "\0" in here:
                    raise ValueError("holds the character NUL")
                try:
                    here.encode()
                except UnicodeEncodeError:
                    raise ValueError("holds half a character") from None
            elif isinstance(here, dict):
                pending += [*here, *here.values()]
            elif isinstance(here, list):
                pending += here
        return value
