"""The platform's API as one object, with a resource group behind each attribute."""

from collections.abc import Callable, Mapping
from random import random as uniform
from time import sleep as sleep_for
from time import time
from types import TracebackType
from typing import Self

import httpx

from syncd.api.change_requests import ChangeRequests
from syncd.api.content import Content
from syncd.api.downloads import Downloads, Resolve, addresses_of
from syncd.api.organizations import Organizations
from syncd.api.redirects import Redirects
from syncd.api.sections import Sections
from syncd.api.site_spaces import SiteSpaces
from syncd.api.sites import Sites
from syncd.api.spaces import Spaces
from syncd.api.transport import DEADLINE, Transport
from syncd.api.users import Users


class Client:
    """One platform under one token; threads may share it, and a `with` block closes it.

    `transport` replaces the network, `sleep`, `clock` (epoch seconds) and `random` the world's; `cancelled` is asked
    before every try and during every wait; `deadline` bounds one try in seconds; `insecure` allows plain http beyond
    this machine; `resolve` turns a download's host into addresses.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        insecure: bool = False,
        sleep: Callable[[float], object] = sleep_for,
        clock: Callable[[], float] = time,
        random: Callable[[], float] = uniform,
        cancelled: Callable[[], bool] = lambda: False,
        deadline: float = DEADLINE,
        resolve: Resolve = addresses_of,
    ) -> None:
        self._transport = Transport(
            url,
            token,
            transport=transport,
            insecure=insecure,
            sleep=sleep,
            clock=clock,
            random=random,
            cancelled=cancelled,
            deadline=deadline,
        )
        self.users = Users(self._transport)
        self.organizations = Organizations(self._transport)
        self.spaces = Spaces(self._transport)
        self.content = Content(self._transport, Downloads(self._transport, resolve))
        self.change_requests = ChangeRequests(self._transport)
        self.sites = Sites(self._transport)
        self.sections = Sections(self._transport)
        self.site_spaces = SiteSpaces(self._transport)
        self.redirects = Redirects(self._transport)

    def __repr__(self) -> str:
        return f"Client({self._transport.base!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def requests_sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method; every try and every download counts."""
        return self._transport.sent

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()
