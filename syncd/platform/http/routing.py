"""Routers whose routes are below `/v1`, and the table in which a request finds its route.

FastAPI tries one route after the other; with hundreds of routes that costs more than most operations do. Here a request
is only compared with the routes that have the same fixed path segments.
"""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import product
from operator import itemgetter
from typing import Any
from warnings import catch_warnings, simplefilter

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from syncd.model.base import build_shapes
from syncd.platform.http.scheduler import RequestScheduler, classify_operation
from syncd.platform.http.time_limits import stop_with_client

PREFIX = "/v1"
"""Source: API document, Versioning."""

_CHOSEN = "syncd.route"
"""Where the ASGI scope holds the route that matched."""
_FIXED = (2, 4, 6)
"""Which parts of a path, split at its slashes, are names of resources: the others are ids."""
_ANY = "*"

RouteKey = tuple[str, ...]


def create_router(prefix: str = "", *, tags: Sequence[str]) -> APIRouter:
    """Return the router of a module, whose routes begin with a prefix and have these tags.

    A handler is named as its operation is in the API document: `list_site_redirects` is `listSiteRedirects`.
    """
    return APIRouter(
        prefix=PREFIX + prefix,
        tags=list(tags),
        generate_unique_id_function=_build_operation_id,
        route_class=OperationRoute,
    )


class OperationRoute(APIRoute):
    """A route that answers when there is a free slot for its kind of work."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request of this route."""
        kind, handle = classify_operation(self), super().get_route_handler()

        async def answer(request: Request) -> Response:
            scheduler: RequestScheduler = request.app.state.scheduler
            return await scheduler.answer(kind, request, handle)

        return answer


def index_operations(routers: Iterable[APIRouter]) -> dict[str, APIRoute]:
    """Return the routes of all routers by their operation ids, in order."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    found = {route.unique_id: route for route in routes}
    assert len(found) == len(routes), "two operations have one id"
    build_shapes()
    for route in routes:
        _build_adapters(route)
    return found


def _build_adapters(route: APIRoute) -> None:
    """Build what reads and writes the shapes of a route: no request waits for it."""
    fields = [route.body_field, route.response_field, *route.response_fields.values(), *route.dependant.body_params]
    with catch_warnings():
        # FastAPI ignores the same around the same step: it gives a shape metadata that only a member of one may have.
        simplefilter("ignore", UnsupportedFieldAttributeWarning)
        for field in filter(None, fields):
            field._type_adapter.rebuild()


class StoppingRoute(Route):
    """A route of no operation, whose work stops when its client has left."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matched."""
        with stop_with_client(scope):
            await super().handle(scope, receive, send)


class RouteTable(BaseRoute):
    """All routes of the application as one; of two that match, the one that was registered first answers."""

    def __init__(self, routes: Iterable[APIRoute]) -> None:
        """Index the routes by their fixed segments."""
        index: defaultdict[RouteKey, list[tuple[int, APIRoute]]] = defaultdict(list)
        for number, route in enumerate(routes):
            index[_compute_route_key(route.path)].append((number, route))
        self._index = dict(index)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return how well a route matches a request, and what the route found in the path."""
        partial: tuple[Match, Scope] = Match.NONE, {}
        if scope["type"] == "http":
            for route in self._list_candidates(scope["path"]):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    return match, {**found, _CHOSEN: route}
                if match is Match.PARTIAL and partial[0] is Match.NONE:
                    partial = match, {**found, _CHOSEN: route}
        return partial

    def find_methods(self, scope: Scope) -> set[str]:
        """Return the methods that the path of a request has; empty when no route has the path."""
        found = [route for route in self._list_candidates(scope["path"]) if route.matches(scope)[0] is not Match.NONE]
        methods = {method for route in found for method in route.methods or ()}
        return {*methods, "OPTIONS", *(("HEAD",) if "GET" in methods else ())} if methods else set()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the route that matched answer the request."""
        route: APIRoute = scope[_CHOSEN]
        with stop_with_client(scope):
            await route.handle(scope, receive, send)

    def _list_candidates(self, path: str) -> list[APIRoute]:
        named = [(part, _ANY) for part in _pick_fixed_segments(path.split("/", _FIXED[-1] + 1))]
        found = [numbered for key in product(*named) for numbered in self._index.get(key, ())]
        return [route for _, route in sorted(found, key=itemgetter(0))]


def _compute_route_key(path: str) -> RouteKey:
    parts = path.split("/")
    # A parameter of type `path` also matches slashes, so no segment behind it is at a fixed index.
    deep = next((at for at, part in enumerate(parts) if part.endswith(":path}")), len(parts) + _FIXED[-1])
    named = zip(_FIXED, _pick_fixed_segments(parts), strict=True)
    return tuple(_ANY if at >= deep or part.startswith("{") else part for at, part in named)


def _pick_fixed_segments(parts: Sequence[str]) -> list[str]:
    return [parts[at] if at < len(parts) else "" for at in _FIXED]


def _build_operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


def describe_parameter(name: str) -> dict[str, Any]:
    """Return the OpenAPI description of a parameter in a path."""
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
