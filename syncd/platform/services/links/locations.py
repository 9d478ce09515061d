"""Where references stand and lead to, as the API shows it: with the organization, space and version of the content."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from syncd.platform.change_requests import change_requests
from syncd.platform.content import content
from syncd.platform.content.view import View, Viewed
from syncd.platform.people.organizations import read_organization
from syncd.platform.revisions import rendering
from syncd.platform.revisions.outline import Spot
from syncd.platform.revisions.targets import Reference
from syncd.platform.revisions.tree import FILES, INCLUDES
from syncd.platform.spaces.spaces import space_shown


@dataclass(frozen=True)
class Scene:
    """The content of a request, and what every location in it is shown with: `around`."""

    view: View
    around: dict[str, Any]

    def place(self, id: str) -> dict[str, Any]:
        """Given the id of a page, file or reusable content that is there, return its location.

        Shapes: the page, and the revision around it, are told without what they hold: a location points, and is not
        what it points to.
        """
        spot = self.view.outline.spots[id]
        kind, member, shown = _shown(spot, self.view.look)
        return {"kind": kind, **self.around, member: shown}

    def target(self, reference: Reference) -> dict[str, Any]:
        """Given a reference, return where it leads: what is not there has only an address."""
        if reference.id is not None and reference.found:
            inside = {"type": "anchor", "anchor": reference.anchor}
            return self.place(reference.id) | ({"internalLocation": inside} if reference.anchor else {})
        if reference.kind in ("url", ""):
            return {"kind": "url", "url": reference.address}
        return {"kind": "url", "url": f"{self.view.look.app}/{reference.id or reference.address}"}


def _shown(spot: Spot, look: rendering.Look) -> tuple[str, str, dict[str, Any]]:
    if spot.parent == FILES:
        return "file", "file", rendering.file_members(spot, look)
    if spot.parent == INCLUDES:
        return "reusable-content", "reusableContent", rendering.reusable_members(spot, look)
    return "page", "page", rendering.page_members(spot, look) | {"pages": []}


def _scene(request: Request, view: Viewed) -> Scene:
    space = view.revision.space
    with view.storage.read() as connection:
        around = {
            "organization": read_organization(connection, request, view.caller, view.organization),
            "space": space_shown(connection, request, view.caller, space),
        }
        if view.change_request is not None:
            row = change_requests.require(connection, space, view.change_request)
            shown = change_requests.shown(connection, request, row)
            return Scene(view, around | {"versionContext": {"type": "changeRequest", "changeRequest": shown}})
    head = content.revision_head(request, view) | {"pages": [], "files": [], "reusableContents": []}
    return Scene(view, around | {"versionContext": {"type": "revision", "revision": head}})


Shown = Annotated[Scene, Depends(_scene)]
"""A handler's parameter for the content that its path means, and how places in it are shown."""
