"""The configurations that the owner of this account trusts: one record for each file, outside of every repository."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from syncd.errors import ConfigInvalid
from syncd.files import write_own_file

_VERSION = 1


@dataclass(frozen=True)
class Record:
    """One trusted file: its path, the digest of the trusted content, the time, and the privileged keys in it."""

    file: str
    digest: str
    at: str
    keys: Mapping[str, str]


def find_base(environ: Mapping[str, str], name: str, usual: str) -> Path:
    """Return the user's directory of a kind, by the name of its variable and its default path below the home.

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
        """Return the record of a file, or None when there is none that can be believed."""
        return _read_record(self._path(file))

    def list_records(self) -> Sequence[Record]:
        """Return all records, by the path of their file."""
        found = [_read_record(path) for path in self.directory.glob("*.json")]
        return sorted((record for record in found if record is not None), key=lambda record: record.file)

    def write(self, record: Record) -> None:
        """Write a record in place of an older one of the file. Raises: ConfigInvalid when it cannot be written."""
        try:
            text = json.dumps({"version": _VERSION, **asdict(record)}, indent=2)
            write_own_file(self._path(Path(record.file)), text.encode(), mode=0o600)
        except OSError as error:
            raise ConfigInvalid(
                f"what is trusted cannot be recorded in {self.directory}: {error.strerror}",
                hint="let XDG_STATE_HOME name a directory that you can write, or name the configuration with --config",
            ) from error

    def remove(self, file: Path) -> bool:
        """Remove the record of a file, and return whether there was one. Raises: ConfigInvalid when it cannot be
        removed."""
        try:
            self._path(file).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ConfigInvalid(f"{self._path(file)} cannot be removed: {error.strerror}") from error
        return True

    def _path(self, file: Path) -> Path:
        return self.directory / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _read_record(path: Path) -> Record | None:
    """Return a record that only this user can have written, else None."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return None
            document = json.load(file)
            return Record(document["file"], document["digest"], document["at"], document["keys"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
