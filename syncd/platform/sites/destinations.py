"""Where redirects lead: the check against the site, and the address that each destination resolves to."""

from typing import Any

from pydantic import TypeAdapter

from syncd.model.redirect import Destination, ToExternal, ToPage, ToPath, ToSection, ToSiteSpace
from syncd.platform.http.failures import Failure
from syncd.platform.sites import site_content
from syncd.platform.sites.structure import SiteView

_ADAPTER: TypeAdapter[ToSection | ToSiteSpace | ToPage | ToExternal] = TypeAdapter(Destination)


def resolve_destination(view: SiteView, destination: dict[str, Any]) -> str | None:
    """Return the address that a redirect's destination leads to, or None when what it names does not exist."""
    structure = view.structure
    match _ADAPTER.validate_python(destination):
        case ToExternal(url=url):
            return url
        case ToSection(site_section_id=id):
            section = structure.find_section(id)
            if section is None or not view.is_granted_section(section):
                return None
            return view.build_address(structure.compute_section_path(section))
        case ToSiteSpace(site_space_id=id):
            variant = structure.find_site_space(id)
            if variant is None or not view.is_granted(variant):
                return None
            return view.build_address(structure.compute_variant_path(variant))
        case ToPage(site_space_id=id, page_id=page_id):
            return _resolve_page(view, id, page_id)


def normalise_destination(
    view: SiteView, destination: ToSection | ToSiteSpace | ToPage | ToExternal | ToPath
) -> dict[str, Any]:
    """Return a destination as it is stored and shown: a path becomes the page that it leads to.

    Raises: Failure 400 when it leads nowhere.
    """
    if isinstance(destination, ToPath):
        destination = _find_page(view, destination)
    kept = destination.wire()
    if resolve_destination(view, kept) is None:
        named = ", ".join(str(value) for name, value in kept.items() if name != "kind")
        raise Failure(400, f"destination: site {view.structure.site.id} has no {kept['kind']} {named}")
    return kept


def _find_page(view: SiteView, path: ToPath) -> ToPage:
    """Of the site-spaces that publish the space, the default ones come first: their pages are those seen most."""
    linked = [row for row in view.structure.site_spaces if row.space == path.space_id]
    variant = min(linked, key=lambda row: not view.structure.is_default(row), default=None)
    if variant is None:
        raise Failure(400, f"destination.spaceId: site {view.structure.site.id} does not publish space {path.space_id}")
    page_id = site_content.find_page_at(view.connection, path.space_id, path.path)
    if page_id is None:
        raise Failure(400, f"destination.path: space {path.space_id} has no page there")
    return ToPage(kind="site-page", site_space_id=variant.id, page_id=page_id)


def _resolve_page(view: SiteView, site_space_id: str, page_id: str) -> str | None:
    variant = view.structure.find_site_space(site_space_id)
    path = None if variant is None else site_content.find_page_path(view.connection, variant.space, page_id)
    if variant is None or path is None or not view.is_granted(variant):
        return None
    return view.build_address("/".join(part for part in (view.structure.compute_variant_path(variant), path) if part))
