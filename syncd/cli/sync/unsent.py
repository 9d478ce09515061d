"""Work of a branch that no change request holds yet: what is not sent, why, and what to do about it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.cli.terminal.text import escape
from syncd.cli.terminal.verbosity import is_verbose
from syncd.config import RepositoryConfig
from syncd.daemon.labels import build_bindings
from syncd.daemon.locks import STATE_FILE
from syncd.layout.tree.paths import make_collision_key
from syncd.layout.tree.spelling import format_renaming, spell_decomposed
from syncd.model.wording import format_count, format_first
from syncd.repo.repository import Repository
from syncd.repo.values import EditKind
from syncd.store.status import FlowOutcome, read_store_summary
from syncd.sync.binding import format_space_option
from syncd.sync.branches import HEADS, is_tracked_branch
from syncd.sync.outcome import CONFLICT, PAGE
from syncd.sync.state.conflicts import drop_settled
from syncd.sync.state.unsent import Unsent, find_unsent

PATHS_SHOWN = 5
"""Up to so many paths of one kind are printed; of more, the rest is counted. `-v` and `--json` list all."""


@dataclass(frozen=True)
class BranchWork:
    """What a branch has that the platform lacks, space by space, and what of its work tree is not committed.

    Shape: `uncommitted` are paths with what happened to each. Of the pages that are listed and that the commit lacks,
    `ignored` are left out by an ignore rule of Git, `linked` lie behind a symbolic link or in a submodule,
    `still_listed` are deleted, and `missing` were never there. `not_taken_in` are change requests of a branch that
    is not tracked, with the short name of the ref of each, that have what the branch lacks. `unrelated_to` is that of
    main content where the branch has no commit in common with it.
    """

    branch: str
    spaces: tuple[Unsent, ...] = ()
    uncommitted: Mapping[str, EditKind] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    still_listed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    is_tracked: bool = True
    not_taken_in: tuple[tuple[int, str], ...] = ()
    unrelated_to: str = ""
    has_commit: bool = True

    def list_uncommitted(self, kind: EditKind) -> list[str]:
        """Return the files to which one thing happened that is not committed."""
        return [path for path, found in self.uncommitted.items() if found == kind]

    @property
    def needs_push(self) -> bool:
        """Whether a push would write something."""
        return any(space.needs_push for space in self.spaces)

    @property
    def sent_spaces(self) -> list[Unsent]:
        """The spaces whose change request holds all changes of the branch, so that a reviewer has to act."""
        return [space for space in self.spaces if space.changed and space.is_sent and not space.awaited]


def find_branch_work(git: Repository, repository: RepositoryConfig, branch: str) -> BranchWork:
    """Return what a branch has that the platform lacks; `git` is open at the work tree around the current directory.

    Shape: uncommitted edits count when the work tree is on the branch, and only in files of a space. Raises: GitFailed.
    """
    main = git.resolve(f"refs/remotes/{repository.remote}/main")
    bindings = build_bindings(repository)
    outcomes = drop_settled(git, read_store_summary(Repository.locate(repository.path) / STATE_FILE).outcomes)
    conflicts, refused = (_list_held(outcomes, flow, branch) for flow in (CONFLICT, PAGE))
    spaces = tuple(
        find_unsent(git, binding, branch, main=main, remote=repository.remote, conflicts=conflicts, refused=refused)
        for binding in bindings
    )
    top = git.work_tree if git.work_tree is not None and git.read_head().branch == branch else None
    edits = git.list_uncommitted() if top is not None else {}
    uncommitted = {path: kind for path, kind in edits.items() if any(binding.holds(path) for binding in bindings)}
    absent = {path for space in spaces for path in space.missing}.difference(edits, conflicts)
    tip = git.resolve(f"{HEADS}{branch}")
    links = git.find_obstacles(tip, absent) if tip is not None else {}
    linked = {path for path in absent if any(path == link or path.startswith(f"{link}/") for link in links)}
    ignored = {path for path in absent - linked if top is not None and (top / path).is_file()}
    missing = absent - linked - ignored
    still_listed = missing.intersection(path for space in spaces for path in space.still_listed)
    is_tracked = is_tracked_branch(branch, repository.branch_names, repository.patterns)
    not_taken_in = () if is_tracked or tip is None else _find_not_taken_in(git, repository.remote, tip, spaces)
    return BranchWork(
        branch,
        spaces,
        uncommitted,
        ignored=tuple(sorted(ignored)),
        linked=tuple(sorted(linked)),
        still_listed=tuple(sorted(still_listed)),
        missing=tuple(sorted(missing - still_listed)),
        is_tracked=is_tracked,
        not_taken_in=tuple(not_taken_in),
        unrelated_to=f"{repository.remote}/main" if any(space.is_unrelated for space in spaces) else "",
        has_commit=tip is not None,
    )


def _find_not_taken_in(git: Repository, remote: str, tip: str, spaces: Sequence[Unsent]) -> Iterator[tuple[int, str]]:
    """The change requests of an untracked branch that have what its tip lacks: no run brings it that."""
    for space in spaces:
        if space.request is not None and not space.request.is_archived:
            ref = f"{remote}/changes/{space.binding.name}/{space.request.number}"
            lane = git.resolve(f"refs/remotes/{ref}")
            if lane is not None and not git.is_ancestor(lane, tip) and git.merge(tip, lane).tree != git.find_tree(tip):
                yield space.request.number, ref


def _list_held(outcomes: Iterable[FlowOutcome], flow: str, branch: str) -> set[str]:
    """The pages of a branch of which a flow says that they are held."""
    return {one.key for one in outcomes if (one.flow, one.state, one.branch) == (flow, "held", branch)}


def format_unsent(work: BranchWork, *, pushed: bool = False) -> Iterator[str]:
    """Return a line for each kind of work that a push does not send, with what to do about it.

    Shape: after a push (`pushed`), changed content that no change request holds is such a kind, too.
    """
    respelled = _find_respelled(work)
    for entry, path in respelled.items():
        wrong, named = (escape(spell_decomposed(one)) for one in (entry, path))
        renaming = format_renaming(path)
        what = f"rename it, at the top of the repository: {escape(renaming)}" if renaming else "write that there"
        yield f"! not sent: SUMMARY.md lists {wrong}, but the file is {named}; {what}, and commit"
    unlisted = [path for space in work.spaces for path in space.unlisted if path not in respelled.values()]
    if unlisted:
        paths, verb = format_paths(unlisted), "is" if len(unlisted) == 1 else "are"
        yield f"! not sent: {paths} {verb} not listed in SUMMARY.md; list what is to be a page, and commit"
    yield from _format_absent(work, respelled)
    for space in work.spaces:
        if space.is_taken_back and space.changed and space.request is not None:
            number, what = space.request.number, format_paths(space.changed)
            way_on = f"commit something new, or syncd cr reopen {number}{_format_space(work, space)}"
            yield f"! not sent: {what}: #{number} was archived with that; {way_on}"
    for (number, is_own), awaited in _list_awaited(work).items() if not pushed else ():
        verb = "waits" if len(awaited) == 1 else "wait"
        why = f"for #{number}, which adds that already"
        if is_own:
            why = f"until #{number} is updated or merged, or syncd pull has brought what reviewers wrote there"
        yield f"! not sent: {format_paths(awaited)} {verb} {why}"
    changed = [path for space in work.spaces if space.needs_push for path in space.pending]
    if changed and pushed:
        yield f"! not sent: {format_paths(changed)}; {_explain_unsent(work)}"
    if not pushed and (steps := sum(space.manual_steps for space in work.spaces)):
        named = f"syncd push {escape(work.branch)} names each"
        yield f"! {format_count(steps, 'manual step')} on the platform: {named}"
    yield from _format_former(work)
    yield from _format_reviewed(work)
    yield from _format_uncommitted(work)


def _explain_unsent(work: BranchWork) -> str:
    """Why a push has sent nothing of what a branch has changed, as far as Git shows it."""
    if not work.unrelated_to:
        return "a note above, or syncd check, may say why"
    main = escape(work.unrelated_to)
    why = f"{escape(work.branch)} has no commit in common with {main}, so what it lacks is not deleted"
    return f"{why}; if that is meant: git merge --strategy=ours --allow-unrelated-histories {main}"


def format_untracked(work: BranchWork, *, pulled: bool) -> Iterator[str]:
    """Return the lines about a branch that is checked out and not tracked, so that a run passes it over.

    Shape: a pull (`pulled`) sends nothing in any case.
    """
    changed = [path for space in work.spaces if space.needs_push for path in space.pending]
    if changed and not pulled:
        what, branch = format_paths(changed), escape(work.branch)
        yield f"! not sent: {what}: {branch} is not one of the tracked branches; syncd push sends it"
    yield from _format_reviewed(work)


def _format_former(work: BranchWork) -> Iterator[str]:
    for space, newest, number in ((one, one.request, former) for one in work.spaces for former in one.former):
        if newest is not None:
            goes = f"what {escape(work.branch)} says goes to #{newest.number}"
            close = f"syncd cr close {number}{_format_space(work, space)}"
            yield f"! #{number} is open, and is not written to: {goes}; merge #{number}, or {close}"


def _format_space(work: BranchWork, space: Unsent) -> str:
    return format_space_option(space.binding.name, [each.binding for each in work.spaces])


def _format_reviewed(work: BranchWork) -> Iterator[str]:
    for number, ref in work.not_taken_in:
        way_on = f"to bring it there: git merge {escape(ref)}"
        yield f"! #{number} has what {escape(work.branch)}, which is not tracked, lacks; {way_on}"


def _format_absent(work: BranchWork, respelled: Collection[str]) -> Iterator[str]:
    """A line for each kind of pages that are listed and have no file."""
    absent = (work.missing, work.still_listed)
    missing, still_listed = ([path for path in paths if path not in respelled] for paths in absent)
    for listed, why in (
        (work.ignored, "but ignored by Git; git add --force, then git commit"),
        (work.linked, "but syncd follows no symbolic link or submodule; put the file in its place, and commit"),
        (missing, "but no such file is committed; add it, or take the entry out, and commit"),
    ):
        if listed:
            verb = "is" if len(listed) == 1 else "are"
            yield f"! not sent: {format_paths(listed)} {verb} listed in SUMMARY.md, {why}"
    if still_listed:
        paths, (verb, them) = format_paths(still_listed), ("has", "it") if len(still_listed) == 1 else ("have", "them")
        way_on = "take the entry out, or bring the file back, and commit"
        yield f"! deleted: {paths} {verb} no file any more; SUMMARY.md still lists {them}; {way_on}"


def _format_uncommitted(work: BranchWork) -> Iterator[str]:
    kinds: tuple[EditKind, ...] = ("unmerged", "deleted", "edited")
    for kind in kinds:
        paths = work.list_uncommitted(kind)
        what = describe_edit(kind, them="it" if len(paths) == 1 else "them")
        if paths:
            yield f"! not sent: {format_paths(paths)} {'is' if len(paths) == 1 else 'are'} {what}"


def describe_edit(kind: EditKind, *, path: str = "PATH", them: str = "it") -> str:
    """Return what happened to a file in the work tree, and what to do about it."""
    if kind == "unmerged":
        return "in conflict in a merge of Git; edit until no marker is left, git add, then git commit"
    if kind == "edited":
        return "edited and not committed; git add, then git commit"
    way_back = f"git checkout HEAD -- {path} brings {them} back; git add --all, then git commit records that"
    return f"deleted, and that is not committed; {way_back}"


def _find_respelled(work: BranchWork) -> dict[str, str]:
    """The listed pages without a file, each with the unlisted file whose name differs in case or composition alone."""
    files = {make_collision_key(path): path for space in work.spaces for path in space.unlisted}
    keys = {path: make_collision_key(path) for path in (*work.missing, *work.still_listed)}
    return {path: files[key] for path, key in keys.items() if key in files}


def format_requests(work: BranchWork) -> Iterator[str]:
    """Return a line for each change request that holds the work of a branch already."""
    for space in work.sent_spaces:
        assert space.request is not None
        address = f"  {escape(space.request.address)}" if space.request.address else ""
        request, said = f"change request #{space.request.number}", f"what {escape(work.branch)} says"
        holds = f"{request} holds {said}"
        if space.request.is_commented:
            holds = f"comments of {request} hold {said}; somebody has to put it in"
        yield f"{space.binding.name}: {holds}{address}"


def _list_awaited(work: BranchWork) -> dict[tuple[int, bool], list[str]]:
    """The paths that wait for each change request, by its number and whether it is the branch's own."""
    found: dict[tuple[int, bool], list[str]] = {}
    for space in work.spaces:
        own = space.request.number if space.request is not None else None
        for path, number in space.awaited:
            found.setdefault((number, number == own), []).append(path)
    return found


def format_paths(paths: Sequence[str]) -> str:
    """Return the first paths and how many more there are; with `-v`, all."""
    return format_first(list(map(escape, paths)), len(paths) if is_verbose() else PATHS_SHOWN)


def build_unsent_document(work: BranchWork) -> dict[str, Any]:
    """Return the JSON object of a branch's unsent work."""
    return {
        "branch": work.branch,
        "uncommitted": list(work.uncommitted),
        "deleted": work.list_uncommitted("deleted"),
        "unmerged": work.list_uncommitted("unmerged"),
        "ignored": list(work.ignored),
        "linked": list(work.linked),
        "still_listed": list(work.still_listed),
        "missing": list(work.missing),
        "is_tracked": work.is_tracked,
        "not_taken_in": [{"change_request": number, "ref": ref} for number, ref in work.not_taken_in],
        "spaces": [_build_space_document(space) for space in work.spaces],
    }


def _build_space_document(space: Unsent) -> dict[str, Any]:
    request = space.request
    return {
        "name": space.binding.name,
        "changed": list(space.changed),
        "pending": list(space.pending) if space.needs_push else [],
        "conflicting": list(space.conflicting),
        "awaited": [{"path": path, "change_request": number} for path, number in space.awaited],
        "unlisted": list(space.unlisted),
        "former": list(space.former),
        "is_sent": space.is_sent,
        "is_taken_back": space.is_taken_back,
        "was_tried": space.was_tried,
        "manual_steps": space.manual_steps,
        "change_request": {"number": request.number, "url": request.address} if request is not None else None,
    }
