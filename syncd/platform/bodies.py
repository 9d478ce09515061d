"""What every request body of the content side has in common: it is text that can be written down."""

from typing import Any

from pydantic import model_validator

from syncd.model.base import Declared


class Body(Declared):
    """A request body.

    JSON can spell halves of characters (`"\\ud800"`), which no file and no database can hold, and the character NUL,
    which PostgreSQL cannot: kept within a document, it would fail whoever asks for a member of that.
    """

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
