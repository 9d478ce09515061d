"""The log of the service: one event at a time, as text, as a line of JSON, or in the journal with fields to search by.

The journal's own protocol is spoken because only that carries fields: `journalctl REPOSITORY=docs`. Lines of text with
priorities (`<N>`) are written where the journal's socket is not to be had.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import typer

from syncd.cli.terminal.text import format_json, log_text
from syncd.daemon.systemd import ERROR, INFO, NOTICE, WARNING, is_journal, send_to_journal
from syncd.model.wording import format_count

LOG_FORMATS = ("text", "json", "journal")
LEVELS = {ERROR: "error", WARNING: "warning", NOTICE: "notice", INFO: "info"}
_COLOUR = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True)
class LogEvent:
    """Something that the service says.

    Shape: `lines` are for people, the first one what happened; text from outside in them is escaped. `repository` is
    the name of the one it is about, or "". `fields` are further facts for programs, by names in lower case.
    """

    lines: tuple[str, ...]
    priority: int
    repository: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


Log = Callable[[LogEvent], None]


@dataclass
class LossyLog:
    """A log that a full disk, or a pipe that nobody reads, does not end: it drops an event that cannot be written, and
    says how many it dropped once one can."""

    write: Log
    _dropped: int = 0

    def __call__(self, event: LogEvent) -> None:
        """Write an event, or drop it."""
        try:
            if self._dropped:
                many, verb = format_count(self._dropped, "event"), "is" if self._dropped == 1 else "are"
                self.write(LogEvent((f"{many} could not be written to this log, and {verb} not in it",), WARNING))
                self._dropped = 0
            self.write(event)
        except (OSError, ValueError):  # the latter of a stream that is closed
            self._dropped += 1


def choose_log(format: str) -> LossyLog:
    """Return how to log: in the format that a person wants, or in the journal where standard error leads there.

    Raises: BadParameter.
    """
    if format and format not in LOG_FORMATS:
        raise typer.BadParameter(f"--log-format {format[:40]}: there are {', '.join(LOG_FORMATS)}")
    if format == "json":
        return LossyLog(log_as_json)
    return LossyLog(log_in_journal if format != "text" and (format or is_journal(2, os.environ)) else log_as_text)


def log_as_text(event: LogEvent) -> None:
    """Write an event as lines for people; each begins with the name of its repository."""
    start = f"{event.repository}: " if event.repository else ""
    for line in event.lines:
        log_text(f"{start}{line}", event.priority)


def log_as_json(event: LogEvent) -> None:
    """Write an event as one line of JSON."""
    message, *details = (_COLOUR.sub("", line).strip() for line in event.lines)
    document = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "level": LEVELS[event.priority],
        "message": message,
        **({"details": details} if details else {}),
        **({"repository": event.repository} if event.repository else {}),
        **event.fields,
    }
    print(format_json(document, indent=None), file=sys.stderr, flush=True)


def log_in_journal(event: LogEvent) -> None:
    """Send an event to the journal with its fields; where the journal does not take it, write it as text."""
    start = f"{event.repository}: " if event.repository else ""
    facts = {"repository": event.repository, **event.fields}
    fields = {
        "MESSAGE": start + "\n".join(_COLOUR.sub("", line) for line in event.lines),
        "PRIORITY": str(event.priority),
        "SYSLOG_IDENTIFIER": "syncd",
        **{name.upper(): value for name, value in facts.items() if value},
    }
    if not send_to_journal(fields):
        log_as_text(event)
