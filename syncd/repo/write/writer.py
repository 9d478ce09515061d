"""Write one commit as a stream through git fast-import, and let a ref name it by compare-and-set.

fast-import itself moves no ref: the branch that it builds on is reset to nothing before its stream ends. It tells the
commit's id, and update-ref does the rest. A stream that is cut off moves nothing, because it lacks its `done`.
Blobs up to its last checkpoint are in the repository even then, though nothing names them: git keeps such objects for
two weeks, and a later commit may hold them.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.errors import GitFailed, SyncdError
from syncd.fault_points import FaultPoint, reach
from syncd.repo.failures import build_failure, translate_system_failures
from syncd.repo.names import check_oid, check_path, check_ref, quote_path
from syncd.repo.process.git import Git
from syncd.repo.process.pipe import Pipe
from syncd.repo.read.objects import Reader
from syncd.repo.read.trees import find_modes
from syncd.repo.values import PLAIN_FILE, Person
from syncd.repo.write.commit_text import STREAM_REF, encode_message, format_signature
from syncd.repo.write.refs import Refs

_FAST = {"core.compression": "1", "pack.compression": "1", "core.bigFileThreshold": "1m"}
"""What is over the threshold goes through fast-import piece by piece, never whole into its memory."""
_PACK = b".pack"


class Writer:
    """One commit: blobs as they come, then where they go, then the commit itself.

    Shape: used as a context manager; leaving it without `commit` undoes everything since the last `checkpoint`.
    `start` is the base of a commit that names none.
    """

    def __init__(self, git: Git, reader: Reader, refs: Refs, ref: str, *, old: str | None, start: str | None) -> None:
        self._git, self._reader, self._refs = git, reader, refs
        self._ref, self._old, self._start = check_ref(ref), old, start
        self._changes: dict[str, tuple[str, str] | None] = {}
        """A blob and its former path, by the path; None where a path is removed."""
        self._marks = 0
        self._packs: list[Path] = []
        # The names of packs come on the same pipe as all that it answers.
        options = ("--quiet", "--done", "--date-format=raw", "--export-pack-edges=/dev/stdout")
        self._pipe: Pipe | None = git.start("fast-import", *options, config=_FAST)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write_blob(self, data: bytes) -> str:
        """Send a file's bytes, and return the mark that stands for the blob in `put`."""
        return self.stream(len(data), (data,))

    def stream(self, size: int, pieces: Iterable[bytes]) -> str:
        """Send a file's bytes in pieces, and return the mark that stands for the blob in `put`.

        Raises: GitFailed when the pieces are not `size` bytes.
        """
        pipe, sent = self._require_pipe(), 0
        self._marks += 1
        pipe.send(b"blob\nmark :%d\ndata %d\n" % (self._marks, size))
        for piece in pieces:
            sent += len(piece)
            pipe.send(piece)
        if sent != size:
            self.close()
            raise GitFailed(f"a file of {size} bytes came as {sent}; nothing was written")
        pipe.send(b"\n")
        return f":{self._marks}"

    def checkpoint(self) -> None:
        """Let every blob sent so far outlive this process. Source: git-fast-import(1), checkpoint and progress."""
        pipe = self._require_pipe()
        pipe.send(b"checkpoint\nprogress done\n")
        while (line := pipe.read_line()) != b"progress done":
            self._note_pack(line)

    def put(self, path: str, oid_or_mark: str, *, former: str = "") -> None:
        """Put a blob at a path, from the repository's root, of the commit.

        Shape: its file has the mode that the commit's base has at the `former` path, where it comes from one, or at
        this path. Raises: PathRefused.
        """
        check_path(path)
        if not self._is_mark(oid_or_mark):
            check_oid(oid_or_mark)
        self._changes[path] = (oid_or_mark, former or path)

    def remove(self, path: str) -> None:
        """Remove a path, from the repository's root, from the commit. Raises: PathRefused."""
        check_path(path)
        self._changes[path] = None

    def commit(
        self, *, message: str, author: Person, committer: Person, parents: Sequence[str], base: str | None
    ) -> str:
        """Write the commit, let the ref name it, and return its id.

        Shape: the tree is that of the commit `base` (empty when there is none) with what was put and removed.
        Raises: RefMoved when the ref is not at `old` any more; then the ref is left alone.
        """
        pipe, base = self._require_pipe(), base or self._start
        self._marks += 1
        pipe.send(b"commit %b\nmark :%d\n" % (STREAM_REF, self._marks) + format_signature(author, committer))
        pipe.send(_format_message(message) + b"".join(_format_parents(parents)))
        pipe.send(self._format_base(base, parents))
        for line in self._format_changes(base):
            pipe.send(line)
        pipe.send(b"reset %b\nget-mark :%d\ndone\n" % (STREAM_REF, self._marks))
        reach(FaultPoint.COMMIT_STREAMED)
        commit = check_oid(self._finish_stream(pipe))
        reach(FaultPoint.COMMIT_WRITTEN)
        self._refs.update(self._ref, commit, old=self._old)
        with suppress(SyncdError):  # tidiness only: the commit stands, and git's own repacking finds the packs
            self._join_packs()
        return commit

    def close(self) -> None:
        """End the stream; without a commit nothing of it stays."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            held = _find_temporary_packs(pipe)
            pipe.kill()
            self._clean(pipe, held)

    def _require_pipe(self) -> Pipe:
        if self._pipe is None:
            raise GitFailed("this writer is closed")
        return self._pipe

    def _finish_stream(self, pipe: Pipe) -> str:
        """End the stream and return what it answered."""
        held = _find_temporary_packs(pipe)
        status, answer, complaint = pipe.finish()
        self._pipe = None
        if status:
            self._clean(pipe, held)
            raise build_failure("fast-import", status, complaint)
        commit, *rest = answer.splitlines()
        for line in rest:
            self._note_pack(line)
        return commit.decode()

    def _note_pack(self, line: bytes) -> None:
        """Take note of a pack: fast-import names it, a colon, and the commits that it ends with."""
        name, sign, _ = line.rpartition(_PACK + b":")
        if sign:
            self._packs.append(Path(os.fsdecode(name + _PACK)))

    def _join_packs(self) -> None:
        """Make one pack of those that checkpoints have left: everybody who reads would look through each of them."""
        if len(self._packs) < 2:
            return
        names = b"".join(os.fsencode(pack.name) + b"\n" for pack in self._packs)
        whole = str(self._packs[0].with_name("pack"))
        joined = self._git.run("pack-objects", "-q", "--stdin-packs", "--window=0", whole, data=names).decode().strip()
        with translate_system_failures("removing packs that were joined"):
            for pack in self._packs:
                if pack.stem != f"pack-{joined}":
                    _remove_pack(pack)

    def _clean(self, pipe: Pipe, held: list[Path]) -> None:
        """Remove what a fast-import that failed leaves: unfinished packs, and its report, which the error repeats."""
        for path in (*held, self._git.location.git_dir / f"fast_import_crash_{pipe.process.pid}"):
            path.unlink(missing_ok=True)

    def _is_mark(self, text: str) -> bool:
        number = text.removeprefix(":")
        return text.startswith(":") and number.isascii() and number.isdecimal() and 0 < int(number) <= self._marks

    def _format_changes(self, base: str | None) -> Iterator[bytes]:
        """The lines that change the base's tree."""
        # Removals first, so that a file may take the place of a directory and the other way round.
        yield from (b"D %b\n" % quote_path(path) for path, put in self._changes.items() if put is None)
        puts = {path: put for path, put in self._changes.items() if put is not None}
        places = {*puts, *(former for _, former in puts.values())}
        modes = find_modes(self._git, self._reader, base, places) if base is not None else {}
        for path, (oid, former) in puts.items():
            mode = modes.get(former) or modes.get(path, PLAIN_FILE)
            yield b"M %b %b %b\n" % (mode.encode(), oid.encode(), quote_path(path))

    def _format_base(self, base: str | None, parents: Sequence[str]) -> bytes:
        """The line that sets the whole tree, when fast-import would start from another: the first parent's."""
        if base is None:
            return b"deleteall\n" if parents else b""
        found = self._reader.find_object(f"{check_oid(base)}^{{tree}}")
        if found is None:
            raise GitFailed(f"commit {base} is missing", hint="git fsck")
        return b'M 040000 %b ""\n' % found[0].encode()


def _format_message(message: str) -> bytes:
    data = encode_message(message)
    return b"data %d\n%b\n" % (len(data), data)


def _format_parents(parents: Sequence[str]) -> list[bytes]:
    words = ["from", *["merge"] * (len(parents) - 1)]
    return [f"{word} {check_oid(parent)}\n".encode() for word, parent in zip(words, parents, strict=False)]


def _remove_pack(pack: Path) -> None:
    # The index first: without it nobody looks for the pack. Source: git, packfile.c, unlink_pack_path.
    for suffix in (".idx", ".rev", ".pack"):
        pack.with_suffix(suffix).unlink(missing_ok=True)


def _find_temporary_packs(pipe: Pipe) -> list[Path]:
    """The unfinished packs that a process holds open; where the system does not tell, git gc removes them in time."""
    held: list[Path] = []
    if pipe.process.poll() is not None:
        return held
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pipe.process.pid}/fd").iterdir():
            target = Path(os.readlink(descriptor))
            if target.parent.name == "pack" and target.name.startswith("tmp_"):
                held.append(target)
    return held
