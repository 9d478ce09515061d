"""Resolve: the pages of a branch that wait for a person, and what the person decides, as commits of the branch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from syncd.layout.compare.reformat import match_line_ends
from syncd.plan.change import Change
from syncd.plan.merge.hunks import (
    Labels,
    TextPiece,
    drop_title,
    list_hunks,
    measure_markers,
    put_title_first,
    split_merged_text,
)
from syncd.plan.merge.pages import SIDES, Page, Side, Version
from syncd.sync.branches import HEADS
from syncd.sync.integrate.flow import integrate, integrate_commit, is_change_request, name_lane
from syncd.sync.merge.compose import find_choice
from syncd.sync.merge.result import Choice, EntryConflict, MergeResult
from syncd.sync.outcome import CONFLICT, Applied
from syncd.sync.state.conflicts import clear_settled
from syncd.sync.state.notes import STATUS, read_notes
from syncd.sync.state.proposals import list_records
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class PageConflict:
    """A page of a branch that waits for a person, and what it is in conflict with.

    Shape: `lane` is the other side, as people call its ref. `parts` is the page's text, hunk by hunk, behind a hunk
    with its titles where they are in conflict; `texts` is what each side has, with the line ends of ours. Both are
    empty where nobody can choose line by line. `result` is the merge that found it.
    """

    branch: str
    lane: str
    entry: EntryConflict
    result: MergeResult = field(compare=False, repr=False)
    parts: tuple[TextPiece, ...] = field(default=(), repr=False)
    texts: Mapping[Side, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def path(self) -> str:
        """Where people look for it."""
        return self.entry.path

    @property
    def text_parts(self) -> tuple[TextPiece, ...]:
        """Its text, hunk by hunk, without its titles."""
        return drop_title(self.parts) if self.entry.titles else self.parts

    @property
    def labels(self) -> Labels:
        """What the sides are called behind markers."""
        return Labels(self.branch, self.lane, measure_markers(self.entry.text))

    def name_side(self, side: Side) -> str:
        """Return what people call a side."""
        return self.branch if side == "ours" else self.lane

    @property
    def page(self) -> Page:
        """The page itself; `entry` has those that are left out with it, too."""
        return self.entry.pages[0]


def find_conflicts(workspace: Workspace, branch: str) -> list[PageConflict]:
    """Return the pages of a branch in conflict with change requests and with main content.

    Nothing is asked of the platform, and nothing is moved.
    """
    return [
        _build_page_conflict(workspace, branch, ref, held, result)
        for ref in _list_refs(workspace, branch)
        if (result := _merge_ref(workspace, branch, ref)) is not None
        for held in result.conflicts
    ]


def resolve_pages(
    workspace: Workspace, branch: str, choices: Mapping[str, Choice]
) -> tuple[Applied, list[PageConflict]]:
    """Record what a person decided, by path, in a branch; return what was done and the pages still in conflict.

    Shape: of a page that is in conflict with a change request and with main content, a choice settles the first; it
    settles both if they have the same version and title of the page, or if the branch's own is to stay. Whatever else
    the platform has is merged too. Raises: as `integrate`.
    """
    still: list[PageConflict] = []
    answered: dict[str, tuple[Version | str | None, ...]] = {}
    changes: list[Change] = []
    notes: list[str] = []
    for ref in _list_refs(workspace, branch):
        result = _merge_ref(workspace, branch, ref)
        if result is None:
            continue
        here: dict[str, Choice] = {}
        for page in result.conflicts:
            theirs = (*(one.theirs for one in page.pages), page.find_title("theirs"))
            for path in choices.keys() & set(page.paths):
                if answered.setdefault(path, theirs) == theirs or choices[path] == "ours":
                    here[path] = choices[path]
        unsettled = [page for page in result.conflicts if find_choice(page, here) is None]
        still += [_build_page_conflict(workspace, branch, ref, page, result) for page in unsettled]
        if not here:
            continue
        outcome = integrate(workspace, branch, ref, choices=here)
        if isinstance(outcome, Applied):
            changes += outcome.changes
            notes += outcome.notes
    settled = choices.keys() - {conflict.path for conflict in still}
    clear_settled(workspace, CONFLICT, among={(path, branch) for path in settled})
    return Applied(tuple(changes), tuple(notes)), still


def _list_refs(workspace: Workspace, branch: str) -> Iterator[str]:
    """The refs that a branch takes in: its upstream, its newest change request of each space that nobody has archived,
    then main content."""
    if workspace.upstream is not None:
        yield workspace.upstream.tracking_ref(branch)
    for binding in workspace.bindings:
        numbers = [
            int(found.number)
            for found in list_records(workspace, binding)
            if found.branch == branch and found.number.isdecimal()
            if read_notes(workspace.repository, binding, int(found.number)).get(STATUS) != "archived"
        ]
        if numbers:
            yield workspace.change_ref(binding, max(numbers))
        if branch == workspace.branch:
            yield from sorted(workspace.repository.list_refs(workspace.overwritten_refs(binding)))
    yield workspace.main


def _merge_ref(workspace: Workspace, branch: str, ref: str) -> MergeResult | None:
    """The merge of a branch with a ref; None where one has all of the other."""
    ours, theirs = workspace.repository.resolve(f"{HEADS}{branch}"), workspace.repository.resolve(ref)
    if ours is None or theirs is None:
        return None
    is_request = is_change_request(workspace, ref)
    return integrate_commit(workspace, branch, ours, theirs, name=name_lane(ref), is_request=is_request).result


def _build_page_conflict(
    workspace: Workspace, branch: str, ref: str, held: EntryConflict, result: MergeResult
) -> PageConflict:
    conflict = PageConflict(branch, name_lane(ref), held, result)
    versions = {side: conflict.page.at(side) for side in SIDES}
    read = workspace.repository.read
    texts = {side: read(version.oid) for side, version in versions.items() if version is not None} if held.text else {}
    if len(texts) == len(SIDES):
        texts["theirs"] = match_line_ends(texts["ours"], texts["theirs"])  # as the text in conflict has them
    parts = split_merged_text(held.text, texts) if len(texts) == len(SIDES) else ()
    if not list_hunks(parts):
        return conflict
    titled = put_title_first(parts, held.titles) if held.titles else parts
    return replace(conflict, parts=titled, texts=texts)
