"""Render the pages for editors and reviewers from values."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from syncd.model.change_request import ChangeRequest
from syncd.model.file import File
from syncd.model.moment import format_moment
from syncd.model.organization import Organization
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.model.site import Site
from syncd.model.space import Space
from syncd.web.app.values import (
    STATUSES,
    VIEWS,
    AppFrame,
    ChangeSummary,
    CommentThread,
    HistoryEntry,
    ListPage,
    PageDifference,
    RequestView,
    SitePart,
    SiteUse,
    SpaceFrame,
    TreeLine,
)
from syncd.web.blocks.references import format_size
from syncd.web.pages.wording import find_text_direction
from syncd.web.rendering import render_template
from syncd.web.status.times import format_age, parse_moment


def render_sign_in(frame: AppFrame, name: str, link: str) -> Markup:
    """Return the page behind a link: its button signs a person in."""
    return _render("sign_in", frame, 0.0, person=name, link=link)


def render_app_message(frame: AppFrame, what: str, hint: str = "", command: str = "", back: str = "") -> Markup:
    """Return a page that says one sentence and what to do; `back` is an address to go on from."""
    return _render("message", frame, 0.0, what=what, hint=hint, command=command, back=back)


def render_organizations(frame: AppFrame, organizations: Sequence[Organization], listed: ListPage) -> Markup:
    """Return the first page: the organizations of a person."""
    return _render("organizations", frame, 0.0, organizations=organizations, listed=listed)


def render_organization(
    frame: AppFrame,
    spaces: Sequence[Space],
    requests: Sequence[ChangeRequest],
    now: float,
    sites: Sequence[Site],
    lists: tuple[ListPage, ListPage, ListPage],
    root: str,
) -> Markup:
    """Return the page of an organization: its spaces and sites, and change requests that are open in them."""
    names = {space.id: space.title for space in spaces}
    values = {"spaces": spaces, "requests": requests, "sites": sites, "names": names, "lists": lists, "root": root}
    return _render("organization", frame, now, **values)


def render_site(frame: AppFrame, site: Site, parts: Sequence[SitePart], use: SiteUse | None, days: int) -> Markup:
    """Return the page of a site: what is in it, and what readers did; `use` None is for who may not know."""
    return _render("site", frame, 0.0, site=site, parts_of_site=parts, use=use, days=days)


def render_space_page(
    frame: AppFrame, at: SpaceFrame, tree: Sequence[TreeLine], page: Page | None, body: Markup, now: float
) -> Markup:
    """Return a page of a space with the table of contents; `page` None is a space that has none yet."""
    return _render("space_page", frame, now, at=at, tree=tree, page=page, body=body)


def render_files(frame: AppFrame, at: SpaceFrame, files: Sequence[File], listed: ListPage) -> Markup:
    """Return the list of a space's files."""
    return _render("files", frame, 0.0, at=at, files=files, listed=listed, format_size=format_size)


def render_history(
    frame: AppFrame, at: SpaceFrame, entries: Sequence[HistoryEntry], listed: ListPage, now: float
) -> Markup:
    """Return the list of a space's revisions, newest first."""
    return _render("history", frame, now, at=at, entries=entries, listed=listed)


def render_revision(
    frame: AppFrame,
    at: SpaceFrame,
    revision: Revision,
    summary: ChangeSummary,
    shown: tuple[str, PageDifference] | None,
    now: float,
) -> Markup:
    """Return the page of a revision: what it changed, and the difference of one page."""
    address = f"{at.address}/~/revisions/{revision.id}"
    values = {"revision": revision, "summary": summary, "diff_address": address, "views": VIEWS}
    return _render("revision", frame, now, at=at, **values, **_split_shown(shown))


def render_request_list(
    frame: AppFrame,
    at: SpaceFrame,
    requests: Sequence[ChangeRequest],
    listed: ListPage,
    filters: Mapping[str, str],
    now: float,
) -> Markup:
    """Return the list of a space's change requests with a status; `filters` has `status` and `who`."""
    values = {"requests": requests, "listed": listed, "filters": filters, "statuses": STATUSES}
    return _render("requests", frame, now, at=at, **values)


def render_request(frame: AppFrame, at: SpaceFrame, view: RequestView, now: float) -> Markup:
    """Return the page of a change request: what it says, its checks, what it changes, and what people say."""
    return _render("request", frame, now, at=at, view=view)


def render_request_changes(
    frame: AppFrame, at: SpaceFrame, view: RequestView, shown: tuple[str, PageDifference] | None, now: float
) -> Markup:
    """Return the page with what a change request changes, and the difference of one page."""
    values = {"view": view, "diff_address": f"{view.address}/diff", "views": VIEWS}
    return _render("request_changes", frame, now, at=at, **values, **_split_shown(shown))


def render_block_notes(
    view: RequestView, page: str, node: str, threads: Sequence[CommentThread], open_form: bool, now: float, token: str
) -> Markup:
    """Return what stands behind a block: the comments on it, and a way to write one."""
    frame = AppFrame("", token=token)
    values = {"view": view, "page": page, "node": node, "threads": threads, "open_form": open_form}
    return _render("block_notes", frame, now, **values)


def _split_shown(shown: tuple[str, PageDifference] | None) -> dict[str, object]:
    page, difference = shown if shown is not None else ("", None)
    return {"shown": page, "difference": difference}


def _render(template: str, frame: AppFrame, now: float, **values: object) -> Markup:
    return render_template(
        f"app/{template}.html",
        frame=frame,
        now=now,
        parse_moment=parse_moment,
        format_moment=format_moment,
        format_age=format_age,
        find_direction=find_text_direction,
        **values,
    )
