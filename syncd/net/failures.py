"""What becomes of an exchange that gets no whole answer; messages name no address and nothing of the content."""


class NetworkError(Exception):
    """An exchange did not get its answer; `reason` is what the system said, for the operator and nobody else."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class Refused(NetworkError):
    """The address must not be reached, or what answers there must not be read."""


class TooLarge(Refused):
    """What answers goes beyond a limit."""


class NotConnected(NetworkError):
    """There was no connection, and so nothing was sent."""


class TimedOut(NetworkError):
    """The exchange took longer than it may."""


class ConnectTimedOut(NotConnected, TimedOut):
    """There was no connection in time, and so nothing was sent."""


class BrokenOff(NetworkError):
    """The answer is not whole, or is no HTTP."""
