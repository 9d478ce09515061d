"""Locations of references and of their targets in the API: with the organization, space and version of the content."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from syncd.platform.change_requests import change_requests
from syncd.platform.content import content
from syncd.platform.content.view import CurrentView, RevisionView
from syncd.platform.people.organizations import read_organization
from syncd.platform.revisions import rendering
from syncd.platform.revisions.outline import TreeEntry
from syncd.platform.revisions.targets import Reference
from syncd.platform.revisions.tree import FILES, INCLUDES
from syncd.platform.spaces.spaces import read_space


@dataclass(frozen=True)
class LocationContext:
    """The content of a request; `shared_members` are the members that every location in it has."""

    view: RevisionView
    shared_members: dict[str, Any]

    def build_location(self, id: str) -> dict[str, Any]:
        """Return the location of a page, file or reusable content that exists.

        Shape: the page, and the revision around it, are shown without their content.
        """
        entry = self.view.outline.entries[id]
        kind, member, shown = _serialize_entry(entry, self.view.context)
        return {"kind": kind, **self.shared_members, member: shown}

    def build_target(self, reference: Reference) -> dict[str, Any]:
        """Return the location that a reference leads to; a target that does not exist has only an address."""
        if reference.id is not None and reference.found:
            inside = {"type": "anchor", "anchor": reference.anchor}
            return self.build_location(reference.id) | ({"internalLocation": inside} if reference.anchor else {})
        if reference.kind in ("url", ""):
            return {"kind": "url", "url": reference.address}
        return {"kind": "url", "url": f"{self.view.context.app}/{reference.id or reference.address}"}


def _serialize_entry(entry: TreeEntry, context: rendering.RenderContext) -> tuple[str, str, dict[str, Any]]:
    if entry.parent == FILES:
        return "file", "file", rendering.build_file_members(entry, context)
    if entry.parent == INCLUDES:
        return "reusable-content", "reusableContent", rendering.build_reusable_members(entry, context)
    return "page", "page", rendering.build_page_members(entry, context) | {"pages": []}


def _read_location_context(request: Request, view: CurrentView) -> LocationContext:
    space = view.revision.space
    with view.storage.read() as connection:
        around = {
            "organization": read_organization(connection, request, view.caller, view.organization),
            "space": read_space(connection, request, view.caller, space),
        }
        if view.change_request is not None:
            row = change_requests.require_change_request(connection, space, view.change_request)
            shown = change_requests.serialize_change_request(connection, request, row)
            return LocationContext(view, around | {"versionContext": {"type": "changeRequest", "changeRequest": shown}})
    head = content.build_revision_head(request, view) | {"pages": [], "files": [], "reusableContents": []}
    return LocationContext(view, around | {"versionContext": {"type": "revision", "revision": head}})


AtContent = Annotated[LocationContext, Depends(_read_location_context)]
"""A handler's parameter for the content that its path means, and how places in it are shown."""
