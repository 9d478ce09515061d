"""Merge two commits, merge texts with a base of one's own, change a tree, and record the result; no index, no refs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from syncd.errors import GitFailed
from syncd.repo.failures import build_failure
from syncd.repo.names import check_oid, quote_path
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.read.trees import find_modes
from syncd.repo.values import PLAIN_FILE, Blob, Merged, MergedText, Person
from syncd.repo.write.commit_text import STREAM_REF, encode_message, format_signature

_OPTIONS = ("--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
_DIFF3 = {"merge.conflictStyle": "diff3"}
MARKER_SIZE = 7
"""Signs of a marker, where no line of the text looks like one. Source: gitattributes(5), conflict-marker-size."""
_LABELS = {b"<": b" ours", b"|": b" base", b"=": b"", b">": b" theirs"}
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_ROW = re.compile(rb"(?:<{7,}|\|{7,}|={7,}|>{7,})(?!\S)")
_Content = Blob | bytes | None


def merge_commits(git: Git, ours: str, theirs: str, *, config: Mapping[str, str] | None = None) -> Merged:
    """Return the tree that merges two commits, related or not, and the paths in conflict.

    Source: git-merge-tree(1): exit status 1 is a conflict; -z lists the tree, then each path once.
    Raises: GitFailed when git reports a conflict without a path; as `Git.run`.
    """
    status, output, complaint = git.attempt(
        "merge-tree", *_OPTIONS, "--", check_oid(ours), check_oid(theirs), config=config
    )
    if status not in (0, 1):
        raise build_failure("merge-tree", status, complaint)
    tree, *paths = output.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
    if status == 1 and not paths:
        raise GitFailed("git merge-tree found a conflict in no path", hint="merge by hand with git merge")
    return Merged(check_oid(tree), tuple(sorted(set(paths))) if status else ())


class Merges:
    """Merges of texts, trees and commits, as they are written into one repository.

    What was written here of the same is not written again.
    """

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader
        self._texts: dict[tuple[tuple[str, str, str], ...], list[MergedText]] = {}
        self._trees: dict[tuple[str | None, frozenset[tuple[str, _Content]]], str] = {}
        self._commits: dict[bytes, str] = {}

    def merge_texts(self, trios: Sequence[tuple[str, str, str]]) -> list[MergedText]:
        """Return the three-way merge of each trio of blobs, base, ours and theirs, by a few git commands for all.

        Shape: a base of "" is none. A text in conflict has markers that show all three; their labels are `ours`, `base`
        and `theirs`. They are longer than usual where a line of the text would look like one: than each row of `<` that
        begins a line. The blobs lie in commits under numbers, so neither names nor attributes of a repository have a
        say. Raises: GitFailed.
        """
        key = tuple(trios)
        if key not in self._texts:
            self._texts[key] = _merge_texts(self._git, self._reader, trios) if trios else []
        return list(self._texts[key])

    def write_tree(self, tree: str | None, changes: Mapping[str, _Content]) -> str:
        """Return the tree that is `tree`, None for the empty one, with other content, None for no file, at some paths.

        Shape: cost follows the changed paths; a path that loses its file takes empty directories with it. Bytes change
        the content of a file, and not its mode. Raises: GitFailed.
        """
        if tree is not None and not changes:
            return tree
        key = tree, frozenset(changes.items())
        if key not in self._trees:
            self._trees[key] = _write_changed_tree(self._git, self._reader, tree, changes)
        return self._trees[key]

    def commit_tree(self, tree: str, *, parents: Sequence[str], message: str, author: Person, committer: Person) -> str:
        """Write a commit of a tree and return its id; no ref names it yet."""
        data = _build_commit(tree, parents=parents, message=message, author=author, committer=committer)
        if data not in self._commits:
            written = self._git.run("hash-object", "-t", "commit", "-w", "--stdin", data=data)
            self._commits[data] = written.decode().strip()
        return self._commits[data]


def _merge_texts(git: Git, reader: Reader, trios: Sequence[tuple[str, str, str]]) -> list[MergedText]:
    merged = _merge_contents(git, reader, [[Blob(oid, PLAIN_FILE) if oid else None for oid in trio] for trio in trios])
    # Where Git cannot merge line by line, it takes ours.
    marked = [number for number, (oid, in_conflict) in enumerate(merged) if in_conflict and oid != trios[number][1]]
    texts = dict(zip(marked, _mark_conflicts(git, reader, [trios[number] for number in marked]), strict=True))
    return [
        MergedText(oid, in_conflict, texts.get(number) or (reader.read_object(oid, "blob") if in_conflict else b""))
        for number, (oid, in_conflict) in enumerate(merged)
    ]


def _write_changed_tree(git: Git, reader: Reader, tree: str | None, changes: Mapping[str, _Content]) -> str:
    texts = [path for path, content in changes.items() if isinstance(content, bytes)]
    modes = find_modes(git, reader, tree, texts) if tree is not None else {}
    lines = [_begin_commit(1)]
    if tree is not None:
        lines.append(b'M 040000 %b ""\n' % check_oid(tree).encode())
    # Removals first, so that a file may take the place of a directory and the other way round.
    for path, content in sorted(changes.items(), key=lambda item: item[1] is not None):
        lines.append(_format_change(path, content, modes.get(path, PLAIN_FILE)))
    commit = _run_stream(git, [*lines, b"reset %b\nget-mark :1\ndone\n" % STREAM_REF])[0]
    found = reader.find_object(f"{commit}^{{tree}}")
    if found is None:
        raise GitFailed(f"commit {commit} is missing", hint="git fsck")
    return found[0]


def _build_commit(tree: str, *, parents: Sequence[str], message: str, author: Person, committer: Person) -> bytes:
    """Return the bytes of a commit object.

    Shape: made here, since commit-tree would add what the user's configuration says about encodings.
    """
    lines = [f"tree {check_oid(tree)}\n", *(f"parent {check_oid(parent)}\n" for parent in parents)]
    return "".join(lines).encode() + format_signature(author, committer) + b"\n" + encode_message(message)


def _merge_contents(git: Git, reader: Reader, trios: Sequence[Sequence[_Content]]) -> list[tuple[str, bool]]:
    """The blob that each trio of contents is merged into, and whether it is in conflict."""
    _, ours, theirs = _write_three_commits(git, trios)
    # What two texts without a base have in common is found only where the base is not shown.
    merged = merge_commits(git, ours, theirs, config=_DIFF3 if all(trio[0] is not None for trio in trios) else None)
    conflicts = set(merged.conflicts)
    found: list[tuple[str, bool]] = []
    for name in map(str, range(len(trios))):
        entry = reader.find_object(f"{merged.tree}:{name}")
        if entry is None:
            raise GitFailed("git merge-tree lost a file", hint="merge by hand with git merge")
        found.append((entry[0], name in conflicts))
    return found


def _mark_conflicts(git: Git, reader: Reader, trios: Sequence[tuple[str, str, str]]) -> list[bytes]:
    """The merge of each trio of texts in conflict, with markers.

    Every line is merged behind a space, so that what has none there is Git's: a text may have lines that look like
    markers.
    """
    if not trios:
        return []
    indented = [[_indent(reader.read_object(oid, "blob")) if oid else None for oid in trio] for trio in trios]
    merged = _merge_contents(git, reader, indented)
    return [_name_markers(reader.read_object(oid, "blob")) for oid, _ in merged]


def _indent(text: bytes) -> bytes:
    return b"".join(b" " + line for line in _LINE.findall(text))


def _name_markers(indented: bytes) -> bytes:
    """A merged text without the space before its lines, and with markers that name the sides, not commits."""
    lines = _LINE.findall(indented)
    size = _choose_size(line[1:] for line in lines if line.startswith(b" "))
    return b"".join(line[1:] if line.startswith(b" ") else _format_marker(line, size) for line in lines)


def _choose_size(lines: Iterable[bytes]) -> int:
    """How many signs a marker has, so that no line looks like one, nor begins with a longer row of `<`."""
    rows = [row[0] for line in lines if (row := _ROW.match(line))]
    size = max((len(row) + 1 for row in rows if row.startswith(b"<")), default=MARKER_SIZE)
    taken = set(map(len, rows))
    return next(each for each in count(size) if each not in taken)


def _format_marker(line: bytes, size: int) -> bytes:
    return line[:1] * size + _LABELS[line[:1]] + (b"\r\n" if line.endswith(b"\r\n") else b"\n")


def _write_three_commits(git: Git, trios: Sequence[Sequence[_Content]]) -> tuple[str, str, str]:
    """Commits that hold one content of each three; the second and third grow from the first."""
    lines = []
    for side in range(3):
        lines.append(_begin_commit(side + 1, b"from :1\n" if side else b""))
        contents = [(str(number), trio[side]) for number, trio in enumerate(trios)]
        lines += [_format_change(name, content) for name, content in contents if content is not None]
    base, ours, theirs = _run_stream(
        git, [*lines, b"reset %b\n" % STREAM_REF, *map(_format_mark_request, (1, 2, 3)), b"done\n"]
    )
    return base, ours, theirs


def _format_mark_request(number: int) -> bytes:
    return b"get-mark :%d\n" % number


def _begin_commit(mark: int, ancestry: bytes = b"") -> bytes:
    return b"commit %b\nmark :%d\ncommitter syncd <syncd@localhost> 0 +0000\ndata 0\n%b" % (STREAM_REF, mark, ancestry)


def _format_change(path: str, content: _Content, mode: str = PLAIN_FILE) -> bytes:
    if content is None:
        return b"D %b\n" % quote_path(path)
    if isinstance(content, bytes):
        return b"M %b inline %b\ndata %d\n%b\n" % (mode.encode(), quote_path(path), len(content), content)
    return b"M %b %b %b\n" % (content.mode.encode(), check_oid(content.oid).encode(), quote_path(path))


def _run_stream(git: Git, lines: Sequence[bytes]) -> list[str]:
    """Let fast-import read a stream that names its own marks, and return what it answers."""
    pipe = git.start("fast-import", "--quiet", "--done", "--date-format=raw")
    for line in lines:
        pipe.send(line)
    status, answer, complaint = pipe.finish()
    if status:
        (git.location.git_dir / f"fast_import_crash_{pipe.process.pid}").unlink(missing_ok=True)
        raise build_failure("fast-import", status, complaint)
    return [check_oid(line) for line in answer.decode().split()]
