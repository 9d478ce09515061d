"""Rules of a site file that need the platform, or the lock: what a plan would run into, said where it is declared.

Source: syncd/manual/reference/site-file.md.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from syncd.layout.lint.finding import Finding, Fix
from syncd.layout.lint.suggestions import NearMisses
from syncd.layout.site.addresses.addresses import SiteMap, fold_address
from syncd.layout.site.addresses.graph import list_own_hosts
from syncd.layout.site.check.conditions import check_conditions
from syncd.layout.site.check.file import remove_silenced
from syncd.layout.site.check.redirects import check_chains
from syncd.layout.site.check.structure import NAME_MAX, index_names, quote_name
from syncd.layout.site.read.customization import find_links
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.read.rules import report_finding
from syncd.layout.site.read.visitors import check_removed_claims, list_claims
from syncd.model.ref import ROOT, VISITORS, Area, Kind, Ref
from syncd.model.wording import format_count
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.lockfile.lockfile import find_lock_path
from syncd.plan.site.match.first_sections import expect_structure
from syncd.plan.site.match.match import Matches, match_items

LISTS: tuple[tuple[Area, str, tuple[Kind, ...]], ...] = (
    ("redirects", "redirects", ("redirect",)),
    ("structure", "structure.items", ("section", "group", "variant")),
)
"""Areas whose items syncd may delete, the name of their list, and the kinds in it."""
FEATURES: Mapping[str, tuple[str, ...]] = {
    "sites-redirects": ("redirects", "redirect_files"),
    "sites-sections": ("structure",),
    "sites-multivariant-site": ("structure",),
    "sites-adaptive-content": ("visitors",),
    "sites-basic-customization": ("customization",),
    "sites-advanced-customization": ("customization",),
}
"""Features of a plan, and the parts of a file that need them."""
KINDS: Mapping[str, str] = {"section": "site-section", "variant": "site-space", "page": "site-page", "url": "external"}
"""The kinds of redirect destinations, by the word that a site file has for them."""


def check_live(file: SiteFile, live: LiveSite, lock: SiteLock) -> tuple[Finding, ...]:
    """Return the findings that only the platform and the lock can tell, by place.

    Shape: nothing that `check_site` says as well, and no list that became empty: a plan has a gate for that. Linear in
    what there is.
    """
    return remove_silenced(file, (*_check_former_names(file, lock), *_LiveChecker(file, live, lock).findings()))


def check_lock(file: SiteFile, lock: SiteLock) -> tuple[Finding, ...]:
    """Return findings about former names that are no longer needed, and about lists that became empty.

    Shape: of another site's lock, only that it is one.
    """
    if file.site and lock.site != file.site:
        message = f"the lock beside this file is that of site {lock.site}"
        hint = "correct the id, or take the lock away: git rm " + find_lock_path(file.path)
        return (report_finding("SY503", file.places.get("site.id", Place(file.path)), message, hint),)
    return remove_silenced(file, (*_check_former_names(file, lock), *_check_emptied_lists(file, lock)))


def _check_former_names(file: SiteFile, lock: SiteLock) -> Iterator[Finding]:
    return (_report_done(item) for item in file.items.values() if item.was and _is_done(item, lock))


def _check_emptied_lists(file: SiteFile, lock: SiteLock) -> Iterator[Finding]:
    """Nothing where something was is never taken for the wish to delete it all."""
    owned = Counter(ref.area for ref in lock.items)
    for area, name, kinds in LISTS:
        declared = area in file.managed and name in file.places
        if not declared or file.of(*kinds) or file.policy.find_prune(area) == "never" or file.policy.allow_empty:
            continue
        if owned[area]:
            count = format_count(owned[area], "redirect" if area == "redirects" else "part")
            message = f"{name} is empty, but syncd owns {count}"
            yield report_finding(
                "SY501", file.places[name], message, "set policy.allow_empty: true if that is intended"
            )


def _is_done(item: Item, lock: SiteLock) -> bool:
    entry = lock.items.get(item.ref)
    if entry is None or any(Ref.of(item.kind, name) in lock.items for name in item.was):
        return False
    path = item.fields.get("path")
    return path is None or entry.applied.get("path", path) == path


def _report_done(item: Item) -> Finding:
    fix = Fix(f"take was: out of {item.kind} {item.key}", item.ref, "was")
    message = (
        f"the rename from {', '.join(map(quote_name, item.was))} has been carried out; was: is not needed any more"
    )
    return report_finding("SY109", item.where("was"), message, fix=fix)


class _LiveChecker:
    """Compares one file with one platform."""

    def __init__(self, file: SiteFile, live: LiveSite, lock: SiteLock) -> None:
        self.file, self.live, self.lock = file, expect_structure(file, live, lock), lock
        self.matches: Matches = match_items(file, self.live, lock)

    def findings(self) -> Iterator[Finding]:
        yield from self._spaces()
        yield from self._kinds()
        yield from self._pages()
        yield from self._find_shadowed()
        yield from self._claims()
        yield from self._find_exposed()
        yield from self._frozen()
        yield from self._ways()

    def _spaces(self) -> Iterator[Finding]:
        for alias, id in self.file.spaces.items():
            if why := self.live.spaces.get(id):
                place = self.file.space_places.get(alias, Place(self.file.path))
                message = f"space {quote_name(alias)} cannot be used: {id} {why}"
                yield report_finding("SY108", place, message, "restore it, correct its id, or give the token access")

    def _kinds(self) -> Iterator[Finding]:
        """What is `raw` is passed on as it is: somebody knows better."""
        used = [(item, _find_kind(item.fields.get("to"))) for item in self.file.of("redirect")]
        strange = [(item, kind) for item, kind in used if kind and kind not in self.live.abilities.kinds]
        wanted = ", ".join(f'"{kind}"' for kind in dict.fromkeys(kind for _, kind in strange))
        for item, kind in strange:
            message = f"destinations of kind {kind} were not seen on this site; not every server takes them"
            hint = f"if this one does, write redirect_kinds = [{wanted}] under [repository.site]"
            yield report_finding("SY303", item.where("to"), message, hint)

    def _ways(self) -> Iterator[Finding]:
        """Loops and chains over addresses that only the platform knows."""
        known, all_ = list_own_hosts(self.file), list_own_hosts(self.file, self.live.hosts)
        if set(known) != set(all_):
            yield from set(check_chains(SiteMap(self.file, hosts=all_))) - set(
                check_chains(SiteMap(self.file, hosts=known))
            )

    def _pages(self) -> Iterator[Finding]:
        near: dict[str, NearMisses] = {}
        for item, to, place in self._to_pages():
            page, variant = to["page"], to["in"]
            space = self._space_of(variant)
            known = self.live.pages.get(space)
            if known is None or page.strip("/") in known or self._is_kept(item, to, space):
                continue
            if space not in near:
                near[space] = index_names(known)
            closest = near[space].find(page.strip("/")) if len(page) <= NAME_MAX else None
            message = f"no page {quote_name(page)} in {variant}" + (f"; closest: {closest}" if closest else "")
            yield report_finding("SY304", place, message)

    def _to_pages(self) -> Iterator[tuple[Item, Mapping[str, Any], Place]]:
        """Every page that the file names, with its variant."""
        for item in self.file.of("redirect"):
            to = item.fields.get("to")
            if _is_page(to):
                yield item, to, item.places.get("to.page", item.where("to"))
        for item in self.file.of("customization", "override"):
            for to, place in find_links(item):
                if _is_page(to):
                    yield item, to, place

    def _space_of(self, variant: str) -> str:
        ref = Ref.of("variant", variant)
        item, existing = self.file.items.get(ref), self.matches.found.get(ref)
        declared = item.fields.get("space") if item is not None else None
        return str(declared or (existing.fields.get("space") if existing is not None else "") or "")

    def _is_kept(self, item: Item, to: Mapping[str, Any], space: str) -> bool:
        """Whether these words were resolved before, and the page is still there under another path."""
        entry = self.matches.entry(self.lock, item.ref)
        if entry is None or entry.applied.get("to") != to:
            return False
        former = entry.applied.get("destination")
        page = former.get("pageId") if isinstance(former, Mapping) else None
        return page in self.live.page_ids.get(space, ())

    def _find_shadowed(self) -> Iterator[Finding]:
        """Redirects whose source will be content once this file is applied, and is not declared in it."""
        strangers = {Ref.of(existing.kind, existing.id): existing for existing in self.live.of("section", "variant")}
        strangers = {ref: existing for ref, existing in strangers.items() if existing.id not in self.matches.refs}
        whole = {**self.file.items, **{ref: self._as_item(existing) for ref, existing in strangers.items()}}
        pages = {
            space: {fold_address(path): id for path, id in known.items()} for space, known in self.live.pages.items()
        }
        site = SiteMap(replace(self.file, items=whole), pages=pages)
        for item in self.file.of("redirect"):
            source = item.fields.get("source")
            spot = site.at(site.inner(source) or "") if isinstance(source, str) and "//" not in source else None
            if spot is None or not spot.is_known or (not spot.path and spot.variant in self.file.items):
                continue
            variant = whole[spot.variant]
            where = f"variant {variant.key}" if spot.variant in self.file.items else "a variant that is not declared"
            what = f"the page {spot.path} of {where}" if spot.path else f"where visitors read {where}"
            yield report_finding("SY307", item.where("source"), f"{source} is {what}; this redirect will not run")

    def _as_item(self, existing: Any) -> Item:
        """Something that the file does not declare, as if it did."""
        parent = self.matches.refs.get(existing.parent, Ref.of("section", existing.parent) if existing.parent else ROOT)
        return Item(existing.kind, existing.id, existing.fields, Place(self.file.path), parent=parent)

    def _claims(self) -> Iterator[Finding]:
        """Conditions by the platform's claims where the file declares none; else claims that may not go yet."""
        item = self.file.items.get(VISITORS)
        if item is None:
            if self.live.schema is not None:
                yield from set(check_conditions(self.file, self.live.schema)) - set(check_conditions(self.file))
            return
        entry = self.lock.items.get(VISITORS)
        owned = entry.applied.keys() if entry is not None else set()
        there = list_claims(self.live.schema or {})
        gone = [name for name in there if item.fields.get(name) is None and (name in owned or name in item.fields)]
        yield from check_removed_claims(gone, self._conditions(), item.place)

    def _conditions(self) -> Iterator[tuple[str, str]]:
        """The conditions that sections and variants have once this file is applied."""
        for existing in self.live.of("section", "variant"):
            item = self.file.items.get(self.matches.refs.get(existing.id, ROOT))
            managed = item is not None and "condition" in item.fields
            text = item.fields["condition"] if item is not None and managed else existing.fields.get("condition")
            if isinstance(text, str):
                yield (item.key if item is not None else str(existing.fields.get("path"))), text

    def _find_exposed(self) -> Iterator[Finding]:
        for item in self.file.of("section", "variant") if not self.file.holding else ():
            if item.fields.get("condition") and item.ref not in self.matches.found:
                message = f"{item.kind} {quote_name(item.key)} would be seen by everybody until its condition is set"
                hint = "name an empty space as structure.holding_space; without one, the plan needs an approval"
                yield report_finding("SY501", item.where("condition"), message, hint, severity="warning")

    def _frozen(self) -> Iterator[Finding]:
        """Parts of the file that the platform may refuse, as the site's plan there has frozen what they need."""
        for feature in sorted(self.live.frozen & FEATURES.keys()):
            for name in FEATURES[feature]:
                if name in self.file.places:
                    message = f"the site's plan has frozen {feature}, so the platform may refuse this"
                    yield report_finding("SY504", self.file.places[name], message)


def _is_page(to: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(to, Mapping) and isinstance(to.get("page"), str) and isinstance(to.get("in"), str)


def _find_kind(to: Any) -> str:
    return next((KINDS[word] for word in KINDS if word in to), "") if isinstance(to, Mapping) else ""
