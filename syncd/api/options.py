"""What a client of the platform does in other ways than by default."""

from collections.abc import Callable
from dataclasses import dataclass
from random import random as uniform
from time import sleep as sleep_for
from time import time

import httpx

from syncd.api.transport.breaker import Breaker
from syncd.api.transport.rate_limit import (
    AnnounceWait,
    Observe,
    Share,
    ignore_try,
    ignore_wait,
    keep_own_count,
    permit_all,
)
from syncd.net.resolving import Resolve, look_up_addresses


@dataclass(frozen=True)
class ClientOptions:
    """How a client asks, how long and how often, and who is asked or told about it.

    Shape: `insecure` allows plain http beyond this machine; `cancelled` is asked before every try and during every
    wait; with a `breaker`, a host that is known to be down is not asked; `observe` hears of each try, `announce_wait`
    of each wait before it begins; `renew` gives a token in place of one that the platform refuses; `permit` is called
    before each try of a request that may write, and refuses it by an exception; `share` counts requests for all who
    have this token. `transport` replaces the network; `resolve` turns a download's host into addresses; `sleep`,
    `clock` and `random` replace the world's.
    Units: `deadline`, seconds that one try may take as a whole; `clock`, epoch seconds.
    """

    insecure: bool = False
    deadline: float = 60.0
    tries: int = 5
    cancelled: Callable[[], bool] = lambda: False
    breaker: Breaker | None = None
    observe: Observe = ignore_try
    announce_wait: AnnounceWait = ignore_wait
    renew: Callable[[str], str] | None = None
    permit: Callable[[], object] = permit_all
    share: Share = keep_own_count
    transport: httpx.BaseTransport | None = None
    resolve: Resolve = look_up_addresses
    sleep: Callable[[float], object] = sleep_for
    clock: Callable[[], float] = time
    random: Callable[[], float] = uniform


DEFAULTS = ClientOptions()
