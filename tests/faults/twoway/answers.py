"""What people have answered about pages in conflict while a world comes to rest, so that nobody is asked twice."""

import re

from tests.faults.twoway.pages import by_mark
from tests.faults.twoway.play import Player
from tests.faults.twoway.runs import Conflict
from tests.faults.twoway.writer import MAIN, Writer

Texts = dict[str, tuple[str | None, str]]
"""The titles and texts that a side has of some pages, by their marks."""
_ASKED = re.compile(r"^! conflict (.+) held: .*\((\S+) and \S+\)", re.MULTILINE)


class Answers:
    """What each writer has answered, with what main content and the branch said of the page then."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._given: dict[tuple[str, str, str], tuple[frozenset[str], Texts, Texts]] = {}
        # Who shares a branch is asked about what the others did, and a platform that is told to take main content into
        # a change request decides what of both is there. Beside a job, a clone knows main content, and not what
        # reviewers wrote in the job's change request.
        shape = player.world.shape
        self._is_kept = shape.update == "auto" and not shape.upstream and shape.flow != "ci"

    def add(self, writer: Writer, conflict: Conflict) -> None:
        """Note that a writer has settled a conflict."""
        if self._is_kept:
            branch = conflict.branch or MAIN
            sides = self._read_sides(writer, branch, conflict.marks)
            self._given[writer.name, branch, conflict.path] = (conflict.marks, *sides)

    def check(self, writer: Writer, said: str) -> None:
        """Given what a run said, record what it asks again although neither main content nor the branch has changed."""
        for path, branch in _ASKED.findall(said):
            given = self._given.get((writer.name, branch, path))
            if given is not None and given[1:] == self._read_sides(writer, branch, given[0]):
                self._player.fail("asked again", f"{writer.name}: {path} of {branch} has been settled")

    def _read_sides(self, writer: Writer, branch: str, marks: frozenset[str]) -> tuple[Texts, Texts]:
        web, spaces = self._player.web, self._player.world.spaces
        main = {mark: page for space in spaces for mark, page in by_mark(web.view(space.id)).items()}
        ours = by_mark(writer.view_of(f"refs/heads/{branch}"))
        first, second = (
            {mark: (side[mark].title, side[mark].text) for mark in marks & side.keys()} for side in (main, ours)
        )
        return first, second
