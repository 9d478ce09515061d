"""Site: the redirects of a site follow a file on the tracked branch."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncd.errors import AnswerLost, ConfigInvalid, FileInvalid, StalePlan
from syncd.layout.site_file import DeclaredRedirect, SiteFile, parse_site_file, source_key
from syncd.model.page import Page, walk
from syncd.model.redirect import SiteRedirect, SiteRedirectWrite
from syncd.model.site import SiteSection, SiteSpace
from syncd.plan.change import Change, Plan
from syncd.plan.guard import guard_deletions
from syncd.plan.redirects import DesiredRedirect, RedirectPolicy, plan_redirects
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.tables import text_at
from syncd.sync.workspace import Workspace

LOCK = "site.lock.json"
_SITE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class SitePlan:
    """What a site file asks of the platform now, and what the lock knows."""

    file: SiteFile
    plan: Plan
    lock: Mapping[str, Mapping[str, str]]
    existing: Mapping[str, SiteRedirect]


def plan_site(workspace: Workspace, branch: str, path: str) -> SitePlan:
    """Given the branch and path of a site file, return the plan; nothing is written.

    Raises: FileInvalid with the place of the mistake; ConfigInvalid when there is no such file; the guards' errors.
    """
    commit = workspace.repository.resolve(f"refs/heads/{branch}")
    text = text_at(workspace.repository, commit, path)
    if text is None:
        raise ConfigInvalid(
            f"there is no {path} on branch {branch}", hint=f"commit {path}, or take `site` out of the configuration"
        )
    file = parse_site_file(text, at=path)
    if not _SITE_ID.fullmatch(file.site):
        raise FileInvalid(f"site.id {file.site!r} is no site id", path=path)
    lock = read_lock(workspace, file.site)
    if not file.managed and not file.absent:
        return SitePlan(file, Plan(), lock, {})
    existing = list(workspace.client.redirects.list(file.organization, file.site))
    desired = list(_Resolver(workspace, file, path).resolved())
    owned = {key: item["id"] for key, item in lock.items()}
    policy = RedirectPolicy(file.prune if file.managed else "never", file.allow_empty, file.absent)
    plan = plan_redirects(desired, existing, owned, policy=policy)
    return SitePlan(file, plan, lock, {source_key(redirect.source): redirect for redirect in existing})


def apply_site(workspace: Workspace, site: SitePlan, *, expect: str = "") -> Outcome:
    """Given a plan, carry it out and record what syncd owns; `expect` is the digest of the plan that was approved.

    Raises: StalePlan, TooMuch; what was done before an error stays recorded.
    """
    if expect and expect != site.plan.digest():
        raise StalePlan(
            f"the plan is {site.plan.digest()} now, not {expect}; nothing was applied", hint="read it: syncd site plan"
        )
    if not site.plan:
        return Unchanged()
    deleted = [change.key for change in site.plan.only("delete")]
    remain = len(site.existing) - len(deleted) + len(site.plan.only("create"))
    guard_deletions("redirects", deleted, len(site.existing), remain=remain, force=workspace.force)
    lock = {key: dict(item) for key, item in site.lock.items()}
    try:
        for change in site.plan.changes:
            _carry_out(workspace, site.file, change, lock)
    finally:
        write_lock(workspace, site.file.site, lock, before=site.lock)
    return Applied(site.plan.changes)


def read_lock(workspace: Workspace, site: str) -> dict[str, dict[str, str]]:
    """Given a site, return what syncd owns there: redirect keys to their id and how they came to be owned."""
    text = text_at(workspace.repository, workspace.repository.resolve(_lock_ref(site)), LOCK)
    if text is None:
        return {}
    items = json.loads(text)["items"]
    return {key.removeprefix("redirect:"): item for key, item in items.items() if key.startswith("redirect:")}


def write_lock(
    workspace: Workspace, site: str, lock: Mapping[str, Mapping[str, str]], *, before: Mapping[str, Any]
) -> None:
    """Given what syncd owns on a site, commit it to the site's own ref: Git keeps every earlier state."""
    if lock == before:
        return
    lines = [f"    {json.dumps('redirect:' + key)}: {json.dumps(lock[key], sort_keys=True)}" for key in sorted(lock)]
    text = f'{{\n  "version": 1,\n  "site": {json.dumps(site)},\n  "items": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    workspace.repository.anchor(_lock_ref(site), {LOCK: text.encode()}, f"Own {len(lock)} redirects of {site}\n")


def _lock_ref(site: str) -> str:
    return f"refs/syncd/site/{site}"


def _carry_out(workspace: Workspace, file: SiteFile, change: Change, lock: dict[str, dict[str, str]]) -> None:
    redirects, key = workspace.client.redirects, source_key(change.key)
    match change.verb:
        case "create":
            made = _create(workspace, file, SiteRedirectWrite.model_validate(change.after))
            lock[key] = {"id": made.id, "by": "created"}
        case "update":
            body = SiteRedirectWrite.model_validate(change.after)
            redirects.update(file.organization, file.site, change.before["id"], body)
            lock.setdefault(key, {"id": change.before["id"], "by": "adopted"})
        case "adopt":
            lock[key] = {"id": change.before["id"], "by": "adopted"}
        case "delete":
            redirects.delete(file.organization, file.site, change.before["id"])
            lock.pop(key, None)
        case "move" | "report":
            pass


def _create(workspace: Workspace, file: SiteFile, body: SiteRedirectWrite) -> SiteRedirect:
    """Create a redirect exactly once: when the answer is lost, look for its source before giving up."""
    try:
        return workspace.client.redirects.create(file.organization, file.site, body)
    except AnswerLost:
        for redirect in workspace.client.redirects.list(file.organization, file.site):
            if source_key(redirect.source) == source_key(body.source):
                return redirect
        raise


@dataclass
class _Resolver:
    """Turns declared destinations into the platform's ids; reads only what the declarations name."""

    workspace: Workspace
    file: SiteFile
    path: str
    _pages: dict[str, dict[str, Page]] = field(default_factory=dict)
    _sections: tuple[SiteSection, ...] | None = None
    _variants: tuple[SiteSpace, ...] | None = None

    def resolved(self) -> Iterator[DesiredRedirect]:
        for redirect in self.file.redirects:
            yield DesiredRedirect(redirect.source, self._destination(redirect), redirect.where)

    def _destination(self, redirect: DeclaredRedirect) -> Mapping[str, Any]:
        to = redirect.to
        if "raw" in to:
            return dict(to["raw"])
        if "url" in to:
            return {"kind": "external", "url": to["url"]}
        if "section" in to:
            return {"kind": "site-section", "siteSectionId": self._section(to["section"], redirect).id}
        variant = self._variant(to["variant"] if "variant" in to else to["in"], redirect)
        if "variant" in to:
            return {"kind": "site-space", "siteSpaceId": variant.id}
        return {"kind": "site-page", "siteSpaceId": variant.id, "pageId": self._page(to["page"], variant, redirect).id}

    def _section(self, path: str, redirect: DeclaredRedirect) -> SiteSection:
        if self._sections is None:
            found = self.workspace.client.sections.list(self.file.organization, self.file.site)
            self._sections = tuple(found)
        for section in self._sections:
            if section.path.casefold() == path.casefold():
                return section
        raise self._unknown(f"section {path!r}", [section.path for section in self._sections], redirect)

    def _variant(self, name: str, redirect: DeclaredRedirect) -> SiteSpace:
        """A variant is `<section path>/<path>`, or `<path>` on a site without sections."""
        section, _, path = name.rpartition("/")
        if section:
            variants = self._section(section, redirect).site_spaces
        else:
            if self._variants is None:
                found = self.workspace.client.site_spaces.list(self.file.organization, self.file.site)
                self._variants = tuple(found)
            variants = self._variants
        for variant in variants:
            if variant.path.casefold() == path.casefold():
                return variant
        raise self._unknown(f"variant {name!r}", [variant.path for variant in variants], redirect)

    def _page(self, path: str, variant: SiteSpace, redirect: DeclaredRedirect) -> Page:
        space = variant.space.id if variant.space else ""
        if space not in self._pages:
            pages = self.workspace.client.content.list_pages(space)
            self._pages[space] = {page.path or "": page for page, _ in walk(tuple(pages))}
        found = self._pages[space].get(path.strip("/"))
        if found is None:
            raise self._unknown(f"page {path!r}", list(self._pages[space]), redirect)
        return found

    def _unknown(self, what: str, known: list[str], redirect: DeclaredRedirect) -> FileInvalid:
        at, line, column = redirect.where.rsplit(":", 2)
        near = sorted(known, key=lambda name: -len(set(name.split("/")) & set(what.strip("'").split("/"))))[:5]
        hint = f"there are: {', '.join(near)}" if near else "there are none"
        return FileInvalid(f"no {what} on the site", path=at, line=int(line), column=int(column), hint=hint)
