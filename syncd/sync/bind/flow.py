"""Bind a space to a Git branch that has content already; neither side is replaced unless a person says so.

| what both sides hold        | what is done                                                                   |
|-----------------------------|--------------------------------------------------------------------------------|
| the same                    | the branch is fast-forwarded to the mirror commit                              |
| nothing in the directory    | the same: it only adds files                                                   |
| nothing in the space        | the branch takes the mirror commit in by an `ours` merge; the next push proposes|
| different things            | the space is undecided: nothing moves until a person says which side goes first|

An undecided space has its mirror commit on `refs/remotes/<remote>/undecided/<name>`, upon the branch's tip: its diff is
exactly where both sides differ. Main content's ref knows nothing of it, so no pull can bring it in by accident.
A branch that carries mirror commits of the space (another clone pushed it) needs no choice: they say what was shared.

    the branch takes in the mirror commit      by compare-and-set, with the files where it is shown
    main content's ref names the mirror commit
    what the undecided state left is removed

A run that is killed between two of these is taken up by the next one: it finds the mirror commit in the branch.
Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from syncd.errors import HistoryCut
from syncd.layout.page.frontmatter import is_blank_page
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.summary import render_summary
from syncd.model.space import Space
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.plan.message import LAYOUT, LAYOUT_VERSION, PROPOSED, REVISION, SPACE
from syncd.repo.values import Commit, FileChange
from syncd.store.store import LastSeen
from syncd.sync.bind.directory import follow_directory
from syncd.sync.binding import Binding
from syncd.sync.committer import COMMITTER
from syncd.sync.directories import read_directory
from syncd.sync.mirror.flow import mirror
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting, outcome_of
from syncd.sync.policy import PreferredSide
from syncd.sync.state.former_space import forget_former_space
from syncd.sync.state.space import read_space
from syncd.sync.workspace import Workspace

SHOWN = 5
_COMMITTER = f"{COMMITTER[0]} <{COMMITTER[1]}>"
_MAIN, _UNDECIDED = "main", "undecided"
"""Keys in the store: of what is mirrored, and of a mirror commit that nobody has chosen yet."""


def find_undecided_ref(workspace: Workspace, binding: Binding) -> str:
    """Return the ref of a space's mirror commit while nobody has chosen between both sides."""
    return f"refs/remotes/{workspace.remote}/undecided/{binding.name}"


def bind_spaces(
    workspace: Workspace, *, prefer: Mapping[str, PreferredSide] | None = None, move: bool = True
) -> tuple[Workspace, list[tuple[str, Outcome]]]:
    """Bind every space that is not bound yet; return the workspace with those that are bound, and the outcomes.

    Shape: `prefer` says by name which side goes first, and repeats the comparison; without it a space that is undecided
    stays so and costs no request. Without `move` no branch is moved, so nothing is bound.
    """
    if workspace.onto is not None or not workspace.branch:
        return workspace, []
    left = [(binding.name, forget_former_space(workspace, binding)) for binding in workspace.bindings]
    outcomes: list[tuple[str, Outcome]] = [(name, Applied((), (note,))) for name, note in left if note]
    _follow_carried(workspace)
    ready: list[Binding] = []
    for binding in workspace.bindings:
        outcome = outcome_of(partial(_bind_space, workspace, binding, prefer, move=move))
        if not isinstance(outcome, Unchanged):
            outcomes.append((binding.name, outcome))
        if not outcome.exit_code:
            ready.append(binding)
    return replace(workspace, bindings=tuple(ready)), outcomes


def _bind_space(
    workspace: Workspace, binding: Binding, prefer: Mapping[str, PreferredSide] | None, *, move: bool
) -> Outcome:
    bond = _SpaceBinder(workspace, binding)
    if bond.is_bound() or bond.needs_no_choice():
        return follow_directory(workspace, binding)
    return bond.bind(prefer, move=move)


class _SpaceBinder:
    """Joins one space that may have no mirror yet with the branch that it is configured for."""

    def __init__(self, workspace: Workspace, binding: Binding) -> None:
        self.workspace, self.binding = workspace, binding
        self.repository = workspace.repository
        self.ref = find_undecided_ref(workspace, binding)
        self.main = self.repository.resolve(workspace.main)
        self.tip = self.repository.resolve(f"refs/heads/{workspace.branch}")

    def is_bound(self) -> bool:
        """Whether main content's ref knows the space; then what an undecided state left is of no use any more."""
        if self.main is None or self.repository.find_commit(self.workspace.main, SPACE, self.binding.space) is None:
            return False
        if self.repository.resolve(self.ref) is not None:
            self._delete_candidate()
        return True

    def needs_no_choice(self) -> bool:
        """Whether the mirror may simply begin: there is no branch, or nothing in its way, upon what is mirrored."""
        if self.tip is None or self._adopt_carried():
            return True
        return self.main is not None and self.repository.find_tree(self.tip, self.binding.directory) is None

    def bind(self, prefer: Mapping[str, PreferredSide] | None, *, move: bool) -> Outcome:
        """Bind the space, or write its mirror commit to a ref of its own and say what differs.

        Raises: HistoryCut when a shallow clone lacks the history that says whether both sides were joined before.
        """
        assert self.tip is not None
        name = self.binding.name
        if self.repository.list_cut_parents(self.tip):
            why = f"whether {self.workspace.branch} was bound to {name} before is not known in this shallow clone"
            raise HistoryCut(why)
        candidate = self._read_candidate()
        if not move:
            unbound = Held(f"{name} is not bound to {self.workspace.branch} yet", "syncd pull")
            return self._describe_choice(self._list_differences(candidate)) if candidate is not None else unbound
        if self.main is not None and not self.repository.is_ancestor(self.main, self.tip):
            why = f"{name} is bound once {self.workspace.branch} has all of {self.workspace.remote}/main"
            return Waiting(why, hint="syncd pull")
        branch_draft = _read_draft(
            self.workspace, self.binding, self.tip
        )  # a mistake in these files is said before all else
        if candidate is None or (prefer is not None and not self._is_fresh(candidate)):
            candidate = self._write_candidate()
        changes = self._list_differences(candidate)
        side = (prefer or {}).get(name)
        if side is None and candidate.parents[0] == self.tip:
            side = self._choose_side(branch_draft, candidate, changes)
        return (
            self._describe_choice(changes) if side is None else self._take_side(side, branch_draft, candidate, changes)
        )

    def _read_candidate(self) -> Commit | None:
        found = self.repository.resolve(self.ref)
        candidate = self.repository.read_commit(found) if found else None
        # One that a former space of this name left is written anew.
        is_of_space = candidate is not None and candidate.trailers.get(SPACE) == [self.binding.space]
        return candidate if is_of_space else None

    def _is_fresh(self, candidate: Commit) -> bool:
        known = candidate.trailers.get(REVISION), candidate.trailers.get(LAYOUT)
        return candidate.parents[0] == self.tip and known == ([self._read_space().revision], [LAYOUT_VERSION])

    def _read_space(self) -> Space:
        return read_space(self.workspace.client, self.binding.space)

    def _write_candidate(self) -> Commit:
        """Write the mirror commit upon the branch's tip, beside main content's ref."""
        self.repository.set_ref(self.ref, None)
        aside = replace(self.workspace, main_ref=self.ref, onto=self.tip)
        mirror(aside, self.binding, space=self._read_space(), proposals=(), read_merged=lambda _: None)
        self._rename_lane(_MAIN, _UNDECIDED)
        candidate = self._read_candidate()
        assert candidate is not None
        return candidate

    def _list_differences(self, candidate: Commit) -> list[FileChange]:
        return self.repository.list_changes(candidate.parents[0], candidate.oid, self.binding.directory)

    def _choose_side(
        self, branch_draft: Draft, candidate: Commit, changes: Sequence[FileChange]
    ) -> PreferredSide | None:
        """The side that goes first without a person: when both are equal, or one of them has nothing to lose."""
        if all(change.status == "A" for change in changes) and (not changes or _is_empty(branch_draft)):
            return "platform"
        offered = _read_draft(self.workspace, self.binding, candidate.oid)
        return "git" if _is_empty(offered) or self._is_blank(offered, candidate) else None

    def _is_blank(self, offered: Draft, candidate: Commit) -> bool:
        """Whether the space is as a new one is: a single page that has nothing but its title."""
        if len(offered.documents) != 1 or _is_empty(replace(offered, documents=())) is False:
            return False
        oid = self.repository.lookup(candidate.oid, self.binding.path(offered.documents[0]))
        return oid is None or is_blank_page(self.repository.read(oid).decode("utf-8", "replace"))

    def _describe_choice(self, changes: Sequence[FileChange]) -> Held:
        """Say what differs, and how to choose."""
        branch, name = self.workspace.branch, self.binding.name
        counts = {status: sum(change.status == status for change in changes) for status in "DAM"}
        kinds = zip(counts.values(), ("only in Git", "only on the platform", "different"), strict=True)
        parts = ", ".join(f"{count} {words}" for count, words in kinds if count)
        paths = tuple(self.binding.path(change.path) for change in changes)
        why = f"Git and the platform differ, and nothing was moved: {parts} ({format_first(paths, SHOWN)})"
        hint = (
            f"to look: git diff {branch} {self.ref.removeprefix('refs/remotes/')}\n"
            f"to let {branch} take what the platform has: syncd init --prefer {name}=platform\n"
            f"to keep what Git has and propose it: syncd init --prefer {name}=git"
        )
        return Held(why, hint, paths=paths)

    def _take_side(
        self, side: PreferredSide, branch_draft: Draft, candidate: Commit, changes: Sequence[FileChange]
    ) -> Applied:
        """Let the branch take in the mirror commit, then let main content's ref name it."""
        assert self.tip is not None
        mirrored = candidate.oid if self.main in (None, self.tip) else self._rebase_candidate(candidate)
        ahead = side == "platform" and mirrored == candidate.oid
        tip = mirrored if ahead else self._write_merge(side, branch_draft, candidate, mirrored)
        self.repository.fast_forward(self.workspace.branch, old=self.tip, new=tip)
        self._record_main(mirrored)
        words = self._describe_side(side) if changes else "both sides were equal"
        return Applied((Change("adopt", "space", self.binding.name, words, before=self.tip, after=tip),))

    def _describe_side(self, side: PreferredSide) -> str:
        """Which side went first; a directory that the branch did not have may be a mistyped one."""
        assert self.tip is not None
        branch, directory = self.workspace.branch, self.binding.directory
        is_new = bool(directory) and self.repository.find_tree(self.tip, directory) is None
        return f"{branch} had no directory {directory}; it {_WORDS[side]}" if is_new else f"{branch} {_WORDS[side]}"

    def _rebase_candidate(self, candidate: Commit) -> str:
        """The mirror commit once more, upon main content as it is: what the branch has of other spaces stays out."""
        assert self.main is not None
        inside = [self.binding.directory] if self.binding.directory else []
        changes = {found.path: found.after for found in self.repository.compare_trees(self.main, candidate.oid, inside)}
        tree = self.repository.write_tree(self.repository.find_tree(self.main), changes)
        message, person = f"{candidate.subject}\n\n{candidate.body}\n", self.workspace.committer()
        return self.repository.commit_tree(
            tree, parents=[self.main], message=message, author=candidate.author, committer=person
        )

    def _write_merge(self, side: PreferredSide, branch_draft: Draft, candidate: Commit, mirrored: str) -> str:
        """The branch's next commit. Where Git declares no order of its pages, what folders suggest is written down."""
        assert self.tip is not None
        branch, person = self.workspace.branch, self.workspace.committer()
        tree = self.repository.read_root_tree(candidate.oid if side == "platform" else self.tip)
        if side == "git" and branch_draft.is_inferred and branch_draft.documents:
            summary = self.binding.path(branch_draft.settings.add_root(branch_draft.settings.summary))
            tree = self.repository.write_tree(tree, {summary: render_summary(branch_draft.entries).encode()})
        message = f"Merge {self.workspace.remote}/main into {branch}\n\n{self.binding.name}: {branch} {_WORDS[side]}.\n"
        return self.repository.commit_tree(
            tree, parents=[self.tip, mirrored], message=message, author=person, committer=person
        )

    def _adopt_carried(self) -> bool:
        """Let main content's ref name the mirror commit that the branch has taken in already, if it has."""
        assert self.tip is not None
        found = _find_carried(self.workspace, self.binding, self.tip)
        if found is None or found.parents[:1] != (self.main,):
            return False
        self._record_main(found.oid)
        return True

    def _record_main(self, commit: str) -> None:
        self.repository.update_ref(self.workspace.main, commit, old=self.main)
        seen = self.workspace.store.read_last_seen(self.binding.space, _UNDECIDED)
        known = seen is not None and self.repository.select_present([seen.commit])
        if seen is not None and known and self.workspace.has_same_content(self.binding, seen.commit, commit):
            self._rename_lane(_UNDECIDED, _MAIN, commit=commit)
        self._delete_candidate()

    def _delete_candidate(self) -> None:
        """Forget the undecided state."""
        self.repository.set_ref(self.ref, None)
        self.workspace.store.forget(self.binding.space, _UNDECIDED)

    def _rename_lane(self, former: str, lane: str, *, commit: str = "") -> None:
        """Keep what is known of the mirror commit under another name, so that nothing is fetched again for it."""
        store, space = self.workspace.store, self.binding.space
        seen: LastSeen | None = store.read_last_seen(space, former)
        if seen is not None:
            store.save_last_seen(
                space,
                lane,
                revision=seen.revision,
                commit=commit or seen.commit,
                put=seen.anchors.values(),
                removed=(),
                replace=True,
                shape=seen.shape,
            )
            store.forget(space, former)


def _follow_carried(workspace: Workspace) -> None:
    """Let main content's ref name the mirror commit that the branch carries, where there is none yet, or where another
    clone has mirrored the same revisions or later ones.

    Two clones write different commits for one revision. What the branch has taken in of one of them would come in once
    more by the other, and undo what people did in between. Without a ref, a later commit that another clone has pushed
    to the upstream counts: so a new clone of the service goes on where the former one was.
    """
    repository = workspace.repository
    tip, main = repository.resolve(f"refs/heads/{workspace.branch}"), repository.resolve(workspace.main)
    if tip is None:
        return
    if main is not None:
        for commit in _list_carried_anew(workspace, main, tip):
            if _has_revisions_of(workspace, commit.oid, main, tip):
                repository.update_ref(workspace.main, commit.oid, old=main)
                return
        return
    newest: str | None = None
    for binding in workspace.bindings:
        carried = _find_carried(workspace, binding, tip)
        if carried is not None and (newest is None or repository.is_ancestor(newest, carried.oid)):
            newest = carried.oid
    if newest is not None:
        repository.update_ref(workspace.main, _find_pushed(workspace, newest) or newest, old=None)


def _list_carried_anew(workspace: Workspace, main: str, tip: str) -> Iterator[Commit]:
    """The mirror commits that a branch carries and main content's ref has not, newest first for each space."""
    repository = workspace.repository
    if repository.is_ancestor(tip, main) or not any(
        map(_is_mirror_commit, repository.find_marked(main, tip, SPACE)[1])
    ):
        return  # as in most runs, which need not ask for each space
    for binding in workspace.bindings:
        found = repository.find_carrying(tip, SPACE, binding.space, committer=_COMMITTER, exclude=main)
        yield from filter(_is_mirror_commit, found)


def _has_revisions_of(workspace: Workspace, commit: str, main: str, tip: str) -> bool:
    """Whether another clone's mirror commit has each space's revision that main content's ref has, or a later one.

    Shape: with the very same revisions, only where the branch has not taken in the ref's own commit, too.
    """
    repository = workspace.repository
    if repository.is_ancestor(main, commit):
        return True
    is_later = not repository.is_ancestor(main, tip)
    for binding in workspace.bindings:
        own = repository.find_commit(workspace.main, SPACE, binding.space)
        revisions = own.trailers.get(REVISION, []) if own is not None else []
        theirs = _find_carried(workspace, binding, commit)
        if revisions and theirs is not None and theirs.trailers.get(REVISION) != revisions:
            is_later = True
            known = repository.find_carrying(commit, REVISION, revisions[-1], committer=_COMMITTER)
            theirs = next((one for one in known if _is_mirror_commit(one)), None)
        if revisions and theirs is None:
            return False
    return is_later


def _find_pushed(workspace: Workspace, newest: str) -> str | None:
    """The mirror commit that the upstream has, if it grew from the newest one that the branch carries."""
    repository, upstream = workspace.repository, workspace.upstream
    pushed = repository.resolve(upstream.tracking_ref(upstream.mirror)) if upstream and upstream.has_mirror else None
    if pushed is None or not repository.is_ancestor(newest, pushed):
        return None
    found = (_find_carried(workspace, binding, pushed) for binding in workspace.bindings)
    return pushed if any(commit is not None and commit.oid == pushed for commit in found) else None


def _find_carried(workspace: Workspace, binding: Binding, tip: str) -> Commit | None:
    """Return the newest mirror commit of a space in the history of a branch, or None.

    A commit that a person made from one, by squashing or rewriting, has another committer and does not count; nor does
    one that holds a change request's content.
    """
    for commit in workspace.repository.find_carrying(tip, SPACE, binding.space, committer=_COMMITTER):
        if _is_mirror_commit(commit) and (
            read_directory(commit) is not None
            or workspace.repository.find_tree(commit.oid, binding.directory) is not None
        ):
            return commit
    return None


def _is_mirror_commit(commit: Commit) -> bool:
    return LAYOUT in commit.trailers and not commit.subject.startswith(PROPOSED)


_WORDS: dict[PreferredSide, str] = {"platform": "took what the platform has", "git": "kept what Git has"}


def _read_draft(workspace: Workspace, binding: Binding, commit: str) -> Draft:
    listing = workspace.repository.list_files(commit, binding.directory)
    blobs = {path: blob for path, blob in listing.items() if blob.mode.startswith("100")}
    return read_draft(blobs.keys(), lambda path: workspace.repository.read(blobs[path].oid), links=False)


def _is_empty(draft: Draft) -> bool:
    return not (draft.documents or draft.files or draft.includes or draft.variables or draft.tags)
