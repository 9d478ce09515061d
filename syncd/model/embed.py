"""Embed: how an address outside is shown on a page (@gitbook/api 0.202.0)."""

from typing import Literal

from syncd.model.base import Observed

URL_MAX = 4096


class Embed(Observed):
    """An address as it is shown: a link with a title and the name of its site."""

    type: Literal["link", "rich", "integration"]
    title: str
    site: str
    icon: str | None = None
    html: str | None = None
