"""What HTTP requires of every resource beside its operations: HEAD, OPTIONS, and the root of the API."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

import syncd
from syncd.platform.http.routing import RouteTable


class MethodsMiddleware:
    """ASGI middleware: a HEAD is its GET without the body, and OPTIONS names the methods that a path has.

    Source: RFC 9110, sections 9.3.2 and 9.3.7.
    """

    def __init__(self, app: ASGIApp, *, operations: RouteTable) -> None:
        """Wrap the application that has these operations."""
        self._app, self._operations = app, operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer OPTIONS here, and let the application answer everything else; HEAD is answered as GET is."""
        method = scope.get("method")
        if method == "OPTIONS":
            await self._answer_options(scope)(scope, receive, send)
        else:
            # The server itself leaves the body of an answer to HEAD out, and keeps its length.
            await self._app({**scope, "method": "GET"} if method == "HEAD" else scope, receive, send)

    def _answer_options(self, scope: Scope) -> Response:
        methods = self._operations.find_methods(scope)
        if not methods:
            return JSONResponse({"error": {"code": 404, "message": "Not Found"}}, 404)
        return Response(status_code=204, headers={"Allow": ", ".join(sorted(methods))})


async def answer_information(request: Request) -> JSONResponse:
    """Answer a request of the API's root with the release of this platform and when it was made.

    Source: `getApiInformation`, @gitbook/api 0.146.0.
    """
    return JSONResponse({"version": syncd.__version__, "build": syncd.RELEASED_AT})
