"""Access tokens: issued for a user, shown once, stored as a hash, and revoked by the operator of the platform."""

import re
import secrets
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from syncd.errors import ConfigInvalid, NotFound
from syncd.platform.database.tables import insert_new
from syncd.platform.people.auth import ROLES
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token
from syncd.platform.storage.times import format_time

ID_LENGTH = 12
"""The first characters of a token's hash are its id; they reveal nothing about the token."""
LABEL_MAX = 100
ROLE_OF_A_NEW_MEMBER = "read"
"""The role of a member who is created with a token, unless another one is given."""

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")
_ID_PART = re.compile(r"[0-9a-f]{4,12}")


@dataclass(frozen=True)
class Token:
    """A token as it may be shown; `secret` is only set when it was just issued."""

    id: str
    label: str
    user: str
    email: str | None
    display_name: str
    created_at: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class TokenHolder:
    """The user that a token is issued for.

    Shape: `user` is an id or an e-mail address, None for the owner; `role` is the role of a new member, None for the
    weakest; `organization` None is one of the user's organizations, else the first one of the platform.
    """

    user: str | None = None
    role: str | None = None
    organization: str | None = None


def issue_token(storage: Storage, person: TokenHolder, *, label: str = "") -> Token:
    """Issue a token and return it with its secret; an unknown e-mail address creates a new user and member.

    Raises: NotFound for an unknown id or organization, ConfigInvalid for what cannot be an e-mail, role or label, and
    when a member has another role.
    """
    if person.role is not None and person.role not in ROLES:
        raise ConfigInvalid(f"no role {person.role}", hint=f"one of {', '.join(ROLES)}")
    if len(label) > LABEL_MAX or not (label or "-").isprintable():
        raise ConfigInvalid(f"a label has at most {LABEL_MAX} printable characters")
    secret, now = f"syncd_{secrets.token_urlsafe(32)}", format_time(storage.now())
    with storage.write() as connection:
        user = _find_or_create_user(storage, connection, person)
        row = {"hash": hash_token(secret), "user": user.id, "label": label, "created_at": now}
        connection.execute(accounts.tokens.insert().values(row))
    return _build_token(row["hash"], label, now, user, secret)


def find_tokens(storage: Storage) -> list[Token]:
    """Return all tokens, oldest first, without their secrets."""
    tokens, users = accounts.tokens, accounts.users
    query = sa.select(tokens, users.c.id, users.c.email, users.c.display_name).join(users, users.c.id == tokens.c.user)
    with storage.read() as connection:
        rows = connection.execute(query.order_by(tokens.c.created_at, tokens.c.hash)).all()
    return [_build_token(row.hash, row.label, row.created_at, row) for row in rows]


def delete_token(storage: Storage, name: str) -> Token:
    """Delete the token with a label, or an id or the beginning of one, and return what it was.

    Raises: NotFound when there is none, ConfigInvalid when several match or it is the token in the owner's file.
    """
    everything = find_tokens(storage)
    meant = [token for token in everything if token.label == name] or [
        token for token in everything if _ID_PART.fullmatch(name) and token.id.startswith(name)
    ]
    if not meant:
        raise NotFound(f"no token {name}", hint="syncd platform token list, with the same --data, shows them all")
    if len(meant) > 1:
        hint = f"one of {', '.join(token.id for token in meant)}"
        raise ConfigInvalid(f"{len(meant)} tokens are called {name}", hint=hint)
    (token,) = meant
    if token.label == storage.token_label:
        hint = f"delete {storage.token_file}: the next start makes another one, and ends this"
        raise ConfigInvalid("that is the owner's token", hint=hint)
    with storage.write() as connection:
        connection.execute(accounts.tokens.delete().where(accounts.tokens.c.hash.startswith(token.id)))
    return token


def _build_token(hash: str, label: str, created_at: str, user: sa.Row[Any], secret: str = "") -> Token:
    return Token(hash[:ID_LENGTH], label, user.id, user.email, user.display_name, created_at, secret)


def _find_or_create_user(storage: Storage, connection: sa.Connection, person: TokenHolder) -> sa.Row[Any]:
    query = _select_holder(storage, connection, person)
    user = connection.execute(query).one_or_none()
    if user is None and person.user is not None and "@" in person.user:
        _insert_user(storage, connection, person.user)
        user = connection.execute(query).one()
    elif user is None:
        raise NotFound(f"no user {person.user or 'who owns this platform'}", hint="give an e-mail to make a new one")
    if person.user is not None and "@" in person.user:
        # The platform sends no e-mail: the operator vouches for the address by giving it.
        users = accounts.users
        connection.execute(users.update().where(users.c.id == user.id).values(email_verified=True))
    _insert_membership(storage, connection, user.id, person)
    return user


def find_holder(storage: Storage, connection: sa.Connection, person: TokenHolder) -> sa.Row[Any]:
    """Return the row of an existing user. Raises: NotFound."""
    user = connection.execute(_select_holder(storage, connection, person)).one_or_none()
    if user is None:
        who = person.user or "who owns this platform"
        hint = "syncd platform token create --user EMAIL, with the same --data, makes a new member"
        raise NotFound(f"no user {who}", hint=hint)
    return user


def _select_holder(storage: Storage, connection: sa.Connection, person: TokenHolder) -> sa.Select[Any]:
    users = accounts.users
    if person.user is None:
        wanted = users.c.id == storage.find_owner(connection)
    elif "@" in person.user:
        wanted = sa.func.lower(users.c.email) == person.user.lower()
    else:
        wanted = users.c.id == person.user
    return sa.select(users).where(wanted).order_by(users.c.created_at, users.c.id).limit(1)


def _insert_user(storage: Storage, connection: sa.Connection, email: str) -> None:
    if not _EMAIL.fullmatch(email) or not email.isprintable():
        raise ConfigInvalid(f"not an e-mail: {email}")
    row = {"id": storage.new_id(), "display_name": email.partition("@")[0], "email": email}
    connection.execute(accounts.users.insert().values(row | {"created_at": format_time(storage.now())}))


def _insert_membership(storage: Storage, connection: sa.Connection, user: str, person: TokenHolder) -> None:
    """Make the user a member of the organization; an existing member stays unchanged. Raises: ConfigInvalid."""
    members, organizations = accounts.members, accounts.organizations
    somewhere = connection.scalar(sa.select(members.c.organization).where(members.c.user == user).limit(1))
    query = sa.select(organizations.c.id).order_by(organizations.c.created_at, organizations.c.id).limit(1)
    if person.organization or somewhere:
        query = query.where(organizations.c.id == (person.organization or somewhere))
    here = connection.scalar(query)
    if here is None:
        raise NotFound(f"no organization {person.organization or ''}".rstrip(), hint="leave it out for the first one")
    row = {"organization": here, "user": user, "role": person.role or ROLE_OF_A_NEW_MEMBER}
    insert_new(connection, members, [row | {"joined_at": format_time(storage.now())}])
    role = connection.scalar(sa.select(members.c.role).where(members.c.organization == here, members.c.user == user))
    if person.role not in (None, role):
        raise ConfigInvalid(f"user {user} has the role {role or 'guest'} already", hint="leave --role out")
