"""The commits of one first-parent line that carry a trailer, read once and only as far as somebody asked."""

from collections.abc import Iterator

from syncd.repo.git import Git
from syncd.repo.names import check_oid

BATCH = 64
"""Commits that are read after the first one, which is nearly always the one; then twice as many each time."""


class Trail:
    """What the messages from a commit backwards say in lines that begin with a trailer's key.

    Shape: `former` is the trail of an earlier tip; where this line runs into that tip, it goes on as that trail.
    """

    def __init__(self, git: Git, tip: str, trailer: str, former: "Trail | None" = None) -> None:
        self.tip = check_oid(tip)
        self._git, self._trailer, self._former = git, trailer, former
        self._carriers: dict[str, list[str]] = {}
        self._read, self._size = 0, 1
        self._ended = False

    def carriers(self, value: str) -> Iterator[str]:
        """Given a trailer's value, return the commits that seem to carry it, newest first."""
        shown = 0
        while True:
            found = self._carriers.get(value, [])
            yield from found[shown:]
            shown = max(shown, len(found))
            if self._ended:
                return
            self._read_on()

    def _read_on(self) -> None:
        words = f"--grep={self._trailer}: "
        shape = ("--encoding=UTF-8", "--no-commit-header", "--format=%H%n%B%x00")
        span = (f"--max-count={self._size}", f"--skip={self._read}", self.tip, "--")
        listed = self._git.run("rev-list", "--first-parent", "--fixed-strings", words, *shape, *span)
        records = listed.decode("utf-8", "replace").split("\0\n")[:-1]
        self._ended = len(records) < self._size
        for record in records:
            oid, _, message = record.partition("\n")
            if self._former is not None and oid == self._former.tip:
                self._go_on_as(self._former)
                return
            self._note(oid, message)
        self._size = BATCH if self._size == 1 else 2 * self._size

    def _note(self, oid: str, message: str) -> None:
        self._read += 1
        lead = f"{self._trailer}: "
        for line in message.split("\n"):
            if line.startswith(lead):
                self._carriers.setdefault(line.removeprefix(lead).strip(), []).append(oid)

    def _go_on_as(self, former: "Trail") -> None:
        for value, oids in former._carriers.items():
            self._carriers.setdefault(value, []).extend(oids)
        self._read += former._read
        self._size, self._ended, self._former = former._size, former._ended, former._former
