"""Download files from wherever the platform keeps them; an address from outside is followed only where that is safe.

The token never goes along: a download address carries its own permission. Beyond the platform's own origin only https
to public addresses is followed; a name is resolved once, checked, and the connection goes to an address that was
checked. The platform itself may be in a private network: its own origin is what the operator configured.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import IO

import httpx

from syncd.api.transport.answers import CHECK_URL
from syncd.api.transport.connections import ADDRESSES, parse_target_url
from syncd.api.transport.credential import PLAIN_HEADERS
from syncd.api.transport.limits import FILE
from syncd.api.transport.outcomes import Answer
from syncd.api.transport.request_loop import ApiRequest, RequestLoop
from syncd.errors import AnswerTooLarge, NotFound, Rejected, Unreachable
from syncd.model.file import File
from syncd.model.text import quote_name
from syncd.net.exchange import REDIRECTS
from syncd.net.failures import NotConnected, Refused
from syncd.net.resolving import Resolve, resolve_allowed
from syncd.net.targets import Target, parse_redirect, parse_target

REDIRECTS_FOLLOWED = 3
DEADLINES_MAX = 5
"""A file may take this many deadlines of an ordinary request, all of its redirects and tries together."""


class Downloads:
    """Downloads of files of one platform."""

    def __init__(self, loop: RequestLoop, resolve: Resolve) -> None:
        self._loop = loop
        self._own = parse_target_url(httpx.URL(loop.origin + "/"))
        self._resolve = resolve

    def fetch(self, file: File, into: IO[bytes]) -> int:
        """Write the bytes of a file just read into an open file, in place of its content, and return how many.

        Shape: piece by piece; a download that breaks off starts over. Raises: Rejected for an address that is not
        followed, NotFound, Unreachable (also when the size is not the file's), AnswerTooLarge, RateLimited, Stopped.
        """
        label = f"download of file {file.id} ({quote_name(file.name)})"
        if file.size is not None and file.size > FILE.size:
            raise AnswerTooLarge(f"{label}: {file.size} bytes are more than {FILE.size}")
        if not file.download_url:
            raise Rejected(f"{label}: the platform gives no address")
        deadline = monotonic() + DEADLINES_MAX * self._loop.deadline
        with _translate_refusal(label):
            target = parse_target(file.download_url, base=self._own)
        for _ in range(1 + REDIRECTS_FOLLOWED):
            answer = self._loop.perform(self._make_request(target, label, into, deadline))
            if answer.status not in REDIRECTS:
                return _check_download(answer, into.tell(), file, label)
            with _translate_refusal(label):
                target = parse_redirect(target, answer.headers.get("Location", ""))
        raise Rejected(f"{label}: more than {REDIRECTS_FOLLOWED} redirects")

    def _make_request(self, target: Target, label: str, into: IO[bytes], deadline: float) -> ApiRequest:
        addresses = [] if target.origin == self._own.origin else self._public_addresses(target, label)
        headers = {**PLAIN_HEADERS, "Accept": "*/*", "Accept-Encoding": "identity"}
        extensions = {ADDRESSES: addresses} if addresses else {}

        def build() -> httpx.Request:
            return httpx.Request("GET", target.url, headers=headers, extensions=dict(extensions))

        seconds = max(deadline - monotonic(), 0.0)
        request = ApiRequest("GET", label, target.origin, build, seconds, limit=FILE, total=seconds)
        return replace(request, is_operation=False, sink=_make_writer(into))

    def _public_addresses(self, target: Target, label: str) -> list[str]:
        if not target.is_secure:
            raise Rejected(f"{label}: {target.origin} is not followed: only https is")
        deadline = monotonic() + self._loop.deadline
        try:
            return resolve_allowed(target.host, target.port, deadline=deadline, resolve=self._resolve)
        except Refused as error:
            message = f"{label}: {target.host} is not followed: it is not a public address"
            raise Rejected(message, hint=f"If the platform is there, use {target.origin} as platform.url.") from error
        except NotConnected as error:
            raise Unreachable(f"{label}: {target.host} has no address") from error


@contextmanager
def _translate_refusal(label: str) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise Rejected(f"{label}: the platform gives an address that is not followed: {error}") from error


def _make_writer(into: IO[bytes]) -> Callable[[Iterator[bytes]], None]:
    def write(pieces: Iterator[bytes]) -> None:
        into.seek(0)
        into.truncate()
        for piece in pieces:
            into.write(piece)

    return write


def _check_download(answer: Answer, size: int, file: File, label: str) -> int:
    status = answer.status
    if status in (404, 410):
        raise NotFound(f"{label}: nothing is there ({status})", status=status)
    if status >= 500:
        raise Unreachable(f"{label}: failed ({status})", status=status)
    if status != 200:
        hint = CHECK_URL if status < 400 else "Its address may have expired; the next run asks for a new one."
        raise Rejected(f"{label}: refused ({status})", status=status, hint=hint)
    if file.size is not None and size != file.size:
        raise Unreachable(f"{label}: {size} of {file.size} bytes arrived")
    return size
