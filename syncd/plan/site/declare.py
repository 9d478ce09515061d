"""The site file that says what a site is now: keys from paths and titles, and every value as the platform has it."""

from collections.abc import Container, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from syncd.layout.site.read.customization import find_leaf, is_agreeing, list_leaves
from syncd.layout.site.read.members import Of, is_importable
from syncd.layout.site.read.visitors import list_claims
from syncd.layout.site.write.exports import format_destination
from syncd.layout.tree.paths import fold_to_ascii
from syncd.model.customization_override import GROUPS
from syncd.model.ref import AREA, AREAS, ROOT, Area
from syncd.plan.site.live_state import ExistingItem, LiveSite
from syncd.plan.site.match.match import KINDS

KEY_MAX = 63
SETTINGS = ("title", "visibility", "basename", "proxy", "adaptive_content", "agents_context")
FILE_MANY = 500
"""Redirects above which they go to a file of their own."""
REDIRECT_FILE = "redirects/imported.csv"
_RESERVED = frozenset({"new"})


@dataclass(frozen=True)
class SiteTitles:
    """Titles that only people need: those of spaces by their id, and those of site-spaces by theirs.

    Shape: `keys` are preferred: of ("group", title), ("section", path) and ("variant", path of its section, path).
    """

    spaces: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[tuple[str, ...], str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeclaredSite:
    """A site file as a document, the redirects that belong in a file of their own, and the key of each item by id."""

    document: Mapping[str, Any]
    redirects: tuple[Mapping[str, Any], ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


def declare_site(
    organization: str, site: str, live: LiveSite, names: SiteTitles, areas: Set[Area] = frozenset(AREAS)
) -> DeclaredSite:
    """Return the file that declares some areas of a live site.

    Shape: keys are unique and made of letters, digits and hyphens; a field without a value is left out; a redirect to
    something that the site does not have any more keeps its destination as it is, in `raw`.
    """
    drawer = _SiteDeclarer(live, names)
    document: dict[str, Any] = {"version": 1, "site": {"org": organization, "id": site}}
    claims = list_claims(live.schema or {}) if "visitors" in areas else {}
    if any(claim.get("type") != "boolean" for claim in claims.values()):
        document["policy"] = {"allow_unshown_types": True}
    if live.hosts:
        document["site"]["hosts"] = [
            "/".join(part for part in (host, base.strip("/")) if part) for host, base in live.hosts
        ]
    structure = drawer.structure()
    if "structure" in areas and drawer.aliases:
        document["spaces"] = dict(drawer.aliases)
    if "settings" in areas:
        document["settings"] = {name: live.site[name] for name in SETTINGS if live.site.get(name) is not None}
    if "visitors" in areas and live.schema is not None:
        document["visitors"] = _group_claims(claims)
    if "structure" in areas and structure:
        document["structure"] = {"items": structure}
    apart: list[Mapping[str, Any]] = []
    if "redirects" in areas:
        redirects = drawer.redirects(resolved="structure" in areas)
        apart = [one for one in redirects if format_destination(one["to"])] if len(redirects) > FILE_MANY else []
        rest = [one for one in redirects if not format_destination(one["to"])] if apart else redirects
        # A list that is empty would say that there shall be none, which nobody has said.
        document |= {"redirects": rest} if rest else {}
        document |= {"redirect_files": [REDIRECT_FILE]} if apart else {}
    if "customization" in areas:
        document["customization"] = drawer.customization(overridden="structure" in areas)
    return DeclaredSite(document, tuple(apart), drawer.keys)


def count_unmanaged(live: LiveSite, areas: Set[Area]) -> dict[str, int]:
    """Return how many items of each kind lie outside of the areas of a site's file."""
    left = [kind for kind in KINDS if AREA[kind] not in areas]
    found: dict[str, int] = {kind: len(live.of(kind)) for kind in left}
    if "customization" in areas:
        said = (name for name, value in list_leaves(live.customization).items() if value not in (None, {}))
        strange = [name for name in said if name != "updatedAt" and not is_importable("customization", name)]
        found["setting that this syncd does not know"] = len(strange)
    return {kind: count for kind, count in found.items() if count}


def make_key(text: str, taken: Container[str], *, fallback: str) -> str:
    """Return a key, made from a path or title, that nothing else has: `[a-z0-9][a-z0-9-]{0,62}`."""
    wanted, number = fold_to_ascii(text)[:KEY_MAX].strip("-") or fold_to_ascii(fallback)[:KEY_MAX].strip("-"), 2
    found = wanted
    while found in taken or found in _RESERVED:
        found = f"{wanted[: KEY_MAX - len(str(number)) - 1]}-{number}"
        number += 1
    return found


def find_own_settings(effective: Mapping[str, Any], site: Mapping[str, Any], titles: Set[str | None]) -> dict[str, Any]:
    """Return the settings of a variant that a file declares as an override, from those that its visitors see.

    Shape: a title that is one of `titles`, or the site's, is not its own; what the platform replaces as a whole, such
    as an announcement, is there as a whole.
    """
    shown = pick_declarable(effective, "override")
    if shown.get("title") in {*titles, site.get("title")}:
        shown.pop("title", None)
    return _find_differing(shown, site)


def pick_declarable(settings: Mapping[str, Any], of: Of) -> dict[str, Any]:
    """Return those of the platform's settings that a file may declare and that have a value."""
    found: dict[str, Any] = {}
    for name, value in list_leaves(settings).items():
        if value is None or value == {} or not is_importable(of, name):
            continue
        here = found
        *parents, last = name.split(".")
        for parent in parents:
            here = here.setdefault(parent, {})
        here[last] = value
    return found


def _find_differing(own: Mapping[str, Any], site: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in own.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and name in GROUPS:
            if below := _find_differing(value, site, here):
                found[name] = below
        elif not is_agreeing(value, find_leaf(site, here)):
            found[name] = value
    return found


class _SiteDeclarer:
    """Writes down one site; `keys` grows with what was written down."""

    def __init__(self, live: LiveSite, names: SiteTitles) -> None:
        self.live, self.names = live, names
        self.keys: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self._alias: dict[str, str] = {}
        self._pages: dict[str, dict[str, str]] = {}

    def structure(self) -> list[dict[str, Any]]:
        """Return the items of the site's root, with all that they hold, and name everything on the way."""
        taken: set[str] = set()
        return [self._item(self.live.items[id], taken) for id in self.live.orders.get(ROOT, ())]

    def _item(self, existing: ExistingItem, taken: set[str]) -> dict[str, Any]:
        if existing.kind == "variant":
            return self._variant(existing, taken)
        title, path = str(existing.fields.get("title") or ""), str(existing.fields.get("path") or "")
        name = path if existing.kind == "section" else title
        key = make_key(self.names.keys.get((existing.kind, name), name), taken, fallback=existing.kind)
        taken.add(key)
        self.keys[existing.id] = key
        below = [self.live.items[id] for id in self.live.orders.get(existing.id, ())]
        if existing.kind == "group":
            return {
                "group": key,
                **_pick_fields(existing, "title", "icon"),
                "items": [self._item(one, taken) for one in below],
            }
        own: set[str] = set()
        variants = [self._variant(one, own, f"{key}/", path) for one in below]
        said = _pick_fields(existing, "title", "path", "icon", "description", "condition")
        return {"section": key, **said, **_pick_flag(existing, "default"), "variants": variants}

    def _variant(self, existing: ExistingItem, taken: set[str], above: str = "", section: str = "") -> dict[str, Any]:
        path = str(existing.fields.get("path") or "")
        key = make_key(self.names.keys.get(("variant", section, path), path), taken, fallback="variant")
        taken.add(key)
        self.keys[existing.id] = above + key
        space = self._name_space(str(existing.fields.get("space") or ""), f"{above}{key}".replace("/", "-"))
        said = _pick_fields(existing, "path", "condition")
        return {
            "variant": key,
            "space": space,
            **said,
            **_pick_flag(existing, "hidden"),
            **_pick_flag(existing, "default"),
        }

    def _name_space(self, space: str, fallback: str) -> str:
        """The alias of a space, from its title, which is declared when it is first met."""
        if space not in self._alias:
            alias = make_key(self.names.spaces.get(space, ""), self.aliases, fallback=fallback)
            self._alias[space] = alias
            self.aliases[alias] = space
        return self._alias[space]

    def redirects(self, *, resolved: bool) -> list[dict[str, Any]]:
        """Return the redirects; ids become keys where the file declares what they stand for."""
        return [
            {
                "from": existing.fields["source"],
                "to": self._to(existing.fields.get("destination") or {}, resolved=resolved),
            }
            for existing in self.live.of("redirect")
        ]

    def _to(self, destination: Mapping[str, Any], *, resolved: bool) -> dict[str, Any]:
        match dict(destination):
            case {"kind": "external", "url": str(url), **rest} if not rest:
                return {"url": url}
            case {"kind": "site-section", "siteSectionId": str(id), **rest} if self._is_declared(id, resolved, rest):
                return {"section": self.keys[id]}
            case {"kind": "site-space", "siteSpaceId": str(id), **rest} if self._is_declared(id, resolved, rest):
                return {"variant": self.keys[id]}
            case {"kind": "site-page", "siteSpaceId": str(id), "pageId": str(page), **rest} if self._is_declared(
                id, resolved, rest
            ):
                path = self._page(str(self.live.items[id].fields.get("space") or ""), page)
                return {"page": path, "in": self.keys[id]} if path else {"raw": dict(destination)}
            case _:
                return {"raw": dict(destination)}

    def _is_declared(self, id: str, resolved: bool, rest: Mapping[str, Any]) -> bool:
        return resolved and id in self.keys and not rest

    def _page(self, space: str, page: str) -> str:
        if space not in self._pages:
            self._pages[space] = {id: path for path, id in self.live.pages.get(space, {}).items()}
        return self._pages[space].get(page, "")

    def customization(self, *, overridden: bool) -> dict[str, Any]:
        """Return the site's settings, and of each variant only what its visitors see differently."""
        found: dict[str, Any] = {"site": self._word_setting(pick_declarable(self.live.customization, "customization"))}
        overrides = {
            self.keys[id]: own
            for id, effective in (self.live.overrides.items() if overridden else ())
            if id in self.keys and (own := self._own(id, effective))
        }
        return found | ({"overrides": overrides} if overrides else {})

    def _own(self, id: str, effective: Mapping[str, Any]) -> dict[str, Any]:
        """What a variant has of its own; a title is its content's unless somebody chose another."""
        titles = {self.names.variants.get(id), self.names.spaces.get(str(self.live.items[id].fields.get("space")))}
        worded: dict[str, Any] = self._word_setting(find_own_settings(effective, self.live.customization, titles))
        return worded

    def _word_setting(self, value: Any) -> Any:
        """Settings in the words of a file: references as redirects have them, no empty members in entries."""
        match value:
            case {"kind": "url", "url": str(url), **rest} if not rest:
                return {"url": url}
            case {"kind": "space", "space": str(space), **rest} if not rest and space in self._shown:
                return {"variant": self._shown[space]}
            case {}:
                return {name: self._word_setting(member) for name, member in value.items()}
            case list():
                return [self._entry(one) if isinstance(one, Mapping) else one for one in value]
            case _:
                return value

    def _entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """An entry of a list; the platform adds the members that it leaves out."""
        return {name: self._word_setting(member) for name, member in entry.items() if member not in (None, {}, [])}

    @cached_property
    def _shown(self) -> Mapping[str, str]:
        """The key of a variant that shows a space, by the space's id; the first of several."""
        variants = [existing for existing in self.live.of("variant") if existing.id in self.keys]
        return {str(existing.fields.get("space")): self.keys[existing.id] for existing in reversed(variants)}


def _group_claims(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Claims by their fields' names, as a file has them."""
    found: dict[str, Any] = {"claims": {}}
    for name, schema in claims.items():
        group, _, claim = name.partition(".")
        found.setdefault(group, {})[claim] = schema
    return found


def _pick_fields(existing: ExistingItem, *names: str) -> dict[str, Any]:
    return {name: existing.fields[name] for name in names if existing.fields.get(name) is not None}


def _pick_flag(existing: ExistingItem, name: str) -> dict[str, bool]:
    return {name: True} if existing.fields.get(name) else {}
