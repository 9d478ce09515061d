"""The lock of a site: every finished step is written down at once, and committed beside the site file at the end.

| the committed lock is …       | then the lock is …                                                        |
|-------------------------------|---------------------------------------------------------------------------|
| what this store's rows add to | the committed one with these rows                                         |
| another: somebody committed   | the committed one, and of these rows those with an id that it has nowhere |

With place `state`, nothing is committed: the store has the whole lock, which begins with what is committed then.
Requests that were begun are in the store alone.
Source: syncd/manual/reference/site-file.md, "The lock file".
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from syncd.errors import ConfigInvalid, GuardRefused, RefMoved
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Ref
from syncd.plan.site.live_state import InFlightRequest, LockEntry, SiteLock
from syncd.plan.site.lockfile.lockfile import find_lock_path, parse_lock, render_lock
from syncd.store.site_ownership import OwnershipBase
from syncd.sync.branches import HEADS
from syncd.sync.settings import read_text_at
from syncd.sync.site.options import LockPlace
from syncd.sync.workspace import Workspace

TRAILER = "Syncd-Plan"
_TRIES = 3
"""How often somebody may move the branch while the lock is being committed."""


@dataclass
class _LockState:
    """The lock as it is now, by `items`, what of it is in no commit yet, and whether the store's rows are just that."""

    lock: SiteLock
    committed: SiteLock
    items: dict[Ref, LockEntry]
    pending: dict[Ref, LockEntry | None]
    stored: bool
    in_flight: dict[Ref, InFlightRequest]


class LockWriter:
    """Keeps the lock of one site for one run."""

    def __init__(self, workspace: Workspace, file: SiteFile, place: LockPlace = "repo") -> None:
        """Keep the lock of a site file of the tracked branch in its place."""
        self._workspace, self._file, self._place = workspace, file, place
        self._known: _LockState | None = None

    @property
    def lock(self) -> SiteLock:
        """The lock as it is now. Raises: as `load`."""
        known = self._known or self._load()
        return replace(known.lock, items=dict(known.items), in_flight=dict(known.in_flight))

    def entry(self, ref: Ref) -> LockEntry | None:
        """Return what the lock has of a ref, or None."""
        return (self._known or self._load()).items.get(ref)

    def find_in_flight(self, ref: Ref) -> InFlightRequest | None:
        """Return the request about a ref whose outcome is not known, or None."""
        return (self._known or self._load()).in_flight.get(ref)

    def load(self) -> SiteLock:
        """Read the lock anew. Raises: ConfigInvalid when it cannot be read, or is another site's."""
        self._load()
        return self.lock

    def begin(self, requests: Mapping[Ref, InFlightRequest]) -> None:
        """Record requests by ref that are about to be sent, durably."""
        if requests:
            known = self._known or self._load()
            known.in_flight |= requests
            self._workspace.store.ownership.save_requests(
                self._file.site, {str(ref): _to_json(one) for ref, one in requests.items()}
            )

    def save(self, changes: Mapping[Ref, LockEntry | None], heard: Iterable[Ref] = ()) -> None:
        """Record what became of items by ref, durably and at once; None for one that is not syncd's any more.

        Shape: `heard` are the refs of requests that were answered.
        """
        known = self._known or self._load()
        new = {ref: entry for ref, entry in changes.items() if known.items.get(ref) != entry}
        ended = [ref for ref in heard if known.in_flight.pop(ref, None) is not None]
        if not new and not ended:
            return
        known.pending |= new
        self._store(known, new if known.stored else known.pending, whole=not known.stored, ended=ended)
        known.stored = True
        for ref, entry in new.items():
            if entry is None:
                known.items.pop(ref, None)
            else:
                known.items[ref] = entry

    def finish(self, digest: str = "", *, settled: bool = False) -> str:
        """Commit what no commit says yet; return why that has to wait for another run, or "".

        Shape: `digest` is that of the plan that was carried out; `settled` says that nothing is left to do on the
        site, so that it does not matter any more what came of any request. Raises: ConfigInvalid.
        """
        known = self._known or self._load()
        if settled:
            self.save({}, heard=list(known.in_flight))
        if self._place == "state":
            return ""
        for _ in range(_TRIES):
            if known.items == known.committed.items:
                if known.pending:
                    known.pending = {}
                    self._store(known, {}, whole=True)
                return ""
            try:
                self._commit(known, digest)
                return ""
            except RefMoved:
                known = self._load()
            except GuardRefused as held:
                return f"{find_lock_path(self._file.path)} is not committed yet: {held.what}"
        return f"{find_lock_path(self._file.path)} is not committed yet: the branch keeps moving"

    def _commit(self, known: _LockState, digest: str) -> None:
        repository, branch = self._workspace.repository, self._workspace.branch
        tip = repository.resolve(f"{HEADS}{branch}")
        path = find_lock_path(self._file.path)
        if tip is None or self._at(tip) != known.committed:
            raise RefMoved(f"{branch} moved while the lock was being written")
        if found := repository.find_obstacles(tip, [path]):
            raise ConfigInvalid(f"{path} cannot be written: {', '.join(found)} is no directory of files")
        lock = replace(known.lock, serial=known.lock.serial + 1, items=dict(known.items))
        tree = repository.write_tree(repository.find_tree(tip), {path: render_lock(lock).encode()})
        trailer = f"\n{TRAILER}: {digest}\n" if digest else ""
        person = self._workspace.committer()
        message = f"chore(syncd): lock serial {lock.serial}\n{trailer}"
        commit = repository.commit_tree(tree, parents=[tip], message=message, author=person, committer=person)
        repository.fast_forward(branch, old=tip, new=commit)
        known.lock = known.committed = lock
        known.pending = {}
        self._store(known, {}, whole=True)

    def _load(self) -> _LockState:
        workspace, site = self._workspace, self._file.site
        # A job's clone may be on a commit and have no branch: then that commit has the lock.
        tip = workspace.repository.resolve(f"{HEADS}{workspace.branch}") or workspace.repository.resolve("HEAD")
        committed = self._at(tip)
        basis, rows = (
            workspace.store.ownership.read_base(site),
            _parse_entries(workspace.store.ownership.read_entries(site)),
        )
        begun = {
            Ref(ref): InFlightRequest(**json.loads(text))
            for ref, text in workspace.store.ownership.read_requests(site).items()
        }
        if basis is not None and basis.place == self._place == "state":
            items = {ref: entry for ref, entry in rows.items() if entry is not None}
            lock = SiteLock(site, basis.lineage, basis.serial, items)
            self._known = _LockState(lock, lock, items, {}, stored=True, in_flight=begun)
            return self._known
        current = basis is not None and basis.place == "repo" and basis.serial == committed.serial
        pending = rows if current else _select_unknown(committed, rows)
        items = {ref: entry for ref, entry in {**committed.items, **pending}.items() if entry is not None}
        serial = max(committed.serial, basis.serial if basis is not None else 0)
        lock = replace(committed, serial=serial, lineage=committed.lineage or self._lineage(basis))
        if self._place == "state":
            pending = dict(items)
        self._known = _LockState(lock, committed, items, pending, current and self._place == "repo", begun)
        return self._known

    def _at(self, commit: str | None) -> SiteLock:
        """The lock of a commit; an empty one when it has none, which is safe."""
        path = find_lock_path(self._file.path)
        text = read_text_at(self._workspace.repository, commit, path)
        if text is None:
            return SiteLock(self._file.site)
        lock = parse_lock(text, at=path)
        if lock.site != self._file.site:
            raise ConfigInvalid(
                f"{path} is the lock of site {lock.site}, and {self._file.path} is about {self._file.site}",
                hint=f"correct site.id, or, when the file is about another site now: git rm {path} && git commit",
            )
        return lock

    def _store(
        self, known: _LockState, rows: Mapping[Ref, LockEntry | None], *, whole: bool, ended: Iterable[Ref] = ()
    ) -> None:
        serial = known.committed.serial
        if self._place == "state":
            serial = known.lock.serial
        basis = OwnershipBase(self._file.site, self._place, known.lock.lineage, serial)
        texts = {str(ref): _to_json(entry) for ref, entry in rows.items()}
        self._workspace.store.ownership.save_entries(basis, texts, whole=whole, ended=tuple(map(str, ended)))

    def _lineage(self, basis: OwnershipBase | None) -> str:
        """What tells this lock from another one of the same site, begun elsewhere or later."""
        if basis is not None and basis.lineage:
            return basis.lineage
        seed = f"{self._file.site}\0{self._workspace.instance}\0{self._workspace.now().isoformat()}"
        return hashlib.sha256(seed.encode()).hexdigest()[:8]


def _select_unknown(committed: SiteLock, rows: Mapping[Ref, LockEntry | None]) -> dict[Ref, LockEntry | None]:
    """Of rows that add to another lock, those that tell of things which the committed one does not know."""
    known = {(ref.kind, entry.id) for ref, entry in committed.items.items()}
    return {
        ref: entry
        for ref, entry in rows.items()
        if entry is not None and ref not in committed.items and (ref.kind, entry.id) not in known
    }


def _to_json(entry: LockEntry | InFlightRequest | None) -> str:
    return json.dumps(vars(entry), ensure_ascii=False, sort_keys=True) if entry is not None else ""


def _parse_entries(rows: Mapping[str, str]) -> dict[Ref, LockEntry | None]:
    return {Ref(ref): LockEntry(**json.loads(text)) if text else None for ref, text in rows.items()}
