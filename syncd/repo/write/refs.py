"""Move refs by compare-and-set, and list them.

One listing of the refs that only syncd writes serves all who ask for a part. They come with the first listing of any
other refs, since a process of Git costs more than its answer.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from syncd.errors import RefMoved, Stopped, SyncdError
from syncd.fault_points import FaultPoint, reach
from syncd.repo.failures import build_failure
from syncd.repo.names import check_oid, check_ref
from syncd.repo.process.git import Git
from syncd.repo.process.locks import note_locks
from syncd.repo.process.pipe import Pipe
from syncd.repo.read.kept_answers import KeptAnswers
from syncd.repo.read.objects import Reader

OWN_REFS = "refs/syncd/"
"""Where syncd keeps refs below no name that people use."""
_OVERWRITTEN = "refs/remotes/*/overwritten/**"
"""What imports of a branch overwrote, which people may look at."""
_OWN = re.compile(rf"{OWN_REFS}|refs/remotes/[^/]+/overwritten/")
_BRANCHES = "refs/heads/"


class Refs:
    """The refs of a repository.

    Shape: they are moved through one long-lived git update-ref, since a process costs more than what it does; a branch
    is moved by a process of its own. Source: git-update-ref(1), --stdin.
    """

    def __init__(self, git: Git, reader: Reader, kept: KeptAnswers | None = None) -> None:
        self._git, self._reader, self._kept = git, reader, kept
        self._pipe: Pipe | None = None
        self._listing = kept.refs if kept is not None else None
        """The refs that only syncd writes, each with what it names; None while that is not known."""

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix, each with what it names.

        Shape: what others move, too, is as in the last run until a process of Git is started.
        """
        is_own, kept = _OWN.match(prefix), self._kept
        if self._listing is not None and is_own:
            found = self._listing
        elif kept is not None and self._listing is not None and prefix in kept.listings and not self._git.has_started:
            return dict(kept.listings[prefix])
        elif self._listing is None:
            found = _match_refs(self._git, _check_prefix(prefix), OWN_REFS, _OVERWRITTEN)
            self._listing = {ref: oid for ref, oid in found.items() if _OWN.match(ref)}
        else:
            found = _match_refs(self._git, _check_prefix(prefix))
        below = prefix.rstrip("/") + "/"
        refs = {ref: oid for ref, oid in found.items() if f"{ref}/".startswith(below)}
        if kept is not None and not is_own:
            kept.keep_listing(prefix, refs)
        return refs

    def update(self, ref: str, new: str, *, old: str | None) -> None:
        """Move a ref from the commit `old`, None when it does not exist, to another one.

        Raises: RefMoved when it names something else than `old`.
        """
        with self._keep_listing(ref, new):
            self._move(ref, new, old)

    def delete(self, ref: str, *, old: str) -> None:
        """Delete a ref. Raises: RefMoved when it names something else than `old`."""
        with self._keep_listing(ref, None):
            _run_update(self._git, self._reader, ("-d", "--", check_ref(ref), check_oid(old)), ref, old)

    def close(self) -> None:
        """End the process."""
        if self._kept is not None:
            self._kept.refs = self._listing
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.kill()

    @contextmanager
    def _keep_listing(self, ref: str, oid: str | None) -> Iterator[None]:
        """Bring the listing up to date after the block moved a ref; where that failed, it may have moved or not."""
        is_own = _OWN.match(ref)
        try:
            yield
        except BaseException:
            self._listing = None if is_own else self._listing
            raise
        if is_own and self._listing is not None:
            if oid is None:
                self._listing.pop(ref, None)
            else:
                self._listing[ref] = oid

    def _move(self, ref: str, new: str, old: str | None) -> None:
        if ref.startswith(_BRANCHES):  # a note of their locks is held by the process that takes them, and by no other
            update_ref(self._git, self._reader, ref, new, old=old)
            return
        named = f"{check_ref(ref)} {check_oid(new)}"
        change = f"update {named} {check_oid(old)}" if old else f"create {named}"
        if self._pipe is None:
            self._pipe = self._git.start("update-ref", "-m", "syncd", "--stdin")
        try:
            self._pipe.send(f"start\n{change}\ncommit\n".encode())
            for _ in range(2):  # it says that it has started, and that it has moved the ref
                self._pipe.read_line()
        except SyncdError as failure:
            self.close()
            if not isinstance(failure, Stopped) and self._reader.resolve_ref(ref) != old:
                raise _build_moved(ref) from failure
            raise
        except BaseException:
            self.close()
            raise
        reach(FaultPoint.REF_MOVED)


def update_ref(git: Git, reader: Reader, ref: str, new: str, *, old: str | None) -> None:
    """Move a ref from the commit `old`, None when it does not exist, to another one.

    Raises: RefMoved when it names something else than `old`.
    """
    arguments = ("-m", "syncd", "--", check_ref(ref), check_oid(new), check_oid(old) if old else "")
    _run_update(git, reader, arguments, ref, old)


def _check_prefix(prefix: str) -> str:
    """Return a prefix of refs, which ends at a slash or at a name's end, when it is one. Raises: PathRefused."""
    check_ref(prefix.rstrip("/") if prefix != "refs/" else "refs/any")
    return prefix


def _match_refs(git: Git, *patterns: str) -> dict[str, str]:
    """Return the refs that one of the patterns of `git for-each-ref` matches, each with what it names."""
    listed = git.run("for-each-ref", "--format=%(objectname) %(refname)", "--", *patterns)
    lines = listed.decode("utf-8", "surrogateescape").split("\n")[:-1]  # a name is bytes, and may hold U+2028
    return {ref: oid for oid, _, ref in (line.partition(" ") for line in lines)}


def _run_update(git: Git, reader: Reader, arguments: tuple[str, ...], ref: str, old: str | None) -> None:
    with _note_locks(git, arguments, ref):
        status, _, complaint = git.attempt("update-ref", *arguments)
        reach(FaultPoint.REF_MOVED)
    if not status:
        return
    # What git says differs between its versions; where the ref is now tells the reason apart.
    if reader.resolve_ref(ref) != old:
        raise _build_moved(ref)
    raise build_failure("update-ref", status, complaint)


def _build_moved(ref: str) -> RefMoved:
    return RefMoved(f"{ref} moved while syncd was at work; nothing was changed", hint="run the command again")


def _note_locks(git: Git, arguments: tuple[str, ...], ref: str) -> AbstractContextManager[None]:
    """Leave a note of the locks that others take too: a branch's, HEAD's with it, and packed-refs' for a removal."""
    place = git.location
    shared = [place.common_dir / f"{ref}.lock", place.git_dir / "HEAD.lock"] if ref.startswith(_BRANCHES) else []
    if "-d" in arguments:
        return note_locks(git, [*shared, place.common_dir / "packed-refs.lock"], "")
    return note_locks(git, shared, arguments[-2]) if shared else nullcontext()
