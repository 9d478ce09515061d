"""`fleet worker`: one worker in the foreground, under systemd or in a terminal."""

import os
import re
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from syncd import __version__
from syncd.cli.fleet.connect import open_database
from syncd.cli.service.log import LogEvent, choose_log
from syncd.cli.service.run_log import RunLog, log_warning, log_webhook
from syncd.cli.terminal.text import escape
from syncd.daemon.systemd import INFO, WARNING, Notifier
from syncd.fleet.cache import Cache
from syncd.fleet.database import describe_database
from syncd.fleet.run import RunContext, RunEnd

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,62}")
_GIB = 1 << 30


@dataclass(frozen=True)
class WorkerCommandOptions:
    """What a person typed behind `fleet worker`. Units: `lease` in seconds, `cache_size` in GiB."""

    url: str
    cache: Path
    cache_size: float
    jobs: int
    name: str
    lease: float
    log_format: str
    listen: str
    webhooks: str


def run_worker(options: WorkerCommandOptions) -> None:
    """Work for the fleet until SIGTERM, Ctrl-C or `fleet drain`.

    Raises: BadParameter; ConfigInvalid; AnotherRuns when another worker has the cache; FleetUnreachable.
    """
    host = socket.gethostname()
    name = options.name or host
    if not _NAME.fullmatch(name):
        raise typer.BadParameter(f"--name {name[:70]}: letters, digits and . _ @ - make a name")
    log = choose_log(options.log_format)
    reports, notify = RunLog(log), Notifier(os.environ)

    def report(ended: RunEnd) -> None:
        if why := _describe_break(ended):
            log(LogEvent((why,), WARNING, ended.repository))
        else:
            reports.report(ended.repository, ended.results)

    with open_database(options.url) as database:
        from syncd.fleet.worker import FleetWorker, WorkerOptions

        def send_ready() -> None:
            notify.send_ready()
            where = escape(describe_database(database.url))
            log(LogEvent((f"ready: worker {name} of the fleet at {where}; Ctrl-C ends it",), INFO))

        settings = database.read_settings()
        cache = Cache(options.cache.absolute(), bytes_max=int(options.cache_size * _GIB))
        with cache:
            context = RunContext(
                database=database,
                settings=settings,
                worker=name,
                cache=cache,
                lease_seconds=options.lease,
                environ=os.environ,
                is_stopping=lambda: False,
            )
            own = WorkerOptions(
                jobs=options.jobs,
                host=host,
                version=__version__,
                report=report,
                send_ready=send_ready,
                send_alive=notify.send_alive,
                listen=options.listen,
                webhooks=options.webhooks,
                report_webhook=partial(log_webhook, log),
                warn=partial(log_warning, log),
            )
            FleetWorker(context, own).run()
            notify.send_stopping()


def _describe_break(ended: RunEnd) -> str:
    """Say in one line why a run was not recorded, and what becomes of it; "" for one that was."""
    if ended.has_lost_lease:
        return "the lease was lost; another worker goes on from what is at the Git remote"
    if ended.failure:
        return f"the run broke off: {escape(ended.failure)}; it stays due, and whichever worker takes it goes on"
    return ""
