"""Serve /livez, /readyz and /metrics to monitoring systems: of the service, and of whatever else is asked the same."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

from syncd.daemon.health import ServiceHealth, find_faults, list_pauses
from syncd.daemon.metrics import TEXT_TYPE, choose_type, render_metrics
from syncd.net.page_server import serve_pages
from syncd.net.page_values import Acceptance, PageRequest, PageResponse

ProbeAnswer = tuple[int, str]
"""A status of HTTP, and a text."""


@dataclass(frozen=True)
class Probes:
    """What computes each answer to monitoring systems: metrics in a content type, `/livez` and `/readyz`."""

    render_metrics: Callable[[str], str]
    find_life: Callable[[], ProbeAnswer]
    find_readiness: Callable[[], ProbeAnswer]


@contextmanager
def serve_probes(address: str, probes: Probes, notice: Callable[[str], None]) -> Iterator[None]:
    """Answer `/metrics`, `/livez` and `/readyz` at `HOST:PORT` or `unix:PATH` within the block.

    Shape: an empty address listens nowhere; `notice` gets a request that could not be answered. Raises: ConfigInvalid
    when the address is wrong or taken.
    """
    if not address:
        yield
        return
    # Monitoring systems call a process by names of their own, and what they read names no id and no title.
    accepts = Acceptance(is_any_host=True)
    with serve_pages(address, partial(_answer, probes), notice, name="syncd-metrics", accepts=accepts):
        yield


def serve_service_probes(
    address: str, health: Callable[[], ServiceHealth], now: Callable[[], float], notice: Callable[[str], None]
) -> AbstractContextManager[None]:
    """Answer monitoring systems by the present health of the service; else as `serve_probes`. Units: epoch seconds."""
    probes = Probes(
        lambda kind: render_metrics(health(), now(), kind),
        lambda: (200, "alive\n") if health().is_alive else (503, "no progress\n"),
        lambda: _find_readiness(health(), now()),
    )
    return serve_probes(address, probes, notice)


def _answer(probes: Probes, request: PageRequest) -> PageResponse:
    if request.path == "/metrics":
        kind = choose_type(request.headers.get("accept", ""))
        body = probes.render_metrics(kind).encode()
        return PageResponse(body, 200, kind, headers=(("Vary", "Accept"),), cache="no-store")
    status, text = _find_answer(probes, request.path)
    return PageResponse(text.encode(), status, TEXT_TYPE, cache="no-store")


def _find_answer(probes: Probes, path: str) -> ProbeAnswer:
    match path:
        case "/livez":
            return probes.find_life()
        case "/readyz":
            return probes.find_readiness()
        case _:
            return 404, "there are /metrics, /livez and /readyz\n"


def _find_readiness(health: ServiceHealth, now: float) -> ProbeAnswer:
    faults = find_faults(health, now)
    if faults:
        return 503, "\n".join(["not ready", *faults, ""])
    pauses = list_pauses(health)
    word = "paused" if pauses and len(pauses) == len(health.repositories) else "ready"
    return 200, "\n".join([word, *pauses, ""])
