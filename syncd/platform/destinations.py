"""Where redirects lead: the variants of `destination`, the check against the site, and the address each resolves to."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, TypeAdapter

from syncd.model.base import Declared
from syncd.platform import site_content
from syncd.platform.failures import Failure
from syncd.platform.structure import View


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or " " in url:
        raise ValueError("must be an http or https address")
    return url


class ToSection(Declared):
    """A section of the site."""

    kind: Literal["site-section"]
    site_section_id: str


class ToSiteSpace(Declared):
    """A site-space of the site."""

    kind: Literal["site-space"]
    site_space_id: str


class ToPage(Declared):
    """A page of a site-space of the site."""

    kind: Literal["site-page"]
    site_space_id: str
    page_id: str


class ToExternal(Declared):
    """An address elsewhere."""

    kind: Literal["external"]
    url: Annotated[str, Field(max_length=2048), AfterValidator(_web_address)]


Destination = Annotated[ToSection | ToSiteSpace | ToPage | ToExternal, Field(discriminator="kind")]
"""Source: API document, SiteRedirect; not-shown.md (b), line 88."""

_ADAPTER: TypeAdapter[ToSection | ToSiteSpace | ToPage | ToExternal] = TypeAdapter(Destination)


def target(view: View, destination: dict[str, Any]) -> str | None:
    """Given a site and a destination, return the address that it leads to, or None when what it names is not there."""
    structure = view.structure
    match _ADAPTER.validate_python(destination):
        case ToExternal(url=url):
            return url
        case ToSection(site_section_id=id):
            section = structure.section(id)
            return None if section is None else view.address(structure.section_path(section))
        case ToSiteSpace(site_space_id=id):
            variant = structure.site_space(id)
            return None if variant is None else view.address(structure.variant_path(variant))
        case ToPage(site_space_id=id, page_id=page_id):
            return _page_target(view, id, page_id)


def check(view: View, destination: dict[str, Any]) -> None:
    """Given a site and a destination, make sure that it leads somewhere. Raises: Failure 400."""
    if target(view, destination) is None:
        named = ", ".join(str(value) for name, value in destination.items() if name != "kind")
        raise Failure(400, f"destination: site {view.structure.site.id} has no {destination['kind']} {named}")


def _page_target(view: View, site_space_id: str, page_id: str) -> str | None:
    variant = view.structure.site_space(site_space_id)
    path = None if variant is None else site_content.page_path(view.connection, variant.space, page_id)
    if variant is None or path is None:
        return None
    return view.address("/".join(part for part in (view.structure.variant_path(variant), path) if part))
