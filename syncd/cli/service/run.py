"""`run`: the service in the foreground, under systemd or in a terminal."""

import os
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from syncd.cli.service.log import Log, LogEvent, choose_log
from syncd.cli.service.run_log import RunLog, log_warning, log_webhook
from syncd.cli.terminal.context import load_config_parts, require_config_file
from syncd.cli.terminal.text import escape
from syncd.config import Config, check_paths, read_drop_in_stamp
from syncd.daemon.control.control_socket import ControlAnswer, ControlRequest, find_runtime_directory, listen_control
from syncd.daemon.control.run_files import RunFiles, find_service_directory
from syncd.daemon.health import ServiceHealth, count_failures
from syncd.daemon.hooks.listener import WebhookListener, build_wakeable, load_sources
from syncd.daemon.http import serve_service_probes
from syncd.daemon.jobs import build_broken_jobs, build_jobs
from syncd.daemon.notifications.run_notifications import RunNotifications
from syncd.daemon.notifications.targets import build_subscriptions
from syncd.daemon.page.listener import PageListener
from syncd.daemon.page.reader import StatusReader, StatusVersions
from syncd.daemon.page.request_log import RequestLog
from syncd.daemon.page.sessions import Sessions
from syncd.daemon.service import SELF, Service
from syncd.daemon.systemd import ERROR, INFO, Notifier
from syncd.daemon.task import Job
from syncd.errors import SyncdError
from syncd.net.page_values import Handler


@dataclass(frozen=True)
class RunOptions:
    """What a person typed behind `run`: where health and metrics are, and where the status page is, "" for nothing."""

    config: Path | None = None
    listen: str = ""
    web: str = ""
    log_format: str = ""


MakeReader = Callable[[Callable[[], Config | None], Callable[[], ServiceHealth], RequestLog], StatusReader]
"""Makes what reads for the status page, from the service's configuration, health and requests."""


def run_service(options: RunOptions, make_reader: MakeReader) -> int:
    """Keep every configured repository in step until SIGTERM, and return the exit code.

    Raises: BadParameter; ConfigInvalid for an address where the status page must not or cannot be.
    """
    log = choose_log(options.log_format)
    warn, path = partial(log_warning, log), _find_path(options.config)
    loaded: list[Config] = []
    requests = RequestLog()

    def load_jobs() -> Sequence[Job]:
        file = require_config_file(options.config)
        config, broken = load_config_parts(file)
        check_paths(config.repository, file.path)  # here, since nothing of a refused configuration may count
        jobs = [*build_jobs(config, os.environ, requests.add), *build_broken_jobs(broken)]
        subscriptions = build_subscriptions(config, os.environ)
        sources = load_sources(config.webhooks, os.environ)
        webhooks.configure(config.webhooks.listen if config.webhooks else "", sources, build_wakeable(config))
        notifications.configure(config, subscriptions)
        loaded[:] = [config]
        return jobs

    directory = find_service_directory(os.environ)
    notifications = RunNotifications(directory, warn)
    threading.excepthook = partial(_log_defect, log)
    run_log = RunLog(log, notifications.ledger.list_former, lambda name: count_failures(service.health(), name))
    service = Service(
        load_jobs,
        notify=_ReadyNotifier(log),
        files=RunFiles(directory, warn),
        report=run_log.report,
        note_run=notifications.note_run,
        notice=warn,
        read_stamp=partial(read_drop_in_stamp, Path(path)),
    )
    webhooks = WebhookListener(lambda one: service.wake(one.path, one.interval), partial(log_webhook, log), warn)

    def find_health() -> ServiceHealth:
        return _add_counts(service.health(), webhooks, notifications)

    def make_handler(sessions: Sessions) -> Handler:
        # What a page takes is loaded for whoever looks at it.
        from syncd.daemon.page.routes import StatusPage

        reader = make_reader(lambda: next(iter(loaded), None), service.health, requests)
        return StatusPage(sessions, reader, StatusVersions(service.health, reader.list_files)).answer

    with PageListener(options.web, make_handler, warn) as page, webhooks, notifications:
        answer = partial(_answer_request, service, page)
        with (
            serve_service_probes(options.listen, find_health, time.time, warn),
            listen_control(find_runtime_directory(os.environ), answer, warn, config=path),
        ):
            return service.serve()


def _add_counts(health: ServiceHealth, webhooks: WebhookListener, notifications: RunNotifications) -> ServiceHealth:
    outbox = notifications.ledger.outbox
    return replace(
        health,
        webhooks=webhooks.receiver.count_answers(),
        notifications=outbox.count_results(),
        pending_notifications=outbox.count_pending(),
    )


def _answer_request(service: Service, page: PageListener, request: ControlRequest) -> ControlAnswer:
    return page.make_link() if request.command == "link" else service.answer(request)


def _find_path(config_file: Path | None) -> str:
    """The path of the configuration; "" where there is none, which the service itself will say."""
    with suppress(SyncdError):
        return str(require_config_file(config_file).path.absolute())
    return ""


class _ReadyNotifier(Notifier):
    """A notifier of systemd that also logs that the service is ready."""

    def __init__(self, log: Log) -> None:
        super().__init__(os.environ)
        self._log = log

    def report_ready(self) -> None:
        self._log(LogEvent(("ready: every repository was looked at or is paused; Ctrl-C ends syncd",), INFO))


def _log_defect(log: Log, defect: threading.ExceptHookArgs) -> None:
    """Log the traceback of a thread that ended in a defect; the thread of a run has the name of its repository."""
    name = defect.thread.name if defect.thread is not None else SELF
    trace = "".join(traceback.format_exception(defect.exc_type, defect.exc_value, defect.exc_traceback))
    log(LogEvent(tuple(escape(line) for line in trace.rstrip("\n").split("\n")), ERROR, name))
