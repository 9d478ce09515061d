"""The revision that a request's path names: a space's main content, a change request's, or one by id."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from syncd.platform.change_requests import change_requests
from syncd.platform.http import addresses
from syncd.platform.http.downloads import DownloadSigner, compute_expiry
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import describe_parameter
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.people import auth
from syncd.platform.people.auth import Caller
from syncd.platform.people.content_tokens import ContentGrant, compute_token_expiry
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline, TreeEntry, find_cached_outline, is_page, open_outline
from syncd.platform.revisions.readable import find_readable, select_readable
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.schema.content import spaces
from syncd.platform.settings import PlatformSettings
from syncd.platform.spaces import roles
from syncd.platform.spaces.granted import find_granted_space, list_granted_revisions, may_read_change_request
from syncd.platform.specs.computed_pages import CurrentSpec, compute_pages, find_computed, list_current_specs
from syncd.platform.storage.storage import Storage

_REMEMBERED = 4_096

# Built once: every read of content runs this query first, and building it costs more than many reads do.
_SPACE = roles.select_spaces(spaces.c.organization, spaces.c.revision, spaces.c.deleted_at).where(
    spaces.c.id == sa.bindparam("space")
)


@dataclass(frozen=True, slots=True)
class RevisionView:
    """The revision that a path names, opened; `change_request` is the id of the one whose content it is."""

    storage: Storage
    caller: Caller
    organization: str
    revision: revisions.RevisionRecord
    change_request: str | None
    outline: Outline
    context: RenderContext

    def require_entry(self, id: str, what: str, fits: Callable[[TreeEntry], bool]) -> TreeEntry:
        """Return the entry with an id that `fits`. Raises: Failure 404 when there is none; `what` names its kind."""
        entry = self.outline.entries.get(id)
        if entry is None or not fits(entry):
            raise Failure(404, f"No {what} {id} in revision {self.revision.id}.")
        return entry

    def open_revision(self, id: str) -> Outline:
        """Return another revision of the space, of which a content token's visitor sees what is for that visitor.

        Whether the caller may read that revision at all is for who calls this to know. Raises: Failure 404.
        """
        with self.storage.read() as connection:
            outline = revisions.open_revision(connection, self.revision.space, id)
        grant = self.caller.grant
        return outline if grant is None else select_readable(outline, grant.claims or {}, self.storage.blobs.get)

    def require_page(self, id: str) -> TreeEntry:
        """Return the entry of a page. Raises: Failure 404, as `require_entry`."""
        return self.require_entry(id, "page", lambda entry: is_page(entry.node))


ResolvedPath = tuple[str, revisions.RevisionRecord, str | None]
"""The organization, the revision, and the id of the change request whose content it is."""


class ResolvedPathCache:
    """A cache of resolved paths by caller, valid until the database changes; one for each application.

    A mirror asks for the pages of a revision by the thousand, and between two of them nothing has changed: whether it
    has costs a hundredth of what it costs to ask again who may read what. Nothing is remembered without such a check.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[tuple[int | str | None, ...], ResolvedPath] = {}

    async def resolve(self, caller: Caller, path: Mapping[str, str]) -> ResolvedPath:
        """Resolve the parameters of a path for a caller. Raises: Failure 403 and 404."""
        version = self._storage.version()
        which = (path["space_id"], path.get("revision_id"), path.get("change_request_id"))
        key = (version, caller.user_id, caller.needed, *which)
        known = None if version is None else self._known.get(key)
        if known is None:
            known = await self._storage.run_read(lambda: _resolve_path(self._storage, caller, path))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            if version is not None:
                # What was read may be newer than the version, which then is one that nobody asks for again.
                self._known[key] = known
        return known


async def open_view(request: Request, *, metadata: bool = True, computed: bool = False) -> RevisionView:
    """Open the revision that a request's path names; with `computed`, a content token sees what is computed in it.

    Raises: Failure 401, 403, and 404 for a space or revision.
    """
    storage: Storage = request.app.state.storage
    caller = await auth.authenticate_caller(request)
    resolved_paths: ResolvedPathCache = request.app.state.resolved_paths
    organization, revision, change_request = await resolved_paths.resolve(caller, request.path_params)
    outline = find_cached_outline(revision.root)
    if outline is None:
        scheduler: RequestScheduler = request.app.state.scheduler
        async with scheduler.acquire_slot("open", request):
            known = find_cached_outline(revision.root)
            outline = await run_in_threadpool(_open_outline, storage, revision.root) if known is None else known
    if caller.grant is not None:
        outline = await _select_for_visitor(request, storage, outline, caller.grant)
        if computed and outline.computed:
            outline = await _compute_for_visitor(request, storage, organization, outline)
    context = build_render_context(request, storage, organization, revision.space, caller, metadata=metadata)
    return RevisionView(storage, caller, organization, revision, change_request, outline, context)


async def _read_view(request: Request, metadata: bool = True, computed: bool = True) -> RevisionView:
    return await open_view(request, metadata=metadata)


async def _read_computed_view(request: Request, metadata: bool = True, computed: bool = True) -> RevisionView:
    return await open_view(request, metadata=metadata, computed=computed)


CurrentView = Annotated[RevisionView, Depends(_read_view)]
"""A handler's parameter for the revision that its path means. Shape: nothing is computed here, so `computed` changes
nothing: a computed page shows how it is computed.
"""
ComputedView = Annotated[RevisionView, Depends(_read_computed_view)]
"""The same, where a content token sees the pages that are computed, unless `computed` is false."""


def find_main_content(storage: Storage, caller: Caller, space_id: str) -> Outline | None:
    """Return the main content of a space; None when there is none that the caller may read."""
    try:
        _, revision, _ = _resolve_path(storage, caller, {"space_id": space_id})
    except Failure:
        return None
    outline = find_cached_outline(revision.root) or _open_outline(storage, revision.root)
    return outline if caller.grant is None else select_readable(outline, caller.grant.claims or {}, storage.blobs.get)


def declare_path_parameters(path: str) -> dict[str, Any]:
    """Return the OpenAPI description of the parameters of a route's path that the view reads."""
    named = [name for name in ("space_id", "revision_id", "change_request_id") if f"{{{name}}}" in path]
    return {"parameters": [describe_parameter(name) for name in named]}


def build_render_context(
    request: Request, storage: Storage, organization: str, space: str, caller: Caller, *, metadata: bool = True
) -> RenderContext:
    """Return the context in which the answer to a request renders content for its caller.

    A renderer keeps the files of a revision for as long as it has its content token, and so their addresses last
    longer than that.
    """
    settings: PlatformSettings = request.app.state.settings
    now = storage.now()
    needed_until = now.timestamp() if caller.grant is None else compute_token_expiry(now)
    downloads = DownloadSigner(addresses.find_origin(request), storage.secret, compute_expiry(needed_until))
    return RenderContext(f"{downloads.origin}/app/o/{organization}/s/{space}", downloads, metadata and settings.git)


def _resolve_path(storage: Storage, caller: Caller, path: Mapping[str, str]) -> ResolvedPath:
    with storage.read() as connection:
        space_id = path["space_id"]
        if caller.grant is None:
            space = connection.execute(_SPACE, {"space": space_id, "caller": caller.user_id}).one_or_none()
        else:
            space = find_granted_space(connection, caller.grant, space_id)
        if space is None or space.deleted_at is not None:
            raise Failure(404, f"No space {space_id}.")
        caller.require_role(space.level)
        revision, change_request = path.get("revision_id", space.revision), None
        if "change_request_id" in path:
            row = change_requests.require_change_request(connection, space_id, path["change_request_id"])
            revision, change_request = row.revision, row.id
        if caller.grant is not None:
            _require_granted_content(connection, caller.grant, space, space_id, revision, change_request)
        return space.organization, revisions.require_revision(connection, space_id, revision), change_request


def _require_granted_content(
    connection: sa.Connection,
    grant: ContentGrant,
    space: sa.Row[Any],
    space_id: str,
    revision: str,
    change_request: str | None,
) -> None:
    """A content token reads what is published now, and the revision and change request that it was made for; that of a
    draft reads each of a space.
    """
    is_named = change_request is not None
    if is_named and not may_read_change_request(connection, grant, space_id, str(change_request)):
        raise Failure(404, f"No change request {change_request} in space {space_id} for this content token.")
    if grant.is_draft:
        return
    if revision not in list_granted_revisions(connection, grant, space_id, space.revision):
        raise Failure(404, f"No revision {revision} in space {space_id} for this content token.")


async def _select_for_visitor(request: Request, storage: Storage, outline: Outline, grant: ContentGrant) -> Outline:
    """With a content token, there is only what its visitor may know of; the first one to ask has all texts read."""
    claims = grant.claims or {}
    known = find_readable(outline, claims)
    if known is not None:
        return known
    scheduler: RequestScheduler = request.app.state.scheduler
    async with scheduler.acquire_slot("open", request):
        return await run_in_threadpool(select_readable, outline, claims, storage.blobs.get)


async def _compute_for_visitor(request: Request, storage: Storage, organization: str, outline: Outline) -> Outline:
    """What a content token sees in the place of computed pages; the first one to ask has the specifications read."""

    def list_specs() -> tuple[CurrentSpec, ...]:
        with storage.read() as connection:
            return list_current_specs(connection, organization, outline)

    found = await storage.run_read(list_specs)
    known = find_computed(outline, found)
    if known is not None:
        return known
    scheduler: RequestScheduler = request.app.state.scheduler
    async with scheduler.acquire_slot("open", request):
        return await run_in_threadpool(compute_pages, storage, outline, found)


def _open_outline(storage: Storage, root: bytes) -> Outline:
    with storage.read() as connection:
        return open_outline(connection, root)
