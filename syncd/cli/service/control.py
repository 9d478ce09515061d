"""`pause`, `resume`, `reload` and `stop`: ask the running service over its control socket, and say what it answers."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.cli.service.durations import parse_duration
from syncd.cli.terminal.context import find_config_file, require_config_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_error, print_text
from syncd.config import load_repositories
from syncd.daemon.control.control_socket import (
    PAUSE_SECONDS_MAX,
    Command,
    ControlAnswer,
    ControlRequest,
    ServedRepository,
    ask_service,
    list_sockets,
)
from syncd.errors import ServiceUnavailable, SyncdError
from syncd.repo.process.location import discover_repository

ASK_SECONDS, STOP_SECONDS = 30.0, 20.0
"""How long an answer is waited for, and the end of a service that was asked to stop."""
_LOOK_SECONDS = 0.05
_START = "syncd run starts one in a terminal; systemctl start syncd one that is installed"


@dataclass(frozen=True)
class ControlOptions:
    """What a person typed: which service, which repository of it, for how long, and whether to answer in JSON."""

    config: Path | None = None
    repository: str = ""
    duration: str = ""
    as_json: bool = False


@dataclass(frozen=True)
class RunningService:
    """A service that answers at a socket, and what it says of itself."""

    socket: Path
    facts: ControlAnswer


def control_service(command: Command, options: ControlOptions) -> int:
    """Ask the service that is meant to do something, print what it answers, and return the exit code.

    Raises: BadParameter; ServiceUnavailable when none answers; ConfigInvalid where this user may not ask.
    """
    seconds = parse_duration(options.duration) if options.duration else None
    if seconds is not None and seconds > PAUSE_SECONDS_MAX:
        raise typer.BadParameter(f"a pause ends after {PAUSE_SECONDS_MAX / 86400:g} days at the latest")
    repository = _resolve_path(options.repository)
    service = find_service(options.config, repository)
    request = ControlRequest(command=command, repository=repository, seconds=seconds)
    answer = ask_service(service.socket, request, seconds=ASK_SECONDS)
    if command == "stop" and not answer.exit_code:
        answer = _wait_for_end(service.socket, answer)
    _print_answer(answer, as_json=options.as_json)
    return answer.exit_code


def find_service(config: Path | None, repository: str = "") -> RunningService:
    """Return the service that a configuration or a repository names, else that of the repository here, or the only one.

    Raises: BadParameter where several are meant; ServiceUnavailable when none answers; ConfigInvalid.
    """
    if config is None and os.environ.get("SYNCD_CONFIG"):
        config = require_config_file(None).path
    return _choose_service(_find_services(), config, repository)


def _find_services() -> list[RunningService]:
    """Every service that answers; what keeps one from answering is raised only where no other does."""
    found: list[RunningService] = []
    refusals: list[SyncdError] = []
    for path in list_sockets(os.environ):
        try:
            found.append(
                RunningService(path, ask_service(path, ControlRequest(command="describe"), seconds=ASK_SECONDS))
            )
        except SyncdError as error:
            refusals.append(error)
    if not found:
        # A socket that nobody answers at is what a service left behind that was killed.
        if refusals and not isinstance(refusals[0], ServiceUnavailable):
            raise refusals[0]
        raise ServiceUnavailable("no syncd service runs here that this user may ask", hint=_START)
    return found


def _choose_service(services: list[RunningService], config: Path | None, repository: str) -> RunningService:
    """The service that a configuration or a repository names, else that of the repository here, else the only one."""
    if config is not None:
        wanted = str(config.absolute())
        chosen = [service for service in services if service.facts.config == wanted]
        if not chosen:
            raise ServiceUnavailable(f"no service runs with the configuration {wanted}", hint=_START)
        return chosen[0]
    here = "" if repository else _find_config_here()
    meant = [
        service
        for service in services
        # A service does not know yet what was added to its configuration.
        if (here and service.facts.config == here)
        or any(_is_meant(one, repository) for one in service.facts.repositories)
    ]
    if here and not meant:
        raise ServiceUnavailable(f"no service serves this repository, which {here} configures", hint=_START)
    if len(meant) == 1:
        return meant[0]
    if len(services) == 1:
        return services[0]
    known = ", ".join(service.facts.config or f"process {service.facts.process}" for service in services)
    raise typer.BadParameter(f"several services run: name one with --config FILE, of {known}")


def _is_meant(served: ServedRepository, repository: str) -> bool:
    if repository:
        return repository in (served.name, served.path)
    return _is_around(Path(served.path))


def _find_config_here() -> str:
    """The path of the configuration of the repository around the current directory, or "" where it has none."""
    # A configuration with a mistake keeps nobody from stopping a service.
    with suppress(SyncdError):
        file = find_config_file(None)
        if file is not None and (
            file.origin != "operator" or any(_is_around(one.path) for one in load_repositories(file, os.environ))
        ):
            return str(file.path.absolute())
    return ""


def _is_around(repository: Path) -> bool:
    """Whether the current directory lies in a repository, or in a linked work tree of it."""
    with suppress(SyncdError):
        here, other = discover_repository(Path.cwd()), discover_repository(repository)
        return here is not None and other is not None and here.common_dir == other.common_dir
    return False


def _resolve_path(repository: str) -> str:
    """A repository as the service knows it: its name, or the absolute path of a directory that was typed."""
    is_path = "/" in repository or repository in (".", "..")
    return str(Path(repository).resolve()) if is_path else repository


def _wait_for_end(socket: Path, answer: ControlAnswer) -> ControlAnswer:
    """Wait until nobody answers any more: then the service has given its locks back."""
    end = time.monotonic() + STOP_SECONDS
    while time.monotonic() < end:
        try:
            ask_service(socket, ControlRequest(command="describe"), seconds=1)
        except ServiceUnavailable:
            if not socket.exists():
                return answer.model_copy(update={"messages": ("the service has stopped",)})
        time.sleep(_LOOK_SECONDS)
    late = f"process {answer.process} has not ended within {STOP_SECONDS:g} seconds"
    return answer.model_copy(update={"exit_code": 75, "messages": (late,), "hint": "stop it once more: then at once"})


def _print_answer(answer: ControlAnswer, *, as_json: bool) -> None:
    if as_json:
        print_document(answer.model_dump(exclude={"version"}))
    elif answer.exit_code:
        print_error("; ".join(answer.messages), answer.hint, answer.exit_code, as_json=False)
    else:
        print_text("\n".join(escape(message) for message in answer.messages))
