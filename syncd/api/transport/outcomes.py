"""What a try comes to: an answer, or a failure, of which a network exception says whether the request arrived."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

import httpx

from syncd.net.failures import CertificateInvalid, NetworkError, NotConnected, Refused, TooLarge


@dataclass(frozen=True)
class Answer:
    """A complete answer, unpacked."""

    status: int
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True)
class StreamedAnswer(Answer):
    """An answer whose body is still to come, unpacked, in `pieces`."""

    pieces: Iterator[bytes]


class Failure(Enum):
    """What an exception says about the request."""

    UNSENT = "it cannot have arrived"
    UNTRUSTED = "it was not sent, since the host's certificate is not believed"
    BROKEN = "it may have arrived"
    FOREIGN = "what answers is not the platform"
    TOO_LARGE = "more answers than is read"


FAILURES: Mapping[type[Exception], Failure] = {
    NotConnected: Failure.UNSENT,
    CertificateInvalid: Failure.UNTRUSTED,
    NetworkError: Failure.BROKEN,
    Refused: Failure.FOREIGN,
    TooLarge: Failure.TOO_LARGE,
    httpx.ConnectError: Failure.UNSENT,
    httpx.ConnectTimeout: Failure.UNSENT,
    httpx.PoolTimeout: Failure.UNSENT,
    httpx.TransportError: Failure.BROKEN,
    httpx.StreamError: Failure.BROKEN,
    httpx.HTTPError: Failure.FOREIGN,
    httpx.UnsupportedProtocol: Failure.FOREIGN,
    httpx.InvalidURL: Failure.FOREIGN,
    httpx.CookieConflict: Failure.FOREIGN,
}
"""By the nearest class: TransportError stands for all of its leaves that are not named."""

NETWORK_ERRORS = (NetworkError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, httpx.CookieConflict)
"""Every exception of a connection is one of these, and every one of httpx, which a given transport raises."""


@dataclass(frozen=True)
class FailedTry:
    """A try without an answer."""

    failure: Failure
    reason: str
    cause: Exception


def classify_failure(kind: type[Exception]) -> Failure:
    """Return what an exception class of a connection or of httpx says about the request."""
    return next(FAILURES[base] for base in kind.__mro__ if base in FAILURES)


def describe_failure(error: Exception) -> str:
    """Return an exception of a connection or of httpx as part of a sentence, with the system's own reason."""
    if not isinstance(error, NetworkError):
        return f"{type(error).__name__}: {error}"
    message = str(error).removesuffix(".")
    return message[:1].lower() + message[1:] + (f" ({error.reason})" if error.reason else "")
