"""The user behind the token, and those who share an organization with that user."""

from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.user import User, UserUpdate


class Users:
    """Operations on users; all are beyond the document."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getAuthenticatedUser")
    def get_current(self) -> User:
        """Return the user whose token this is: the cheapest way to check a token. Source: @gitbook/api 0.202.0."""
        return self._transport.call("GET", ("user",), User)

    @operation("getUserById")
    def get(self, user: str) -> User:
        """Return a user of one of the organizations of the token's user."""
        return self._transport.call("GET", ("users", user), User)

    @operation("updateUserById")
    def update(self, user: str, changes: UserUpdate) -> User:
        """Change the token's user, and return the user."""
        return self._transport.call("PATCH", ("users", user), User, body=changes.wire())
