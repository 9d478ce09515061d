"""`token_command`: a command of the operator's that prints the token; started without a shell, and bounded."""

import os
import selectors
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic

from pydantic import SecretStr

from syncd.errors import ConfigInvalid

COMMAND_SECONDS = 60.0
"""Time of one run: enough for a person to unlock a password manager."""
OUTPUT_BYTES_MAX = 1 << 16
_PIECE = 1 << 12


class TokenCommands:
    """The tokens that commands printed, in the memory of this process alone; threads share it."""

    def __init__(self, *, seconds: float = COMMAND_SECONDS) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._printed: dict[tuple[str, ...], SecretStr] = {}

    def read_token(self, command: Sequence[str], environ: Mapping[str, str]) -> SecretStr:
        """Return what the command printed; it is run when it was not run yet. Raises: ConfigInvalid."""
        with self._lock:
            return self._find_or_run(tuple(command), environ, refused="")

    def renew_token(self, command: Sequence[str], environ: Mapping[str, str], refused: str) -> SecretStr:
        """Return another token than the one that the platform refused, where the command has another one.

        Shape: of several threads with the same refused token, one runs the command. Raises: ConfigInvalid.
        """
        with self._lock:
            return self._find_or_run(tuple(command), environ, refused=refused)

    def _find_or_run(self, command: tuple[str, ...], environ: Mapping[str, str], *, refused: str) -> SecretStr:
        known = self._printed.get(command)
        if known is not None and known.get_secret_value() != refused:
            return known
        text = run_token_command(command, environ, seconds=self._seconds)
        self._printed[command] = SecretStr(text)
        return self._printed[command]


token_commands = TokenCommands()
"""The tokens of this process: a service has one run of the command until the platform refuses its token."""


def find_program(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the absolute path of the program that a command starts.

    Shape: a name without a slash is looked for in PATH, whose relative directories are left out: what stands in the
    current directory is anybody's. Raises: ConfigInvalid when it is not there.
    """
    name = command[0]
    places = [place for place in environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    found = shutil.which(name, path=os.pathsep.join(places)) if os.path.isabs(name) or "/" not in name else None
    if found is None:
        hint = "name a program of PATH, or write its path from the root; words of a shell such as | are not understood"
        raise ConfigInvalid(f"token_command: there is no program {name}", hint=hint)
    return found


def run_token_command(command: Sequence[str], environ: Mapping[str, str], *, seconds: float) -> str:
    """Run a command without a shell, and return what it printed on standard output, without white space around it.

    Shape: it gets no standard input and starts in the home directory, or in `/`; what it says on standard error goes
    to the person. Units: `seconds` it may take. Raises: ConfigInvalid when it cannot be started, fails, prints too
    much or takes too long; no message holds what it printed.
    """
    program = find_program(command, environ)
    home = Path(environ.get("HOME") or "/")
    try:
        process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={key: value for key, value in environ.items() if key != "SYNCD_TOKEN"},
            cwd=home if home.is_absolute() and home.is_dir() else "/",
        )
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"token_command: {program} cannot be started: {error}") from error
    deadline = monotonic() + seconds
    try:
        output = _read_output(process, program, deadline)
        code = process.wait(timeout=max(0.0, deadline - monotonic()))
    except subprocess.TimeoutExpired:
        raise _make_late(program, seconds) from None
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        raise ConfigInvalid(f"token_command: {program} {how}", hint="run it by hand: it must print the token alone")
    return output.decode("utf-8", "replace").strip()


def _read_output(process: "subprocess.Popen[bytes]", program: str, deadline: float) -> bytes:
    """Return standard output up to its end. Raises: ConfigInvalid; TimeoutExpired."""
    assert process.stdout is not None
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(program, left)
            piece = os.read(process.stdout.fileno(), _PIECE)
            if not piece:
                return bytes(output)
            output += piece
            if len(output) > OUTPUT_BYTES_MAX:
                raise ConfigInvalid(f"token_command: {program} prints more than {OUTPUT_BYTES_MAX} bytes")


def _make_late(program: str, seconds: float) -> ConfigInvalid:
    return ConfigInvalid(
        f"token_command: {program} took longer than {seconds:.0f} s",
        hint="let it print the token and end; a service has nobody to answer a question",
    )
