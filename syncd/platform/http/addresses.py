"""Addresses in answers: of resources of the API, of the app, and of published content; all on one origin.

The origin is the operator's (`--public-url`), else the address that the server listens on. The headers `Host` and
`X-Forwarded-*` are not trusted: a signed address or a cached answer must not lead to a host that a client chose.
"""

import ipaddress
import re
from functools import lru_cache

from fastapi import Request

from syncd.errors import ConfigInvalid
from syncd.net.failures import Refused
from syncd.net.targets import parse_target
from syncd.platform.settings import PlatformSettings

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
_LOOPBACK = "localhost"


def parse_public_origin(url: str, *, option: str = "--public-url") -> str:
    """Return the scheme, host and port of a URL that the operator gave with an option.

    Raises: ConfigInvalid when it is not a web address, or has more than these three.
    """
    try:
        target = parse_target(url)
    except Refused as refused:
        raise ConfigInvalid(f"{option}: {refused}", hint="write https://HOST") from None
    if target.path != "/":
        raise ConfigInvalid(f"{option}: has more than a scheme, a host and a port", hint="write https://HOST")
    return target.origin


def find_origin(request: Request) -> str:
    """Return the scheme and host under which the caller of a request reaches this server.

    Shape: the public URL of the settings; without one, the header `Host` when it names the address of this connection
    or this machine itself, which may be reached through a tunnel; else the address of the connection.
    """
    settings: PlatformSettings = request.app.state.settings
    if settings.public_url:
        return settings.public_url
    server, port = request.scope.get("server") or (_LOOPBACK, None)
    return f"{request.scope['scheme']}://{_choose_host(request.headers.get('host', ''), server, port, settings.host)}"


# The last ones are remembered: as many as a client sends different ones do not stay.
@lru_cache(maxsize=64)
def _choose_host(host: str, server: str, port: int | None, bound: str) -> str:
    """The host and port in addresses: those of the header, or of the connection."""
    found = _HOST.fullmatch(host)
    if found is None or not _is_own_host(found["name"], found["port"], server, port, bound):
        name = f"[{server}]" if ":" in server else server
        return name if port is None else f"{name}:{port}"
    return host


def build_api_url(request: Request, path: str) -> str:
    """Return the absolute address of a resource in the API; `path` is below `/v1`, such as `/orgs/abc`."""
    return f"{find_origin(request)}/v1{path}"


def build_app_url(request: Request, path: str) -> str:
    """Return the address of a resource in the app, for people; `path` is such as `/o/abc/s/def`."""
    return f"{find_origin(request)}/app{path}"


def build_endpoint_urls(request: Request, name: str, *below: str) -> dict[str, str]:
    """Return the members of `urls` that say where an integration answers, and where its content comes from."""
    address = build_integration_url(request, name, *below)
    return {"publicEndpoint": address, "publicContentEndpoint": address}


def build_integration_url(request: Request, name: str, *below: str) -> str:
    """Return the address of an integration's own endpoint, and of paths below it.

    Shape: clients expect the address; nothing answers there, since this platform runs nobody's scripts.
    """
    return "/".join((find_origin(request), "integrations", name, *below))


def build_published_url(request: Request, site: str, path: str = "") -> str:
    """Return the address where visitors read a site, or a path below it; `site` is a basename or an id."""
    below = path.strip("/")
    return f"{find_origin(request)}/sites/{site}/{below}" if below else f"{find_origin(request)}/sites/{site}/"


def _is_own_host(name: str, port: str | None, server: str, own_port: int | None, bound: str) -> bool:
    bare = name.strip("[]").lower()
    if bare == _LOOPBACK or _is_loopback(bare):
        return True
    same_port = own_port is None or int(port or 80) == own_port
    return same_port and (bare in (server.lower(), bound.lower()) or _unmap_ipv4(bare) == _unmap_ipv4(server))


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _unmap_ipv4(name: str) -> str:
    """The IPv4 address in an IPv6 one, as a socket for both sees it."""
    return name.lower().removeprefix("::ffff:")
