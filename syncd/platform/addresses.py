"""Addresses that the API hands out: of its own resources, of the app, and of published content; all on one origin."""

import re

from fastapi import Request

_HOST = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")


def origin(request: Request) -> str:
    """Given a request, return the scheme and host under which the caller reaches this server."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        # A missing or strange Host header must not end up in an address that we hand out.
        name, port = request.scope.get("server") or ("localhost", None)
        host = name if port is None else f"{name}:{port}"
    return f"{request.scope['scheme']}://{host}"


def location(request: Request, path: str) -> str:
    """Given a resource's path below `/v1`, such as `/orgs/abc`, return its absolute address in the API."""
    return f"{origin(request)}/v1{path}"


def app(request: Request, path: str) -> str:
    """Given a path such as `/o/abc/s/def`, return the address where a person would work with that resource."""
    return f"{origin(request)}/app{path}"


def integration(request: Request, name: str, *below: str) -> str:
    """Given an integration's name and what lies below it, return the address where its own endpoint would answer.

    Shapes: clients expect the address; nothing answers there, since this platform runs nobody's scripts.
    """
    return "/".join((origin(request), "integrations", name, *below))


def published(request: Request, site: str, path: str = "") -> str:
    """Given a site's basename or id and a path below the site, return the address where visitors read it."""
    below = path.strip("/")
    return f"{origin(request)}/sites/{site}/{below}" if below else f"{origin(request)}/sites/{site}/"
