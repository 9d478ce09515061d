"""Pages that show content: organizations, spaces, pages, files, history, and what a revision changed."""

from collections.abc import Sequence
from urllib.parse import quote

import sqlalchemy as sa

from syncd.model.change_request import ChangeRequest
from syncd.model.file import File
from syncd.model.listing import Listing
from syncd.model.organization import Organization
from syncd.model.page import Page, PageTree
from syncd.model.revision import Revision
from syncd.model.site import Site
from syncd.model.space import Space
from syncd.net.page_values import PageResponse
from syncd.platform.app_pages.context import (
    AppRequest,
    build_organization_address,
    build_space_frame,
    build_trail,
)
from syncd.platform.app_pages.differences import PageSides, choose_page, choose_view, read_sides, read_summary
from syncd.platform.revisions.revisions import RevisionRecord, require_revision
from syncd.platform.schema import accounts
from syncd.platform.schema.content import change_requests
from syncd.web.app.documents import render_difference, render_page_body
from syncd.web.app.pages import (
    render_files,
    render_history,
    render_organization,
    render_organizations,
    render_revision,
    render_space_page,
)
from syncd.web.app.values import HistoryEntry, ListPage, TreeLine
from syncd.web.rendering import Html

LIMIT = 50
SITES_LIMIT = 200
HISTORY_LIMIT = 30
TREE_MAX = 2_000
"""Pages of a table of contents that are shown."""


async def show_organizations(at: AppRequest) -> PageResponse:
    """Answer with the organizations of a person, or the only one's page. Raises: Failure."""
    answer = await at.client.call("listOrganizationsForAuthenticatedUser", {}, query=at.read_paging(LIMIT))
    listing = Listing[Organization].model_validate(answer)
    if listing.count == 1 and listing.items:
        address = build_organization_address(listing.items[0].id)
        return PageResponse(status=303, headers=(("Location", address),), cache="no-store")
    frame = at.build_frame("Organizations")
    return await at.render(lambda: render_organizations(frame, listing.items, at.read_following(listing)))


async def show_organization(at: AppRequest, organization: str) -> PageResponse:
    """Answer with the spaces and sites of an organization, and the change requests that are open. Raises: Failure."""
    path = {"organization_id": organization}
    found = Organization.model_validate(await at.client.call("getOrganizationById", path))
    spaces = Listing[Space].model_validate(
        await at.client.call("listSpacesInOrganizationById", path, query=at.read_paging(LIMIT))
    )
    requests = Listing[ChangeRequest].model_validate(
        await at.client.call("listChangeRequestsForOrganization", path, query={"limit": LIMIT})
    )
    sites = Listing[Site].model_validate(await at.client.call("listSites", path, query={"limit": SITES_LIMIT}))
    frame, root = at.build_frame(found.title), build_organization_address(organization)
    lists = at.read_following(spaces), ListPage(requests.count or 0), ListPage(sites.count or 0)
    return await at.render(
        lambda: render_organization(frame, spaces.items, requests.items, at.now, sites.items, lists, root)
    )


async def show_page(at: AppRequest, space: Space, path: str) -> PageResponse:
    """Answer with the page of a space at a path, "" for its first page. Raises: Failure."""
    here, frame_at = {"space_id": space.id}, build_space_frame(space, "content")
    tree = PageTree.model_validate(await at.client.call("listPages", here))
    query = {"format": "document", "dereferenced": "true"}
    if path:
        answer = await at.client.call("getPageByPath", {**here, "page_path": path}, query=query)
    else:
        first = _find_first_page(tree.pages)
        answer = first and await at.client.call("getPageById", {**here, "page_id": first.id}, query=query)
    page = Page.model_validate(answer) if answer else None
    lines = _list_tree(tree.pages, frame_at.address, page.id if page else "")
    frame = at.build_frame(page.title if page else space.title, trail=build_trail(frame_at))

    def render() -> str:
        body = render_page_body((answer or {}).get("document"))
        return render_space_page(frame, frame_at, lines, page, body, at.now)

    return await at.render(render)


async def show_files(at: AppRequest, space: Space) -> PageResponse:
    """Answer with the files of a space. Raises: Failure."""
    answer = await at.client.call("listFiles", {"space_id": space.id}, query=at.read_paging(LIMIT))
    listing, frame_at = Listing[File].model_validate(answer), build_space_frame(space, "files")
    frame = at.build_frame("Files", trail=build_trail(frame_at))
    return await at.render(lambda: render_files(frame, frame_at, listing.items, at.read_following(listing)))


async def show_history(at: AppRequest, space: Space) -> PageResponse:
    """Answer with the revisions of main content, newest first. Raises: Failure."""
    start = at.page.query.get("from", "") or space.revision or ""
    frame_at = build_space_frame(space, "history")
    entries, following = await at.storage.run_read(lambda: _read_history(at, space.id, start))
    frame = at.build_frame("History", trail=build_trail(frame_at))
    listed = ListPage(0, f"?from={quote(following)}" if following else "")
    return await at.render(lambda: render_history(frame, frame_at, entries, listed, at.now))


async def show_revision(at: AppRequest, space: Space, id: str) -> PageResponse:
    """Answer with what a revision changed, and the difference of one page. Raises: Failure."""
    path, frame_at = {"space_id": space.id, "revision_id": id}, build_space_frame(space, "history")
    revision = Revision.model_validate(await at.client.call("getRevisionById", path, query={"metadata": "false"}))
    sides = PageSides(space.id, revision.parents[0] if revision.parents else "", revision.id)
    summary = await read_summary(at, await at.client.call("getRevisionChanges", path, query={"limit": 1000}), sides)
    page, view = choose_page(at, summary), choose_view(at)
    both = await read_sides(at, sides, page, view) if page else None
    history = "History", f"{frame_at.address}/~/revisions"
    frame = at.build_frame(revision.id, trail=build_trail(frame_at, history))

    def render() -> str:
        shown = (page, render_difference(*both, view, lambda node: Html())) if both is not None else None
        return render_revision(frame, frame_at, revision, summary, shown, at.now)

    return await at.render(render)


def _find_first_page(pages: Sequence[Page]) -> Page | None:
    pending = list(reversed(pages))
    while pending:
        page = pending.pop()
        if page.type == "document":
            return page
        pending.extend(reversed(page.pages))
    return None


def _list_tree(pages: Sequence[Page], address: str, current: str) -> list[TreeLine]:
    found: list[TreeLine] = []
    pending = [(page, 0) for page in reversed(pages)]
    while pending and len(found) < TREE_MAX:
        page, depth = pending.pop()
        link = f"{address}/{quote(page.path)}" if page.type == "document" and page.path else ""
        found.append(TreeLine(page, depth, link, page.id == current))
        pending.extend((child, depth + 1) for child in reversed(page.pages))
    return found


def _read_history(at: AppRequest, space: str, start: str) -> tuple[list[HistoryEntry], str]:
    """Revisions along their first parents: those of main content; and the one with which the list goes on."""
    found: list[RevisionRecord] = []
    following = start
    with at.storage.read() as connection:
        while following and len(found) < HISTORY_LIMIT:
            found.append(require_revision(connection, space, following))
            following = found[-1].parents[0] if found[-1].parents else ""
        merges = [one.merged_from for one in found if one.merged_from is not None]
        table, users = change_requests, accounts.users
        merged = connection.execute(
            sa.select(table.c.id, table.c.number, table.c.subject).where(table.c.id.in_(merges))
        )
        requests = {row.id: row for row in merged}
        named = connection.execute(
            sa.select(users.c.id, users.c.display_name).where(
                users.c.id.in_([one.created_by for one in found if one.created_by])
            )
        )
        names = {row.id: row.display_name for row in named}
    entries = []
    for one in found:
        row = requests.get(one.merged_from)
        number, subject = (row.number, row.subject) if row is not None else (0, "")
        author = names.get(one.created_by, "")
        entries.append(HistoryEntry(one.id, one.created_at, one.type, author, number, subject))
    return entries, following
