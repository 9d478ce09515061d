"""A two-sided history: writers in clones, an editor and reviewers on the platform, and syncd between them.

Each deed is one edit of one side, chosen by `chance`; the ledger remembers every word. `settle` brings all sides to
rest and merges what is proposed, with a person who keeps both versions wherever one is asked for.
"""

import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from syncd.errors import Stopped
from syncd.plan.merge.hunks import join_hunks
from syncd.plan.merge.pages import SAME_LINES, TWO_NEW
from syncd.sync.integrate.resolve import find_conflicts, resolve_pages
from syncd.sync.merge.result import Choice, OwnText
from syncd.sync.outcome import Applied, Held
from syncd.sync.run.values import RunOptions
from tests.sync.editors import Editors
from tests.sync.ledger import WORD, same_place, words
from tests.sync.stage import Clone, mark_of
from tests.sync.writers import Writers

ROUNDS = 12
"""Runs of every clone after which all must be at rest."""
MARKERS = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)


class History(Writers, Editors):
    """Everybody who edits, and how they come to rest."""

    def sync(self) -> None:
        """One clone runs syncd; a person settles what it asks for."""
        clone = self.chance.choice(self.clones)
        self.log.append(f"{clone.name}: sync")
        self.synced(clone)

    def synced(self, clone: Clone) -> bool:
        """Run syncd in a clone and settle what it asks for; return whether anything was done."""
        results = self.run(clone)
        if any(result.flow == "conflict" for result in results):
            self._settle_pages(clone)
        self._agree(clone)
        return any(isinstance(result.outcome, Applied | Held) for result in results)

    def sync_stopped(self, requests: int) -> None:
        """One clone runs syncd, which is stopped after so many requests."""
        clone = self.chance.choice(self.clones)
        self.log.append(f"{clone.name}: sync, stopped after {requests} requests")
        with suppress(Stopped):
            self.run(clone, stop=requests)

    def lose_store(self) -> None:
        """What one clone's store remembers is gone."""
        clone = self.chance.choice(self.clones)
        self.log.append(f"{clone.name}: lose the store")
        (clone.path / ".git" / "state.db").unlink(missing_ok=True)

    def _settle_pages(self, clone: Clone) -> None:
        """A person is asked about pages, which both sides must have changed, and keeps the lines of both."""
        with self.workspace(clone) as workspace:
            choices: dict[str, Choice] = {}
            for page in find_conflicts(workspace, "main"):
                self.asked += 1
                self.log.append(f"{clone.name}: asked about {page.path} with {page.lane}: {page.entry.why}")
                if not page.parts or page.entry.why not in (
                    SAME_LINES,
                    TWO_NEW,
                ):  # pages that want one place: a person who has seen all keeps those of the branch
                    theirs = [version.oid for one in page.entry.pages if (version := one.theirs) is not None]
                    texts = [workspace.repository.read(oid).decode() for oid in theirs]
                    self.ledger.delete(word for text in texts for word in words(text))
                    self.ledger.choose(texts)
                    choices.setdefault(page.path, "ours")
                    continue
                ours = (clone.path / page.path).read_text()
                mark = mark_of(ours) or ""
                contested, versions = self._contested(clone, mark, ours)
                # A page that was deleted, and that two sides brought back by edits of their own, is new on both.
                contested |= page.entry.why == TWO_NEW and mark in self.ledger.deleted_pages
                assert contested, self._tell("\n---\n".join(["nobody should have been asked", ours, *versions]))
                text = join_hunks(page.text_parts, page.labels).decode()
                self.ledger.choose([text])
                both = re.sub(r"\n{3,}", "\n\n", MARKERS.sub("", _without_base(text)))
                choices.setdefault(page.path, OwnText(_once(both, ours).encode()))
            resolve_pages(workspace, "main", choices)

    def _contested(self, clone: Clone, mark: str, ours: str) -> tuple[bool, list[str]]:
        """Return whether some side of the platform has changed the same lines of a page as a branch, and the texts."""
        versions: list[str] = []
        with self.world.client() as client:
            for side in (None, *self.requests_of(client)):
                name = side.id if side is not None else ""
                found = self.content(client, side).get(mark)
                bases = [known.get((name, mark)) for known in (clone.agreed, clone.taken)]
                versions += [*(f"base of {name}:\n{base}" for base in bases), f"theirs:\n{found and found[1]}"]
                if found and any(base is None or same_place(base, ours, found[1]) for base in bases):
                    return True, versions
        return False, versions

    def merge_one(self) -> None:
        """A reviewer merges a change request that is up to date."""
        with self.world.client() as client:
            ready = [
                request for request in self.requests_of(client) if not request.outdated and request.status == "open"
            ]
            if ready:
                request = self.chance.choice(ready)
                self.log.append(f"merge #{request.number}")
                assert client.change_requests.merge(self.world.space, request.id).result == "merge", self._tell("")

    def settle(self) -> None:
        """Run and merge until nothing is left to do on any side."""
        for _ in range(ROUNDS):
            busy = [self.synced(clone) for clone in self.clones]
            with self.world.client() as client:
                live = self.requests_of(client)
            self.merge_one()
            if not any(busy) and not live:
                return
        raise AssertionError(self._tell("it does not come to rest"))

    def check(self) -> None:
        """All sides are equal, nothing is lost or back, and another run writes nothing."""
        with self.world.client() as client:
            content = self.content(client)
        for clone in self.clones:
            pages = self.branch(clone)
            text = "\n".join(pages.values())
            assert not self.ledger.complaints(text), self._tell(self.ledger.complaints(text))
            marks = {mark_of(text) for _, text in content.values()}
            assert {mark_of(page) for page in pages.values()} == marks, self._tell("other pages")
            differs = self.world.git("diff", "--stat", "main", "platform/main", clone=clone.name)
            assert differs == "", self._tell(differs)
            assert self.world.git("status", "--porcelain", clone=clone.name) == ""
            self.run(clone)
            assert set(self.requests) == {"GET"}, self._tell(self.requests)
        there = "\n".join(text for _, text in content.values())
        assert not self.ledger.complaints(there), self._tell(self.ledger.complaints(there))

    def check_twins(self) -> None:
        """Two copies of a clone that see the same make the same commits."""
        clone = self.clones[0]
        twin = replace(clone, name=f"{clone.name}-twin", path=self.world.root / f"{clone.name}-twin")
        shutil.copytree(clone.path, twin.path, symlinks=True)
        self.editor_edits()
        self.now = datetime.now(UTC)
        ends = []
        for one in (clone, twin):
            self.run(one, RunOptions(propose=False))
            ends.append(self.world.git("rev-parse", "main", "platform/main", clone=one.name))
        assert ends[0] == ends[1], self._tell(ends)

    DEEDS: Mapping[str, int] = {
        "writer_edits": 10,
        "writer_adds_page": 3,
        "writer_deletes_page": 2,
        "writer_renames_page": 2,
        "writer_moves_page": 3,
        "writer_adds_file": 1,
        "editor_edits": 8,
        "editor_adds_page": 2,
        "editor_deletes_page": 1,
        "editor_moves_page": 3,
        "editor_adds_file": 1,
        "reviewer_edits": 5,
    }

    def play(self, deeds: int) -> None:
        """Do so many deeds, with runs and merges between them, then settle and check."""
        for _ in range(deeds):
            (name,) = self.chance.choices(list(self.DEEDS), list(self.DEEDS.values()))
            getattr(self, name)()
            if self.chance.random() < 0.3:
                self.sync()
            if self.chance.random() < 0.1:
                self.merge_one()
        self.settle()
        self.check()


def _once(text: str, ours: str) -> str:
    """Leave out a paragraph that both versions of the same lines have, as a person would; not one that ours doubles."""
    before = ours.strip("\n").split("\n\n")
    kept: list[str] = []
    for paragraph in text.strip("\n").split("\n\n"):
        if not (WORD.search(paragraph) and paragraph in kept and before.count(paragraph) < 2):
            kept.append(paragraph)
    return "\n\n".join(kept) + "\n"


def _without_base(text: str) -> str:
    """Leave out what diff3 shows of the base."""
    return re.sub(r"^\|{7}.*?(?=^={7})", "", text, flags=re.MULTILINE | re.DOTALL)
