"""Organization (`organization`)."""

from typing import Any

from syncd.model.base import Observed


class Organization(Observed):
    """The owner of spaces and sites. Source: API document, Organization."""

    object: str = "organization"
    id: str
    title: str
    created_at: str | None = None
    email_domains: tuple[str, ...] = ()
    type: str | None = None
    default_role: str | None = None
    invite_links: bool | None = None
    plan: str | None = None
    merge_rules: dict[str, Any] | None = None
    urls: dict[str, Any] = {}
    permissions: dict[str, Any] = {}
