"""A running git process: every wait for it has a deadline, and every answer a size limit."""

import os
import select
import signal
from collections.abc import Callable, Generator
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from time import monotonic
from typing import Protocol

from syncd.errors import GitFailed
from syncd.repo.failures import build_failure

CHUNK = 1 << 18
LARGEST_ANSWER = 1 << 28
LARGEST_COMPLAINT = 1 << 16
NOTHING = memoryview(b"")
PULSE_SECONDS = 1.0
"""Seconds between two calls of `pulse` while the process is at work."""


def ignore_pulse() -> None:
    """Do nothing during a wait: nobody asks for the process to be stopped."""


class Holder(Protocol):
    """GitPython's wrapper of a process: it ends the process when it is collected, so it is kept."""

    proc: Popen[bytes] | None


class Pipe:
    """One process, its three pipes and how long each exchange with it may take."""

    def __init__(self, verb: str, holder: Holder, *, seconds: float, pulse: Callable[[], None] = ignore_pulse) -> None:
        """Take over the pipes of a running process; `pulse` is called while it works, and can end it by an
        exception.
        """
        process = holder.proc
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.verb, self.process = verb, process
        self._holder, self._seconds, self._pulse = holder, seconds, pulse
        self._files = process.stdin, process.stdout, process.stderr
        self._in, self._out, self._err = (file.fileno() for file in self._files)
        self._answer, self._complaint = bytearray(), bytearray()
        self._unsent = bytearray()
        self._pulsed = self._heard = monotonic()
        self._poll = select.poll()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._open = {self._out, self._err}
        for descriptor in self._open:
            self._poll.register(descriptor, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Queue bytes for the process; they leave when there are enough of them, or an answer is read."""
        self._unsent += data
        if len(self._unsent) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Send what is queued. Raises: what the process's complaint means, when it has stopped reading."""
        try:
            self._drain(monotonic() + self._seconds)
        except BrokenPipeError:
            raise self._build_broken_error() from None

    def _drain(self, deadline: float) -> None:
        self._poll.register(self._in, select.POLLOUT)
        view = memoryview(self._unsent)
        try:
            sent = 0
            while sent < len(view):
                sent += self._exchange(deadline, view[sent : sent + CHUNK])
        finally:
            view.release()
            self._poll.unregister(self._in)
        self._unsent = bytearray()

    def read_line(self) -> bytes:
        """Return the next line of the answer, without its end."""
        self.flush()
        deadline = monotonic() + self._seconds
        while (end := self._answer.find(b"\n")) < 0:
            self._read_more(deadline)
        line = bytes(self._answer[:end])
        del self._answer[: end + 1]
        return line

    def read_exactly(self, size: int) -> bytes:
        """Return the next bytes of the answer, exactly as many."""
        deadline = monotonic() + self._seconds
        while len(self._answer) < size:
            self._read_more(deadline)
        data = bytes(self._answer[:size])
        del self._answer[:size]
        return data

    def finish(self) -> tuple[int, bytes, str]:
        """Send what is queued, close, and return exit status, the rest of the answer, and the complaint."""
        deadline = monotonic() + self._seconds
        # A process may end without reading all its input: its status and complaint say why.
        with suppress(BrokenPipeError):
            self._drain(deadline)
        self._files[0].close()
        self._read_rest(deadline)
        status = self._wait_for_end(deadline)
        return status, bytes(self._answer), self._complaint.decode("utf-8", "replace")

    def read_records(self, end: bytes) -> Generator[bytes, None, None]:
        """Yield each piece of the answer that `end` closes, as the process says it; the whole is never in memory.

        Raises: what the process's failure means. A caller that stops asking ends the process.
        """
        try:
            self._files[0].close()
            searched = 0
            while self._out in self._open:
                self._exchange(monotonic() + self._seconds)
                last = self._answer.rfind(end, max(0, searched - len(end)))
                searched = len(self._answer)
                if last >= 0:
                    whole = bytes(self._answer[:last])
                    del self._answer[: last + len(end)]
                    searched = 0
                    yield from whole.split(end)
            deadline = monotonic() + self._seconds
            self._read_rest(deadline)
            if status := self._wait_for_end(deadline):
                raise build_failure(self.verb, status, self._complaint.decode("utf-8", "replace"))
        finally:
            self.kill()

    @property
    def has_ended(self) -> bool:
        """Whether the process was ended, by `kill` or after a failure: nothing can be asked of it any more."""
        return self.process.returncode is not None

    def kill(self) -> None:
        """End the process and all that it started, and leave nothing of it behind."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def _build_broken_error(self) -> Exception:
        """End a process that has ended its output too early, and return the error that its complaint means."""
        self._read_rest(monotonic() + self._seconds)
        self.kill()
        return build_failure(self.verb, self.process.returncode, self._complaint.decode("utf-8", "replace"))

    def _read_rest(self, deadline: float) -> None:
        while self._open:
            self._exchange(deadline)

    def _wait_for_end(self, deadline: float) -> int:
        try:
            return self.process.wait(max(0.1, deadline - monotonic()))
        except TimeoutExpired as error:
            raise GitFailed(f"git {self.verb} did not end within {self._seconds:.0f} s") from error
        finally:
            self.kill()

    def _read_more(self, deadline: float) -> None:
        if self._out not in self._open:
            raise self._build_broken_error()
        self._exchange(deadline)

    def _exchange(self, deadline: float, data: memoryview = NOTHING) -> int:
        """Wait once for the process: read what it says, write what it takes; return how much it took."""
        ready: list[tuple[int, int]] = []
        while not ready:
            now = monotonic()
            # One that goes on talking is as late as a silent one, and its run is as cancelled.
            if now >= deadline:
                self.kill()
                is_silent = self._heard < deadline - self._seconds
                raise GitFailed(
                    f"git {self.verb} {'gave no sign for' if is_silent else 'did not end within'}"
                    f" {self._seconds:.0f} s and was ended"
                )
            if now - self._pulsed >= PULSE_SECONDS:
                self._pulsed = now
                self._check_pulse()
            ready = self._poll.poll(min(PULSE_SECONDS, deadline - now) * 1000)
        self._heard = now
        sent = 0
        for descriptor, _ in ready:
            if descriptor == self._in:
                sent = os.write(self._in, data)
            else:
                self._receive(descriptor)
        return sent

    def _check_pulse(self) -> None:
        try:
            self._pulse()
        except BaseException:
            self.kill()
            raise

    def _receive(self, descriptor: int) -> None:
        chunk = os.read(descriptor, CHUNK)
        if not chunk:
            self._poll.unregister(descriptor)
            self._open.discard(descriptor)
        elif descriptor == self._out:
            self._answer += chunk
        elif len(self._complaint) < LARGEST_COMPLAINT:
            self._complaint += chunk
        if len(self._answer) > LARGEST_ANSWER:
            self.kill()
            raise GitFailed(f"git {self.verb} answered more than {LARGEST_ANSWER >> 20} MiB and was ended")

    def _close(self) -> None:
        for file in self._files:
            # Closing flushes nothing: all writing goes to the descriptor itself.
            with suppress(BrokenPipeError):
                file.close()
