"""The system's keyring: read, written and emptied within a time limit, and only where a person can answer it."""

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from syncd.errors import ConfigInvalid

SERVICE = "syncd"
"""Name of the entries; their user name is the address of the platform."""
SECONDS_MAX = 60.0
"""A keyring that is locked asks its owner for a password."""
_PRIORITY_MIN = 1
"""Of a keyring that keeps secrets safe. Source: keyring, `core.recommended`."""


def find_keyring_obstacle(environ: Mapping[str, str]) -> str:
    """Return why the keyring must not be used by this process; "" where it may.

    Shape: it may ask for its password, so it needs a person. keyring reads the name of a program module from the user's
    configuration, so that must not lie at a path that begins at the current directory.
    """
    if environ.get("CI"):
        return "a CI job has no keyring"
    bases = environ.get("HOME", ""), environ.get("XDG_CONFIG_HOME") or "/", environ.get("XDG_DATA_HOME") or "/"
    if not all(Path(base).is_absolute() for base in bases):
        return "HOME, XDG_CONFIG_HOME or XDG_DATA_HOME is no absolute path"
    return "" if has_terminal() else "there is no terminal, and a keyring that is locked could ask nobody"


def has_terminal() -> bool:
    """Return whether this process has a terminal, also when its input and output are redirected."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def read_keyring(address: str) -> str | None:
    """Return the token of a platform that the keyring has, or None. Raises: ConfigInvalid when it does not answer."""
    token = _call_in_time(lambda backend: backend.get_password(SERVICE, address))
    return token if isinstance(token, str) else None


def write_keyring(address: str, token: str) -> None:
    """Write the token of a platform into the keyring, and read it back.

    Raises: ConfigInvalid when there is no keyring that keeps it, or when it does not answer.
    """

    def write(backend: Any) -> bool:
        if backend.priority < _PRIORITY_MIN:
            return False
        backend.set_password(SERVICE, address, token)
        return bool(backend.get_password(SERVICE, address) == token)

    if not _call_in_time(write):
        raise ConfigInvalid("this system has no keyring")


def delete_keyring(address: str) -> None:
    """Delete the token of a platform from the keyring; none is right, too. Raises: ConfigInvalid."""
    if read_keyring(address) is not None:
        _call_in_time(lambda backend: backend.delete_password(SERVICE, address))


def _call_in_time(action: Callable[[Any], object]) -> object:
    """Call a keyring, and give up waiting for it when time is over.

    A thread that never comes back does not keep the process from ending. The import is here because it takes longer
    than most commands do.
    """
    results: list[object] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            import keyring

            results.append(action(keyring.get_keyring()))
        except BaseException as error:  # noqa: BLE001 # backends raise errors of their own, and of D-Bus
            errors.append(error)

    thread = threading.Thread(target=call, name="keyring", daemon=True)
    thread.start()
    with suppress(RuntimeError):
        thread.join(SECONDS_MAX)
    if results:
        return results[0]
    if errors:
        raise ConfigInvalid(f"the keyring cannot be used: {type(errors[0]).__name__}") from errors[0]
    raise ConfigInvalid(f"the keyring gave no answer within {SECONDS_MAX:.0f} seconds", hint="unlock it, and try again")
