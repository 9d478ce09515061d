"""Space (`space`): pages and files in numbered revisions."""

from typing import Any

from syncd.model.base import Declared, Observed


class Space(Observed):
    """A space as the platform shows it. Source: API document, Space."""

    object: str = "space"
    id: str
    title: str = ""
    emoji: str | None = None
    visibility: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    deleted_at: str | None = None
    edit_mode: str | None = None
    merge_rules: dict[str, Any] | None = None
    urls: dict[str, Any] = {}
    organization: str | None = None
    parent: str | None = None
    language: str | None = None
    git_sync: dict[str, Any] | None = None
    revision: str | None = None
    default_level: str | None = None
    comments: int | None = None
    change_requests: int | None = None
    change_requests_open: int | None = None
    change_requests_draft: int | None = None
    permissions: dict[str, Any] = {}


class SpaceCreate(Declared):
    """Body of `POST /orgs/{organizationId}/spaces` (beyond the document: content-write §7)."""

    title: str | None = None
    emoji: str | None = None
    language: str | None = None
    empty: bool | None = None


class SpaceUpdate(Declared):
    """Body of `PATCH /spaces/{spaceId}`: unset is unchanged."""

    edit_mode: str | None = None
    title: str | None = None
    default_level: str | None = None
    language: str | None = None
    merge_rules: dict[str, Any] | None = None
    emoji: str | None = None
