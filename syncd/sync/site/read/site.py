"""Read a site: only what its file or its lock speaks of, at most four requests at a time, all of it or an error."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from syncd.api.parallel import run_parallel
from syncd.errors import NotFound
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREA, Area, Ref
from syncd.plan.site.live_state import ExistingItem, LiveSite, SiteLock
from syncd.plan.site.match.first_sections import expect_structure
from syncd.plan.site.match.match import find_matched_ids
from syncd.sync.site.read.parts import SiteReader
from syncd.sync.workspace import Workspace

WORKERS = 4
_DOCUMENTED = frozenset({"site-section"})
_BEYOND = frozenset({"site-space", "site-page", "external"})
"""Kinds of destinations that a platform takes too which offers more than the document."""

Update = Callable[[LiveSite], LiveSite]
Job = Callable[[], Update]
"""Reads something, and returns how a site is with it."""


def read_live(workspace: Workspace, file: SiteFile, lock: SiteLock, *, kinds: frozenset[str] = frozenset()) -> LiveSite:
    """Return what the platform has of what a site file and its lock are about.

    Shape: `kinds` are kinds of redirect destinations that the operator knows the platform takes.
    Raises: PlatformError, Stopped; what could not be read is never read as absent.
    Source: docs/decisions/0005-sites-have-a-lock-file.md.
    """
    reader = SiteReader(workspace.client, file.organization, file.site)
    try:
        live = _run_jobs(LiveSite(), (partial(_AREAS[area], reader) for area in list_areas(file, lock)))
    except NotFound as error:
        raise _explain_absence(reader, file, error) from error
    live = _run_jobs(live, _list_detail_jobs(reader, file, live, lock))
    wanted = _list_spaces(file)
    spaces = {space: why for space, why in live.spaces.items() if space in wanted}
    seen = {str(one.fields["destination"].get("kind", "")) for one in live.of("redirect")} - {""}
    taken = _DOCUMENTED | kinds | seen | (_BEYOND if live.abilities.sort else frozenset())
    return replace(live, spaces=spaces, abilities=replace(live.abilities, kinds=taken))


def read_again(workspace: Workspace, file: SiteFile, live: LiveSite, area: Area) -> LiveSite:
    """Return what was read before with one area as it is now. Raises: as `read_live`."""
    reader = SiteReader(workspace.client, file.organization, file.site)
    jobs = [partial(_AREAS[area], reader)]
    if area == "customization":
        jobs += [partial(_read_override, reader, site_space) for site_space in live.overrides]
    return replace(_run_jobs(live, jobs), spaces=live.spaces)


def list_areas(file: SiteFile, lock: SiteLock) -> tuple[Area, ...]:
    """Return the areas of a site to read, the longest first.

    Shape: the settings always, as they say that the site is there and where. Redirects, claims and the settings of
    variants depend on the structure, and conditions there on the claims. Who may read the site concerns everything on
    it.
    """
    kinds = {ref.kind for ref in lock.items}
    spoken: set[Area] = {"settings", *file.managed, *(area for kind, area in AREA.items() if kind in kinds)}
    spoken |= {"redirects"} if file.absent else set()
    opens = any({"visibility", "adaptive_content"} & item.fields.keys() for item in file.of("site"))
    spoken |= {"structure"} if opens or len(spoken) > 1 else set()
    spoken |= {"visitors"} if spoken & {"structure", "customization"} else set()
    order: tuple[Area, ...] = ("redirects", "structure", "settings", "visitors", "customization")
    return tuple(area for area in order if area in spoken)


def find_variants(file: SiteFile, live: LiveSite, lock: SiteLock) -> Mapping[str, ExistingItem]:
    """Return the variant of each key: as the lock has it, else as the file or its path says."""
    found: dict[str, ExistingItem] = {}
    known = [(ref, entry.id) for ref, entry in lock.items.items()]
    for ref, id in (*known, *find_matched_ids(file, expect_structure(file, live, lock), lock).items()):
        kind, key = ref.kind, ref.key
        if kind in ("variant", "override") and id in live.items:
            found.setdefault(key, live.items[id])
    for one in live.of("variant"):
        section = live.items.get(one.parent)
        prefix = f"{section.fields['path']}/" if section is not None else ""
        found.setdefault(f"{prefix}{one.fields['path']}", one)
    return found


def find_variants_of_pages(value: Any) -> Iterator[str]:
    """Yield the key of each variant of which a value of a site file names a page."""
    if isinstance(value, dict):
        if "page" in value and isinstance(value.get("in"), str):
            yield value["in"]
        for member in value.values():
            if not isinstance(member, str):  # nearly every value
                yield from find_variants_of_pages(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from find_variants_of_pages(member)


def _run_jobs(live: LiveSite, jobs: Iterable[Job]) -> LiveSite:
    for _, found in run_parallel(lambda job: job(), jobs, workers=WORKERS):
        live = found(live)
    return live


def _explain_absence(reader: SiteReader, file: SiteFile, error: NotFound) -> NotFound:
    """What to say when something of a site was not found: most often, it is the site itself."""
    try:
        reader.settings()
    except NotFound:
        where = f"{file.places['site.id']}: " if "site.id" in file.places else ""
        what = f"{where}there is no site {file.site} in organization {file.organization}, or the token may not see it"
        hint = f"organizations: syncd api GET /orgs\nsites of one: syncd api GET /orgs/{file.organization}/sites"
        return NotFound(what, status=error.status, hint=hint)
    return error


def _list_detail_jobs(reader: SiteReader, file: SiteFile, live: LiveSite, lock: SiteLock) -> Iterator[Job]:
    """What can be read once the structure is known: settings of variants, pages that are named, and spaces."""
    named = [ref.key for ref in (*file.items, *lock.items) if ref.kind == "override"]
    keys = dict.fromkeys(
        find_variants_of_pages([item.fields for item in file.of("redirect", "customization", "override")])
    )
    variants = find_variants(file, live, lock) if named or keys else {}
    for site_space in dict.fromkeys(variants[key].id for key in named if key in variants):
        yield partial(_read_override, reader, site_space)
    for space in dict.fromkeys(_find_space(file, variants, key) for key in keys):
        if space:
            yield partial(_read_pages, reader, space)
    if _list_spaces(file) - live.spaces.keys():
        yield partial(_read_spaces, reader, _list_spaces(file) - live.spaces.keys())


def _list_spaces(file: SiteFile) -> set[str]:
    return {*file.spaces.values(), file.holding} - {""}


def _find_space(file: SiteFile, variants: Mapping[str, ExistingItem], key: str) -> str:
    """The space whose pages a variant shows: the declared one, which it may be yet to get, else the one that it has."""
    item = file.items.get(Ref.of("variant", key))
    declared = item.fields.get("space") if item is not None else None
    return str(declared or (variants[key].fields["space"] if key in variants else "") or "")


def _read_settings(reader: SiteReader) -> Update:
    found = reader.settings()
    return lambda live: replace(
        live, site=found.site, hosts=found.hosts, published=found.published, frozen=found.frozen
    )


def _read_structure(reader: SiteReader) -> Update:
    found = reader.structure()

    def add_found(live: LiveSite) -> LiveSite:
        can = replace(live.abilities, sort=found.sorts, reparent=found.sorts)
        redirects = {one.id: one for one in live.of("redirect")}
        spaces = {**live.spaces, **found.spaces}
        return replace(
            live, items={**found.items, **redirects}, orders=found.freeze_orders(), spaces=spaces, abilities=can
        )

    return add_found


def _read_redirects(reader: SiteReader) -> Update:
    redirects = reader.redirects()

    def add_found(live: LiveSite) -> LiveSite:
        others = {one.id: one for one in live.of("group", "section", "variant")}
        return replace(live, items={**others, **redirects})

    return add_found


def _read_visitors(reader: SiteReader) -> Update:
    schema = reader.schema()
    return lambda live: replace(live, schema=schema)


def _read_customization(reader: SiteReader) -> Update:
    settings = reader.customization()
    return lambda live: replace(live, customization=settings)


def _read_override(reader: SiteReader, site_space: str) -> Update:
    settings = reader.override(site_space)
    return lambda live: replace(live, overrides={**live.overrides, site_space: settings})


def _read_pages(reader: SiteReader, space: str) -> Update:
    pages = reader.pages(space)
    if pages is None:
        return lambda live: live
    ids = frozenset(pages.values())
    return lambda live: replace(live, pages={**live.pages, space: pages}, page_ids={**live.page_ids, space: ids})


def _read_spaces(reader: SiteReader, wanted: Iterable[str]) -> Update:
    found = dict(reader.spaces(wanted))
    return lambda live: replace(live, spaces={**live.spaces, **found})


_AREAS: Mapping[Area, Callable[[SiteReader], Update]] = {
    "settings": _read_settings,
    "structure": _read_structure,
    "redirects": _read_redirects,
    "visitors": _read_visitors,
    "customization": _read_customization,
}
