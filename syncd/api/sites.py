"""Sites: how spaces are published, to whom, and in which order."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.adaptive import SiteAdaptiveSchema, SiteAdaptiveSchemaWrite, TemplateCondition, TemplateConditions
from syncd.model.listing import Listing
from syncd.model.published_site import PublishedContentSite
from syncd.model.site import Site, SiteCreate, SiteStructure, SiteUpdate, StructureItem, StructureSort


class Sites:
    """Operations on sites. Source: API document, Docs sites."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSites")
    def list(
        self,
        organization: str,
        *,
        space: str | None = None,
        title: str | None = None,
        published: bool | None = None,
    ) -> Iterator[Site]:
        """Return the sites of an organization, filtered by whatever is given."""
        params = {"space": space, "title": title, "published": published}
        return iterate_list(self._transport, ("orgs", organization, "sites"), Listing[Site], params=params)

    @operation("getSiteById")
    def get(self, organization: str, site: str) -> Site:
        """Return a site."""
        return self._transport.call("GET", _path(organization, site), Site)

    @operation("createSite")
    def create(self, organization: str, site: SiteCreate) -> Site:
        """Create a site, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "sites"), Site, body=site.wire())

    @operation("updateSiteById")
    def update(self, organization: str, site: str, update: SiteUpdate) -> Site:
        """Change a site, and return it."""
        return self._transport.call("PATCH", _path(organization, site), Site, body=update.wire())

    @operation("deleteSiteById")
    def delete(self, organization: str, site: str) -> None:
        """Delete a site with its structure; success too when it did not exist."""
        self._transport.delete(_path(organization, site))

    @operation("publishSite")
    def publish(self, organization: str, site: str) -> Site:
        """Open a site to the audience of its visibility (beyond the API document: @gitbook/api 0.202.0)."""
        return self._transport.call("POST", _path(organization, site, "publish"), Site)

    @operation("unpublishSite")
    def unpublish(self, organization: str, site: str) -> Site:
        """Close a site to visitors (beyond the API document: @gitbook/api 0.202.0)."""
        return self._transport.call("POST", _path(organization, site, "unpublish"), Site)

    @operation("getPublishedContentSite")
    def get_published(self, organization: str, site: str, *, share_key: str | None = None) -> PublishedContentSite:
        """Return all that is needed to serve a site. Raises: NotFound while it is not published."""
        path, params = _path(organization, site, "published"), {"shareKey": share_key}
        return self._transport.call("GET", path, PublishedContentSite, params=params)

    @operation("getSiteStructure")
    def get_structure(self, organization: str, site: str, *, share_key: str | None = None) -> SiteStructure:
        """Return all parts of a site in their order (beyond the API document: @gitbook/api 0.202.0)."""
        path, params = _path(organization, site, "structure"), {"shareKey": share_key}
        return self._transport.call("GET", path, SiteStructure, params=params)

    @operation("sortSiteStructure")
    def sort_structure(self, organization: str, site: str, sort: StructureSort) -> StructureItem:
        """Move a part of a site between two siblings, and return it (beyond the document)."""
        path = _path(organization, site, "structure", "sort")
        return self._transport.call("PATCH", path, StructureItem, body=sort.wire())

    @operation("getSiteAdaptiveSchema")
    def get_adaptive_schema(self, organization: str, site: str) -> SiteAdaptiveSchema:
        """Return the schema of a site's visitors. Raises: NotFound when it has none."""
        return self._transport.call("GET", _path(organization, site, "adaptive-schema"), SiteAdaptiveSchema)

    @operation("updateSiteAdaptiveSchema")
    def update_adaptive_schema(
        self, organization: str, site: str, schema: SiteAdaptiveSchemaWrite
    ) -> SiteAdaptiveSchema:
        """Replace the JSON Schema of a site's visitors, and return what is stored of it."""
        path = _path(organization, site, "adaptive-schema")
        return self._transport.call("PUT", path, SiteAdaptiveSchema, body=schema.wire())

    @operation("listSiteAdaptiveTemplateConditions")
    def list_template_conditions(self, organization: str, site: str) -> tuple[TemplateCondition, ...]:
        """Return the conditions that the schema of a site's visitors suggests."""
        path = _path(organization, site, "adaptive-schema", "template-conditions")
        return self._transport.call("GET", path, TemplateConditions).items


def _path(organization: str, site: str, *rest: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, *rest)
