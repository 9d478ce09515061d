"""What a file declares, in the API's terms: keys become ids, or an IdOf for what is yet to be made."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import Ref
from syncd.plan.site.format import quote_ref
from syncd.plan.site.sides import Sides
from syncd.plan.site.structure.decisions import Structure

_WORDS = ({"section"}, {"variant"}, {"page", "in"}, {"url"}, {"raw"})
_LINKS = ("to", "primaryLink")


class Unresolved(ValueError):
    """Something that a file names and that neither the platform nor this plan has; the text says what."""


class Away(Unresolved):
    """A destination that somebody deleted on the platform, and that stays away."""

    def __init__(self, ref: Ref) -> None:
        self.ref = ref
        super().__init__(f"{quote_ref(ref)} was deleted outside syncd")


def resolve_part(sides: Sides, item: Item) -> dict[str, Any]:
    """Return the managed fields of a declared group, section or variant, `parent` among them.

    A field `default` that is false is left out: another item becomes the default.
    """
    fields = {name: value for name, value in item.fields.items() if name != "default" or value}
    fields["parent"] = sides.find_id(item.parent)
    return {name: value for name, value in fields.items() if not sides.is_ignored(item.ref, name)}


def resolve_redirect(sides: Sides, structure: Structure, item: Item) -> dict[str, Any]:
    """Return the source and destination of a declared redirect, and for a page also how the file names it.

    Raises: Unresolved for a destination that is nowhere.
    """
    to = item.fields.get("to")
    fields = {"source": item.fields.get("source"), "destination": _resolve_destination(sides, structure, item, to)}
    if isinstance(to, Mapping) and "page" in to:
        fields["to"] = dict(to)
    if item.ref not in sides.matches.found:
        return fields  # a redirect that is yet to be created needs all of its fields
    return {name: value for name, value in fields.items() if not sides.is_ignored(item.ref, name)}


def warn_of_moved_page(sides: Sides, structure: Structure, item: Item) -> str:
    """Return a warning when the page of a declared redirect has another path than the file says, or ""."""
    to = item.fields.get("to")
    if not isinstance(to, Mapping) or not {"page", "in"} <= to.keys():
        return ""
    try:
        page, space = _find_kept_page(sides, structure, item, to), find_space(sides, structure, str(to["in"]))
    except Unresolved:
        return ""
    if not page or sides.existing.pages.get(space, {}).get(str(to["page"]).strip("/")) == page:
        return ""
    where = sides.locate(item.ref, "to")
    return f'{where}: page "{to["page"]}" has another path now; the redirect still leads to the same page'


def resolve_setting(sides: Sides, structure: Structure, value: Any, name: str) -> Any:
    """Return a leaf of a customization with every destination in it as the platform writes it.

    Raises: Unresolved for a destination that is nowhere.
    """
    if name.rpartition(".")[2] in _LINKS and isinstance(value, Mapping):
        return _resolve_link(sides, structure, value) if set(value) in _WORDS else dict(value)
    if isinstance(value, Mapping):
        return {key: resolve_setting(sides, structure, member, key) for key, member in value.items()}
    return (
        [resolve_setting(sides, structure, member, "") for member in value]
        if isinstance(value, list | tuple)
        else value
    )


def _resolve_destination(sides: Sides, structure: Structure, item: Item, to: Any) -> dict[str, Any]:
    match to:
        case {"section": str(key)}:
            return _require_kind(
                sides, {"kind": "site-section", "siteSectionId": _find_id(sides, structure, Ref.of("section", key))}
            )
        case {"variant": str(key)}:
            return _require_kind(
                sides, {"kind": "site-space", "siteSpaceId": _find_id(sides, structure, Ref.of("variant", key))}
            )
        case {"page": str(path), "in": str(key)}:
            variant = _find_id(sides, structure, Ref.of("variant", key))
            page = _find_kept_page(sides, structure, item, to) or _find_page(sides, structure, path, key)
            return _require_kind(sides, {"kind": "site-page", "siteSpaceId": variant, "pageId": page})
        case {"url": str(url)}:
            return _require_kind(sides, {"kind": "external", "url": url})
        case {"raw": Mapping() as raw}:
            return dict(raw)
    raise Unresolved("it needs exactly one destination: section, variant, page with in, url or raw")


def _require_kind(sides: Sides, destination: dict[str, Any]) -> dict[str, Any]:
    kind = destination["kind"]
    if kind not in sides.existing.abilities.kinds:
        raise Unresolved(f"destinations of kind {kind} were not seen on this site")
    return destination


def _find_id(sides: Sides, structure: Structure, ref: Ref) -> Any:
    if ref not in sides.desired.items and ref not in sides.matches.found:
        raise Unresolved(f"{quote_ref(ref)} is not declared")
    if ref in structure.remote.left:
        raise Away(ref)
    if not structure.is_present(sides, ref):
        raise Unresolved(f"{quote_ref(ref)} is not there, and this plan does not make it")
    return sides.find_id(ref)


def find_space(sides: Sides, structure: Structure, key: str) -> str:
    """Return the id of the space that a variant is to show. Raises: Unresolved."""
    ref = Ref.of("variant", key)
    _find_id(sides, structure, ref)
    item, existing = sides.desired.items.get(ref), sides.matches.found.get(ref)
    declared = None if item is None else item.fields.get("space")
    return str(declared or (existing.fields.get("space") if existing is not None else "") or "")


def _find_page(sides: Sides, structure: Structure, path: str, key: str) -> str:
    page = sides.existing.pages.get(find_space(sides, structure, key), {}).get(path.strip("/"))
    if page is None:
        raise Unresolved(f'no page "{path}" in variant "{key}"')
    return page


def _find_kept_page(sides: Sides, structure: Structure, item: Item, to: Mapping[str, Any]) -> str:
    """The page that the same words stood for when they were last resolved, as long as it exists under any path."""
    base = sides.find_base(item.ref)
    former = base.get("destination")
    if base.get("to") != dict(to) or not isinstance(former, Mapping):
        return ""
    page, space = former.get("pageId"), find_space(sides, structure, str(to["in"]))
    if not isinstance(page, str) or page not in sides.existing.page_ids.get(space, frozenset()):
        return ""
    return page


def _resolve_link(sides: Sides, structure: Structure, to: Mapping[str, Any]) -> dict[str, Any]:
    match to:
        case {"url": str(url)}:
            return {"kind": "url", "url": url}
        case {"page": str(path), "in": str(key)}:
            return {
                "kind": "page",
                "page": _find_page(sides, structure, path, key),
                "space": find_space(sides, structure, key),
            }
        case {"variant": str(key)}:
            return {"kind": "space", "space": find_space(sides, structure, key)}
        case {"section": str(key)}:
            return {"kind": "space", "space": find_space(sides, structure, _find_default(sides, key))}
        case {"raw": Mapping() as raw}:
            return dict(raw)
    raise Unresolved("it needs exactly one destination: section, variant, page with in, url or raw")


def _find_default(sides: Sides, key: str) -> str:
    """The key of the variant that visitors of a section see first. Raises: Unresolved when none is declared."""
    variants = sides.children.get(Ref.of("section", key), [])
    chosen = [item for item in variants if item.fields.get("default")] or variants
    if not chosen:
        raise Unresolved(f'section "{key}" has no declared variant')
    return chosen[0].key
