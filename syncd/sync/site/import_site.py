"""Take a site over as it is: read it whole, write the file that declares it, and prove that nothing would change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import dirname, join
from typing import Any

from syncd.api.parallel import run_parallel
from syncd.errors import ConfigInvalid, FileInvalid, NotFound
from syncd.layout.lint.finding import Finding
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.write.emit import emit_site_file
from syncd.layout.site.write.exports import render_csv
from syncd.layout.site.write.imports import ImportedFile, Remark
from syncd.model.redirect import make_source_key
from syncd.model.ref import AREAS, Area, Ref
from syncd.model.text import join_lines
from syncd.plan.site.call import Call
from syncd.plan.site.compose import plan_site
from syncd.plan.site.declare import REDIRECT_FILE, DeclaredSite, SiteTitles, count_unmanaged, declare_site
from syncd.plan.site.live_state import LiveSite, LockEntry, SiteLock
from syncd.plan.site.online import check_live
from syncd.plan.site.steps import SitePlan
from syncd.sync.site.read.foreign_files import ForeignFile, LivePages
from syncd.sync.site.read.parts import SiteReader
from syncd.sync.site.read.site import WORKERS, read_live
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class ImportTarget:
    """Which site is taken over, and into which file; `foreign` is a file of another tool, about the same site."""

    organization: str
    site: str
    path: str
    areas: frozenset[Area] = frozenset(AREAS)
    foreign: ForeignFile | None = None


@dataclass(frozen=True)
class SiteImport:
    """A site that was taken over.

    Shape: `files` are texts by their path from the repository's root; `plan` is what would still change, which is
    nothing but `further`, the redirects from elsewhere, when all went well; `outside` counts what the file leaves out;
    `remarks` say what of the other tool's file was not taken.
    """

    file: SiteFile
    files: Mapping[str, str]
    lock: SiteLock
    plan: SitePlan
    findings: tuple[Finding, ...] = ()
    outside: Mapping[str, int] = field(default_factory=dict)
    further: frozenset[Ref] = frozenset()
    remarks: tuple[Remark, ...] = ()

    @property
    def errors(self) -> int:
        """How many errors the file has: nothing of it can be applied while there is one."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def unexpected(self) -> bool:
        """Whether the plan has more to do than to make the further redirects, or needs a person for more."""
        steps, blocked = self.plan.steps, self.plan.select_lines("blocked")
        return not {*(step.ref for step in steps), *(line.ref for line in blocked)} <= self.further


def import_site(workspace: Workspace, target: ImportTarget) -> SiteImport:
    """Return the file and the lock that declare a site as it is; nothing is written anywhere.

    Raises: PlatformError; FileInvalid when the site holds what no file may say.
    Source: syncd/manual/how-to/site.md, "Start from the site that you have".
    """
    live, names = read_site(workspace, target)
    foreign = target.foreign
    if foreign is not None and foreign.is_structure:
        names = replace(names, keys=foreign.keys())
    drawn = declare_site(target.organization, target.site, live, names, target.areas)
    taken = _import_foreign(workspace, target, drawn, live) if foreign is not None else ImportedFile()
    files, further = _render_files(drawn, target, taken)
    file, findings = _read_file(files, target)
    again = read_live(workspace, file, SiteLock(target.site))
    plan = plan_site(file, again, SiteLock(target.site))
    lock = adopt_all(plan, SiteLock(target.site))
    return SiteImport(
        file,
        files,
        lock,
        plan_site(file, again, lock),
        (*findings, *check_site(file), *check_live(file, again, lock)),
        count_unmanaged(live, target.areas),
        further,
        taken.remarks,
    )


def _read_file(files: Mapping[str, str], target: ImportTarget) -> tuple[SiteFile, tuple[Finding, ...]]:
    file, findings = read_site_file(files[target.path], path=target.path, others=files)
    if file is None:
        raise FileInvalid("the site holds what no file can say", path=target.path, hint=str(findings[:1]))
    return file, findings


def _import_foreign(workspace: Workspace, target: ImportTarget, drawn: DeclaredSite, live: LiveSite) -> ImportedFile:
    """What the other tool's file says of redirects, and what of it cannot be taken."""
    assert target.foreign is not None
    file, _ = _read_file(_render_files(drawn, target, ImportedFile())[0], target)
    reader = SiteReader(workspace.client, target.organization, target.site)
    return target.foreign.import_for(SiteMap(file, LivePages(reader), live.hosts), reader.page_files)


def _render_files(
    drawn: DeclaredSite, target: ImportTarget, taken: ImportedFile
) -> tuple[dict[str, str], frozenset[Ref]]:
    """The files by their paths, and the refs of the redirects from elsewhere that the site does not have."""
    document = dict(drawn.document)
    known = {make_source_key(one["from"]) for one in (*document.get("redirects", ()), *drawn.redirects)}
    more = [one for one in taken.document.get("redirects", ()) if make_source_key(one["from"]) not in known]
    if more:
        document["redirects"] = [*document.get("redirects", ()), *more]
    files = {target.path: emit_site_file(document)}
    if drawn.redirects:
        files[join(dirname(target.path), REDIRECT_FILE)] = render_csv(drawn.redirects)
    return files, frozenset(Ref.of("redirect", make_source_key(one["from"])) for one in more)


def read_site(workspace: Workspace, target: ImportTarget) -> tuple[LiveSite, SiteTitles]:
    """Return everything of a site that a file can declare in the target's areas, and the titles that people see.

    Raises: PlatformError.
    """
    bare = SiteFile(target.path, target.organization, target.site, managed=target.areas)
    live = read_live(workspace, bare, SiteLock(target.site))
    reader = SiteReader(workspace.client, target.organization, target.site)
    variants = [item.id for item in live.of("variant")] if "customization" in target.areas else []
    spaces = _list_spaces_with_pages(live) if {"redirects", "structure"} <= target.areas else []
    pages = {space: found for space, found in run_parallel(reader.pages, spaces, workers=WORKERS) if found is not None}
    live = replace(live, overrides=dict(run_parallel(reader.override, variants, workers=WORKERS)), pages=pages)
    titles: dict[str, str] = {}
    own: dict[str, str] = {}
    for one in workspace.client.site_spaces.list(target.organization, target.site):
        own[one.id] = one.title
        if one.space is not None:
            titles[one.space.id] = one.space.title or one.title
    return live, SiteTitles(titles, own)


def adopt_all(plan: SitePlan, lock: SiteLock) -> SiteLock:
    """Return a lock with everything that a plan adopts as it is."""
    entries = {
        step.ref: LockEntry(str(step.id), "adopted", step.applied)
        for step in plan.steps
        if step.call is Call.ADOPT and isinstance(step.id, str)
    }
    return replace(lock, serial=lock.serial + 1, items={**lock.items, **entries})


def choose_site(workspace: Workspace, organization: str, site: str) -> tuple[str, str]:
    """Return the ids of an organization and a site; one that is "" is found where there is only one to choose.

    Raises: ConfigInvalid that lists what there is to choose from.
    """
    client = workspace.client
    if not organization:
        found = [(one.id, one.title) for one in client.organizations.list()]
        organization = _choose_only(found, "organization", "--org")
    if not site:
        try:
            sites = [(one.id, one.title) for one in client.sites.list(organization)]
        except NotFound as error:
            what = f"there is no organization {organization}, or the token may not see it"
            raise ConfigInvalid(what, hint="those that it sees: syncd api GET /orgs") from error
        site = _choose_only(sites, "site", "--site")
    return organization, site


def _choose_only(found: Sequence[tuple[str, str]], noun: str, option: str) -> str:
    if len(found) == 1:
        return found[0][0]
    if not found:
        raise ConfigInvalid(f"this token sees no {noun}", hint=f"name it with {option}, or use another token")
    listed = "\n".join(f"{id}  {join_lines(title)}" for id, title in found[:20])
    raise ConfigInvalid(
        f"there are {len(found)} {noun}s; which one is meant?", hint=f"name it with {option}:\n{listed}"
    )


def _list_spaces_with_pages(live: LiveSite) -> list[str]:
    """The spaces of variants to whose pages redirects lead."""
    named = {
        item.fields["destination"].get("siteSpaceId") for item in live.of("redirect") if _leads_to_page(item.fields)
    }
    spaces = {str(item.fields["space"]) for item in live.of("variant") if item.id in named and item.fields["space"]}
    return sorted(spaces)


def _leads_to_page(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("destination"), Mapping) and fields["destination"].get("kind") == "site-page"
