"""Backlink: a place in content that refers to a page or file (API document, Backlink item)."""

from pydantic import Field

from syncd.model.base import Observed
from syncd.model.change_request import ChangeRequest
from syncd.model.file import File
from syncd.model.organization import Organization
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision
from syncd.model.space import Space


class VersionContext(Observed):
    """Which version of the content is meant: `type` is `revision` or `changeRequest`; a revision without its trees."""

    type: str
    revision: Revision | None = None
    change_request: ChangeRequest | None = None


class InternalLocation(Observed):
    """What within a page is meant: `type` is `anchor` or `node`."""

    type: str
    anchor: str | None = None
    node: str | None = None


class BacklinkLocation(Observed):
    """A page without its subpages, a file or other content; `kind` says which of the members there is."""

    kind: str
    organization: Organization | None = None
    space: Space | None = None
    version_context: VersionContext | None = None
    page: Page | None = None
    internal_location: InternalLocation | None = None
    file: File | None = None
    reusable_content: ReusableContent | None = Field(default=None, alias="reusableContent")
    url: str | None = None


class Backlink(BacklinkLocation):
    """Where a reference stands."""
