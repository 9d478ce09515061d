"""Serve /livez, /readyz and /metrics to monitoring systems."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from syncd.daemon.health import ServiceHealth, find_faults, list_pauses
from syncd.daemon.metrics import TEXT_TYPE, choose_type, render_metrics
from syncd.net.page_server import serve_pages
from syncd.net.page_values import Acceptance, PageRequest, PageResponse


@contextmanager
def listen(
    address: str, health: Callable[[], ServiceHealth], now: Callable[[], float], notice: Callable[[str], None]
) -> Iterator[None]:
    """Answer `/metrics`, `/livez` and `/readyz` at `HOST:PORT` or `unix:PATH` within the block, from present health.

    Shape: an empty address listens nowhere; `notice` gets a request that could not be answered. Units: `now` in
    epoch seconds. Raises: ConfigInvalid when the address is wrong or taken.
    """
    if not address:
        yield
        return
    # Monitoring systems call the service by names of their own, and what they read names no id and no title.
    answer = partial(_answer, health, now)
    with serve_pages(address, answer, notice, name="syncd-metrics", accepts=Acceptance(is_any_host=True)):
        yield


def _answer(health: Callable[[], ServiceHealth], now: Callable[[], float], request: PageRequest) -> PageResponse:
    if request.path == "/metrics":
        kind = choose_type(request.headers.get("accept", ""))
        body = render_metrics(health(), now(), kind).encode()
        return PageResponse(body, 200, kind, headers=(("Vary", "Accept"),), cache="no-store")
    status, text = _find_answer(health(), now(), request.path)
    return PageResponse(text.encode(), status, TEXT_TYPE, cache="no-store")


def _find_answer(health: ServiceHealth, now: float, path: str) -> tuple[int, str]:
    match path:
        case "/livez":
            return (200, "alive\n") if health.is_alive else (503, "no progress\n")
        case "/readyz":
            faults = find_faults(health, now)
            if faults:
                return 503, "\n".join(["not ready", *faults, ""])
            pauses = list_pauses(health)
            word = "paused" if pauses and len(pauses) == len(health.repositories) else "ready"
            return 200, "\n".join([word, *pauses, ""])
        case _:
            return 404, "there are /metrics, /livez and /readyz\n"
