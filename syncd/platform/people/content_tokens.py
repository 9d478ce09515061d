"""Content tokens: JSON Web Tokens with which a renderer reads what one site publishes to one kind of visitor.

Clients decode them, so their members follow the product.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

ALGORITHM = "HS256"
MARGIN = timedelta(minutes=5)
"""For how long a token is valid beyond midnight UTC: clients refuse one that ends in less than two minutes."""
TOKEN_MAX = 16 * 1024
"""Characters of a token that is looked at."""


@dataclass(frozen=True)
class ContentGrant:
    """What a content token lets its holder read: the spaces of a site that a visitor may see, as they are published.

    Shape: `space` is the one that the token was made for, at `revision`; `change_request` is the id of one whose
    content is previewed in it, "" for main content. `visibility` and `share_link` are those of the site when the token
    was made: it ends with them. A token of a draft reads the site before it is published, with every change request and
    revision of its spaces. What is not published is read for a person, whose id is `reader`, and while that one may.
    """

    organization: str
    site: str
    site_space: str
    space: str
    revision: str
    spaces: tuple[str, ...]
    visibility: str
    site_section: str = ""
    share_link: str = ""
    change_request: str = ""
    is_draft: bool = False
    reader: str = ""
    visitor_type: str = ""
    claims: Mapping[str, Any] | None = None
    fingerprint: str = ""
    """Of all that the site showed when the token was made: who keeps answers by their token sees changes at once."""


def compute_token_expiry(now: datetime) -> int:
    """Return when a token ends that is made now: shortly after the next midnight UTC. Units: epoch seconds."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return int((midnight + MARGIN).timestamp())


def issue_content_token(secret: bytes, grant: ContentGrant, now: datetime) -> str:
    """Return the token of a grant; the same one all day while the site does not change."""
    optional = {
        "siteSection": grant.site_section,
        "shareLink": grant.share_link,
        "changeRequest": grant.change_request,
        "draft": grant.is_draft,
        "reader": grant.reader,
        "visitorType": grant.visitor_type,
        "claims": dict(grant.claims or {}),
        "fingerprint": grant.fingerprint,
    }
    members = {
        "kind": "site",
        "organization": grant.organization,
        "site": grant.site,
        "siteSpace": grant.site_space,
        "space": grant.space,
        "revision": grant.revision,
        "spaces": list(grant.spaces),
        "visibility": grant.visibility,
        **{name: value for name, value in optional.items() if value},
        "exp": compute_token_expiry(now),
    }
    return jwt.encode(members, _derive_key(secret), algorithm=ALGORITHM)


def read_content_token(secret: bytes, token: str, now: datetime) -> ContentGrant | None:
    """Return the grant of a token that this platform made and that has not expired, else None."""
    if token.count(".") != 2 or len(token) > TOKEN_MAX:
        return None
    try:
        # The platform's own clock says whether it has expired.
        options: Any = {"require": ["exp"], "verify_exp": False, "verify_iat": False, "verify_nbf": False}
        members = jwt.decode(token, _derive_key(secret), algorithms=[ALGORITHM], options=options)
    except jwt.InvalidTokenError:
        return None
    if members.get("kind") != "site" or now.timestamp() >= members["exp"]:
        return None
    return ContentGrant(
        organization=members["organization"],
        site=members["site"],
        site_space=members["siteSpace"],
        space=members["space"],
        revision=members["revision"],
        spaces=tuple(members["spaces"]),
        visibility=members["visibility"],
        site_section=members.get("siteSection", ""),
        share_link=members.get("shareLink", ""),
        change_request=members.get("changeRequest", ""),
        is_draft=members.get("draft", False),
        reader=members.get("reader", ""),
        visitor_type=members.get("visitorType", ""),
        claims=members.get("claims"),
        fingerprint=members.get("fingerprint", ""),
    )


def _derive_key(secret: bytes) -> bytes:
    """A key of these tokens alone, so that nothing else that the platform signs is one."""
    return hmac.new(secret, b"content tokens", "sha256").digest()
