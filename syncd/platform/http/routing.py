"""How operations are reached: routers whose routes stand below `/v1`, and shelves on which a request finds its route.

FastAPI asks one route after the other whether it is meant; with hundreds of them that costs more than most operations.
Here a request is held against those only whose fixed segments are its own.
"""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import product
from operator import itemgetter
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from syncd.platform.http.scheduler import RequestScheduler, classify_operation

PREFIX = "/v1"
"""Source: API document, Versioning."""

_CHOSEN = "syncd.route"
_FIXED = (2, 4, 6)
"""Which parts of a path, split at its slashes, are names of resources: the others are ids."""
_ANY = "*"

RouteKey = tuple[str, ...]


def create_router(prefix: str = "", *, tags: Sequence[str]) -> APIRouter:
    """Given where a room's operations are and what they are about, return its router.

    A handler is named as its operation is in the API document: `list_site_redirects` is `listSiteRedirects`.
    """
    return APIRouter(
        prefix=PREFIX + prefix,
        tags=list(tags),
        generate_unique_id_function=_build_operation_id,
        route_class=OperationRoute,
    )


class OperationRoute(APIRoute):
    """An operation, which is done when there is a slot for its kind of work."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        kind, handle = classify_operation(self), super().get_route_handler()

        async def answer(request: Request) -> Response:
            scheduler: RequestScheduler = request.app.state.scheduler
            return await scheduler.answer(kind, request, handle)

        return answer


def index_operations(routers: Iterable[APIRouter]) -> dict[str, APIRoute]:
    """Given routers, return their routes by the ids of the operations, in order."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    found = {route.unique_id: route for route in routes}
    assert len(found) == len(routes), "two operations have one id"
    return found


class RouteTable(BaseRoute):
    """Routes in one place of an application's list; of two that fit, the one that was registered first is taken."""

    def __init__(self, routes: Iterable[APIRoute]) -> None:
        """Given routes, sort them by their fixed segments."""
        shelves: defaultdict[RouteKey, list[tuple[int, APIRoute]]] = defaultdict(list)
        for number, route in enumerate(routes):
            shelves[_compute_route_key(route.path)].append((number, route))
        self._shelves = dict(shelves)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Given a request, return whether one of the routes is meant, and what it found in the path."""
        partial: tuple[Match, Scope] = Match.NONE, {}
        if scope["type"] == "http":
            for route in self._candidates(scope["path"]):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    return match, {**found, _CHOSEN: route}
                if match is Match.PARTIAL and partial[0] is Match.NONE:
                    partial = match, {**found, _CHOSEN: route}
        return partial

    def find_methods(self, scope: Scope) -> set[str]:
        """Given a request, return the methods that its path has; none where there is no such path."""
        found = [route for route in self._candidates(scope["path"]) if route.matches(scope)[0] is not Match.NONE]
        methods = {method for route in found for method in route.methods or ()}
        return {*methods, "OPTIONS", *(("HEAD",) if "GET" in methods else ())} if methods else set()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Given a request that matched, let its route answer."""
        route: APIRoute = scope[_CHOSEN]
        await route.handle(scope, receive, send)

    def _candidates(self, path: str) -> list[APIRoute]:
        named = [(part, _ANY) for part in _pick_fixed_segments(path.split("/", _FIXED[-1] + 1))]
        found = [numbered for key in product(*named) for numbered in self._shelves.get(key, ())]
        return [route for _, route in sorted(found, key=itemgetter(0))]


def _compute_route_key(path: str) -> RouteKey:
    parts = path.split("/")
    # Behind a parameter that takes slashes in, nothing has a place of its own.
    deep = next((at for at, part in enumerate(parts) if part.endswith(":path}")), len(parts) + _FIXED[-1])
    named = zip(_FIXED, _pick_fixed_segments(parts), strict=True)
    return tuple(_ANY if at >= deep or part.startswith("{") else part for at, part in named)


def _pick_fixed_segments(parts: Sequence[str]) -> list[str]:
    return [parts[at] if at < len(parts) else "" for at in _FIXED]


def _build_operation_id(route: APIRoute) -> str:
    return to_camel(route.name)
