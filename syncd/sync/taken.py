"""The main content that a change request has taken in, so that Git's graph says the same as the content does."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from syncd.layout.paths import is_markdown
from syncd.layout.placement import SUMMARY
from syncd.model.change_request import ChangeRequest
from syncd.plan.message import REVISION
from syncd.plan.met import MET, TIP, Knot, met_message
from syncd.sync.ancestry import NOBODY
from syncd.sync.meeting import meet, unmet
from syncd.sync.proposals import is_disputed
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Footing:
    """What a commit of a change request's content stands on: a former one, and main content that it has taken in since.

    Shape: `start` has, outside of the space too, what both bring: a child that lacked it would pass for having deleted
    it. `taken` is "" when there is nothing new; `merges` says that the two merge into `start` without a person.
    """

    ground: str
    start: str
    taken: str = ""
    merges: bool = False


@dataclass(frozen=True)
class Update:
    """What is known of an update from main content that content may come from.

    Shape: `fresh` says that syncd has just asked for it, `disputed` that the platform found conflicts; `settled` is the
    branch's commit that had brought both sides together before, or "".
    """

    fresh: bool = False
    disputed: bool = False
    settled: str = ""


NO_UPDATE = Update()


def footing(workspace: Workspace, binding: Binding, request: ChangeRequest, ground: str) -> Footing:
    """Given a change request and the commit that its content lies upon, return what the next commit stands on."""
    repository = workspace.repository
    taken = _taken(workspace, request)
    if taken is None or contains(workspace, ground, taken):
        return Footing(ground, ground)
    meeting = meet(workspace, ground, taken)
    contested = (*meeting.outside, *(path for page in meeting.held for path in page.paths))
    if not all(binding.holds(path) for path in contested):
        return Footing(ground, ground)
    start = ground
    if meeting.kept_ours != repository.subtree(ground):
        start = repository.commit_tree(
            meeting.kept_ours, parents=[ground, taken], message="syncd: ground\n", author=NOBODY, committer=NOBODY
        )
    return Footing(ground, start, taken, merges=not meeting.held)


def standing(workspace: Workspace, feet: Footing, content: str, *, disputed: bool) -> tuple[tuple[str, ...], str]:
    """Given what a commit of content stands on, and that commit, return the parents it is to have, and trailers.

    Shape: main content is a parent when the change request holds all of it. It lacks pages that main content changed
    and that are as they were, since to the platform they are other pages than their paths say; and, after an update in
    dispute, any that are another way: then the commit claims the rest alone.
    """
    since, apart = unmet(workspace, content, feet.taken)
    here = {blob.oid for blob in workspace.repository.tree(content).values()}
    apart = [knot for knot in apart if not _is_elsewhere(workspace, feet.taken, knot, here)]
    lacks = [knot for knot in apart if disputed or _is_as_it_was(workspace, feet.ground, content, knot)]
    if not lacks:
        return (feet.ground, feet.taken), ""
    claims = met_message("", met=[feet.taken], since=since, held=sorted(map(sorted, lacks)))
    return (feet.ground,), claims.strip() + "\n"


def adds_nothing(workspace: Workspace, binding: Binding, content: str, sides: Sequence[str]) -> bool:
    """Given a commit of content and all that it may be made of, return whether each line of it is one of theirs.

    Shape: a line that is not was written by somebody right before the merge.
    """
    known: set[bytes] = set()
    whole: set[str] = set()
    others: list[dict[str, str]] = []
    for side in sides:
        changes = [c for c in workspace.repository.differences(side, content) if binding.holds(c.path)]
        texts = [c for c in changes if is_markdown(c.path) and not c.path.endswith(SUMMARY)]
        known.update(line for c in texts if c.before is not None for line in _lines(workspace, c.before.oid))
        whole.update(blob.oid for blob in workspace.repository.tree(side, binding.directory).values())
        others.append({c.path: c.after.oid for c in texts if c.after is not None})
    new = {oid for path, oid in others[0].items() if all(path in other for other in others)} - whole
    return all(line in known for oid in new for line in _lines(workspace, oid))


def _lines(workspace: Workspace, oid: str) -> list[bytes]:
    return workspace.repository.read(oid).splitlines()


def _is_as_it_was(workspace: Workspace, ground: str, content: str, knot: Knot) -> bool:
    lookup = workspace.repository.lookup
    return all(lookup(ground, path) == lookup(content, path) for path in knot)


def _is_elsewhere(workspace: Workspace, main: str, knot: Knot, here: Collection[str]) -> bool:
    """Whether main content's text of a page is there under another path: the platform moves pages that have others."""
    found = [oid for path in knot if (oid := workspace.repository.lookup(main, path)) is not None]
    return bool(found) and all(oid in here for oid in found)


def _taken(workspace: Workspace, request: ChangeRequest) -> str | None:
    """The newest commit of main content that a change request holds, as far as Git knows it."""
    if not request.outdated:
        return workspace.repository.resolve(workspace.main)
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find(workspace.main, REVISION, start)
    return found.oid if found is not None else None


def contains(workspace: Workspace, content: str, main: str) -> bool:
    """Given a commit of a change request's content, return whether it holds a commit of main content, or claims to."""
    return workspace.repository.is_ancestor(main, content) or taken_in(workspace, content, main) == main


def taken_in(workspace: Workspace, content: str, main: str) -> str | None:
    """Given a commit of a change request's content and main content, return the newest that it holds, or claims to."""
    repository = workspace.repository
    marked = repository.marked(main, content, MET)[1]
    claims = [commit for commit in marked if REVISION in commit.trailers and TIP not in commit.trailers]
    met = [oid for commit in claims for oid in commit.trailers[MET]]
    newest: str | None = None
    for oid in (*repository.merge_bases(content, main), *sorted(repository.present(met))):
        if repository.is_ancestor(main, oid):
            return main
        if repository.is_ancestor(oid, main) and (newest is None or repository.is_ancestor(newest, oid)):
            newest = oid
    return newest


def takes(workspace: Workspace, binding: Binding, content: str, main: str) -> bool:
    """Given a change request's content and main content, return whether both merge without a person or lost words."""
    met = meet(workspace, content, main)
    return not is_disputed(binding, met) and not any(map(binding.holds, met.revived))
