"""The stage of a history: one space, clones with an instance each, and what each side has of every page."""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import Stopped
from syncd.layout.tree.draft import read_draft
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage, Operation
from syncd.model.page import Page
from syncd.model.page import walk_pages as walk_pages
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.binding import Binding
from syncd.sync.mirror.source import MainContent, ProposedContent
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.workspace import Workspace
from tests.sync.ledger import MARK, WORD, Ledger


def written(ledger: Ledger, title: str, count: int = 3) -> str:
    """Return the text of a new page: title, mark and paragraphs of one word each."""
    paragraphs = [ledger.mark(), *(f"Some prose with {ledger.word()} in it." for _ in range(count))]
    return f"# {title}\n\n" + "\n\n".join(paragraphs) + "\n"


def mark_of(text: str) -> str | None:
    """Return the mark of a page."""
    found = MARK.search(text)
    return found[0] if found else None


@dataclass
class Clone:
    """A writer's clone with an instance of its own.

    Shape: `agreed` is the last text that the branch and a side of the platform ("" for main content, or the id of a
    change request) both had of a page, by that side and the page's mark; `taken` the last one that the side had when
    the branch had taken it in, maybe into words of its own.
    """

    name: str
    path: Path
    instance: str
    agreed: dict[tuple[str, str], str] = field(default_factory=dict)
    taken: dict[tuple[str, str], str] = field(default_factory=dict)


class Stage:
    """One space, some clones of it, and what each side has."""

    def __init__(self, world: Any, seed: int, *, clones: int = 2) -> None:
        self.world, self.chance, self.ledger = world, random.Random(seed), Ledger()
        self.log: list[str] = []
        self.asked = 0
        self.now: datetime | None = None
        self.requests: dict[str, int] = {}
        self._start()
        self.clones = [self._clone(f"clone{number}", f"{number:06x}") for number in range(clones)]

    # The stage.

    def _start(self) -> None:
        """Replace what the space holds by pages of the ledger."""
        with self.world.client() as client, self._editing(client) as write:
            old = client.content.get(self.world.space).pages
            home = {"document": {"markdown": written(self.ledger, "Home")}, "slug": "start", "at": 0}
            write(InsertPage.model_validate(home))
            for page in old:
                for gone in (page,) if page.type == "document" else page.pages:
                    write(DeletePage(page=gone.id))
            for number in range(5):
                text = written(self.ledger, f"Page {number}")
                write(InsertPage.model_validate({"document": {"markdown": text}, "slug": f"p{number}"}))

    def _clone(self, name: str, instance: str) -> Clone:
        clone = Clone(name, self.world.root / name, instance)
        Repository.create(clone.path, branch="main").close()
        self.run(clone, RunOptions(integrate=False, propose=False))
        with Repository.open(clone.path) as repository:
            tip = repository.resolve("refs/remotes/platform/main")
            assert tip is not None
            repository.update_ref("refs/heads/main", tip, old=None)
            repository.checkout_new("main")
        self._agree(clone)
        return clone

    @contextmanager
    def workspace(self, clone: Clone, *, stop: float = math.inf) -> Iterator[Workspace]:
        """Open a clone as syncd does, to be stopped after so many questions whether to stop."""
        questions = count()
        options = ClientOptions(cancelled=lambda: next(questions) >= stop)
        with (
            Repository.open(clone.path) as repository,
            Store(clone.path / ".git" / "state.db") as store,
            Client(self.world.url, self.world.token, options) as client,
        ):
            repository.recover(remote="platform")
            bindings = (Binding(self.world.space, "", "docs"),)
            # Deletions are what this is about, so the guards are told of any number: they are tested elsewhere.
            force = _Approved()
            yield Workspace(
                client=client,
                repository=repository,
                store=store,
                now=lambda: self.now or datetime.now(UTC),
                bindings=bindings,
                instance=clone.instance,
                force=force,
            )
            self.requests = dict(client.requests_sent)

    def run(self, clone: Clone, wish: RunOptions | None = None, *, stop: float = math.inf) -> list[Result]:
        """Run syncd in a clone; nothing but a page that both sides changed may be held."""
        with self.workspace(clone, stop=stop) as workspace:
            results = run_cycle(workspace, wish or RunOptions())
        allowed = {0} if stop == math.inf else {0, Stopped.exit_code}
        wrong = [one for one in results if one.outcome.exit_code not in allowed and one.flow != "conflict"]
        assert not wrong, self._tell(wrong)
        return results

    def _tell(self, what: object) -> str:
        return "\n".join([*self.log[-60:], str(what)])

    # What each side has.

    def branch(self, clone: Clone) -> dict[str, str]:
        """Return the text of each published page of a clone, by path."""
        paths = self.world.git("ls-files", clone=clone.name).splitlines()
        draft = read_draft(paths, lambda path: (clone.path / path).read_bytes(), links=False)
        return {path: (clone.path / path).read_text() for path in draft.documents}

    def content(self, client: Client, request: ChangeRequest | None = None) -> dict[str, tuple[Page, str]]:
        """Return page and text by mark, of main content or of a change request."""
        space = self.world.space
        source = ProposedContent(client, space, request.id) if request is not None else MainContent(client, space)
        found = {}
        for page, _ in walk_pages(source.content().pages):
            if page.type == "document":
                text = source.page(page.id).markdown or ""
                mark = mark_of(text)
                found[page.id if mark is None or mark in found else mark] = (page, text)
        return found

    def _others(self, mark: str, *, but: object) -> list[str]:
        """Return the texts of one page on all sides but one."""
        texts: list[str] = []
        for clone in self.clones:
            if clone is not but:
                texts += [text for text in self.branch(clone).values() if mark_of(text) == mark]
        with self.world.client() as client:
            sides: list[ChangeRequest | None] = [None, *self.requests_of(client)]
            for side in sides:
                if side is not but and (found := self.content(client, side).get(mark)) is not None:
                    texts.append(found[1])
        return texts

    def requests_of(self, client: Client) -> list[ChangeRequest]:
        """Return the change requests that stand for branches."""
        requests = client.change_requests
        return [one for status in ("draft", "open") for one in requests.list(self.world.space, status=status)]

    def _edited(self, text: str) -> str:
        """Write, replace or delete one paragraph; the mark and the heading stay."""
        self.ledger.touch(mark_of(text) or "")
        paragraphs = text.rstrip("\n").split("\n\n")
        free = [place for place, words in enumerate(paragraphs) if WORD.search(words)]
        deed = self.chance.choice(["write", "write", "replace", "delete"])
        new = f"Some prose with {self.ledger.word()} in it." if deed != "delete" or len(free) < 2 else ""
        if deed == "write" or len(free) < 2:
            paragraphs.insert(self.chance.randint(2, len(paragraphs)), new)
            return "\n\n".join(paragraphs) + "\n"
        place = self.chance.choice(free)
        self.ledger.delete(WORD.findall(paragraphs[place]))
        paragraphs[place : place + 1] = [new] if new else []
        return "\n\n".join(paragraphs) + "\n"

    def _agree(self, clone: Clone) -> None:
        """Remember the pages that the branch has taken in of each side of the platform, and those both have alike."""
        pages = self.branch(clone)
        marks = [(mark, path) for path, page in pages.items() for mark in MARK.findall(page)]
        # A page that one side deleted may come back twice, by edits of two others who did not know of each other.
        known = [mark for mark, _ in marks if mark not in self.ledger.deleted_pages]
        twice = sorted(found for found in marks if known.count(found[0]) > 1)
        assert not twice, self._tell(f"more than once: {twice}")
        branch = {mark_of(text) or "": text for text in pages.values()}
        with self.world.client() as client:
            for side in (None, *self.requests_of(client)):
                for mark, (_, text) in self.content(client, side).items():
                    key = side.id if side is not None else "", mark
                    clone.taken[key] = text
                    if branch.get(mark) == text:
                        clone.agreed[key] = text

    @contextmanager
    def _editing(self, client: Client, request: ChangeRequest | None = None) -> Iterator[Callable[..., None]]:
        """Write to a change request: the given one, or one of one's own that is merged at once."""
        space = self.world.space
        own = request or client.change_requests.create(space, ChangeRequestCreate(subject="Theirs"))

        def write(*operations: Operation) -> None:
            client.change_requests.write_content(space, own.id, ContentWrite(changes=operations))

        yield write
        if request is None:
            assert client.change_requests.merge(space, own.id).result == "merge"


class _Approved(dict[str, int]):
    """Approves every number of deletions."""

    def get(self, key: str, default: Any = None) -> Any:
        return _Any()


class _Any(int):
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True
