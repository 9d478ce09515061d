"""Git repositories for the embedded platform: fetched into a scratch repository of its own, which is removed after."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from syncd.errors import Conflict
from syncd.platform.settings import GitBounds, GitCheckout, GitEndpoint
from syncd.repo.failures import translate_system_failures
from syncd.repo.remote.remote import Access, Remote
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Person

_HEADS = "refs/heads/"
_FILE_MODES = ("100644", "100755")
_NAME, _EMAIL = "syncd platform", "syncd@localhost"


class RepositoryHost:
    """Opens repositories by Git itself. See `GitHost`."""

    @contextmanager
    def open(self, endpoint: GitEndpoint, bounds: GitBounds) -> Iterator[GitCheckout]:
        """Fetch the commit that a ref names. Raises: SyncdError; TimeoutError; ValueError when it is too large."""
        with TemporaryDirectory(prefix="syncd-git-") as scratch, _serve_secret(Path(scratch), endpoint) as token_file:
            top = Path(scratch) / "repository.git"

            def check() -> None:
                if monotonic() > bounds.deadline:
                    raise TimeoutError
                _check_size(top / "objects", bounds.bytes)

            access = Access(endpoint.url, endpoint.username, token_file, addresses=endpoint.addresses)
            repository = Repository.create(top, bare=True)
            with repository, repository.open_remote(access, pulse=check) as remote:
                commit = remote.fetch_alone(endpoint.ref)
                _check_size(top / "objects", bounds.bytes)
                yield _Checkout(repository, remote, endpoint, commit, _read_message(repository, commit))


@dataclass
class _Checkout:
    """One fetched commit. See `GitCheckout`."""

    repository: Repository
    remote: Remote
    endpoint: GitEndpoint
    commit: str | None
    message: str
    _blobs: dict[str, Mapping[str, Blob]] = field(default_factory=dict)
    """What the commit has below a directory, once it was listed: every file of it is read."""

    def list_files(self, directory: str) -> Mapping[str, int]:
        blobs = self._list_blobs(directory)
        sizes = self.repository.read_sizes({blob.oid for blob in blobs.values()})
        return {path: sizes[blob.oid] for path, blob in blobs.items()}

    def read_file(self, directory: str, path: str) -> bytes:
        return self.repository.read(self._list_blobs(directory)[path].oid)

    def push_changes(self, directory: str, changes: Mapping[str, bytes | None], message: str) -> str:
        lead = f"{directory}/" if directory else ""
        tree = self.repository.find_tree(self.commit) if self.commit else None
        known = self._list_blobs(directory) if self.commit else {}
        wanted = {lead + path: data for path, data in changes.items() if data is not None or path in known}
        new_tree = self.repository.write_tree(tree, wanted)
        if self.commit is not None and new_tree == tree:
            return self.commit
        person = Person(_NAME, _EMAIL, datetime.now(UTC))
        parents = [self.commit] if self.commit else []
        new = self.repository.commit_tree(new_tree, parents=parents, message=message, author=person, committer=person)
        refusal = self.remote.push(new, self.endpoint.ref.removeprefix(_HEADS), old=self.commit)
        if refusal is not None:
            raise Conflict(f"{self.endpoint.ref} takes no push: {refusal.reason}")
        return new

    def _list_blobs(self, directory: str) -> Mapping[str, Blob]:
        if directory not in self._blobs:
            assert self.commit is not None
            listed = self.repository.list_files(self.commit, directory)
            self._blobs[directory] = {path: blob for path, blob in listed.items() if blob.mode in _FILE_MODES}
        return self._blobs[directory]


def _read_message(repository: Repository, commit: str | None) -> str:
    if commit is None:
        return ""
    found = repository.read_commit(commit)
    return "\n\n".join(part for part in (found.subject, found.body) if part)


def _check_size(directory: Path, limit: int) -> None:
    """Raise ValueError when the files below a directory have more bytes; git removes some of them meanwhile."""
    total = 0
    for here, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.stat(os.path.join(here, name)).st_size
            except FileNotFoundError:
                continue
    if total > limit:
        raise ValueError(f"The repository sends more than {limit:,} bytes.")


@contextmanager
def _serve_secret(scratch: Path, endpoint: GitEndpoint) -> Iterator[Path | None]:
    """Let git's credential helper read a secret from a pipe with a name: on no disk is anything of it."""
    if not endpoint.secret:
        yield None
        return
    path, following = scratch / "secret", scratch / "following"
    is_over = threading.Event()
    _make_pipe(path)

    def write() -> None:
        while True:
            with path.open("wb") as pipe:
                if is_over.is_set():
                    return
                # Each reader has a pipe of its own: one that is still read would take the secret a second time.
                _make_pipe(following)
                os.replace(following, path)
                with suppress(BrokenPipeError):
                    pipe.write(endpoint.secret.encode())
                    pipe.flush()

    thread = threading.Thread(target=write, name="syncd-git-secret", daemon=True)
    thread.start()
    try:
        yield path
    finally:
        is_over.set()
        # The thread waits for a reader: this one, which reads nothing, lets it end.
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        thread.join()
        os.close(reader)


def _make_pipe(path: Path) -> None:
    with translate_system_failures("making a pipe"):
        os.mkfifo(path, mode=0o600)
