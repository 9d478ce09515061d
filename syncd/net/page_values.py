"""What a server of pages gets and gives, as frozen values, and which requests it refuses."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import parse_qsl, unquote_to_bytes

HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of a response that names no other: nothing from another host, nothing inline."""
TARGET_CHARACTERS_MAX = 4096
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""What a machine calls itself; so that ssh can forward a page, each of them is right for each other."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
_METHODS = SAFE_METHODS | {"POST"}


@dataclass(frozen=True)
class PageRequest:
    """A request that passed the checks. Shape: `path` is decoded, `query` and `headers` have the last of equal names.

    The names of `headers` are in lower case; `body` is empty for GET and HEAD.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def read_form(self) -> Mapping[str, str]:
        """Return the fields of a form in the body; what is no form has none."""
        if self.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
            return {}
        return _parse_fields(self.body.decode("ascii", "replace"))

    def read_cookie(self, name: str) -> str:
        """Return a cookie of the browser, or ""."""
        try:
            cookies = SimpleCookie(self.headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[name].value if name in cookies else ""


@dataclass(frozen=True)
class PageResponse:
    """An answer. Shape: `headers` come on top of the strict ones; `policy` is its Content-Security-Policy."""

    body: bytes = b""
    status: int = 200
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    policy: str = POLICY
    cache: str = "private, no-cache"


class ChangeSource(Protocol):
    """What an event stream follows."""

    def wait_for_change(self, seen: str, seconds: float) -> str:
        """Return the present version, as soon as it is not `seen`, or after so many seconds."""


@dataclass(frozen=True)
class EventStream:
    """An answer that stays open: an event `changed` with the version of a source, whenever that is another.

    Shape: `seen` is the version that the page shows; a change since then is sent at once.
    """

    source: ChangeSource
    seen: str


Handler = Callable[[PageRequest], PageResponse | EventStream]


class RefusedRequest(Exception):
    """A request that is not handled, with the status and a line for people."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Acceptance:
    """Which requests a server takes.

    Shape: `is_any_host` is for answers that hold no secret and change nothing: then the `Host` of a request is not
    looked at. `is_any_origin` is for requests that carry their own proof, such as a signature. `body_max` is in bytes.
    """

    is_any_host: bool = False
    is_any_origin: bool = False
    body_max: int = 1 << 16


def read_request(
    method: str,
    target: str,
    headers: Mapping[str, str],
    hosts: frozenset[str] | None,
    *,
    is_any_origin: bool = False,
    origin: str = "",
) -> PageRequest:
    """Return a request whose origin was checked, still without a body.

    Shape: `hosts` are the names, without port, by which the server may be called; None is any: no page of another site
    reaches a server under a name of its own (DNS rebinding). What changes something must come from its own pages,
    unless `is_any_origin`; `origin` is what they have where a proxy gives the server another name or scheme.
    Raises: RefusedRequest.
    """
    host = headers.get("host", "")
    if hosts is not None and parse_host(host) not in hosts:
        raise RefusedRequest(421, "this server does not answer under that name; use the address that it printed")
    if method not in _METHODS:
        raise RefusedRequest(405, "only GET, HEAD and POST are answered")
    if method not in SAFE_METHODS and not is_any_origin and not is_own_origin(headers, origin):
        raise RefusedRequest(403, "the request comes from a page of another site")
    if len(target) > TARGET_CHARACTERS_MAX:
        raise RefusedRequest(414, f"an address has at most {TARGET_CHARACTERS_MAX} characters")
    raw, _, query = target.partition("?")
    return PageRequest(method, _parse_path(raw), _parse_fields(query), headers)


def parse_host(host: str) -> str:
    """Return the name of a `Host` header without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    if colon and port.isascii() and port.isdigit() and (name.endswith("]") or ":" not in name):
        return name.lower()
    return host.lower()


def is_own_origin(headers: Mapping[str, str], known: str = "") -> bool:
    """Return whether a request comes from a page of this server, as far as the browser says it.

    Shape: `known` is an origin of the server beside the one that the header `Host` makes, such as a proxy's. A page
    that sends no referrer has the origin `null`; then `Sec-Fetch-Site` alone decides.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None or origin == "null":
        return site is not None
    return origin.lower() in {f"http://{headers.get('host', '').lower()}", known.lower()} - {""}


def is_same_token(sent: str, expected: str) -> bool:
    """Return whether a form sent the token of its session; it takes as long for a wrong one."""
    return bool(expected) and hmac.compare_digest(sent.encode(), expected.encode())


def list_host_names(address: str) -> frozenset[str]:
    """Return the names by which a server on an address may be called; "" is a Unix socket.

    Shape: behind a loopback address or a socket, all names of the machine itself, so that ssh can forward it.
    """
    if not address or ip_address(address).is_loopback:
        return LOOPBACK_NAMES | ({_spell(address)} if address else set())
    return frozenset({_spell(address)})


def build_headers(response: PageResponse) -> list[tuple[str, str]]:
    """Return all headers of an answer but its length."""
    return [
        ("Content-Type", response.content_type),
        ("Content-Security-Policy", response.policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", response.cache),
        *response.headers,
    ]


def apply_condition(request: PageRequest, response: PageResponse) -> PageResponse:
    """Return an answer with its ETag, or 304 without a body where the browser has exactly that."""
    if response.status != 200 or request.method not in SAFE_METHODS or response.cache == "no-store":
        return response
    tag = f'"{sha256(response.content_type.encode() + bytes(1) + response.body).hexdigest()[:32]}"'
    headers = (*response.headers, ("ETag", tag))
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if tag in known:
        return replace(response, status=304, body=b"", headers=headers)
    return replace(response, headers=headers)


def render_line(status: int, line: str) -> PageResponse:
    """Return an answer of one line of text that nobody keeps."""
    return PageResponse(f"{line}\n".encode(), status, TEXT, cache="no-store")


def _spell(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _parse_path(raw: str) -> str:
    try:
        path = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        path = ""
    segments = path.split("/")
    if not path.startswith("/") or "\\" in path or not path.isprintable() or {".", ".."} & set(segments):
        raise RefusedRequest(400, "the address makes no sense")
    return path


def _parse_fields(text: str) -> Mapping[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise RefusedRequest(400, "a form or an address has too many fields") from None
