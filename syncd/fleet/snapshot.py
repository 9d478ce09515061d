"""The state of a repository as one commit on the Git remote, so that any worker can go on where another one ended.

| in the commit        | what it holds                                                                              |
|----------------------|--------------------------------------------------------------------------------------------|
| `refs`               | each ref that a run works with, and its commit                                             |
| `store/<table>`      | the rows of the state database that a run goes on from, of a large table in parts          |
| parents              | the commits of the refs: one push brings all of them, and the remote keeps them; and the   |
|                      | former state, since Git sends no object again that a parent has                            |
| `Syncd-Fence:`       | the number of the lease under which it was written                                         |
| `Syncd-Former:`      | how many former states are behind it: after some, one begins anew, and they can go         |
| `Syncd-State:`       | a code over all of it, with the fleet's secret: who can only push cannot write one         |

It is one ref, moved by compare-and-set: what is in it belongs together, on every host, also on one that cannot move
several refs at once. It is written before the first write of a run that has an effect anywhere, and again before each
one that goes on from something new: whatever happens to a worker, the next one knows what it was about to do.
"""

import hmac
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from syncd.daemon.locks import STATE_FILE
from syncd.daemon.workspaces import read_time
from syncd.errors import GitFailed, RefMoved
from syncd.model.blob_id import compute_blob_id
from syncd.model.text import mask_unprintable
from syncd.repo.names import check_oid, check_ref
from syncd.repo.process.location import find_repository
from syncd.repo.read.kept_answers import KeptListing
from syncd.repo.remote.remote import Access, Remote
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.store.dump import Dump
from syncd.sync.branches import HEADS
from syncd.sync.committer import COMMITTER

LOCAL = "refs/syncd-fleet/state"
"""In the cache: the commit that this worker last wrote or read; what the refs here were made of."""
_SCRATCH = "state.git"
_LEFT_OUT = (LOCAL, "refs/syncd/ci/", "refs/tags/")
_REFS, _STORE = "refs", "store/"
_FENCE, _FORMER, _DIGEST = "Syncd-Fence", "Syncd-Former", "Syncd-State"
_FORMER_MAX = 63
"""Former states that stay: the whole state is sent once in so many times, and only what changed each time else."""


class Snapshot:
    """The state of one repository in the cache of one worker, and its ref on the remote; a context manager.

    Shape: it has processes and a connection of its own, so that a run may be in the middle of anything, in any thread.
    """

    def __init__(
        self,
        repository: Repository,
        access: Access,
        ref: str,
        *,
        key: bytes,
        upstream: str,
        pulse: Callable[[], None],
        listing: KeptListing,
    ) -> None:
        """Open the state of a bare repository, which nobody else uses by this object; `upstream` is the name of the Git
        remote in it, `key` the secret, and `listing` has its refs from the last run.

        Raises: StoreError, StoreNewer, DiskFull.
        """
        self._repository = repository
        self._dump = Dump(self._repository.git_dir / STATE_FILE)
        self._access, self._ref, self._key, self._pulse = access, check_ref(ref), key, pulse
        self._left_out = (*_LEFT_OUT, f"refs/remotes/{upstream}/")
        self._listing, self._place = listing, find_repository(repository.git_dir)
        self._lock = threading.Lock()
        self._saved: tuple[dict[str, str], int] | None = None
        self.heads: dict[str, str] | None = None
        """Branches of the remote as they were just now; None where the state was brought from there since."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._dump.__exit__(kind, error, trace)

    def restore(self, branches: Sequence[str] = ()) -> bool:
        """Take over what another worker has written, and return whether there was anything to take over.

        Shape: where this worker wrote last, what is here goes on, as after a crash. `branches`, names or patterns, are
        listed in the same request, which most runs need no other than.
        Raises: Unreachable, Unauthorized, NotFound; GitFailed when the ref holds something else; StoreError.
        """
        with self._lock:
            ours = self._repository.resolve(LOCAL)
            with self._open_remote() as remote:
                found = remote.list_refs([self._ref, *(f"{HEADS}{name}" for name in branches)])
                theirs = found.get(self._ref)
                if theirs is None or theirs == ours:
                    self.heads = {ref.removeprefix(HEADS): oid for ref, oid in found.items() if ref.startswith(HEADS)}
                    return False
                self.heads = None
                remote.fetch_ref(self._ref, known=[ours] if ours else [])
            self._take_over(theirs, ours)
            return True

    def save(self, *, fence: int, permit: Callable[[], None]) -> bool:
        """Bring the state to the remote where it has changed, and return whether it had.

        Shape: `permit` is called before the push, and refuses it by an exception. Raises: RefMoved when another worker
        has written since; Unreachable, Unauthorized.
        """
        with self._lock:
            now = self._list_refs(), self._dump.read_change()
            if now == self._saved:
                return False
            ours = self._repository.resolve(LOCAL)
            files = {f"{_STORE}{name}": data for name, data in self._dump.read_tables().items()}
            files[_REFS] = "".join(f"{oid} {ref}\n" for ref, oid in now[0].items()).encode("utf-8", "surrogateescape")
            digest = _compute_digest(files, self._key)
            has_changed = ours is None or self._read_trailer(ours, _DIGEST) != digest
            if has_changed:
                self._push(self._write_commit(files, now[0], ours, fence, digest), ours, permit)
            self._saved = now
            return has_changed

    def _take_over(self, theirs: str, ours: str | None) -> None:
        repository = self._repository
        files = {path: repository.read(blob.oid) for path, blob in repository.list_files(theirs).items()}
        if not hmac.compare_digest(self._read_trailer(theirs, _DIGEST), _compute_digest(files, self._key)):
            raise GitFailed(
                f"{self._ref} on the remote was not written by this fleet; nothing of it was taken over",
                hint="delete it there if nothing else needs it: this worker's own state is used then",
            )
        wanted = dict(_parse_refs(files[_REFS]))
        existing = self._list_refs()
        # What goes first: `a` is in the way of `a/b`.
        for ref, oid in existing.items():
            if ref not in wanted:
                repository.delete_ref(ref, old=oid)
        for ref, oid in wanted.items():
            if existing.get(ref) != oid:
                repository.update_ref(ref, oid, old=existing.get(ref))
        tables = {path.removeprefix(_STORE): data for path, data in files.items() if path.startswith(_STORE)}
        self._dump.write_tables(tables)
        repository.update_ref(LOCAL, theirs, old=ours)
        self._saved = None

    def _list_refs(self) -> dict[str, str]:
        # By the files, or straight from Git: what this object remembers of its own refs, the run has moved.
        found = self._listing.list_refs(self._place, lambda: self._repository.list_refs("refs/"))
        return {ref: oid for ref, oid in sorted(found.items()) if not ref.startswith(self._left_out)}

    def _read_trailer(self, commit: str, name: str) -> str:
        return next(iter(self._repository.read_commit(commit).trailers.get(name, [])), "")

    def _write_commit(
        self, files: Mapping[str, bytes], refs: Mapping[str, str], ours: str | None, fence: int, digest: str
    ) -> str:
        """A commit with these files. Shape: what the former one has is not written, and not sent, again."""
        repository = self._repository
        former = repository.list_files(ours) if ours else {}
        changes: dict[str, bytes | None] = dict.fromkeys(former.keys() - files.keys())
        for path, data in files.items():
            if path not in former or former[path].oid != compute_blob_id(data):
                changes[path] = data
        tree = repository.write_tree(repository.find_tree(ours) if ours else None, changes)
        person = Person(*COMMITTER, when=read_time())
        # What a former state says counts for nothing else than when a whole one is due.
        count = self._read_trailer(ours, _FORMER) if ours else ""
        behind = int(count) + 1 if ours and count.isdecimal() and int(count) < _FORMER_MAX else 0
        trailers = {_FENCE: fence, _FORMER: behind, _DIGEST: digest}
        lines = "".join(f"{name}: {value}\n" for name, value in trailers.items())
        message = f"syncd: state of a repository of a fleet\n\n{lines}"
        parents = list(dict.fromkeys([*([ours] if ours and behind else []), *refs.values()]))
        return self._repository.commit_tree(tree, parents=parents, message=message, author=person, committer=person)

    def _push(self, commit: str, ours: str | None, permit: Callable[[], None]) -> None:
        repository = self._repository
        with self._open_remote(permit) as remote:
            refusal = remote.push_ref(commit, self._ref, old=ours)
            if refusal is not None and remote.find_ref(self._ref) is None and ours is not None:
                refusal = remote.push_ref(commit, self._ref, old=None)  # somebody has deleted it there
        if refusal is not None:
            why = mask_unprintable(refusal.reason, "?")
            raise RefMoved(
                f"{self._ref} on the remote is not where this worker left it, or may not be written: {why}",
                hint="if this stays: allow pushes to it, or give the workers another --state-ref",
            )
        repository.update_ref(LOCAL, commit, old=ours)

    def _open_remote(self, permit: Callable[[], None] = lambda: None) -> Remote:
        return self._repository.open_remote(self._access, pulse=self._pulse, permit=permit, scratch=_SCRATCH)


def _compute_digest(files: Mapping[str, bytes], key: bytes) -> str:
    whole = hmac.new(key, digestmod="sha256")
    for name, data in sorted(files.items()):
        whole.update(f"{name}\n{len(data)}\n".encode() + data)
    return whole.hexdigest()


def _parse_refs(data: bytes) -> Iterator[tuple[str, str]]:
    for line in data.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        oid, _, ref = line.partition(" ")
        yield check_ref(ref), check_oid(oid)
