"""`run`: the daemon in the foreground, under systemd or in a terminal."""

import os
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from syncd.cli.service.log import Log, LogEvent, choose_log
from syncd.cli.service.run_log import RunLog
from syncd.cli.terminal.context import load_config_parts, require_config_file
from syncd.cli.terminal.text import escape
from syncd.config import read_drop_in_stamp
from syncd.daemon.control import find_runtime_directory, listen_control
from syncd.daemon.health import ServiceHealth
from syncd.daemon.hooks.listener import WebhookListener
from syncd.daemon.hooks.receiver import UNKNOWN, WebhookAnswer
from syncd.daemon.http import listen
from syncd.daemon.jobs import build_broken_jobs, build_jobs
from syncd.daemon.run_files import RunFiles, find_service_directory
from syncd.daemon.service import SELF, Job, Service
from syncd.daemon.systemd import ERROR, INFO, WARNING, Notifier
from syncd.errors import SyncdError


def run_service(config_file: Path | None, address: str, log_format: str) -> int:
    """Keep every configured repository in step until SIGTERM, and return the exit code. Raises: BadParameter."""
    log = choose_log(log_format)
    warn, path = partial(_warn, log), _find_path(config_file)

    def load_jobs() -> Sequence[Job]:
        config, broken = load_config_parts(require_config_file(config_file))
        jobs = [*build_jobs(config, os.environ), *build_broken_jobs(broken)]
        webhooks.configure(config, os.environ)
        return jobs

    threading.excepthook = partial(_log_defect, log)
    service = Service(
        load_jobs,
        notify=_ReadyNotifier(log),
        files=RunFiles(find_service_directory(os.environ), warn),
        report=RunLog(log).report,
        notice=warn,
        read_stamp=partial(read_drop_in_stamp, Path(path)),
    )
    webhooks = WebhookListener(service.wake, partial(_log_webhook, log), warn)

    def find_health() -> ServiceHealth:
        return replace(service.health(), webhooks=webhooks.receiver.count_answers())

    with (
        webhooks,
        listen(address, find_health, time.time, warn),
        listen_control(find_runtime_directory(os.environ), service.answer, warn, config=path),
    ):
        return service.serve()


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

    def send_ready(self) -> None:
        super().send_ready()
        self._log(LogEvent(("ready: every repository was looked at or is paused; Ctrl-C ends syncd",), INFO))


def _log_defect(log: Log, defect: threading.ExceptHookArgs) -> None:
    """Log the traceback of a thread that ended in a defect; the thread of a run has the name of its repository."""
    name = defect.thread.name if defect.thread is not None else SELF
    trace = "".join(traceback.format_exception(defect.exc_type, defect.exc_value, defect.exc_traceback))
    log(LogEvent(tuple(escape(line) for line in trace.rstrip("\n").split("\n")), ERROR, name))


def _log_webhook(log: Log, answer: WebhookAnswer, more: int) -> None:
    """Log the answer to a webhook, and how many more of its sender were refused since one was logged."""
    others = f" ({more} more were refused before it)" if more else ""
    line = f"webhook of {answer.source or UNKNOWN}: {answer.status}, {escape(answer.text)}{others}"
    fields = {"flow": "webhook", "source": answer.source or UNKNOWN, "status": str(answer.status)}
    log(LogEvent((line,), WARNING if answer.is_refusal else INFO, fields=fields))


def _warn(log: Log, text: str) -> None:
    log(LogEvent(tuple(escape(line) for line in text.rstrip("\n").split("\n")), WARNING))
