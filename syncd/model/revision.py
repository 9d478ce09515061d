"""Revision (`revision`): a numbered, immutable state of a space's pages and files."""

from typing import Any

from syncd.model.base import Observed
from syncd.model.file import File, GitBlob
from syncd.model.page import Page

Scalar = str | bool | int | float


class GitCommit(Observed):
    """The Git commit that a revision came from or went to."""

    oid: str
    message: str = ""
    created_by_service: bool | None = None
    url: str | None = None
    ref: str | None = None


class ReusableContent(Observed):
    """A block of content that several pages include; `markdown` only where it was read by id."""

    id: str
    title: str = ""
    git: GitBlob | None = None
    markdown: str | None = None


class Revision(Observed):
    """The whole of a space at one time. Source: API document, Revision."""

    object: str = "revision"
    id: str
    parents: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    files: tuple[File, ...] = ()
    reusable_contents: tuple[ReusableContent, ...] = ()
    variables: dict[str, Scalar] = {}
    tags: tuple[dict[str, Any], ...] = ()
    created_at: str | None = None
    git: GitCommit | None = None
    urls: dict[str, Any] = {}
    type: str = "edits"
