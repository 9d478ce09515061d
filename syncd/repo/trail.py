"""The commits of one first-parent line that carry a trailer, read once and only as far as somebody asked.

Git lists messages, and trailers are looked for here: `git rev-list --grep` translates even a fixed string to machine
code (PCRE2), which a service under systemd's MemoryDenyWriteExecute= may not do.
"""

from collections.abc import Generator, Iterator
from contextlib import closing

from syncd.repo.git import Git
from syncd.repo.graph import Graph, Unread
from syncd.repo.names import check_oid

BATCH, LARGEST_BATCH = 64, 8192
"""Commits that one process reads; then twice as many each time, so far."""


def list_messages(git: Git, heading: str, *arguments: str) -> Generator[bytes, None, None]:
    """Given arguments of git rev-list, yield a line in a format of git-log(1) and the message of each commit."""
    shape = ("--no-commit-header", "--encoding=UTF-8", f"--format={heading}%n%B%x00")
    return git.start("rev-list", *shape, *arguments, "--").records(b"\0\n")


class Trail:
    """What the messages from a commit backwards say in lines that begin with a trailer's key.

    Shape: `former` is the trail of an earlier tip; where this line runs into that tip, it goes on as that trail.
    """

    def __init__(self, git: Git, graph: Graph, tip: str, trailer: str, former: "Trail | None" = None) -> None:
        self.tip = check_oid(tip)
        self._git, self._graph, self._lead, self._former = git, graph, f"{trailer}: ", former
        self._carriers: dict[str, list[str]] = {}
        self._next, self._size = self.tip, BATCH

    def carriers(self, value: str) -> Iterator[str]:
        """Given a trailer's value, return the commits that seem to carry it, newest first."""
        shown = 0
        while True:
            found = self._carriers.get(value, [])
            yield from found[shown:]
            shown = max(shown, len(found))
            if not self._next:
                return
            self._read_on()

    def _read_on(self) -> None:
        if not self._read_few():
            self._read_many()

    def _read_few(self) -> bool:
        """Read one commit from what is known; return whether that could be done."""
        if self._former is not None and self._next == self._former.tip:
            self._go_on_as(self._former)
            return True
        try:
            node = self._graph.first(self._next)
        except Unread:
            return False
        if f"\n{self._lead}" in f"\n{node.message}":
            self._note(self._next, node.message)
        self._next = next(iter(node.commit.parents), "")
        return True

    def _read_many(self) -> None:
        wanted = f"\n{self._lead}".encode()
        arguments = ("--first-parent", f"--max-count={self._size}", self._next)
        with closing(list_messages(self._git, "%H %P", *arguments)) as records:
            for record in records:
                oid, *parents = record.split(b"\n", 1)[0].decode().split()
                if self._former is not None and oid == self._former.tip:
                    self._go_on_as(self._former)
                    return
                if wanted in record:
                    self._note(oid, record.decode("utf-8", "replace"))
                self._next = parents[0] if parents else ""
        self._size = min(2 * self._size, LARGEST_BATCH)

    def _note(self, oid: str, message: str) -> None:
        for line in message.split("\n"):
            if line.startswith(self._lead):
                self._carriers.setdefault(line.removeprefix(self._lead).strip(), []).append(oid)

    def _go_on_as(self, former: "Trail") -> None:
        for value, oids in former._carriers.items():
            self._carriers.setdefault(value, []).extend(oids)
        self._next, self._size, self._former = former._next, former._size, former._former
