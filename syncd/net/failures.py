"""Why an exchange has no complete answer; messages name no address and no content."""


class NetworkError(Exception):
    """An exchange got no answer; `reason` is what the system said, for the operator only."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class Refused(NetworkError):
    """The address must not be reached, or its answer must not be read."""


class TooLarge(Refused):
    """The answer exceeds a limit."""


class NotConnected(NetworkError):
    """There was no connection, and so nothing was sent."""


class CertificateInvalid(NotConnected):
    """The host's certificate is not believed, and so nothing was sent."""


class TimedOut(NetworkError):
    """The exchange took longer than it may."""


class ConnectTimedOut(NotConnected, TimedOut):
    """There was no connection in time, and so nothing was sent."""


class BrokenOff(NetworkError):
    """The answer is incomplete, or is not HTTP."""
