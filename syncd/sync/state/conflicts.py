"""Describe pages in conflict for people: each is an outcome of its own, with the command that resolves it."""

from collections.abc import Callable, Collection, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from syncd.errors import Conflict
from syncd.repo.repository import Repository
from syncd.store.status import FlowOutcome
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.outcome import CONFLICT, LOST_WORDS, PAGE, Held
from syncd.sync.state.proposed_refs import list_proposed

if TYPE_CHECKING:  # `status` looks at what is settled, and needs neither
    from syncd.sync.merge.result import MergeResult
    from syncd.sync.workspace import Workspace

KEEP_MERGE = "keep the merge commit: a squash does not say that it took in the other side"
"""What settles a conflict elsewhere is known by the parents of a commit, as `git merge-base` knows it."""


def describe_conflicts(
    workspace: "Workspace", result: "MergeResult", branch: str, name: str, *, among: Callable[[str], bool] | None = None
) -> tuple[Held, ...]:
    """Return an outcome for each page in conflict between a branch and the ref that people call `name`.

    Shape: `among` selects by path; pages that the caller had left out are not in the result.
    """
    # Imported here: `status`, which is to be quick, merges nothing.
    from syncd.sync.merge.result import EXCLUDED

    where = f" --branch {quote(branch)}" if result.conflicts and _needs_name(workspace.repository, branch) else ""
    shared = find_shared_branch(workspace, name, branch)
    elsewhere = f"; or in any clone, on {branch}: git pull, then git merge {shared}\n{KEEP_MERGE}" if shared else ""
    return tuple(
        Held(
            f"{page.reason} ({branch} and {name}); it stays as each side has it",
            f"syncd resolve {quote(page.path)}{where}, with {page.choices}{elsewhere}",
            exit_code=Conflict.exit_code,
            paths=(page.path,),
            command=f"syncd resolve {quote(page.path)}{where}",
            branch=branch,
            lane=name,
        )
        for page in result.conflicts
        if page.why != EXCLUDED and (among is None or any(map(among, page.paths)))
    )


def _needs_name(repository: Repository, branch: str) -> bool:
    """Whether a command about a branch has to name it: with linked work trees, where a person will stand is open."""
    return repository.read_head().branch != branch or repository.has_linked_trees()


def find_shared_branch(workspace: "Workspace", name: str, branch: str) -> str:
    """Return the branch of the upstream remote whose merge settles a conflict of a branch with `name` in any clone; ""
    for none.

    Shape: a change request's content is there once a run has pushed it. What people have pushed is in conflict with
    what the branch here has taken in, and the branch there has not: a change request, or main content. Where that has
    both, it is in conflict with commits of this clone alone, which no other one has.
    """
    upstream, changes = workspace.upstream, f"{workspace.remote}/changes/"
    if upstream is None or not upstream.has_mirror:
        return ""
    request = name.removeprefix(changes) if name.startswith(changes) else find_unshared_request(workspace, name, branch)
    if request:
        return f"{upstream.name}/{upstream.change_branch(request)}"
    is_mirrored = name == f"{workspace.remote}/main" or _lacks_main_content(workspace, name)
    return f"{upstream.name}/{upstream.mirror}" if is_mirrored else ""


def _lacks_main_content(workspace: "Workspace", name: str) -> bool:
    """Whether a branch of the upstream remote, by the name that people call it, has not taken in all main content."""
    repository, upstream = workspace.repository, workspace.upstream
    if upstream is None or not name.startswith(f"{upstream.name}/"):
        return False
    main, there = repository.resolve(workspace.main), repository.resolve(f"refs/remotes/{name}")
    return main is not None and there is not None and not repository.is_ancestor(main, there)


def find_unshared_request(workspace: "Workspace", name: str, branch: str) -> str:
    """Return the change request of a branch, as `<space>/<number>`, whose content the branch has taken in here, and not
    at the upstream remote, where it is called `name`; "" for none."""
    repository, upstream = workspace.repository, workspace.upstream
    if upstream is None or not name.startswith(f"{upstream.name}/"):
        return ""
    here, there = repository.resolve(f"{HEADS}{branch}"), repository.resolve(f"refs/remotes/{name}")
    if here is None or there is None:
        return ""
    for binding in workspace.bindings:
        for number, other, _ in list_proposed(repository, binding):
            lane = repository.resolve(workspace.change_ref(binding, number)) if other == branch else None
            if lane is not None and repository.is_ancestor(lane, here) and not repository.is_ancestor(lane, there):
                return f"{binding.name}/{number}"
    return ""


def list_conflict_paths(workspace: "Workspace", binding: Binding, branch: str) -> tuple[str, ...]:
    """Return the pages of a space that the last runs left in conflict in a branch, as paths from the repository's root.

    Shape: an older version recorded no branch; that can be any.
    """
    held = [each for each in workspace.store.list_outcomes() if (each.flow, each.state) == (CONFLICT, "held")]
    return tuple(each.key for each in held if each.branch in ("", branch) and binding.holds(each.key))


def drop_settled(repository: Repository, outcomes: Sequence[FlowOutcome]) -> tuple[FlowOutcome, ...]:
    """Return the outcomes without what a person has settled with Git since they were recorded: conflicts of branches
    that hold what they were in conflict with, or have nothing that it lacks, and refused pages of which a branch has
    something else now.
    """
    settled: dict[tuple[str, str, str, bool], bool] = {}
    for one in outcomes:
        subject = _describe_subject(one)
        if one.state == "held" and one.branch and one.lane and subject not in settled:
            settled[subject] = _is_settled(repository, one)
    return tuple(one for one in outcomes if not settled.get(_describe_subject(one)))


def _describe_subject(outcome: FlowOutcome) -> tuple[str, str, str, bool]:
    """What an outcome is about: the two sides of a conflict, and whether it is about words that the platform has lost;
    or a page that was refused."""
    page = outcome.key if outcome.flow == PAGE else ""
    return outcome.branch, outcome.lane, page, LOST_WORDS in outcome.sentence


def _is_settled(repository: Repository, outcome: FlowOutcome) -> bool:
    tip = repository.resolve(f"{HEADS}{outcome.branch}")
    if tip is None:
        return False
    if outcome.flow == PAGE:
        return repository.lookup(tip, outcome.key) != repository.lookup(outcome.lane, outcome.key)
    other = repository.resolve(f"refs/remotes/{outcome.lane}")
    if outcome.flow != CONFLICT or other is None:
        return False
    # What the platform has lost is in conflict even where the branch has changed nothing since.
    is_reset = LOST_WORDS not in outcome.sentence and repository.is_ancestor(tip, other)
    return is_reset or repository.is_ancestor(other, tip)


def clear_settled(
    workspace: "Workspace",
    flow: str,
    *,
    but: Collection[tuple[str, str]] = (),
    among: Collection[tuple[str, str]] | None = None,
) -> None:
    """Record the last reports of a flow about pages as settled, for all pages except `but`, or only for those
    `among`.

    Shape: both name a page by its path and branch; an older version recorded no branch, and that can be any.
    """
    at = workspace.now().isoformat(timespec="seconds")
    held = [found for found in workspace.store.list_outcomes() if found.flow == flow and found.state == "held"]
    settled = [one for one in held if not _is_among(one, but) and (among is None or _is_among(one, among))]
    workspace.store.record(FlowOutcome(flow, one.key, "unchanged", "", at, branch=one.branch) for one in settled)


def _is_among(outcome: FlowOutcome, pages: Collection[tuple[str, str]]) -> bool:
    if outcome.branch:
        return (outcome.key, outcome.branch) in pages
    return any(path == outcome.key for path, _ in pages)
