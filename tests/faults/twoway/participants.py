"""What everybody in a schedule shares: the world, those who act in it, and what is known of them."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.faults.twoway.editor import Request, Web
from tests.faults.twoway.ledger import Ledger
from tests.faults.twoway.pages import View
from tests.faults.twoway.schedule import Schedule, Step
from tests.faults.twoway.world import World
from tests.faults.twoway.writer import ORIGIN, PLATFORM, Writer


@dataclass(frozen=True)
class Failure:
    """Something that must not be. Shape: `column` is one of `verdict.COLUMNS`."""

    column: str
    text: str


@dataclass
class Participants:
    """A world, those who act in it, and what is known of them."""

    world: World
    schedule: Schedule
    ledger: Ledger = field(default_factory=Ledger)
    story: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        hosting = self.world.hosting
        self.web = Web(hosting.url, self.world.token, lambda: hosting.switch.writes)
        alone = self.world.clones[1:] if self.world.shape.upstream == "one" else ()
        self.writers = {
            name: Writer(name, self.world.root / name, self.world.spaces, ORIGIN if name in alone else PLATFORM)
            for name in self.world.clones
        }
        for space in self.world.spaces:
            self.ledger.begin(self.web.view(space.id))
        self._acting = threading.Lock()
        self.mixed: set[str] = set()
        """Pages that were in conflict with another page, about whose place and title a person decided, and pages that
        moved to another space."""
        self.copied: set[str] = set()
        """Pages that a clone has changed as another one did, or moved to another space: who deletes them has not seen
        that, so they may stay."""
        self.unsendable: set[str] = set()
        """Words of pictures that the platform does not take, since its API replaces no file."""
        self.untold: dict[str, str] = {}
        """Words that a merge on the platform took out of main content, with the clone that has to say so."""
        self.unread: set[str] = set()
        """Change requests that others have changed since their clone ran: what a merge takes by that it cannot know."""
        self._stopped: set[tuple[str, str]] = set()
        """Clones and branches whose change request was archived: what they have is proposed again with a commit."""
        self._past: dict[str, list[str]] = {}
        """The revisions that main content of each space was seen to have."""
        self._drafts: list[Request] = []
        """Change requests that an editor on the web has not finished."""
        self._met: dict[str, dict[str, Mapping[str, str]]] = {}
        """Of each change request, what paths in syncd's comments meant when they were read first."""

    def hear(self, writer: Writer) -> None:
        self.story += [f"{writer.name}$ {line}" for line in writer.told]
        writer.told.clear()

    @contextmanager
    def _editing(self, writer: Writer, step: Step) -> Iterator[None]:
        """What the writer does to the pages that they see."""
        before = writer.view()
        yield
        self.ledger.edit(
            writer.name, before, writer.view(), f"{step.id} {writer.name} {step.action}", lambda: self.others(writer)
        )

    @contextmanager
    def _rewriting(self, writer: Writer, step: Step) -> Iterator[None]:
        """What the writer does to the branch's history."""
        before = writer.view()
        yield
        self.ledger.rewrite(writer.name, before, writer.view(), f"{step.id} {writer.name} {step.action}")

    def others(self, but: Writer | Request | str, *, requests: bool = True) -> Iterator[View]:
        """Return what every side has but one: what clones show, their other branches, main content ("main"), and change
        requests where these are wanted.
        """
        for writer in self.writers.values():
            if writer is not but:
                yield writer.view()
            for branch in writer.other_branches() if self.world.shape.topics else ():
                yield writer.view_of(f"refs/heads/{branch}")
        for space in self.world.spaces:
            if but != "main":
                yield self.web.view(space.id)
            for request in self.web.requests(space.id) if requests else ():
                if not (isinstance(but, Request) and but.id == request.id):
                    yield self.web.view(space.id, request.id)

    def fail(self, column: str, text: str) -> None:
        """Record what must not be."""
        self.failures.append(Failure(column, text))

    def check_titles(self, name: str, view: View) -> None:
        """Given what a side has, see that no title stands over the text of another page."""
        for page in view.values():
            owners = {self.ledger.tokens[title].page for title in page.titles if title in self.ledger.tokens}
            if page.mark and owners and page.mark not in self.mixed and not any(one in page.text for one in owners):
                self.fail("titles over other text", f"{page.title!r} stands over {page.mark} in {name}: {page.place}")
