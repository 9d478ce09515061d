"""The settings of a platform; every value has a default that works offline."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from fastapi import Depends, Request


@dataclass(frozen=True)
class ServiceEndpoint:
    """An external service that the platform may call. Shape: `key` is a secret and never appears in a repr."""

    url: str
    model: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"


@dataclass(frozen=True)
class GitEndpoint:
    """One ref of a Git repository at an address of the web, as a request names it.

    Shape: `url` has no credentials; `addresses` are the IP addresses of its host, no other is to be connected to;
    `ref` is a full name. `username` and `secret` never appear in a repr, and are kept nowhere.
    """

    url: str
    ref: str
    addresses: tuple[str, ...]
    username: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class GitBounds:
    """What one exchange with a Git repository may cost. Units: `deadline` in monotonic seconds; bytes."""

    deadline: float
    bytes: int


class GitCheckout(Protocol):
    """One commit of a repository that was fetched. Shape: `commit` is None for a branch that does not exist."""

    commit: str | None
    message: str

    def list_files(self, directory: str) -> Mapping[str, int]:
        """Return the sizes of the regular files below a directory, by their path in it."""

    def read_file(self, directory: str, path: str) -> bytes:
        """Return the bytes of a file that was listed."""

    def push_changes(self, directory: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Push a commit in which files of a directory have other bytes, or are gone, and return its id; the commit that
        was fetched, when that is so already.

        Raises: SyncdError when the branch moved meanwhile or takes no push.
        """


class GitHost(Protocol):
    """Opens Git repositories at addresses of the web."""

    def open(self, endpoint: GitEndpoint, bounds: GitBounds) -> AbstractContextManager[GitCheckout]:
        """Fetch the commit that a ref names. Raises: SyncdError; TimeoutError; ValueError when it is too large."""


@dataclass(frozen=True)
class ConnectionBounds:
    """Limits of client connections: how many there may be, and the size and time of one request and its answer.

    Shape: a connection that is slow to send its request is closed for a new one when there are too many;
    `idle_s` is how long a connection is kept for another request. Units: bytes; seconds; `rate` in bytes a second,
    which a body and an answer must average beyond their first seconds.
    """

    connections: int = 512
    connections_per_address: int = 128
    head_bytes: int = 64 * 1024
    headers: int = 100
    head_s: float = 10.0
    body_s: float = 30.0
    answer_s: float = 60.0
    rate: int = 32 * 1024
    idle_s: int = 5


@dataclass(frozen=True)
class PlatformSettings:
    """The settings of one platform.

    Shape: `requests_per_minute` limits each token, None never refuses; `private_addresses` lets the platform send
    requests into its own network, which is where an attacker would send them; `ask` speaks OpenAI's chat completions
    and `translate` the protocol of the manual's page on translations; without them the built-in ways answer;
    `content_write` False is a platform that does not have the operation which writes a change request's content, and
    `site_write` False one without the operations on a site's parts that the API document does not have;
    `rewrite` is what a platform that keeps pages in a form of its own makes of a page that is written to it, and `git`
    False one that tells nobody the ids that Git would give its content; `public_url` is the scheme, host and port that
    addresses in answers have, and `host` a name that the server was told to listen on; `connections` is what those of
    clients may cost; `origins` are those of web pages whose scripts may read answers (CORS), `*` any; `git_host` opens
    the repositories of imports and exports, None is a platform that has neither.
    """

    requests_per_minute: int | None = None
    private_addresses: bool = False
    ask: ServiceEndpoint | None = None
    translate: ServiceEndpoint | None = None
    content_write: bool = True
    site_write: bool = True
    rewrite: Callable[[str], str] | None = None
    git: bool = True
    public_url: str = ""
    host: str = ""
    connections: ConnectionBounds = ConnectionBounds()
    origins: tuple[str, ...] = ()
    git_host: GitHost | None = None


async def _read_settings(request: Request) -> PlatformSettings:
    settings: PlatformSettings = request.app.state.settings
    return settings


CurrentSettings = Annotated[PlatformSettings, Depends(_read_settings)]
"""A handler's parameter for the settings of the application that it runs in."""
