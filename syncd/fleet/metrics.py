"""Serve /livez, /readyz and /metrics of one worker to monitoring systems."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from syncd import __version__
from syncd.daemon.http import ProbeAnswer, Probes, serve_probes
from syncd.daemon.metrics import Measure, render_measures
from syncd.fleet.workers import WorkerCounts


@dataclass(frozen=True)
class WorkerHealth:
    """How a worker is, as it knows itself.

    Units: `noted_ago` is the seconds since it last reached the database, `lease_seconds` how long a lease is good
    unrenewed, `run_seconds` what all runs that ended took. Shape: `jobs` is how many runs it does at once, `webhooks`
    how often each sender got each answer, `notifications` how many each receiver was sent, or never got; it is cut off
    while it takes no jobs because the database does not answer, and `outages` says how often it was.
    """

    name: str
    jobs: int
    noted_ago: float
    lease_seconds: float
    is_stopping: bool
    run_seconds: float
    counts: WorkerCounts
    is_cut_off: bool = False
    outages: int = 0
    webhooks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        """Whether it has reached the database within the time of a lease: later, others have taken over its runs."""
        return self.noted_ago < self.lease_seconds

    @property
    def is_ready(self) -> bool:
        """Whether it takes work."""
        return self.is_alive and not self.is_cut_off and not self.is_stopping


def serve_worker_probes(
    address: str, read: Callable[[], WorkerHealth], notice: Callable[[str], None]
) -> AbstractContextManager[None]:
    """Answer monitoring systems by the present health of a worker; else as `serve_probes`."""
    probes = Probes(
        lambda kind: render_measures(list_measures(read()), kind),
        lambda: _find_life(read()),
        lambda: _find_readiness(read()),
    )
    return serve_probes(address, probes, notice)


def _find_life(health: WorkerHealth) -> ProbeAnswer:
    return (200, "alive\n") if health.is_alive else (503, f"{_describe_silence(health)}\n")


def _find_readiness(health: WorkerHealth) -> ProbeAnswer:
    if health.is_ready:
        return 200, "ready\n"
    return 503, f"not ready\n{'it ends' if health.is_stopping else _describe_silence(health)}\n"


def _describe_silence(health: WorkerHealth) -> str:
    if health.is_alive:
        return "the database of the fleet does not answer"
    return f"no answer of the database for {health.noted_ago:.0f} s"


def list_measures(health: WorkerHealth) -> list[Measure]:
    """Return the metrics of a worker, all with its name as their label."""
    counts, labels, own = health.counts, ("worker",), (health.name,)
    found = [
        ("syncd_worker_up", "Whether the worker reaches the database of the fleet.", health.is_alive, False),
        ("syncd_worker_ready", "Whether the worker takes work.", health.is_ready, False),
        ("syncd_worker_jobs", "Runs that the worker does at once.", health.jobs, False),
        ("syncd_worker_running", "Runs of now.", counts.running, False),
        ("syncd_worker_runs", "Runs that ended.", counts.runs, True),
        ("syncd_worker_failed_runs", "Runs that did not do what they are for.", counts.failed_runs, True),
        ("syncd_worker_outages", "Times that the database of the fleet did not answer any more.", health.outages, True),
        ("syncd_worker_lost_leases", "Runs that lost their lease.", counts.lost_leases, True),
        ("syncd_worker_run_seconds", "Time that runs took together.", health.run_seconds, True),
        ("syncd_worker_clones", "Clones in the cache.", counts.cached, False),
        ("syncd_worker_clone_bytes", "Bytes of the clones, as last noted.", counts.cache_bytes, False),
    ]
    version = Measure("syncd_build_info", "Version of syncd.", ("version",), {(__version__,): 1})
    answers = {(health.name, source, str(status)): count for (source, status), count in health.webhooks.items()}
    help = "Webhooks, by sender and answer."
    heard = Measure("syncd_worker_webhooks", help, ("worker", "source", "status"), answers, is_counter=True)
    deliveries = {(health.name, *key): count for key, count in health.notifications.items()}
    help = "Notifications that were sent, or failed."
    sent = Measure("syncd_worker_notifications", help, ("worker", "target", "state"), deliveries, is_counter=True)
    own_measures = (Measure(name, help, labels, {own: value}, is_counter) for name, help, value, is_counter in found)
    return [version, heard, sent, *own_measures]
