"""Any operation by method and path, in and out as plain JSON: for `syncd api` and for what has no method of its own."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from syncd.api.lists import iterate_list
from syncd.api.transport.addresses import Params, Value
from syncd.api.transport.answers import parse_json
from syncd.api.transport.limits import TREE
from syncd.api.transport.rate_limit import parse_date
from syncd.api.transport.request_loop import Method
from syncd.api.transport.transport import Body, Transport
from syncd.errors import NotFound
from syncd.model.base import Observed
from syncd.model.listing import Listing


class Raw:
    """Operations by their path, such as `/orgs` or `/v1/spaces/abc?shareKey=k`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def call(self, method: Method, address: str, *, params: Params | None = None, body: Body | None = None) -> Any:
        """Return the JSON answer of a method and a path; text when it is not JSON, None when it is empty.

        Raises: PlatformError, Stopped.
        """
        path, query = _split_address(address)
        label, answer = self._transport.exchange(method, path, {**query, **(params or {})}, body, TREE)
        if not answer.body:
            return None
        if answer.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
            return parse_json(answer, label=label, add_notice=self._transport.add_notice)
        return answer.body.decode(errors="replace")

    def read_clock(self) -> datetime | None:
        """Return the time that the platform's answers are dated with; None where they are not dated.

        Raises: PlatformError, Stopped.
        """
        _, answer = self._transport.exchange("GET", ("user",), None, None)
        return parse_date(answer.headers.get("date", ""))

    def list_items(self, address: str, *, params: Params | None = None) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of a list. Raises what `lists.iterate_list` does."""
        path, query = _split_address(address)
        for item in iterate_list(self._transport, path, Listing[Observed], params={**query, **(params or {})}):
            yield item.wire()


def _split_address(address: str) -> tuple[tuple[str, ...], dict[str, Value | list[Value]]]:
    """Return the segments below `/v1` and the query parameters of a path as people write it."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        raise NotFound(f"{address}: an address, not a path", hint="Write the path only, for example /orgs.")
    segments = tuple(unquote(part) for part in parts.path.split("/") if part)
    if segments[:1] == ("v1",):
        segments = segments[1:]
    if not segments:
        raise NotFound("there is nothing at the root of the API", hint="Try /orgs or /user.")
    query: dict[str, Value | list[Value]] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query[name] = [*_as_list(query[name]), value] if name in query else value
    return segments, query


def _as_list(value: Value | list[Value]) -> list[Value]:
    return value if isinstance(value, list) else [value]
