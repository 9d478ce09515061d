"""Notify systemd of the service's state (sd_notify), and write lines with priorities for its journal."""

import os
import socket
import time
from collections.abc import Callable, Mapping

from syncd.model.text import mask_unprintable

ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6
"""Priorities of lines in the journal, as in syslog(3)."""
JOURNAL = "/run/systemd/journal/socket"
"""Where the journal takes messages with fields."""
_SEND_SECONDS = 1.0
_FIELD_BYTES_MAX = 1 << 15
"""Bytes of one field of a message: all of them together fit into one datagram."""
_STATUS_MAX = 200
_MICRO = 1_000_000


class Notifier:
    """The service's side of sd_notify(3). A message that cannot be delivered is dropped: no run fails for its sake."""

    def __init__(self, environ: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> None:
        """Find out from the environment who listens. Units: `clock` in seconds of CLOCK_MONOTONIC."""
        address = environ.get("NOTIFY_SOCKET", "")
        # "@" stands for the zero byte that begins an abstract address.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._clock = clock
        self.watchdog_seconds = _read_watchdog_seconds(environ) if self._address else None
        """How often systemd wants to hear that this process is alive, or None when it does not care."""

    def send_ready(self) -> None:
        """Say that the service has started, or that it has reloaded."""
        self._send("READY=1")

    def report_ready(self) -> None:
        """Hear that every repository was looked at or is paused: at the start, and after each successful reload."""

    def send_alive(self) -> None:
        """Say that work makes progress; without it for the watchdog's time the service is restarted."""
        self._send("WATCHDOG=1")

    def send_status(self, text: str) -> None:
        """Show one line for people in `systemctl status`."""
        self._send(f"STATUS={mask_unprintable(text)[:_STATUS_MAX]}")

    def send_stopping(self) -> None:
        """Say that the service is about to end."""
        self._send("STOPPING=1")

    def send_reloading(self) -> None:
        """Say that the service reads its configuration again; `send_ready` ends it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={round(self._clock() * _MICRO)}")

    def request_time(self, seconds: float) -> None:
        """Ask for that many seconds more to start."""
        self._send(f"EXTEND_TIMEOUT_USEC={round(seconds * _MICRO)}")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
                channel.settimeout(_SEND_SECONDS)
                channel.sendto(message.encode(errors="replace"), self._address)
        except OSError:
            return


class Heartbeat:
    """Tells systemd's watchdog, at most as often as it wants to hear it, that a loop goes on."""

    def __init__(self, notify: Notifier, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare to beat; `notify` is told of it. Units: `clock` in seconds."""
        self._notify, self._clock = notify, clock
        self._next = clock()

    def beat(self) -> None:
        """Say that the loop came by here; to be called at every turn, which costs next to nothing."""
        now = self._clock()
        if self._notify.watchdog_seconds is not None and now >= self._next:
            self._next = now + self._notify.watchdog_seconds / 2
            self._notify.send_alive()


def _read_watchdog_seconds(environ: Mapping[str, str]) -> float | None:
    # The variables are inherited; the process id tells whether they are meant for this process.
    meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    text = environ.get("WATCHDOG_USEC", "")
    return int(text) / _MICRO if meant and text.isascii() and text.isdigit() and int(text) else None


def is_journal(descriptor: int, environ: Mapping[str, str]) -> bool:
    """Return whether an open file leads to the journal, as the environment says.

    Source: systemd.exec(5), $JOURNAL_STREAM.
    """
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM", "") == f"{found.st_dev}:{found.st_ino}"


def send_to_journal(fields: Mapping[str, str], address: str = "") -> bool:
    """Send the fields of a message to the journal, and return whether that took it.

    Source: systemd.io/JOURNAL_NATIVE_PROTOCOL.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(_SEND_SECONDS)
            channel.sendto(b"".join(_encode_field(name, value) for name, value in fields.items()), address or JOURNAL)
    except OSError:
        return False
    return True


def _encode_field(name: str, value: str) -> bytes:
    # With its length in front, a value may hold line ends; without, one of them would begin another field.
    data = value.encode(errors="replace")[:_FIELD_BYTES_MAX]
    return b"%s\n%s%s\n" % (name.encode(), len(data).to_bytes(8, "little"), data)


def mark_priority(text: str, priority: int) -> str:
    """Return lines of text as the journal reads lines of that priority. Source: sd-daemon(3)."""
    return "\n".join(f"<{priority}>{line}" for line in text.split("\n"))
