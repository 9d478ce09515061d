"""The user behind the token."""

from syncd.api.transport import Transport
from syncd.model.user import User


class Users:
    """Operations on users."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def current(self) -> User:
        """Return the user whose token this is: the cheapest way to check a token. Source: content-write §7."""
        return self._transport.call("GET", ("user",), User)
