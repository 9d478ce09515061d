"""The application: every router of the platform, one shape of error, limits, and the OpenAPI document."""

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

import syncd
from syncd.platform import (
    change_requests,
    content,
    content_write,
    failures,
    files,
    organizations,
    redirects,
    sections,
    site_spaces,
    sites,
    spaces,
    users,
)
from syncd.platform.auth import Callers
from syncd.platform.limits import Limits
from syncd.platform.storage import Storage

_ROOMS = (
    users,
    organizations,
    spaces,
    content,
    files,
    change_requests,
    content_write,
    sites,
    sections,
    site_spaces,
    redirects,
)


def create_app(storage: Storage, *, requests_per_minute: int | None = None) -> FastAPI:
    """Given a storage, return the platform as an ASGI application; `app.state.storage` is the storage.

    `requests_per_minute` limits each token; None sends the rate headers with generous numbers and never refuses.
    """
    app = FastAPI(
        title="syncd platform",
        version=syncd.__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    app.state.storage = storage
    app.state.callers = Callers(storage)
    app.add_middleware(Limits, clock=storage.now, per_minute=requests_per_minute)
    failures.install(app)
    for room in _ROOMS:
        app.include_router(room.router, prefix="/v1")
    return app


def _operation_id(route: APIRoute) -> str:
    # A handler is named as its operation is in the API document: `list_site_redirects` is `listSiteRedirects`.
    return to_camel(route.name)
