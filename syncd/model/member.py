"""Member (`member`): a person in an organization, and the invitations by which people become one."""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.role import Role
from syncd.model.user import User

EMAIL_MAX = 254
INVITED_MAX = 50
"""People whom one request invites."""

_EMAIL = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}$"
Email = Annotated[str, Field(max_length=EMAIL_MAX, pattern=_EMAIL)]
"""An address as far as its form can be told; only a letter to it could tell more."""


class Member(Observed):
    """A person in an organization; a null `role` is a guest's. Source: API document, User and Member."""

    object: Literal["member"] = "member"
    id: ObservedId
    role: Nullable[str]
    user: User
    disabled: bool
    joined_at: str
    last_seen_at: str | None = None
    sso: bool
    spaces: int
    teams: int
    urls: dict[str, str] = {}


class MemberUpdate(Declared):
    """Body of `PATCH …/members/{userId}`: a null role makes a guest."""

    role: Nullable[Role]


class LinkInvite(Observed):
    """A link with which whoever has it becomes a member; its `id` is the secret.

    Shape: `redundant` says that everybody has as much without the link, which no role of an organization gives.
    """

    object: Literal["invite"] = "invite"
    id: ObservedId
    role: Nullable[str]
    redundant: bool = False
    created_at: str
    urls: dict[str, str] = {}


class LinkInviteCreate(Declared):
    """Body of `POST …/link-invites`: the role that the link gives; a null role makes guests."""

    role: Nullable[Role]


class LinkInviteUpdate(Declared):
    """Body of `PATCH …/link-invites/{inviteId}`."""

    role: Nullable[Role]


class InviteCreate(Declared):
    """Body of `POST …/invites`: whom to make members, by their e-mail addresses."""

    emails: Annotated[tuple[Email, ...], Field(min_length=1, max_length=INVITED_MAX)]
    role: Nullable[Role] = None


class JoinableOrganization(Observed):
    """An organization that somebody could join: what may be known of it before."""

    id: ObservedId
    title: str
    urls: dict[str, str] = {}


class Invited(Observed):
    """Answer of `POST …/invites`: the ids of the users who are members now, and how many they are."""

    users: tuple[ObservedId, ...]
    invited: int = 0
