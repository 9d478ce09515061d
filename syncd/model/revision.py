"""Revision (`revision`): a numbered, immutable state of a space's pages and files."""

from typing import Annotated, Any

from syncd.model.base import Observed, ObservedId
from syncd.model.change_request import ChangeRequest
from syncd.model.document import Document
from syncd.model.file import File, GitBlob
from syncd.model.item_count import make_counter
from syncd.model.page import CountedPage, Scalar


class GitCommit(Observed):
    """The Git commit that a revision came from or went to."""

    oid: str
    message: str = ""
    created_by_service: bool | None = None
    url: str | None = None
    ref: str | None = None


class ReusableContent(Observed):
    """A block of content that several pages include; `markdown` or `document` only where it was read by id."""

    id: ObservedId
    title: str = ""
    git: GitBlob | None = None
    markdown: str | None = None
    document: Document | None = None


class Revision(Observed):
    """The whole of a space at one time. Source: API document, Revision.

    Beyond the document: `tags`, and the `mergedFrom` of a revision that a merge made.
    """

    object: str = "revision"
    id: ObservedId
    parents: tuple[ObservedId, ...] = ()
    pages: tuple[CountedPage, ...] = ()
    files: tuple[Annotated[File, make_counter("files")], ...] = ()
    reusable_contents: tuple[Annotated[ReusableContent, make_counter("reusable contents")], ...] = ()
    variables: dict[str, Scalar] = {}
    tags: tuple[dict[str, Any], ...] = ()
    created_at: str | None = None
    git: GitCommit | None = None
    urls: dict[str, Any] = {}
    type: str = "edits"
    merged_from: ChangeRequest | None = None
