"""Read objects through one long-lived git cat-file; commits and trees never change, so they are kept in memory."""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

from syncd.errors import GitFailed
from syncd.layout.tree.lfs_pointers import LfsPointer
from syncd.repo.names import check_oid, check_ref, is_oid
from syncd.repo.process.git import Git
from syncd.repo.process.location import RepositoryLocation
from syncd.repo.process.pipe import LARGEST_ANSWER, Pipe
from syncd.repo.read.kept_answers import KeptAnswers
from syncd.repo.values import DIRECTORY, SUBMODULE, SYMBOLIC_LINK, Blob, Commit, CommitNode, Person

LARGEST_OBJECT = LARGEST_ANSWER // 2
COMMITS_MAX, ENTRIES_MAX, NAMES_MAX = 5_000, 200_000, 20_000
"""How many commits, entries of trees, and names are kept in memory; with one more, all are dropped."""


_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)\s*:\s*(.*)")
_ENCODING = re.compile(rb"\nencoding ([^\n]*)")
_RECORDED = re.compile(rb"\ncommitter [^\n]*> (\d+) [+-]\d{4}(?:\n|$)")
_SECONDS = re.compile(r"[0-9]{1,18}")
_MODES = {
    b"40000": DIRECTORY,
    b"100644": "100644",
    b"100755": "100755",
    b"120000": SYMBOLIC_LINK,
    b"160000": SUBMODULE,
}
_IDENTITY = re.compile(r"(.*?) ?<(.*?)> (-?\d+) ([+-])(\d\d)(\d\d)")


class Reader:
    """Reads the object database: questions go to one process, and its answers come in the same order.

    Shape: answers that are kept from an earlier run serve until the first process of Git is started, since what that
    does, or what the caller learns from it, may change them.
    """

    def __init__(self, git: Git, kept: KeptAnswers | None = None) -> None:
        self._git, self._kept = git, kept
        self._pipe: Pipe | None = None
        self._is_answering = False
        """Whether an answer has not been read to its end: a signal may have stopped what asked."""
        self._nodes: dict[str, CommitNode] = {}
        self._found: dict[str, tuple[str, str]] = {}
        self._entries: dict[str, dict[bytes, Blob] | None] = {}
        self._entries_count = 0

    def find_object(self, name: str) -> tuple[str, str] | None:
        """Return the id and type of the object that a name leads to; None when there is none.

        Source: git-cat-file(1), --batch-command; a name ends at the end of its line.
        """
        kept = self._kept
        if kept is not None and name in kept.names and not self._git.has_started:
            return kept.names[name]
        (answer,) = self.find_objects([name])
        found = (answer[0], answer[1]) if answer else None
        if kept is not None:
            kept.keep_name(name, found)
        return found

    def resolve_ref(self, ref: str) -> str | None:
        """Return the commit that a full ref name or HEAD leads to; None when there is none."""
        found = self.find_object(f"{check_ref(ref)}^{{commit}}")
        return found[0] if found else None

    def find_at(self, oid: str, path: str) -> tuple[str, str] | None:
        """Return the id and type of what a commit or tree has at a path; None when there is nothing."""
        return self._find_kept(f"{check_oid(oid)}:{path}")

    def _find_kept(self, name: str) -> tuple[str, str] | None:
        """What a name that begins with an object's id leads to: always the same, once it is there."""
        found = self._found.get(name) or self.find_object(name)
        if found is not None and name not in self._found:
            if len(self._found) >= NAMES_MAX:
                self._found.clear()
            self._found[name] = found
        return found

    def read_object(self, oid: str, kind: str) -> bytes:
        """Return the bytes of an object. Raises: GitFailed when it is missing, too large, or not of this type."""
        kept = self._kept
        if kept is not None and (known := kept.objects.get(oid)) is not None and known[0] == kind:
            return known[1]
        pipe = self._ask([f"contents {check_oid(oid)}"])
        found = _read_answer(pipe)
        if found is not None and found[2] > LARGEST_OBJECT:
            raise GitFailed(f"object {oid} is over {LARGEST_OBJECT >> 20} MiB")
        data = pipe.read_exactly(found[2] + 1)[:-1] if found is not None else b""
        self._is_answering = False
        if found is None:
            raise GitFailed(f"object {oid} is missing", hint="git fsck; a partial clone has to be cloned whole")
        if found[1] != kind:
            raise GitFailed(f"object {oid} is a {found[1]}, not a {kind}")
        if kept is not None:
            kept.keep_object(oid, kind, data)
        return data

    def read_sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the size of each object that exists, by id; what is no full id does not exist. Units: bytes."""
        asked = [oid for oid in set(oids) if is_oid(oid)]
        return {oid: found[2] for oid, found in zip(asked, self.find_objects(asked), strict=True) if found is not None}

    def find_objects(self, names: Iterable[str]) -> list[tuple[str, str, int] | None]:
        """Return the id, type and size of each object in turn; None for one that does not exist. Units: size in
        bytes.
        """
        asked = [f"info {name}" for name in names]
        pipe = self._ask(asked)
        found = [_read_answer(pipe) for _ in asked]
        self._is_answering = False
        return found

    def read_node(self, oid: str) -> CommitNode:
        """Return a commit. Raises: GitFailed when it is missing, or no commit."""
        if oid not in self._nodes:
            if len(self._nodes) >= COMMITS_MAX:
                self._nodes.clear()
            self._nodes[oid] = parse_node(oid, self.read_object(oid, "commit"))
        return self._nodes[oid]

    def count_commits(self) -> int:
        """Return how many commits are in memory."""
        return len(self._nodes)

    def knows_commit(self, oid: str) -> bool:
        """Return whether a commit is in memory."""
        return oid in self._nodes

    def find_tree(self, oid: str) -> str | None:
        """Return the id of a commit's tree, or of the tree itself; None when there is none."""
        found = self._find_kept(f"{check_oid(oid)}^{{tree}}")
        return found[0] if found else None

    def knows_tree(self, oid: str) -> bool:
        """Return whether a tree's entries are in memory."""
        return oid in self._entries

    def read_entries(self, oid: str) -> dict[bytes, Blob] | None:
        """Return the entries of a tree by name, in its order; None for a tree that Git would not write so."""
        if oid not in self._entries:
            self.remember_entries(oid, parse_tree(self.read_object(oid, "tree"), len(oid) // 2))
        return self._entries[oid]

    def remember_entries(self, oid: str, entries: dict[bytes, Blob] | None) -> None:
        """Keep the entries of a tree in memory."""
        size = 1 + len(entries or ())
        if self._entries_count + size > ENTRIES_MAX:
            self._entries.clear()
            self._entries_count = 0
        self._entries[oid] = entries
        self._entries_count += size

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            self._pipe.kill()
            self._pipe = None
        self._is_answering = False

    def _ask(self, questions: Iterable[str]) -> Pipe:
        """Send questions, and return the pipe that has their answers."""
        if self._is_answering:
            self.close()  # the rest of an earlier answer would come first
        # One that ended over an object, such as one that a partial clone lacks, answers nothing more.
        if self._pipe is None or self._pipe.has_ended:
            self._pipe = self._git.start("cat-file", "--batch-command")
        self._is_answering = True
        self._pipe.send("".join(f"{question}\n" for question in questions).encode())
        return self._pipe


def _read_answer(pipe: Pipe) -> tuple[str, str, int] | None:
    # From the right: the answer about what is missing begins with the name that was asked for, spaces and all.
    words = pipe.read_line().rsplit(b" ", 2)
    if words[-1] in (b"missing", b"ambiguous"):
        return None
    oid, kind, size = words
    return oid.decode(), kind.decode(), int(size)


def parse_commit(oid: str, data: bytes) -> Commit:
    """Return the commit in the bytes of a commit object."""
    head, _, message = data.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        headers.setdefault(key, []).append(value)
    encoding = headers.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    recorded = _RECORDED.search(head)
    text = _decode(message, encoding)
    subject, _, body = text.strip("\n").partition("\n\n")
    return Commit(
        oid=oid,
        parents=tuple(parent.decode() for parent in headers.get(b"parent", [])),
        subject=" ".join(subject.split("\n")),
        body=body.strip("\n"),
        author=_parse_person(_decode(headers.get(b"author", [b""])[0], encoding)),
        recorded=parse_seconds(recorded[1].decode()) if recorded else 0,
        trailers=parse_trailers(text),
    )


def parse_seconds(text: str) -> int:
    """Return the time that a commit names, in seconds since 1970; 0 for what is none, which Git lets anybody write."""
    return int(text) if _SECONDS.fullmatch(text) else 0


def parse_node(oid: str, data: bytes) -> CommitNode:
    """Return the commit in the bytes of a commit object, with its whole message."""
    head, _, message = data.partition(b"\n\n")
    encoding = _ENCODING.search(head)
    text = _decode(message, encoding[1].decode("ascii", "replace") if encoding else "utf-8")
    return CommitNode(parse_commit(oid, data), text.split("\0", 1)[0])


def parse_tree(data: bytes, width: int) -> dict[bytes, Blob] | None:
    """Return the entries in the bytes of a tree object; None for a tree that Git would not write so. Units: `width`,
    the length of an id, in bytes.

    Source: git, tree-walk.c, decode_tree_entry; fsck.c, fsck_tree.
    """
    found: dict[bytes, Blob] = {}
    at, last = 0, b""
    while at < len(data):
        space, end = data.find(b" ", at, at + 8), data.find(b"\0", at)
        mode, name = _MODES.get(data[at:space]), data[space + 1 : end]
        if space < 0 or end < 0 or mode is None or not name or b"/" in name or end + width >= len(data):
            return None
        key = name + b"/" if mode == DIRECTORY else name
        if key <= last or name in found:
            return None
        found[name], last = Blob(data[end + 1 : end + 1 + width].hex(), mode), key
        at = end + 1 + width
    return found


def parse_trailers(message: str) -> dict[str, list[str]]:
    """Return the trailers in the last paragraph of a commit message; the subject holds none.

    Shape: every line of the paragraph is `Key: value` or continues the one above with a leading space.
    """
    paragraphs = [part for part in re.split(r"\n[ \t]*\n", message.strip("\n")) if part.strip()]
    found: dict[str, list[str]] = {}
    key = ""
    for line in paragraphs[-1].split("\n") if len(paragraphs) > 1 else ():
        if line[:1] in (" ", "\t") and key:
            found[key][-1] += f" {line.strip()}"
        elif pair := _TRAILER.fullmatch(line):
            key = pair[1]
            found.setdefault(key, []).append(pair[2].strip())
        elif not line.startswith("(cherry picked from commit "):  # `git cherry-pick -x` puts it among the trailers
            return {}
    return found


def _parse_person(text: str) -> Person:
    found = _IDENTITY.fullmatch(text)
    if found is None:
        return Person(text, "", datetime.fromtimestamp(0, UTC))
    name, email, seconds, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    try:
        when = datetime.fromtimestamp(int(seconds), timezone(offset))
    except (ValueError, OverflowError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    return Person(name, email, when)


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def read_lfs_object(place: RepositoryLocation, pointer: LfsPointer) -> bytes | None:
    """Return the content that a Git LFS pointer stands for; None when it is not here, or has another checksum.

    Source: git-lfs specification, "Local storage": `lfs/objects/OID[0:2]/OID[2:4]/OID`.
    """
    if pointer.size > LARGEST_OBJECT:
        return None
    path = place.common_dir / "lfs" / "objects" / pointer.oid[:2] / pointer.oid[2:4] / pointer.oid
    with suppress(OSError):
        if path.stat().st_size == pointer.size:
            data = path.read_bytes()
            return data if hashlib.sha256(data).hexdigest() == pointer.oid else None
    return None
