"""Read objects: one long-lived cat-file for single reads, one plumbing command for each listing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

from syncd.errors import GitFailed, PathRefused
from syncd.repo.git import Git
from syncd.repo.names import check_oid, is_oid, is_plain
from syncd.repo.pipe import LARGEST_ANSWER, Pipe
from syncd.repo.values import Blob, Commit, FileChange, Person, Status

LARGEST_OBJECT = LARGEST_ANSWER // 2

LINK = "160000"
"""The mode of a submodule's entry, which names a commit of another repository."""

_ABSENT = "000000"
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)\s*:\s*(.*)")
_IDENTITY = re.compile(r"(.*?) ?<(.*?)> (-?\d+) ([+-])(\d\d)(\d\d)")


class Reader:
    """The object database as one conversation: asked by name, answered in order."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._pipe: Pipe | None = None

    def info(self, name: str) -> tuple[str, str] | None:
        """Given a name of an object, return its id and type; None when there is none.

        Source: git-cat-file(1), --batch-command; a name ends at the end of its line.
        """
        found = self._ask(f"info {name}")
        return (found[0], found[1]) if found else None

    def contents(self, oid: str, kind: str) -> bytes:
        """Given an object's id and the type that it must have, return its bytes."""
        found = self._ask(f"contents {check_oid(oid)}")
        if found is None:
            raise GitFailed(f"object {oid} is missing", hint="git fsck; a partial clone has to be cloned whole")
        if found[2] > LARGEST_OBJECT:
            self.close()
            raise GitFailed(f"object {oid} is over {LARGEST_OBJECT >> 20} MiB")
        data = self._conversation().take(found[2] + 1)[:-1]
        if found[1] != kind:
            raise GitFailed(f"object {oid} is a {found[1]}, not a {kind}")
        return data

    def close(self) -> None:
        """End the conversation."""
        if self._pipe is not None:
            self._pipe.kill()
            self._pipe = None

    def _conversation(self) -> Pipe:
        if self._pipe is None:
            self._pipe = self._git.start("cat-file", "--batch-command")
        return self._pipe

    def _ask(self, question: str) -> tuple[str, str, int] | None:
        pipe = self._conversation()
        pipe.send(f"{question}\n".encode())
        words = pipe.line().rsplit(b" ", 2)
        if words[-1] in (b"missing", b"ambiguous"):
            return None
        oid, kind, size = words
        return oid.decode(), kind.decode(), int(size)


def present(git: Git, oids: Iterable[str]) -> set[str]:
    """Given object ids, return those that exist; what is no full id does not."""
    asked = {oid for oid in oids if is_oid(oid)}
    if not asked:
        return set()
    answer = git.run("cat-file", "--batch-check=%(objectname)", data="".join(f"{oid}\n" for oid in asked).encode())
    return asked.intersection(answer.decode().splitlines())


def sizes(git: Git, oids: Iterable[str]) -> dict[str, int]:
    """Given object ids, return the size in bytes of each that exists."""
    asked = {oid for oid in oids if is_oid(oid)}
    if not asked:
        return {}
    answer = git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", data="\n".join([*asked, ""]).encode())
    pairs = (line.split(" ") for line in answer.decode().splitlines())
    return {oid: int(size) for oid, size in pairs if size != "missing"}


def inside(directory: str) -> list[str]:
    """Given a directory of a repository ("" is the root), return the pathspec of everything below it."""
    if directory and not is_plain(directory):
        raise PathRefused(f"{directory[:200]!r} is no directory of a repository")
    return [f"{directory}/"] if directory else []


def tree(git: Git, commit: str, directory: str) -> dict[str, Blob]:
    """Given a commit, return its files below a directory by their path there; submodules are left out."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", "--", check_oid(commit), *inside(directory))
    skipped = len(directory) + 1 if directory else 0
    blobs: dict[str, Blob] = {}
    for record in _records(listed):
        facts, path = record.split("\t", 1)
        mode, _, oid = facts.split(" ")
        if mode != LINK:
            blobs[path[skipped:]] = Blob(oid, mode)
    return blobs


def diff(git: Git, before: str, after: str, directory: str, *, renames: bool) -> list[FileChange]:
    """Given two commits or trees, return the files that differ below a directory, by their path there.

    Shape: submodules are left out; a change of type is "M"; a rename needs half of the content in common.
    """
    skipped = len(directory) + 1 if directory else 0
    found = []
    for difference in differences(git, before, after, inside(directory), renames=renames):
        shown = difference.after or difference.before
        if shown is not None and not difference.is_link:
            old = difference.old_path and difference.old_path[skipped:]
            found.append(FileChange(difference.status, difference.path[skipped:], old, shown.oid, shown.mode))
    return found


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees, from the root, with what each of them has there."""

    status: Status
    path: str
    old_path: str | None
    before: Blob | None
    after: Blob | None

    @property
    def is_link(self) -> bool:
        """Whether a submodule is on either side."""
        return any(side is not None and side.mode == LINK for side in (self.before, self.after))


def differences(
    git: Git, before: str, after: str, pathspec: Sequence[str] = (), *, renames: bool = False
) -> Iterator[Difference]:
    """Given two commits or trees, return each path that differs. Source: git-diff-tree(1), raw output format."""
    options = ["-r", "-z", "--no-ext-diff", "-M" if renames else "--no-renames"]
    records = _records(git.run("diff-tree", *options, check_oid(before), check_oid(after), "--", *pathspec))
    for facts in records:
        old_mode, new_mode, old_oid, new_oid, status = facts.removeprefix(":").split(" ")
        path, old_path = next(records), None
        if status.startswith("R"):
            old_path, path = path, next(records)
        letter = cast(Status, "M" if status == "T" else status[0])
        yield Difference(letter, path, old_path, _side(old_mode, old_oid), _side(new_mode, new_oid))


def _side(mode: str, oid: str) -> Blob | None:
    return None if mode == _ABSENT else Blob(oid, mode)


def _records(output: bytes) -> Iterator[str]:
    return iter(output.decode("utf-8", "surrogateescape").split("\0")[:-1])


def parse_commit(oid: str, data: bytes) -> Commit:
    """Given a commit object, return what it says."""
    head, _, message = data.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        headers.setdefault(key, []).append(value)
    encoding = headers.get(b"encoding", [b"utf-8"])[0].decode("ascii", "replace")
    text = _decoded(message, encoding)
    subject, _, body = text.strip("\n").partition("\n\n")
    return Commit(
        oid=oid,
        parents=tuple(parent.decode() for parent in headers.get(b"parent", [])),
        subject=" ".join(subject.split("\n")),
        body=body.strip("\n"),
        author=_person(_decoded(headers.get(b"author", [b""])[0], encoding)),
        trailers=trailers(text),
    )


def trailers(message: str) -> dict[str, list[str]]:
    """Given a commit message, return the trailers of its last paragraph; the subject holds none.

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
        elif not line.startswith("(cherry picked from commit "):
            return {}
    return found


def _person(text: str) -> Person:
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


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
