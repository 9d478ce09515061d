"""OpenAPI specifications of an organization."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.openapi_spec import OpenAPISpec, OpenAPISpecCreate, OpenAPISpecPut, OpenAPISpecUpdate


class OpenAPISpecs:
    """Operations on OpenAPI specifications. Source: API document, OpenAPI specifications."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listOpenAPISpecs")
    def list(self, organization: str) -> Iterator[OpenAPISpec]:
        """Return all specifications of an organization."""
        return iterate_list(self._transport, _path(organization), Listing[OpenAPISpec])

    @operation("createOpenAPISpec")
    def create(self, organization: str, spec: OpenAPISpecCreate) -> OpenAPISpec:
        """Create a specification, and return it; the platform processes it later.

        Raises: Rejected when there is one with this slug, AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization), OpenAPISpec, body=spec.wire())

    @operation("getOpenAPISpecBySlug")
    def get(self, organization: str, slug: str) -> OpenAPISpec:
        """Return a specification by its slug. Raises: NotFound."""
        return self._transport.call("GET", (*_path(organization), slug), OpenAPISpec)

    @operation("createOrUpdateOpenAPISpecBySlug")
    def put(self, organization: str, slug: str, spec: OpenAPISpecPut) -> OpenAPISpec:
        """Create a specification, or replace its source, and return it; the platform processes it later."""
        return self._transport.call("PUT", (*_path(organization), slug), OpenAPISpec, body=spec.wire())

    @operation("updateOpenAPISpecBySlug")
    def update(self, organization: str, slug: str, spec: OpenAPISpecUpdate) -> OpenAPISpec:
        """Change who may see a specification, and return it. Raises: NotFound."""
        return self._transport.call("PATCH", (*_path(organization), slug), OpenAPISpec, body=spec.wire())

    @operation("deleteOpenAPISpecBySlug")
    def delete(self, organization: str, slug: str) -> None:
        """Delete a specification; success too when it did not exist."""
        self._transport.delete((*_path(organization), slug))


def _path(organization: str) -> tuple[str, ...]:
    return ("orgs", organization, "openapi")
