"""Who may look at the status page: links that work once, and the sessions that they begin; all of it in memory."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

LINK_SECONDS = 60.0
SESSION_SECONDS = 12 * 3600.0
"""A session that nobody used for so long has ended."""
LINKS_MAX, SESSIONS_MAX = 16, 32
_BYTES = 32


@dataclass
class _Session:
    form_token: str
    until: float


class Sessions:
    """Links and sessions; safe in any thread. Only hashes of secrets are kept, and a restart ends all."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin without any. Units: `clock` in seconds."""
        self._clock = clock
        self._lock = Lock()
        self._links: dict[str, float] = {}
        self._sessions: dict[str, _Session] = {}

    def make_link_secret(self) -> str:
        """Return the secret of a new link, good for one use within a minute."""
        secret = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._drop_old()
            while len(self._links) >= LINKS_MAX:
                del self._links[next(iter(self._links))]
            self._links[_hash_secret(secret)] = self._clock() + LINK_SECONDS
        return secret

    def begin_session(self, link_secret: str) -> str:
        """Return the secret of the session that a link begins, or "" where it was used or is too old."""
        with self._lock:
            self._drop_old()
            if self._links.pop(_hash_secret(link_secret), None) is None:
                return ""
            while len(self._sessions) >= SESSIONS_MAX:
                del self._sessions[next(iter(self._sessions))]
            secret = secrets.token_urlsafe(_BYTES)
            until = self._clock() + SESSION_SECONDS
            self._sessions[_hash_secret(secret)] = _Session(secrets.token_urlsafe(_BYTES), until)
        return secret

    def find_form_token(self, secret: str) -> str:
        """Return the token that the forms of a session send, and prolong the session; "" where there is none."""
        with self._lock:
            self._drop_old()
            session = self._sessions.get(_hash_secret(secret)) if secret else None
            if session is None:
                return ""
            session.until = self._clock() + SESSION_SECONDS
            return session.form_token

    def end_session(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_hash_secret(secret), None)

    def _drop_old(self) -> None:
        now = self._clock()
        self._links = {one: until for one, until in self._links.items() if until > now}
        self._sessions = {one: session for one, session in self._sessions.items() if session.until > now}


def _hash_secret(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
