"""Resolve: show the pages of a branch that wait for a person, and record what the person decided."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from syncd.plan.change import Change
from syncd.plan.meeting import SAME_LINES, TWO_NEW
from syncd.sync.branches import HEADS
from syncd.sync.conflicts import settle_pages
from syncd.sync.integrate import integrate, integrate_commit, is_change_request
from syncd.sync.merge.result import Choice, HeldPage
from syncd.sync.outcome import CONFLICT, Applied
from syncd.sync.proposals import anchored
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class Lane:
    """A ref of the platform that a branch takes in."""

    ref: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.ref.removeprefix("refs/remotes/")


@dataclass(frozen=True)
class OpenPage:
    """A page of a branch that waits for a person, and what it is in conflict with."""

    lane: Lane
    held: HeldPage

    @property
    def path(self) -> str:
        """Where people look for it."""
        return self.held.path

    @property
    def has_lines(self) -> bool:
        """Whether a person can settle it line by line; a deleted file that it links to is no part of that."""
        alone = [page for page in self.held.pages if None not in (page.ours, page.theirs)]
        return self.held.why in (SAME_LINES, TWO_NEW) and len(alone) == 1


def open_pages(workspace: Workspace, branch: str) -> list[OpenPage]:
    """Given a branch, return its pages in conflict with change requests and with main content; nothing is asked of the
    platform, and nothing is moved."""
    return [
        OpenPage(lane, held)
        for lane in _lanes(workspace, branch)
        for held in _held(workspace, branch, lane)
    ]  # fmt: skip


def conflict_text(workspace: Workspace, branch: str, page: OpenPage) -> bytes:
    """Given a page that has lines, return both texts as one, with markers around what a person has to choose from."""
    part = page.held.pages[0]
    assert part.ours is not None
    assert part.theirs is not None
    base = part.base.oid if part.base is not None else ""
    (merged,) = workspace.repository.merge_texts([(base, part.ours.oid, part.theirs.oid)])
    return named(merged.text, branch, page.lane.name)


def named(text: bytes, ours: str, theirs: str) -> bytes:
    """Given a text with markers, return it with the names of both sides behind them."""
    names = {b"<<<<<<< ours": b"<<<<<<< " + ours.encode(), b">>>>>>> theirs": b">>>>>>> " + theirs.encode()}
    return b"\n".join(names.get(line, line) for line in text.split(b"\n"))


def has_markers(text: bytes, ours: str, theirs: str) -> bool:
    """Given a text and the names of both sides, return whether markers between them are left in it."""
    signs = {f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode(), b"||||||| base"}
    return any(line.rstrip() in signs for line in text.split(b"\n"))


def resolve(workspace: Workspace, branch: str, choices: Mapping[str, Choice]) -> tuple[Applied, list[OpenPage]]:
    """Given what a person decided by path, record it in the branch, and return what was done and what is still open.

    Shape: a page that is in conflict with a change request and with main content is settled with the first; only the
    branch's own text counts for both, since it has seen neither. What else the platform has comes along.
    Raises: what integrating raises.
    """
    left = dict(choices)
    changes: list[Change] = []
    notes: list[str] = []
    for lane in _lanes(workspace, branch):
        open_here = {path for held in _held(workspace, branch, lane) for path in held.paths}
        here = {path: choice for path, choice in left.items() if path in open_here}
        if not here:
            continue
        outcome = integrate(workspace, branch, lane.ref, choices=here)
        left = {path: choice for path, choice in left.items() if path not in here or choice == "ours"}
        if isinstance(outcome, Applied):
            changes += outcome.changes
            notes += outcome.notes
    still = open_pages(workspace, branch)
    settled = choices.keys() - {page.path for page in still}
    settle_pages(workspace, CONFLICT, among=settled)
    return Applied(tuple(changes), tuple(notes)), still


def _lanes(workspace: Workspace, branch: str) -> Iterator[Lane]:
    """The branch's upstream, its newest change request of each space, then main content."""
    if workspace.upstream is not None:
        yield Lane(workspace.upstream.tracking(branch))
    for binding in workspace.bindings:
        mine = [found for found in anchored(workspace, binding) if found.branch == branch and found.number.isdecimal()]
        if mine:
            newest = max(mine, key=lambda found: int(found.number))
            yield Lane(workspace.changes(binding, int(newest.number)))
    yield Lane(workspace.main)


def _held(workspace: Workspace, branch: str, lane: Lane) -> tuple[HeldPage, ...]:
    ours, theirs = workspace.repository.resolve(f"{HEADS}{branch}"), workspace.repository.resolve(lane.ref)
    if ours is None or theirs is None:
        return ()
    may_follow = not is_change_request(workspace, lane.ref)
    result = integrate_commit(workspace, branch, ours, theirs, name=lane.name, may_follow=may_follow).result
    return result.held if result is not None else ()
