"""Spaces: pages and files in numbered revisions."""

from collections.abc import Iterator

from syncd.api.lists import LIMIT, iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.collection import Move, Transfer
from syncd.model.git_sync import GitExport, GitImport, GitInfo
from syncd.model.listing import Listing
from syncd.model.space import Space, SpaceCreate, SpaceUpdate


class Spaces:
    """Operations on spaces. Source: API document, Spaces; list and create: @gitbook/api 0.202.0."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getSpaceById")
    def get(self, space: str, share_key: str | None = None) -> Space:
        """Return a space; its `revision` changes when its content does."""
        return self._transport.call("GET", ("spaces", space), Space, params={"shareKey": share_key})

    @operation("getSpaceGitInfo")
    def get_git_info(self, space: str) -> GitInfo:
        """Return how a space is joined to a repository, and what became of its last import or export.

        Raises: NotFound when it never was.
        """
        return self._transport.call("GET", ("spaces", space, "git", "info"), GitInfo)

    @operation("importGitRepository")
    def import_git(self, space: str, request: GitImport) -> None:
        """Ask for an import of a commit as main content, which goes on after the answer: `get_git_info` tells its end.

        Raises: AnswerLost when it may or may not have been asked for.
        """
        self._transport.send("POST", ("spaces", space, "git", "import"), body=request.wire())

    @operation("exportToGitRepository")
    def export_git(self, space: str, request: GitExport) -> None:
        """Ask for an export of main content as a commit, which goes on after the answer: `get_git_info` tells its end.

        Raises: AnswerLost when it may or may not have been asked for.
        """
        self._transport.send("POST", ("spaces", space, "git", "export"), body=request.wire())

    @operation("listSpacesInOrganizationById")
    def list(self, organization: str, *, limit: int = LIMIT) -> Iterator[Space]:
        """Yield all spaces of an organization, `limit` a request."""
        return iterate_list(self._transport, ("orgs", organization, "spaces"), Listing[Space], limit=limit)

    @operation("createSpace")
    def create(self, organization: str, space: SpaceCreate) -> Space:
        """Create a space, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "spaces"), Space, body=space.wire())

    @operation("updateSpaceById")
    def update(self, space: str, changes: SpaceUpdate) -> Space:
        """Change a space, and return it."""
        return self._transport.call("PATCH", ("spaces", space), Space, body=changes.wire())

    @operation("deleteSpaceById")
    def delete(self, space: str) -> None:
        """Delete a space; it can be restored for seven days. Success too when it did not exist."""
        self._transport.delete(("spaces", space))

    @operation("duplicateSpace")
    def duplicate(self, space: str) -> Space:
        """Create a space with the same content as another, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("spaces", space, "duplicate"), Space)

    @operation("restoreSpace")
    def restore(self, space: str) -> Space:
        """Restore a space that was deleted in the last seven days, and return it."""
        return self._transport.call("POST", ("spaces", space, "restore"), Space)

    @operation("moveSpace")
    def move(self, space: str, move: Move) -> Space:
        """Move a space to a parent collection and a position, and return it."""
        return self._transport.call("POST", ("spaces", space, "move"), Space, body=move.wire())

    @operation("transferSpace")
    def transfer(self, space: str, transfer: Transfer) -> Space:
        """Move a space to another organization, and return it."""
        return self._transport.call("POST", ("spaces", space, "transfer"), Space, body=transfer.wire())
