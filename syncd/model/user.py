"""User (`user`)."""

from typing import Any

from pydantic import Field

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.web_address import WebAddress

NAME_MAX = 100
"""Characters of a person's name; the document names no limit."""


class User(Observed):
    """A person; `email` is absent when the token may not see it."""

    object: str = "user"
    id: ObservedId
    display_name: str = ""
    email: str | None = None
    photo_url: str | None = Field(default=None, alias="photoURL")
    urls: dict[str, Any] = {}


class UserUpdate(Declared):
    """Body of `PATCH /users/{userId}`, beyond the document: unset is unchanged, a null photo is removed."""

    display_name: str = Field(default="", min_length=1, max_length=NAME_MAX)
    photo_url: Nullable[WebAddress] = Field(default=None, alias="photoURL")
