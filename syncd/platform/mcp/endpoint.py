"""The endpoint `~mcp` of a published site over HTTP: who comes is a visitor, as on the site's pages.

Each request stands for itself, so that no server keeps anything of a visitor. It needs the extra `mcp`.
"""

import importlib.util
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send

from syncd.platform.http import addresses
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import StoppingRoute
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.http.time_limits import USUAL_S, limit_time
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.sites import PublishedSite, PublishedSites
from syncd.platform.visitors.visits import VISITOR_COOKIE, SignInNeeded, SiteVisit, VisitorToken, open_visit

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

_PATHS = ("/sites/{name}/~mcp", "/sites/{name}/{key}/~mcp")
"""The second is that of a site with share links, `key` the key of one."""
BODY_MAX = 64 * 1024
_TOOLS = {
    "search_docs": (
        "query",
        "Search the documentation. Answers with the pages that have all words, their addresses and excerpts.",
        "A few words.",
    ),
    "read_page": (
        "address",
        "Read a page of the documentation as Markdown, by an address that the search or a page gave.",
        "The address of a page, or its path below the site.",
    ),
}
"""Of each tool its one argument, and what agents are told of both."""


class AgentTools(Protocol):
    """What an agent may ask of a site."""

    def search_pages(self, query: str) -> str:
        """Return the pages that have all words of a query."""

    def read_page(self, address: str) -> str | None:
        """Return the page at an address; None when there is none."""


ToolsMaker = Callable[[Storage, SiteVisit, str], AgentTools]


@dataclass(frozen=True)
class SiteMcpEndpoint:
    """The endpoint of all sites, as an ASGI application; `make_tools` makes the tools for a visit and an origin."""

    make_tools: ToolsMaker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of an agent."""
        request = Request(scope, receive)
        opened = await _open_site(request)
        if isinstance(opened, Response):
            await opened(scope, receive, send)
            return
        try:
            body = await _read_body(request)
        except Failure as refused:
            await _refuse(refused.status, refused.message)(scope, receive, send)
            return
        tools = self.make_tools(request.app.state.storage, opened, addresses.find_origin(request))
        await _serve(request, _build_server(request, opened, tools), body, send)


class _McpRoute(StoppingRoute):
    """A route that looks at the end of an address first: the routes of pages come after it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if scope["path"].endswith("/~mcp") else (Match.NONE, {})


def list_mcp_routes(make_tools: ToolsMaker) -> list[StoppingRoute]:
    """Return the routes of the endpoint of all sites, which come before those of their pages."""
    return [_McpRoute(path, SiteMcpEndpoint(make_tools), include_in_schema=False) for path in _PATHS]


async def _open_site(request: Request) -> SiteVisit | Response:
    storage: Storage = request.app.state.storage
    sites: PublishedSites = request.app.state.published_sites
    name = str(request.path_params["name"])
    site = await storage.run_read(lambda: sites.find_site(name))
    if site is None or not _is_switched_on(site):
        return _refuse(404, "No site answers agents at this address.")
    if request.method != "POST":
        return _refuse(405, "This endpoint answers POST.", Allow="POST")
    if request.headers.get("origin", addresses.find_origin(request)) != addresses.find_origin(request):
        return _refuse(403, "Another site's pages may not ask here.")
    if importlib.util.find_spec("mcp") is None:
        return _refuse(501, "The operator has not installed what this needs: pip install 'mcp>=2.3,<3'")
    visitor = VisitorToken(_read_token(request))
    parts = [key] if (key := request.path_params.get("key")) else []
    opened = open_visit(site, f"/sites/{quote(name)}", parts, visitor, storage.now().timestamp())
    if isinstance(opened, SignInNeeded):
        challenge = {"WWW-Authenticate": "Bearer"}
        return _refuse(401, "This site is for visitors with a token of its owner, sent as bearer.", **challenge)
    if opened is None or opened[1]:
        return _refuse(404, "No site answers agents at this address.")
    return opened[0]


def _is_switched_on(site: PublishedSite) -> bool:
    return bool((site.settings.get("pageActions") or {}).get("mcp"))


def _read_token(request: Request) -> str:
    """A visitor's token: an agent sends it as bearer, a browser that was let in as a cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else request.cookies.get(VISITOR_COOKIE, "")


async def _read_body(request: Request) -> bytes:
    """Raises: Failure 413."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_MAX:
            raise Failure(413, f"A message has at most {BODY_MAX} bytes.")
    return bytes(body)


async def _serve(request: Request, server: "Server", body: bytes, send: Send) -> None:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            # The answer ends this, whatever the client does meanwhile.
            await anyio.sleep_forever()
        return messages.pop()

    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        # Hosts and origins are checked above, by the platform's own names.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=BODY_MAX,
    )
    async with manager.run():
        await manager.handle_request(request.scope, receive, send)


def _build_server(request: Request, visit: SiteVisit, tools: AgentTools) -> "Server":
    import mcp_types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    scheduler: RequestScheduler = request.app.state.scheduler

    async def compute(work: Callable[[], str | None]) -> str | None:
        with limit_time(USUAL_S):
            return await scheduler.compute(request, work)

    async def list_tools(
        _: ServerRequestContext, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool(**_describe(name)) for name in _TOOLS])

    async def call_tool(_: ServerRequestContext, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        given = (params.arguments or {}).get(_TOOLS.get(params.name, ("",))[0])
        if not isinstance(given, str):
            text, is_error = f"{params.name[:100]}: no such tool, or its argument is missing.", True
        else:
            try:
                text, is_error = await _run_tool(compute, tools, params.name, given)
            except Failure as refused:
                text, is_error = refused.message, True
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(text=text)], is_error=is_error)

    return Server(visit.site.row.title, on_list_tools=list_tools, on_call_tool=call_tool)


async def _run_tool(
    compute: Callable[[Callable[[], str | None]], Awaitable[str | None]], tools: AgentTools, name: str, given: str
) -> tuple[str, bool]:
    if name == "search_docs":
        return await compute(lambda: tools.search_pages(given)) or "", False
    text = await compute(lambda: tools.read_page(given))
    return (text, False) if text is not None else ("There is no page at this address.", True)


def _describe(name: str) -> dict[str, object]:
    argument, description, about = _TOOLS[name]
    schema = {
        "type": "object",
        "properties": {argument: {"type": "string", "description": about}},
        "required": [argument],
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "input_schema": schema}


def _refuse(status: int, reason: str, **headers: str) -> Response:
    return PlainTextResponse(f"{reason}\n", status, {**headers, "Cache-Control": "no-store"})
