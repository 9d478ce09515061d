"""The control socket: `syncd pause`, `resume`, `reload` and `stop` speak to the running service through it.

Each request is a line of JSON and so is its answer, `ControlRequest` and `ControlAnswer`; both name the version of the
protocol. The socket is in a directory of the service, only its owner can open it, and the kernel says who asks: the
user of the service, or root. Source: unix(7), SO_PEERCRED.
"""

import os
import socket
import stat
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from socketserver import BaseRequestHandler, StreamRequestHandler, ThreadingMixIn, UnixStreamServer
from threading import BoundedSemaphore, Thread
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from syncd.daemon.control.run_files import find_service_directory
from syncd.errors import ConfigInvalid, ServiceUnavailable, Unauthorized

VERSION = 1
"""Of the protocol; a service answers a request of another version with an error that says its own."""
LINE_BYTES_MAX, REQUESTS_MAX, CONNECTIONS_MAX = 1 << 12, 16, 8
"""Bytes of a request, requests of one connection, and connections at a time."""
ANSWER_BYTES_MAX = 1 << 20
_FULL_SECONDS = 0.5
"""Between two tries to accept a connection when the process has no free file descriptor."""
READ_SECONDS = 5.0
"""How long one who connects may take to send a request."""
PAUSE_SECONDS_MAX = 366 * 86400.0
SYSTEM_RUNTIME = Path("/run/syncd")
"""Where systemd makes a directory for each unit of a service."""
_SUFFIX = ".sock"

Command = Literal["describe", "pause", "resume", "reload", "stop", "link"]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    version: int = VERSION
    """Of the protocol; a member that the other side does not know is passed over."""


class ControlRequest(_Message):
    """What a person wants of the service. Shape: no `repository` is all of them; no `seconds` is without an end."""

    command: Command
    repository: Annotated[str, Field(max_length=2048)] = ""
    seconds: Annotated[float, Field(ge=1, le=PAUSE_SECONDS_MAX)] | None = None


class ServedRepository(_Message):
    """A repository of the service. Shape: `paused_at` and `paused_until` are ISO 8601, or "" for not and for no end."""

    name: str
    path: str
    paused_at: str = ""
    paused_until: str = ""


class ControlAnswer(_Message):
    """What the service did: `messages` are lines for people, `exit_code` is that of the command, 0 when it was done.

    Shape: `link` is that of the status page, for one use within `link_seconds`; where `page`, its address, is a Unix
    socket, the link is only the path on it.
    """

    exit_code: int = 0
    messages: tuple[str, ...] = Field(default=(), strict=False)
    hint: str = ""
    process: int = Field(default_factory=os.getpid)
    config: str = ""
    repositories: tuple[ServedRepository, ...] = Field(default=(), strict=False)
    link: str = ""
    page: str = ""
    link_seconds: float = 0


Answer = Callable[[ControlRequest], ControlAnswer]


def find_runtime_directory(environ: Mapping[str, str]) -> Path:
    """Return where a service has its socket: as systemd says in its environment, or the user's own."""
    if given := environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]:
        return Path(given)
    return list_runtime_directories(environ)[0]


def list_runtime_directories(environ: Mapping[str, str]) -> list[Path]:
    """Return the directories that hold sockets of services, the user's own first."""
    own = Path(environ["XDG_RUNTIME_DIR"]) / "syncd" if environ.get("XDG_RUNTIME_DIR") else None
    return [*([own] if own is not None else []), find_service_directory(environ) / "run", SYSTEM_RUNTIME]


def list_sockets(environ: Mapping[str, str]) -> list[Path]:
    """Return the sockets of services that may run, also those of a dead one."""
    found: list[Path] = []
    for directory in list_runtime_directories(environ):
        for pattern in (f"*{_SUFFIX}", f"*/*{_SUFFIX}"):
            with suppress(OSError):
                found += sorted(directory.glob(pattern))
    return [path for path in dict.fromkeys(found) if _is_socket(path)]


def is_permitted(user: int | None, own: int) -> bool:
    """Return whether the service of a user answers to another; None is nobody that the kernel names."""
    return user is None or user in (0, own)


def read_peer(connection: socket.socket) -> int | None:
    """Return the user at the other end of a connection; None where the system does not say it."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None  # then the mode of the socket and of its directory decide alone
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return int(user)


@contextmanager
def listen_control(
    directory: Path, answer: Answer, notice: Callable[[str], None], *, config: str = ""
) -> Iterator[None]:
    """Serve the control socket in the service's runtime directory within the block.

    Shape: `config` is the path of the configuration, for people with several services. Where there can be no socket,
    `notice` says so, and the service goes on without.
    """
    path = directory / f"{os.getpid()}{_SUFFIX}"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for other in directory.glob(f"*{_SUFFIX}"):
            if other == path or not _is_answered(other):
                other.unlink(missing_ok=True)
        server = _ControlServer(str(path), partial(_ControlHandler, answer, config), notice)
        path.chmod(0o600)
    except OSError as error:
        notice(f"syncd pause, resume, reload and stop do not reach this service: {path}: {error.strerror or error}")
        yield
        return
    thread = Thread(target=server.serve, name="syncd-control", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.is_ending = True
        _is_answered(path)  # a connection wakes the server, which then sees that it is to end
        path.unlink(missing_ok=True)
        thread.join(1)
        server.server_close()


class _ControlServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = CONNECTIONS_MAX

    def __init__(self, path: str, handler: Callable[..., BaseRequestHandler], notice: Callable[[str], None]) -> None:
        self._notice = notice
        self.slots = BoundedSemaphore(CONNECTIONS_MAX)
        self.is_ending = False
        super().__init__(path, handler)

    def serve(self) -> None:
        """Answer until the server is to end; between connections the thread sleeps, where socketserver polls."""
        while not self.is_ending:
            self.handle_request()

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection; one that cannot be accepted now stays in the queue, and the next try comes later."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_FULL_SECONDS)
            raise

    def handle_error(self, request: object, client_address: object) -> None:
        """Report a defect; one who hangs up in the middle of a question is no trouble of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            self._notice(f"a request to the control socket ended in a defect: {traceback.format_exc()}")


class _ControlHandler(StreamRequestHandler):
    timeout = READ_SECONDS
    server: _ControlServer

    def __init__(self, answer: Answer, config: str, *arguments: object) -> None:
        self._answer, self._config = answer, config
        super().__init__(*arguments)  # type: ignore[arg-type]

    def handle(self) -> None:
        """Answer the questions of one connection."""
        if not is_permitted(read_peer(self.connection), os.geteuid()):
            self._write_answer(
                _build_refusal(Unauthorized.exit_code, "only the user of the service and root may ask it")
            )
            return
        if not self.server.slots.acquire(blocking=False):
            self._write_answer(_build_refusal(75, "too many ask at once"))
            return
        try:
            for _ in range(REQUESTS_MAX):
                line = self.rfile.readline(LINE_BYTES_MAX)
                if not line:
                    return
                if not line.endswith(b"\n"):
                    self._write_answer(_build_refusal(64, f"a request is one line of at most {LINE_BYTES_MAX} bytes"))
                    return
                self._write_answer(self._find_answer(line))
        except TimeoutError:
            return
        finally:
            self.server.slots.release()

    def _find_answer(self, line: bytes) -> ControlAnswer:
        try:
            version = _Message.model_validate_json(line).version
            if version != VERSION:
                return _build_refusal(69, f"this service speaks version {VERSION} of the protocol, not {version}")
            return self._answer(ControlRequest.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            return _build_refusal(64, f"the request makes no sense: {where} - {first['msg']}".replace(":  - ", ": "))

    def _write_answer(self, answer: ControlAnswer) -> None:
        document = answer.model_copy(update={"config": self._config})
        self.wfile.write(document.model_dump_json().encode() + b"\n")


def ask_service(path: Path, request: ControlRequest, *, seconds: float) -> ControlAnswer:
    """Return what the service of a socket answers to a request. Units: seconds to wait for it.

    Raises: ConfigInvalid where this user may not ask; ServiceUnavailable.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            connection.connect(str(path))
            if not is_permitted(read_peer(connection), os.geteuid()) and os.geteuid() != 0:
                raise ServiceUnavailable(f"{path} is the socket of another user")
            connection.sendall(request.model_dump_json().encode() + b"\n")
            with connection.makefile("rb") as lines:
                return ControlAnswer.model_validate_json(lines.readline(ANSWER_BYTES_MAX))
    except PermissionError as error:
        hint = "ask as the user of the service, or as root"
        raise ConfigInvalid(f"{path} is a service of another user's", hint=hint) from error
    except TimeoutError as error:
        hint = "its log and systemctl status may say why"
        raise ServiceUnavailable(f"the service gave no answer within {seconds:g} seconds", hint=hint) from error
    except OSError as error:
        raise ServiceUnavailable(f"no service answers at {path}: {error.strerror or error}") from error
    except ValidationError as error:
        hint = "is it of the same version of syncd?"
        raise ServiceUnavailable(f"what the service at {path} answered makes no sense", hint=hint) from error


def _build_refusal(exit_code: int, message: str) -> ControlAnswer:
    return ControlAnswer(exit_code=exit_code, messages=(message,))


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False


def _is_answered(path: Path) -> bool:
    """Whether a process listens at a socket; one that was killed left the file alone behind."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True
