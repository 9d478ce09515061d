"""Sessions in a browser: a link that works once begins one; the database keeps hashes only, so that all servers agree.

A session ends twelve hours after it was used last, a week after it began, when its person signs out, and when the
operator ends it. What its forms send is made of the session's secret: who has not got the cookie cannot make it.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa

from syncd.platform.people.auth import Caller
from syncd.platform.people.tokens import TokenHolder, find_holder
from syncd.platform.schema import accounts
from syncd.platform.schema.accounts import sessions, sign_in_links
from syncd.platform.storage.storage import Storage, hash_token

LINK_SECONDS = 600
IDLE_SECONDS = 12 * 3600
SESSION_SECONDS = 7 * 24 * 3600
NOTED_SECONDS = 600
"""A session's last use is noted when it is so long ago, and not with every request."""
LINKS_MAX, SESSIONS_MAX = 16, 32
"""Of one person; the oldest ends for a new one."""
_BYTES = 32


@dataclass(frozen=True)
class BrowserSession:
    """A session that goes on: who it is, and what its forms must send."""

    caller: Caller
    form_token: str


def make_link(storage: Storage, user: str | None) -> tuple[str, str]:
    """Return the secret of a new link for a user, by id or e-mail, None for the owner; and the user's name.

    Units: a link works once, within `LINK_SECONDS`. Raises: NotFound when there is no such user.
    """
    secret, now = secrets.token_urlsafe(_BYTES), _read_clock(storage)
    with storage.write() as connection:
        person = find_holder(storage, connection, TokenHolder(user))
        connection.execute(sign_in_links.delete().where(sign_in_links.c.until <= now))
        _drop_oldest(connection, sign_in_links, sign_in_links.c.until, person.id, LINKS_MAX)
        row = {"hash": hash_token(secret), "user": person.id, "until": now + LINK_SECONDS}
        connection.execute(sign_in_links.insert().values(row))
    return secret, str(person.email or person.display_name)


def find_link_holder(storage: Storage, link: str) -> str:
    """Return the name of the person whom a link signs in; "" when it was used or is too old."""
    users, table = accounts.users, sign_in_links
    query = sa.select(users.c.display_name).join(table, table.c.user == users.c.id)
    with storage.read() as connection:
        name = connection.scalar(query.where(table.c.hash == hash_token(link), table.c.until > _read_clock(storage)))
    return str(name or "")


def begin_session(storage: Storage, link: str) -> str:
    """Use a link up and return the secret of the session that it begins; "" when it was used or is too old."""
    now, table = _read_clock(storage), sign_in_links
    with storage.write() as connection:
        user = connection.scalar(sa.select(table.c.user).where(table.c.hash == hash_token(link), table.c.until > now))
        if user is None:
            return ""
        # One writer at a time: nobody else has used it since it was read.
        connection.execute(table.delete().where(table.c.hash == hash_token(link)))
        connection.execute(sessions.delete().where(_is_over(now)))
        _drop_oldest(connection, sessions, sessions.c.used_at, user, SESSIONS_MAX)
        secret = secrets.token_urlsafe(_BYTES)
        row = {"hash": hash_token(secret), "user": user, "created_at": now, "used_at": now}
        connection.execute(sessions.insert().values(row))
    return secret


def find_session(storage: Storage, secret: str) -> BrowserSession | None:
    """Return the session with a secret, and note that it is used; None when there is none."""
    if not secret:
        return None
    now, users, members = _read_clock(storage), accounts.users, accounts.members
    query = (
        sa.select(sessions, users.c.display_name, members.c.organization, members.c.role)
        .join(users, users.c.id == sessions.c.user)
        .outerjoin(members, members.c.user == users.c.id)
        .where(sessions.c.hash == hash_token(secret), ~_is_over(now))
    )
    with storage.read() as connection:
        rows = connection.execute(query).all()
    if not rows:
        return None
    if now - rows[0].used_at > NOTED_SECONDS:
        with storage.write() as connection:
            used = sessions.update().where(sessions.c.hash == rows[0].hash)
            connection.execute(used.values(used_at=now))
    roles = {row.organization: row.role for row in rows if row.organization is not None}
    token = hmac.new(storage.secret, b"form of " + secret.encode(), sha256).hexdigest()
    return BrowserSession(Caller(rows[0].user, rows[0].display_name, roles), token)


def end_session(storage: Storage, secret: str) -> None:
    """End a session."""
    with storage.write() as connection:
        connection.execute(sessions.delete().where(sessions.c.hash == hash_token(secret)))


def end_sessions(storage: Storage, user: str | None) -> tuple[str, int]:
    """End all sessions and links of a user, by id or e-mail, None for the owner; return the name and the number.

    Raises: NotFound when there is no such user.
    """
    with storage.write() as connection:
        person = find_holder(storage, connection, TokenHolder(user))
        connection.execute(sign_in_links.delete().where(sign_in_links.c.user == person.id))
        ended = connection.execute(sessions.delete().where(sessions.c.user == person.id)).rowcount
    return str(person.email or person.display_name), ended


def _is_over(now: int) -> sa.ColumnElement[bool]:
    return sa.or_(sessions.c.used_at <= now - IDLE_SECONDS, sessions.c.created_at <= now - SESSION_SECONDS)


def _drop_oldest(connection: sa.Connection, table: sa.Table, age: sa.ColumnElement[int], user: str, most: int) -> None:
    """Make room for one more of a user."""
    newest = sa.select(table.c.hash).where(table.c.user == user).order_by(age.desc(), table.c.hash).limit(most - 1)
    connection.execute(
        table.delete().where(table.c.user == user, table.c.hash.not_in(list(connection.scalars(newest))))
    )


def _read_clock(storage: Storage) -> int:
    return int(storage.now().timestamp())
