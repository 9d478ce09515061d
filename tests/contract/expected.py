"""Members that answers always have: without one of them, a client that was generated for the public product fails."""

import re
from collections.abc import Iterator
from typing import Any

_TEXT = ("postedBy", "postedAt", "reactions", "body", "urls", "permissions")
_COUNTS = ("comments", "changeRequests", "changeRequestsOpen", "changeRequestsDraft")
_PUBLISHED = ("verified", "visibility", "scopes", "categories", "externalLinks", "owner", "urls", "permissions")
_SIGNS_IN = ("label", "ssoURL", "entityID", "certificate", "defaultRole", "createdAt", "status", "service", "urls")
_TRANSLATED = ("status", "source", "language", "instructions", "createdAt", "updatedAt", "stats", "permissions", "urls")
_DESCRIBED = ("createdAt", "updatedAt", "slug", "processingState", "visibility", "permissions", "urls")
_CLUSTER = ("label", "createdAt", "updatedAt", "icon", "summary", "weeklyPulse", "sources", "stats", "urls")
_ISSUE = ("title", "summary", "createdAt", "ingestedAt", "conversation", "urls")
_TOLD = ("agent-instructions", "site-adaptive-schema", "published-content-site", "integration", "subdomain")
_OWNER = ("title", "createdAt", "emailDomains", "type", "inviteLinks", "plan", "mergeRules", "urls", "trial")
_REQUEST = ("number", "status", "subject", "createdBy", "createdAt", "updatedAt", "space", "revision")
_SITE = ("type", "title", "visibility", "published", "createdAt", "siteSpaces", "features", "agentsContext")

ALWAYS: dict[str, tuple[str, ...]] = {
    "agent-instructions": ("instructions", "updatedAt", "updatedBy", "urls"),
    "change-request": (*_REQUEST, "revisionInitial", "comments", "outdated", "urls"),
    "collection": ("title", "organization", "defaultLevel", "urls", "permissions"),
    "comment": (*_TEXT, "replies", "repliers", "target", "status"),
    "comment-reply": _TEXT,
    "conversation": ("createdAt", "source", "urls"),
    "conversation-issue": _ISSUE,
    "document": ("data", "nodes"),
    "integration": ("name", "version", "title", "previewImages", "target", *_PUBLISHED),
    "issues-cluster": _CLUSTER,
    "member": ("role", "user", "disabled", "joinedAt", "sso", "spaces", "teams"),
    "openapi-spec": _DESCRIBED,
    "organization": (*_OWNER, "permissions"),
    "published-content-site": ("site", "structure", "customizations", "scripts"),
    "revision": ("parents", "pages", "files", "reusableContents", "createdAt", "urls", "type"),
    "saml-provider": _SIGNS_IN,
    "site": (*_SITE, "urls"),
    "site-adaptive-schema": ("jsonSchema", "updatedAt"),
    "site-redirect": ("source", "destination"),
    "site-section": ("title", "path", "siteSpaces", "urls"),
    "site-section-group": ("title", "children", "sections"),
    "site-space": ("path", "space", "title", "urls"),
    "space": ("title", "emoji", "visibility", "createdAt", "updatedAt", "mergeRules", "urls", "organization", *_COUNTS),
    "subdomain": ("subdomain", "target", "isActive"),
    "team": ("title", "members", "spaces", "createdAt", "permissions"),
    "translation": _TRANSLATED,
    "user": ("displayName", "urls"),
}
"""By the `object` of a resource; each but a few has an `id`, too. Source: API document, Resources and fields."""

_NAMELESS = {*_TOLD, "document"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_PAGE = ("id", "title", "kind", "urls", "slug", "path", "pages", "layout")


def find_lacking(value: Any, at: str = "$") -> Iterator[str]:
    """Given a JSON answer, return the places of members that it should have, and of moments in another form."""
    if isinstance(value, list):
        for item in value:
            yield from find_lacking(item, f"{at}[]")
    elif isinstance(value, dict):
        kind = value.get("object")
        always = ALWAYS.get(kind, ()) if isinstance(kind, str) else ()
        needed = always if not always or kind in _NAMELESS else ("id", *always)
        if value.get("type") == "document" and "slug" in value:
            needed = _PAGE
        yield from (f"{at}.{name}" for name in needed if name not in value)
        for name, item in value.items():
            if name.endswith("At") and isinstance(item, str) and not _MOMENT.fullmatch(item):
                yield f"{at}.{name}: {item}"
            yield from find_lacking(item, f"{at}.{name}")
