"""Files that a content write names by their address: fetched before it begins, within limits for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from syncd.model.content_write import FILES_MAX, FileAtUrl, InsertFiles, Operation
from syncd.net import exchange
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.files import CONTENT_TYPE

BYTES_MAX = 10_000_000
"""Of one file; the API limits only what is sent along."""
SECONDS_MAX = 30.0
"""For all files of one content write."""
ADDRESSES_MAX = FILES_MAX
"""Addresses that one content write may name, since each keeps a thread of the platform waiting."""
_EACH_S = 10.0
_UNKNOWN = "application/octet-stream"


@dataclass(frozen=True)
class FetchedFile:
    """A file that was fetched from its address."""

    data: bytes
    content_type: str


def fetch_files(operations: Iterable[Operation], *, private: bool) -> dict[str, FetchedFile]:
    """Fetch each file that the operations of a content write name by its address, once, and return them by address.

    Shape: `private` allows addresses of private networks. Raises: Failure 400 when there are too many addresses, or
    one cannot be fetched within the limits.
    """
    inserting = (operation for operation in operations if isinstance(operation, InsertFiles))
    files = {file.url: file for each in inserting for file in each.files if isinstance(file, FileAtUrl)}
    if len(files) > ADDRESSES_MAX:
        raise Failure(400, f"A content write can fetch at most {ADDRESSES_MAX} files.")
    until = monotonic() + SECONDS_MAX
    return {url: _fetch_file(file, until - monotonic(), private=private) for url, file in files.items()}


def _fetch_file(file: FileAtUrl, seconds: float, *, private: bool) -> FetchedFile:
    if seconds <= 0:
        raise Failure(400, f"{file.name}: all files together take longer than {SECONDS_MAX:.0f} s to fetch")
    try:
        with exchange.open_stream(
            "GET", file.url, timeout=min(seconds, _EACH_S), limit=BYTES_MAX, private=private
        ) as answer:
            if answer.status != 200:
                raise Failure(400, f"{file.name}: its address answers with status {answer.status}")
            kind = answer.headers.get("content-type", "").partition(";")[0].strip()
            return FetchedFile(answer.read_body(), kind if CONTENT_TYPE.fullmatch(kind) else _UNKNOWN)
    except exchange.NetworkError as failure:
        raise Failure(400, f"{file.name}: cannot be fetched. {failure}") from failure
