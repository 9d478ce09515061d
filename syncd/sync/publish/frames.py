"""The frame around the pages of a site: sections, variants, and the looks that the site file declares."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syncd.layout.site.addresses.addresses import Spot
from syncd.layout.site.addresses.follow import find_address
from syncd.layout.site.read.declared import Item
from syncd.model.customization import SiteCustomizationSettings
from syncd.model.ref import ROOT, Ref
from syncd.sync.publish.content import FILES, SiteContent
from syncd.web.pages.customization import read_settings
from syncd.web.pages.shell import SiteFrame, SiteLink


def build_frame(site: SiteContent, name: str, version: str) -> SiteFrame:
    """Return the frame around the pages of a space."""
    variant = site.variants.get(name)
    scope = site.find_scope(name)
    return SiteFrame(
        site.title,
        read_space_settings(site, name),
        files=FILES,
        theme=f"{scope}/theme.css",
        sections=tuple(_list_sections(site, variant)),
        variants=tuple(_list_variants(site, variant)),
        version=version,
        has_other_spaces=len(site.spaces) > 1,
    )


def is_in_navigation(site: SiteContent, name: str) -> bool:
    """Return whether the variant that shows a space is not hidden."""
    variant = site.variants.get(name)
    return variant is None or _is_shown(site, variant)


def find_space_title(site: SiteContent, name: str) -> str:
    """Return what tells a space apart: its section where there are several, and its variant where that has several."""
    variant = site.variants.get(name)
    if variant is None:
        return name
    section = site.site.file.items.get(variant.parent)
    parents = [item.parent for item in site.site.file.of("variant") if _is_shown(site, item)]
    parts = [_find_title(section)] if section is not None and len(set(parents)) > 1 else []
    parts += [_find_title(variant)] if parents.count(variant.parent) > 1 else []
    return " / ".join(parts) or _find_title(section or variant)


def read_space_settings(site: SiteContent, name: str) -> SiteCustomizationSettings:
    """Return how the pages of a space look: the site's customization with what its variant has of its own."""
    leaves: dict[str, Any] = {}
    for item in site.site.file.of("customization"):
        leaves |= item.fields
    variant = site.variants.get(name)
    for item in site.site.file.of("override"):
        if variant is not None and item.key == variant.key and "reset" not in item.fields:
            leaves |= item.fields
    return read_settings(leaves, lambda to: _find_destination(site, to))


def find_spot_address(site: SiteContent, spot: Spot | None) -> str:
    """Return the address of content of the site; "" where there is none."""
    if spot is None or spot.space not in site.spaces:
        return ""
    file = spot.file or site.spaces[spot.space].first_file
    first = site.variants.get(spot.space)
    if first is not None and first.ref == spot.variant:
        return site.find_page_address(spot.space, file)
    return site.site.address(spot.variant, spot.path)


def find_redirect_address(site: SiteContent, name: str, target: str) -> str:
    """Return where a redirect in the `.gitbook.yaml` of a space leads, with its anchor; "" for no page."""
    space, (path, sign, anchor) = site.spaces[name], target.partition("#")
    file = space.find_file(space.draft.settings.add_root(path))
    return site.find_page_address(name, file) + sign + anchor if file is not None and file in space.paths else ""


def _find_destination(site: SiteContent, to: Mapping[str, Any]) -> str:
    match to:
        case {"section": str(section)}:
            return find_spot_address(site, site.site.first_of(Ref.of("section", section)))
        case {"variant": str(variant)}:
            return find_spot_address(site, site.site.first_of(Ref.of("variant", variant)))
        case {"page": str(page), "in": str(variant)}:
            return find_spot_address(site, site.site.page(variant, page))
        case {"raw": {"kind": "space", "space": str(space)}} | {"kind": "space", "space": str(space)}:
            known = site.spaces.get(space)
            return site.find_page_address(space, known.first_file) if known is not None else ""
        case {"kind": "url", "url": str(url)} | {"raw": {"kind": "url", "url": str(url)}}:
            return _lead_from_app(site, url)
        case _:
            return _lead_from_app(site, find_address(to))


def _lead_from_app(site: SiteContent, address: str) -> str:
    """Where an address leads that may be the app's; "" for that of a page that is not for everybody."""
    there = site.find_app_target(address)
    if there is None:
        return address
    return site.find_page_address(*there[:2]) + there[2] if there[1] else ""


def _list_sections(site: SiteContent, variant: Item | None) -> Iterator[SiteLink]:
    """The sections of the site in their order; a group is a menu of its sections."""
    current = variant.parent if variant is not None else ROOT
    below: dict[Ref, list[Item]] = {}
    for item in site.site.file.of("group", "section"):
        below.setdefault(item.parent, []).append(item)
    for item in below.get(ROOT, ()):
        if item.kind == "section":
            yield from _make_sections(site, (item,), current)
            continue
        inner = tuple(_make_sections(site, below.get(item.ref, ()), current))
        if inner:
            is_current = any(one.is_current for one in inner)
            yield SiteLink(_find_title(item), is_current=is_current, links=inner, icon=_find_icon(item))


def _make_sections(site: SiteContent, items: Iterable[Item], current: Ref) -> Iterator[SiteLink]:
    """The sections that have something to show; one whose variants are all for others, or not here, has none."""
    for item in items:
        if item.kind == "section" and (address := _find_section_address(site, item)):
            yield SiteLink(_find_title(item), address, item.ref == current, icon=_find_icon(item))


def _find_section_address(site: SiteContent, section: Item) -> str:
    """Where a section begins: at its default variant, or at the first one whose space is here; "" for nowhere."""
    shown = [item for item in site.site.file.of("variant") if item.parent == section.ref and _is_shown(site, item)]
    addresses = (find_spot_address(site, site.site.first_of(ref)) for ref in (section.ref, *(one.ref for one in shown)))
    return next(filter(None, addresses), "")


def _is_shown(site: SiteContent, variant: Item) -> bool:
    """Whether a variant is not hidden, and the repository has its space."""
    return variant.fields.get("space") in site.spaces and (site.has_hidden or not variant.fields.get("hidden"))


def _find_icon(item: Item) -> str:
    return str(item.fields.get("icon") or "")


def _find_title(item: Item) -> str:
    return str(item.fields.get("title") or item.key.rpartition("/")[2])


def _list_variants(site: SiteContent, variant: Item | None) -> Iterator[SiteLink]:
    """The variants beside the one that is shown."""
    for item in site.site.file.of("variant"):
        if variant is None or item.parent != variant.parent or not (item is variant or _is_shown(site, item)):
            continue
        if address := find_spot_address(site, site.site.first_of(item.ref)):
            yield SiteLink(str(item.fields.get("path") or _find_title(item)), address, item.ref == variant.ref)
