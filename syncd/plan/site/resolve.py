"""What a file declares, in the API's terms: keys become ids, or a Ref to what is yet to be made."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import Ref
from syncd.plan.site.context import Case
from syncd.plan.site.format import quoted

_WORDS = ({"section"}, {"variant"}, {"page", "in"}, {"url"}, {"raw"})
_LINKS = ("to", "primaryLink")


class Unresolved(ValueError):
    """Something that a file names and that neither the platform nor this plan has; the text says what."""


class Away(Unresolved):
    """A destination that somebody deleted on the platform, and that stays away."""

    def __init__(self, ref: Ref) -> None:
        self.ref = ref
        super().__init__(f"{quoted(ref)} was deleted outside syncd")


def structure(case: Case, item: Item) -> dict[str, Any]:
    """Given a declared group, section or variant, return its managed fields, `parent` among them.

    A default that is denied is none: another thing takes it.
    """
    fields = {name: value for name, value in item.fields.items() if name != "default" or value}
    fields["parent"] = case.id(item.parent)
    return {name: value for name, value in fields.items() if not case.ignored(item.ref, name)}


def redirect(case: Case, item: Item) -> dict[str, Any]:
    """Given a declared redirect, return its source and its destination, and for a page also how the file names it.

    Raises: Unresolved for a destination that is nowhere.
    """
    to = item.fields.get("to")
    fields = {"source": item.fields.get("source"), "destination": _destination(case, item, to)}
    if isinstance(to, Mapping) and "page" in to:
        fields["to"] = dict(to)
    return {name: value for name, value in fields.items() if not case.ignored(item.ref, name)}


def leaf(case: Case, value: Any, name: str) -> Any:
    """Given a leaf of a customization, return it with every destination in it as the platform writes it.

    Raises: Unresolved for a destination that is nowhere.
    """
    if name.rpartition(".")[2] in _LINKS and isinstance(value, Mapping):
        return _reference(case, value) if set(value) in _WORDS else dict(value)
    if isinstance(value, Mapping):
        return {key: leaf(case, member, key) for key, member in value.items()}
    return [leaf(case, member, "") for member in value] if isinstance(value, list | tuple) else value


def _destination(case: Case, item: Item, to: Any) -> dict[str, Any]:
    match to:
        case {"section": str(key)}:
            return _allowed(case, {"kind": "site-section", "siteSectionId": _id(case, Ref.of("section", key))})
        case {"variant": str(key)}:
            return _allowed(case, {"kind": "site-space", "siteSpaceId": _id(case, Ref.of("variant", key))})
        case {"page": str(path), "in": str(key)}:
            variant = _id(case, Ref.of("variant", key))
            page = _kept_page(case, item, to) or _page(case, path, key)
            return _allowed(case, {"kind": "site-page", "siteSpaceId": variant, "pageId": page})
        case {"url": str(url)}:
            return _allowed(case, {"kind": "external", "url": url})
        case {"raw": Mapping() as raw}:
            return dict(raw)
    raise Unresolved("it needs exactly one destination: section, variant, page with in, url or raw")


def _allowed(case: Case, destination: dict[str, Any]) -> dict[str, Any]:
    kind = destination["kind"]
    if kind not in case.live.abilities.kinds:
        raise Unresolved(f"destinations of kind {kind} were not seen on this site")
    return destination


def _id(case: Case, ref: Ref) -> Any:
    if ref not in case.file.items and ref not in case.matches.found:
        raise Unresolved(f"{quoted(ref)} is not declared")
    if ref in case.left:
        raise Away(ref)
    if not case.is_there(ref):
        raise Unresolved(f"{quoted(ref)} is not there, and this plan does not make it")
    return case.id(ref)


def space_of(case: Case, key: str) -> str:
    """Given a variant's key, return the id of the space that it is to show. Raises: Unresolved."""
    ref = Ref.of("variant", key)
    _id(case, ref)
    item, thing = case.file.items.get(ref), case.matches.found.get(ref)
    declared = None if item is None else item.fields.get("space")
    return str(declared or (thing.fields.get("space") if thing is not None else "") or "")


def _page(case: Case, path: str, key: str) -> str:
    page = case.live.pages.get(space_of(case, key), {}).get(path.strip("/"))
    if page is None:
        raise Unresolved(f'no page "{path}" in variant "{key}"')
    return page


def _kept_page(case: Case, item: Item, to: Mapping[str, Any]) -> str:
    """The page that the same words stood for when they were last resolved, as long as it exists under any path."""
    base = case.base(item.ref)
    former = base.get("destination")
    if base.get("to") != dict(to) or not isinstance(former, Mapping):
        return ""
    page, space = former.get("pageId"), space_of(case, str(to["in"]))
    if not isinstance(page, str) or page not in case.live.page_ids.get(space, frozenset()):
        return ""
    if case.live.pages.get(space, {}).get(str(to["page"]).strip("/")) != page:
        case.warnings.append(
            f'{case.where(item.ref, "to")}: page "{to["page"]}" has another path now; '
            "the redirect still leads to the same page"
        )
    return page


def _reference(case: Case, to: Mapping[str, Any]) -> dict[str, Any]:
    match to:
        case {"url": str(url)}:
            return {"kind": "url", "url": url}
        case {"page": str(path), "in": str(key)}:
            return {"kind": "page", "page": _page(case, path, key), "space": space_of(case, key)}
        case {"variant": str(key)}:
            return {"kind": "space", "space": space_of(case, key)}
        case {"section": str(key)}:
            return {"kind": "space", "space": space_of(case, _default_of(case, key))}
        case {"raw": Mapping() as raw}:
            return dict(raw)
    raise Unresolved("it needs exactly one destination: section, variant, page with in, url or raw")


def _default_of(case: Case, key: str) -> str:
    """The key of the variant that visitors of a section see first. Raises: Unresolved when none is declared."""
    variants = case.below.get(Ref.of("section", key), [])
    chosen = [item for item in variants if item.fields.get("default")] or variants
    if not chosen:
        raise Unresolved(f'section "{key}" has no declared variant')
    return chosen[0].key
