"""The ASGI application: all routers of the platform, error handling, limits, and the OpenAPI document."""

from collections.abc import Mapping
from functools import partial

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from syncd.platform.app_pages.routes import answer_app
from syncd.platform.change_requests import change_requests, merge_request
from syncd.platform.comments import commenters, comments, replies
from syncd.platform.content import changes, content, content_write, documents, embeds, templates, view
from syncd.platform.description import TITLE, OpenApiDescription
from syncd.platform.http import failures
from syncd.platform.http.limits import RequestLimits
from syncd.platform.http.methods import MethodsMiddleware, answer_information
from syncd.platform.http.routing import PREFIX, RouteTable, StoppingRoute, index_operations
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.integrations import delivery, event_traces, installations, placing, rendering
from syncd.platform.integrations import publishing as integrations
from syncd.platform.mcp import endpoint
from syncd.platform.mcp.tools import SiteTools
from syncd.platform.people import (
    agent_instructions,
    invites,
    joining,
    members,
    organizations,
    saml,
    team_members,
    teams,
    users,
)
from syncd.platform.people.auth import Callers
from syncd.platform.publish import adaptive, customization, published, share_links
from syncd.platform.reviews import reviewers, reviews
from syncd.platform.revisions import files
from syncd.platform.services.ask import routes as ask
from syncd.platform.services.computed import routes as computed
from syncd.platform.services.conversations import routes as conversations
from syncd.platform.services.git import routes as git
from syncd.platform.services.git import transfer
from syncd.platform.services.links import routes as links
from syncd.platform.services.pdf import routes as pdf
from syncd.platform.services.search import index as search_index
from syncd.platform.services.search import routes as search
from syncd.platform.services.specs import routes as specs
from syncd.platform.services.translations import routes as translations
from syncd.platform.services.translations import runs
from syncd.platform.settings import PlatformSettings
from syncd.platform.sites import order, redirects, section_groups, sections, site_spaces, sites
from syncd.platform.spaces import collections, move, permissions, spaces
from syncd.platform.specs.published_pages import complete_outline
from syncd.platform.storage.health import answer_readiness
from syncd.platform.storage.jobs import JobHandler
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors import auth_settings, insights, published_urls, site_search
from syncd.platform.visitors import routes as site_pages
from syncd.platform.visitors.kept.site_renderer import SiteRenderer
from syncd.platform.visitors.offers import agent_feedback
from syncd.platform.visitors.offers.refusals import answer_failure
from syncd.platform.visitors.offers.visit_counts import VisitCounts
from syncd.platform.visitors.pages import PageMemory
from syncd.platform.visitors.sites import PublishedSites

_ROUTER_MODULES = (
    content,
    users,
    organizations,
    spaces,
    git,
    collections,
    move,
    members,
    invites,
    joining,
    teams,
    team_members,
    permissions,
    saml,
    agent_instructions,
    changes,
    documents,
    embeds,
    computed,
    search,
    links,
    templates,
    pdf,
    files,
    change_requests,
    merge_request,
    content_write,
    reviewers,
    reviews,
    comments,
    replies,
    commenters,
    sites,
    section_groups,
    sections,
    site_spaces,
    order,
    redirects,
    customization,
    adaptive,
    published,
    share_links,
    specs,
    conversations,
    ask,
    integrations,
    installations,
    placing,
    event_traces,
    translations,
    published_urls,
    auth_settings,
    site_search,
    insights,
    agent_feedback,
    rendering,
)
OPERATIONS = index_operations(module.router for module in _ROUTER_MODULES)
"""Every operation by its id; applications share them."""
_ROUTES = RouteTable(OPERATIONS.values())
DESCRIPTION = OpenApiDescription(OPERATIONS.values())
_JOB_HANDLERS: Mapping[str, JobHandler] = {
    **spaces.HANDLERS,
    **search_index.HANDLERS,
    **specs.HANDLERS,
    **delivery.HANDLERS,
    **runs.HANDLERS,
    **conversations.HANDLERS,
    **transfer.HANDLERS,
}
"""The handler of each kind of job: `**module.HANDLERS` of every module that has some."""
_DEFAULT = PlatformSettings()
_SPACE_ANSWERS_MAX = 1_000
"""Answers about a space that are remembered, of some hundred bytes each."""


def create_app(storage: Storage, settings: PlatformSettings = _DEFAULT) -> FastAPI:
    """Return the platform as an ASGI application.

    Shape: `app.state` has the `storage`, the `settings`, the `callers`, the `operations` by their ids, the
    `handlers` of its jobs by their kind, and its `scheduler`.
    """
    app = FastAPI(
        title=TITLE,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Each request would ask the environment several times whether somebody listens.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.storage = storage
    app.state.settings = settings
    app.state.callers = Callers(storage)
    app.state.published_sites = PublishedSites(storage, partial(complete_outline, storage))
    app.state.page_memory = PageMemory()
    app.state.site_renderer = SiteRenderer(storage, app.state.published_sites, app.state.page_memory)
    app.state.visit_counts = VisitCounts(storage)
    app.state.space_answers = spaces.SpaceAnswers(_SPACE_ANSWERS_MAX)
    app.state.answer_visit = site_pages.answer_visit
    app.state.resolved_paths = view.ResolvedPathCache(storage)
    app.state.handlers = dict(_JOB_HANDLERS)
    app.state.scheduler = RequestScheduler()
    app.add_middleware(MethodsMiddleware, operations=_ROUTES)
    app.add_middleware(
        RequestLimits, clock=storage.now, admit=app.state.callers.authenticate, per_minute=settings.requests_per_minute
    )
    if settings.origins:
        # Scripts send the token themselves, so credentials that the browser adds (cookies) are not allowed.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Location", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
        )
    failures.install_error_handlers(app, answer_failure)
    app.state.operations = OPERATIONS
    _add_routes(app)
    app.openapi = DESCRIPTION.document  # type: ignore[method-assign]
    return app


def _add_routes(app: FastAPI) -> None:
    """Add all routes. The first ones are compared with every request: those of pages, which are asked for most."""
    app.router.routes.extend(endpoint.list_mcp_routes(SiteTools))
    app.router.routes.append(site_pages.ROUTE)
    app.router.routes.append(_ROUTES)
    for root in (PREFIX, f"{PREFIX}/"):
        app.add_route(root, answer_information, include_in_schema=False)
    app.add_route("/sites/{name}", site_pages.answer_site_root, include_in_schema=False)
    for root in ("/app", "/app/{path:path}"):
        app.router.routes.append(StoppingRoute(root, answer_app, methods=["GET", "POST"], include_in_schema=False))
    app.add_route("/openapi.json", DESCRIPTION.answer, include_in_schema=False)
    app.add_route("/readyz", answer_readiness, include_in_schema=False)
