"""What the operator of a platform decides; every value has a default that works offline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request


@dataclass(frozen=True)
class Endpoint:
    """A service elsewhere that the platform may ask. Shapes: `key` is a secret and is never shown."""

    url: str
    model: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"


@dataclass(frozen=True)
class Settings:
    """The settings of one platform.

    Shapes: `requests_per_minute` limits each token, None never refuses; `private_addresses` lets the platform send
    requests into its own network, which is where an attacker would send them; `ask` speaks OpenAI's chat completions
    and `translate` the protocol of the manual's page on translations; without them the built-in ways answer;
    `content_write` False is a platform that does not have the operation which writes a change request's content, and
    `site_write` False one without the operations on a site's parts that the API document does not have;
    `rewrite` is what a platform that keeps pages in a form of its own makes of a page that is written to it, and `git`
    False one that tells nobody the ids that Git would give its content; `public_url` is the scheme, host and port that
    addresses in answers have, and `host` a name that the server was told to listen on.
    """

    requests_per_minute: int | None = None
    private_addresses: bool = False
    ask: Endpoint | None = None
    translate: Endpoint | None = None
    content_write: bool = True
    site_write: bool = True
    rewrite: Callable[[str], str] | None = None
    git: bool = True
    public_url: str = ""
    host: str = ""


async def _configured(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


Configured = Annotated[Settings, Depends(_configured)]
"""A handler's parameter for the settings of the application that it runs in."""
