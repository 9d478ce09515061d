"""Change requests of the bound spaces, own and foreign ones: list them, and read what one changes; reads only."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syncd.api.parallel import run_parallel
from syncd.errors import NotFound, Rejected
from syncd.model.change_request import ChangeRequest
from syncd.model.changes import Change as ObservedChange
from syncd.model.review import Review
from syncd.plan.change import Change, Verb
from syncd.plan.message import read_marked_branch
from syncd.plan.propose.description_conflicts import read_fingerprint
from syncd.sync.binding import Binding
from syncd.sync.review.auto_merge import list_verdicts
from syncd.sync.review.page_paths import PagePaths
from syncd.sync.state.conflicts import list_conflict_paths
from syncd.sync.state.proposals import list_records
from syncd.sync.workspace import Workspace

LIVE = ("open", "draft")
STATUSES = (*LIVE, "merged", "archived")
"""Statuses of a change request; each is a list of its own. Source: @gitbook/api 0.146.0."""
CHANGES_MAX = 500
"""Changes of one change request that are asked for; the rest is counted."""
_VERBS: dict[str, Verb] = {"created": "create", "deleted": "delete", "moved": "move", "edited": "update"}


@dataclass(frozen=True)
class FoundRequest:
    """A change request of a bound space; `branch` is the one that this repository proposes with it, or "".

    Shape: `reviews` has the latest review of each reviewer, where it was read.
    """

    binding: Binding
    request: ChangeRequest
    branch: str = ""
    reviews: tuple[Review, ...] = ()

    @property
    def objections(self) -> tuple[Review, ...]:
        """The reviews whose last word is that something has to change."""
        return tuple(review for review in self.reviews if review.status == "changes-requested")


@dataclass(frozen=True)
class RequestDetails:
    """What a change request changes, with paths in the repository, and the paths that are in conflict.

    Shape: `more` counts changes that were cut off; `changes` is None where neither the platform nor Git knows them.
    """

    found: FoundRequest
    changes: tuple[Change, ...] | None
    more: int
    conflicts: tuple[str, ...]


def list_requests(
    workspace: Workspace, bindings: Iterable[Binding], statuses: Sequence[str] = LIVE
) -> list[FoundRequest]:
    """Return the change requests of spaces that have one of these statuses, the newest of each space first.

    Shape: only those that are live have their reviews.
    """
    found = [
        _join_branch(workspace, binding, request)
        for binding in bindings
        for request in sorted(_list_requests(workspace, binding, statuses), key=lambda each: -each.number)
    ]
    live = [each for each in found if each.request.is_live]
    reviews = {
        each.request.id: verdicts
        for each, verdicts in run_parallel(lambda each: list_verdicts(workspace, each.binding, each.request), live)
    }
    return [replace(each, reviews=tuple(reviews.get(each.request.id, ()))) for each in found]


def find_requests(workspace: Workspace, bindings: Iterable[Binding], number: int) -> list[FoundRequest]:
    """Return the change requests with a number: one at most in each space."""
    found: list[FoundRequest] = []
    for binding in bindings:
        try:
            request = workspace.client.change_requests.get(binding.space, str(number))
        except NotFound:
            continue
        each = _join_branch(workspace, binding, request)
        found.append(replace(each, reviews=tuple(list_verdicts(workspace, binding, request))))
    return found


def read_details(workspace: Workspace, found: FoundRequest) -> RequestDetails:
    """Return what a change request changes, and what of it is in conflict."""
    changes, more = _read_changes(workspace, found)
    is_in_conflict = found.branch and found.request.is_live and read_fingerprint(found.request.description)
    conflicts = list_conflict_paths(workspace, found.binding, found.branch) if is_in_conflict else ()
    return RequestDetails(found, changes, more, conflicts)


def _list_requests(workspace: Workspace, binding: Binding, statuses: Sequence[str]) -> Iterator[ChangeRequest]:
    for status in statuses:
        yield from workspace.client.change_requests.list(binding.space, status=status)


def _join_branch(workspace: Workspace, binding: Binding, request: ChangeRequest) -> FoundRequest:
    """Add the branch: Git knows it while the change request is not done, and its subject says it afterwards."""
    recorded = [item.branch for item in list_records(workspace, binding) if item.number == str(request.number)]
    branch = recorded[0] if recorded else read_marked_branch(request.subject, workspace.instance)
    return FoundRequest(binding, request, branch)


def _read_changes(workspace: Workspace, found: FoundRequest) -> tuple[tuple[Change, ...] | None, int]:
    paths = PagePaths(workspace, found.binding, found.request)
    content = workspace.client.change_request_content
    try:
        answer = content.get_changes(found.binding.space, found.request.id, limit=CHANGES_MAX)
    except (NotFound, Rejected):  # beyond the API document: a server may not have it
        return _compare_in_git(workspace, found), 0
    return tuple(_build_change(paths, each) for each in answer.changes), answer.more


def _build_change(paths: PagePaths, observed: ObservedChange) -> Change:
    noun, _, action = observed.type.rpartition("_")
    verb = _VERBS.get(action, "report")
    find_path = paths.find_former_path if verb == "delete" else paths.find_path
    for item in (observed.page, observed.file, observed.reusable_content):
        if item is not None:
            title = getattr(item, "title", "")
            path = find_path(item.id)
            return Change(verb, noun.replace("_", " "), path or title or item.id, title if path else "")
    tag = observed.tag
    return Change(verb, noun.replace("_", " ") or observed.type, tag.label if tag is not None else "")


def _compare_in_git(workspace: Workspace, found: FoundRequest) -> tuple[Change, ...] | None:
    """The files that differ between main content and the change request as Git has them; None where it has not."""
    repository, binding = workspace.repository, found.binding
    here = repository.resolve(workspace.change_ref(binding, found.request.number))
    main = repository.resolve(workspace.main)
    base = repository.find_merge_base(main, here) if main is not None and here is not None else None
    if base is None or here is None:
        return None
    verbs: dict[str, Verb] = {"A": "create", "D": "delete", "M": "update", "R": "move"}
    differences = repository.list_changes(base, here, binding.directory, renames=True)
    return tuple(Change(verbs[each.status], "file", binding.path(each.path)) for each in differences)
