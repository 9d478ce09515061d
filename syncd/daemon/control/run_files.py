"""Where records are kept, of last runs and of pauses: in memory, beside the repository's state, in a directory of the
service.

A file has one writer: the service has one beside each repository's state and one in its own directory, so that what
became of a repository is known also when that was moved away or cannot be read. Commands have another beside the state.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock

from syncd.daemon.health import find_repository_run
from syncd.errors import SyncdError
from syncd.store.pauses import PauseRecord, read_pause, write_pause
from syncd.store.runs import SERVICE_RUNS, RunRecord, read_runs, write_runs

PAUSE_FILE = "syncd/pause.json"
"""Below a repository's git directory: whether the service is to leave it alone."""
SYSTEM_DIRECTORY = Path("/var/lib/syncd")
"""The directory of the service where systemd runs it as the unit says."""


class RunFiles:
    """The records of every repository that the service serves; safe in any thread."""

    def __init__(self, directory: Path | None, notice: Callable[[str], None] = lambda text: None) -> None:
        """Keep the records in a directory, or in none; `notice` is told what cannot be written, once."""
        self._directory, self._notice = directory, notice
        self._runs: dict[Path, tuple[RunRecord, ...]] = {}
        self._pauses: dict[Path, PauseRecord | None] = {}
        self._fresh: set[Path] = set()
        self._complaints: set[str] = set()
        self._writing: defaultdict[Path, Lock] = defaultdict(Lock)
        """For each repository: a disk that hangs keeps no other one's records."""

    def load_records(self, path: Path, git_dir: Path) -> None:
        """Read the records of a repository, and keep the newest of these and of what is known already."""
        runs = [read_runs(file) for file in self._list_files(path, git_dir)]
        pauses = [read_pause(file) for file in self._list_pauses(path, git_dir)]
        self._runs[path] = choose_newest([self._runs.get(path, ()), *runs])
        self._pauses[path] = choose_newest_pause([self._pauses.get(path), *pauses])

    def read_runs(self, path: Path, git_dir: Path | None = None) -> tuple[RunRecord, ...]:
        """Return the records of a repository, the set of them that is newest; `git_dir` where it is known."""
        known = self._runs.get(path)
        if known is None:
            # A run may have ended while the files were read, and what it came to is newer.
            read = choose_newest(read_runs(file) for file in self._list_files(path, git_dir))
            known = self._runs.setdefault(path, read)
        return known

    def has_run(self, path: Path) -> bool:
        """Return whether a run of a repository has been recorded since the service started."""
        return path in self._fresh

    def save_runs(self, path: Path, git_dir: Path | None, runs: tuple[RunRecord, ...]) -> None:
        """Keep the records of a repository; that a file cannot be written is told, and stops nothing."""
        with self._writing[path]:
            self._runs[path] = runs
            self._fresh.add(path)
            for file in self._list_files(path, git_dir):
                try:
                    write_runs(file, runs)
                except SyncdError as error:
                    if error.what not in self._complaints:
                        self._complaints.add(error.what)
                        self._notice(error.what)

    def forget(self, path: Path) -> None:
        """Forget the records of a repository that is served no more; the files stay."""
        self._runs.pop(path, None)
        self._pauses.pop(path, None)
        self._fresh.discard(path)

    def read_pause(self, path: Path, git_dir: Path | None = None) -> PauseRecord | None:
        """Return what was last decided of a repository; `git_dir` where it is known."""
        if path not in self._pauses:
            read = choose_newest_pause(read_pause(file) for file in self._list_pauses(path, git_dir))
            self._pauses.setdefault(path, read)
        return self._pauses[path]

    def save_pause(self, path: Path, git_dir: Path | None, record: PauseRecord) -> None:
        """Keep what was decided of a repository; it counts from now on, even where it cannot be written.

        Raises: DiskFull, StoreError.
        """
        self._pauses[path] = record
        for file in self._list_pauses(path, git_dir):
            write_pause(file, record)

    def _list_pauses(self, path: Path, git_dir: Path | None) -> list[Path]:
        files = [find_pause_file(self._directory, path)] if self._directory is not None else []
        return [*files, *_list_inside(git_dir, PAUSE_FILE)]

    def _list_files(self, path: Path, git_dir: Path | None) -> list[Path]:
        files = [find_service_file(self._directory, path)] if self._directory is not None else []
        return [*files, *_list_inside(git_dir, SERVICE_RUNS)]


def _list_inside(git_dir: Path | None, name: str) -> list[Path]:
    """A file of a repository that is there; one that was moved away during its run must not come into being again."""
    return [git_dir / name] if git_dir is not None and git_dir.is_dir() else []


def find_service_directory(environ: Mapping[str, str]) -> Path:
    """Return where a service keeps its files: $STATE_DIRECTORY, or the user's own directory."""
    if given := environ.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(given)
    return Path(environ.get("XDG_STATE_HOME") or Path(environ.get("HOME", "/")) / ".local" / "state") / "syncd"


def find_service_file(directory: Path, path: Path) -> Path:
    """Return the file of a repository's records in the service's directory."""
    return directory / "runs" / f"{hashlib.sha256(str(path).encode()).hexdigest()[:32]}.json"


def find_pause_file(directory: Path, path: Path) -> Path:
    """Return the file of what was decided of a repository, in the service's directory."""
    return directory / "pauses" / find_service_file(directory, path).name


def read_service_pause(path: Path, git_dir: Path | None, environ: Mapping[str, str], now: float) -> PauseRecord | None:
    """Return the pause of a repository that lasts, as far as this process can find. Units: epoch seconds."""
    files = [find_pause_file(directory, path) for directory in (find_service_directory(environ), SYSTEM_DIRECTORY)]
    record = choose_newest_pause(
        read_pause(file) for file in [*files, *([git_dir / PAUSE_FILE] if git_dir is not None else [])]
    )
    return None if record is None or record.is_over(now) else record


def choose_newest_pause(records: Iterable[PauseRecord | None]) -> PauseRecord | None:
    """Return the last decision in records of one repository; None when there is none."""
    return max((record for record in records if record is not None), key=lambda one: one.at, default=None)


def read_service_runs(path: Path, git_dir: Path | None, environ: Mapping[str, str]) -> tuple[RunRecord, ...]:
    """Return the records of the service's last run of a repository that this process can find."""
    files = [find_service_file(directory, path) for directory in (find_service_directory(environ), SYSTEM_DIRECTORY)]
    return choose_newest(
        read_runs(file) for file in [*files, *([git_dir / SERVICE_RUNS] if git_dir is not None else [])]
    )


def choose_newest(sets: Iterable[tuple[RunRecord, ...]]) -> tuple[RunRecord, ...]:
    """Return the set of records whose run ended last; () when there is none."""
    known = [(whole.at, runs) for runs in sets if (whole := find_repository_run(runs)) is not None]
    return max(known, key=lambda one: one[0], default=("", ()))[1]
