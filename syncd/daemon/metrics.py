"""What a monitoring system asks the service: is it alive, is it ready, and how do things stand; in Prometheus' text."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from socket import AF_INET, AF_INET6
from threading import Thread

from syncd import __version__
from syncd.daemon.locks import STATE
from syncd.errors import ConfigInvalid, SyncdError
from syncd.store.glance import SITE_STATES, Glance, glance

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE_SECONDS = 10
"""How long one who asks may take to say what."""


@dataclass(frozen=True)
class Health:
    """The service as it sees itself: its work moves on; every repository was looked at once; and where they are."""

    alive: bool
    ready: bool
    repositories: tuple[Path, ...]


@contextmanager
def listening(address: str, health: Callable[[], Health]) -> Iterator[None]:
    """Given `HOST:PORT` and how to learn the health, answer `/metrics`, `/livez` and `/readyz` within the block.

    Shape: an empty address listens nowhere. Raises: ConfigInvalid when the address is wrong or taken.
    """
    if not address:
        yield
        return
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        number = int(port)
        ip_address("127.0.0.1" if host == "localhost" else host)
        server = _Server((host, number), partial(_Handler, health))
    except (ValueError, OverflowError, OSError) as error:
        hint = "write ADDRESS:PORT, such as 127.0.0.1:9470"
        raise ConfigInvalid(f"nothing can be asked at {address!r}: {error}", hint=hint) from error
    thread = Thread(target=server.serve_forever, name="syncd-metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(1)


def exposition(health: Health) -> str:
    """Given the health, return every metric; no id, path or title is ever a label."""
    seen = [glance(git_dir / STATE) for git_dir in health.repositories]
    lines = [
        *_gauge("syncd_build_info", "Version of syncd.", {f'version="{__version__}"': 1}),
        *_gauge("syncd_up", "Whether the work of the service moves on.", {"": int(health.alive)}),
        *_gauge("syncd_ready", "Whether every repository was looked at since the start.", {"": int(health.ready)}),
        *_gauge("syncd_outcomes", "Last outcomes, by flow and state.", _outcomes(seen)),
        *_gauge("syncd_plan_pending", "Plans of sites that wait for approval.", {"": _waiting(seen)}),
        *_gauge("syncd_site_items", "Things of sites, by area and state.", _items(seen)),
        *_gauge("syncd_site_look_timestamp_seconds", "When the site longest unseen was looked at.", _looked(seen)),
    ]
    return "\n".join(lines) + "\n"


def _gauge(name: str, help: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} gauge"
    for labels, value in sorted(values.items()):
        yield f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"


def _outcomes(seen: Sequence[Glance]) -> Mapping[str, float]:
    return Counter(f'flow="{outcome.flow}",state="{outcome.state}"' for one in seen for outcome in one.outcomes)


def _waiting(seen: Sequence[Glance]) -> int:
    return sum(not plan.approved for one in seen for plan in one.plans)


def _items(seen: Sequence[Glance]) -> Mapping[str, float]:
    counts: Counter[str] = Counter()
    for one in seen:
        for look in one.looks:
            facts = json.loads(look.facts)
            for state in SITE_STATES:
                for area, count in facts[state].items():
                    counts[f'area="{area}",state="{state}"'] += count
    return counts


def _looked(seen: Sequence[Glance]) -> Mapping[str, float]:
    moments = [datetime.fromisoformat(look.at).timestamp() for one in seen for look in one.looks]
    return {"": min(moments)} if moments else {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """One who hangs up is no trouble of ours."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_SECONDS
    server_version, sys_version = "syncd", ""

    def __init__(self, health: Callable[[], Health], *arguments: object) -> None:
        self._health = health
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer one question."""
        health = self._health()
        match self.path.partition("?")[0]:
            case "/metrics":
                self._metrics(health)
            case "/livez":
                self._answer(200 if health.alive else 503, "alive\n" if health.alive else "no progress\n")
            case "/readyz":
                self._answer(200 if health.ready else 503, "ready\n" if health.ready else "not ready\n")
            case _:
                self._answer(404, "there are /metrics, /livez and /readyz\n")

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: a scrape every few seconds is no news."""

    def _metrics(self, health: Health) -> None:
        try:
            text = exposition(health)
        except SyncdError as error:
            self._answer(503, f"{error.what}\n")
        else:
            self._answer(200, text)

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", TEXT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
