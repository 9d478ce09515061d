"""What the owner of this account trusts: one record for each file, outside of every repository."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from syncd.errors import ConfigInvalid

_VERSION = 1


@dataclass(frozen=True)
class Record:
    """One file that is trusted: its path, the digest of what was trusted, since when, and the privileged keys in it."""

    file: str
    digest: str
    at: str
    keys: Mapping[str, str]


def find_base(environ: Mapping[str, str], name: str, usual: str) -> Path:
    """Given the name of a variable, and a path below the home, return the user's directory of that kind.

    Shape: a relative path, or an empty home, would lead into the repository around the caller, and is passed over.
    Source: XDG base directory specification.
    """
    named, home = Path(environ.get(name, "")), Path(environ.get("HOME", ""))
    return named if named.is_absolute() else (home if home.is_absolute() else Path("/")) / usual


class Register:
    """The records of one user, in `syncd/trust` below $XDG_STATE_HOME, or below ~/.local/state."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.directory = find_base(environ, "XDG_STATE_HOME", ".local/state") / "syncd" / "trust"

    def find(self, file: Path) -> Record | None:
        """Given a file, return its record, or None when there is none that can be believed."""
        return _read(self._path(file))

    def list_records(self) -> Sequence[Record]:
        """Return all records, by the path of their file."""
        found = [_read(path) for path in self.directory.glob("*.json")]
        return sorted((record for record in found if record is not None), key=lambda record: record.file)

    def write(self, record: Record) -> None:
        """Given a record, keep it in the place of an older one for the same file. Raises: ConfigInvalid."""
        path = self._path(Path(record.file))
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as out:
                json.dump({"version": _VERSION, **asdict(record)}, out, indent=2)
                out.flush()
                os.fsync(out.fileno())
            aside.replace(path)
        except OSError as error:
            raise ConfigInvalid(
                f"what is trusted cannot be recorded in {self.directory}: {error.strerror}",
                hint="let XDG_STATE_HOME name a directory that you can write, or name the configuration with --config",
            ) from error

    def remove(self, file: Path) -> bool:
        """Given a file, forget that it was trusted; return whether it was. Raises: ConfigInvalid."""
        try:
            self._path(file).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ConfigInvalid(f"{self._path(file)} cannot be removed: {error.strerror}") from error
        return True

    def _path(self, file: Path) -> Path:
        return self.directory / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _read(path: Path) -> Record | None:
    """A record that only this user can have written."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return None
            document = json.load(file)
            return Record(document["file"], document["digest"], document["at"], document["keys"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
