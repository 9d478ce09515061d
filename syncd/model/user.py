"""User (`user`)."""

from typing import Any

from pydantic import Field

from syncd.model.base import Observed


class User(Observed):
    """A person; `email` is absent when the token may not see it."""

    object: str = "user"
    id: str
    display_name: str = ""
    email: str | None = None
    photo_url: str | None = Field(default=None, alias="photoURL")
    urls: dict[str, Any] = {}
