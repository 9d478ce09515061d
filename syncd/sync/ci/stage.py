"""Set the stage of a run without memory: refs and commits from which the flows learn what a clone would remember."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from syncd.plan.message import TIP
from syncd.plan.propose.description import base_revision, held_commit, written_revision
from syncd.repo import Repository
from syncd.sync.branches import HEADS
from syncd.sync.ci.base import Job, Known, Start, chosen_mirror, common_base, start_of, unreadable
from syncd.sync.ci.past import past_commit, present_commit, proposed_now, with_directory
from syncd.sync.merge.base import TIP_REFS
from syncd.sync.state.lane import SentContent, find_arrived
from syncd.sync.workspace import Binding, Workspace

GROUND = "Syncd-Ground"
"""The trailer of a commit that was made for one run, with the commit that it was made for."""
GRAFTED = 5
"""Merged change requests that the next mirror commit may be joined to."""


@dataclass(frozen=True)
class Stage:
    """The workspace as the flows shall see it, and what a person should know of how it came about.

    Shape: `cut` says that the clone lacks commits that the branch grew from, or proposed before.
    """

    workspace: Workspace
    notes: tuple[str, ...] = ()
    cut: bool = False


def staged(workspace: Workspace, job: Job, known: Mapping[Binding, Known]) -> Stage:
    """Given a job and what is known of its change requests, return the stage for the flows.

    Shape: the branch is the job's commit; where its history lacks what it grew from, it is a merge of that with the
    commit, whose tree is the commit's and whose trailer names it. Raises: Held, and what the adapters raise.
    """
    return _Setting(workspace, job, known).stage()


@dataclass
class _Setting:
    workspace: Workspace
    job: Job
    known: Mapping[Binding, Known]
    ground: str = ""
    """The commit that main content will sit on."""
    grown: list[str] = field(default_factory=list)
    """What the branch grew from, where its history does not say so."""
    cut: bool = False

    @property
    def repository(self) -> Repository:
        return self.workspace.repository

    def stage(self) -> Stage:
        bindings = self.workspace.bindings
        starts = {binding: start_of(self.workspace, binding, self.job, self.known[binding]) for binding in bindings}
        mirror = chosen_mirror(self.workspace, starts)
        if mirror is not None:
            self.ground = mirror
            self.repository.update_ref(self.workspace.main, mirror, old=None)
            for binding in bindings:
                self.graft(binding)
        else:
            self.ground = self.settled(starts)
        for binding in bindings:
            self.anchor(binding)
        self.repository.update_ref(f"{HEADS}{self.job.branch}", self.tip(), old=None)
        onto = None if mirror is not None else self.ground
        notes = tuple(dict.fromkeys(start.note for start in starts.values() if start.note))
        branch = self.job.branch if onto else ""  # without it, no space is bound to a branch
        return Stage(replace(self.workspace, onto=onto, branch=branch), notes, self.cut)

    def settled(self, starts: Mapping[Binding, Start]) -> str:
        """The commit that holds what the branch grew from, in every space: one of the clone, or one made of several."""
        found = {binding: self.read(binding, start) for binding, start in starts.items()}
        commits = set(found.values())
        if len(commits) == 1 and commits <= {start.commit for start in starts.values()}:
            return commits.pop()
        tree = self.repository.find_tree(self.job.commit)
        assert tree is not None
        for binding, commit in found.items():
            tree = with_directory(self.workspace, binding, tree, commit)
        return self.commit(tree, [], "syncd: what the branch grew from\n")

    def read(self, binding: Binding, start: Start) -> str:
        """A commit that holds a start."""
        found = self.known_content(binding, start.commit, start.revision)
        if found is not None:
            return found
        if start.kind == "revision" and (held := unreadable(self.known[binding].live, binding.name)) is not None:
            raise held
        return present_commit(self.workspace, binding, like=self.job.commit)

    def known_content(self, binding: Binding, commit: str, revision: str) -> str | None:
        """The commit of the clone, or what the platform made of it, where that is something else; None for neither."""
        live = self.known[binding].live
        like = commit or self.job.commit
        if live is not None and revision == live.revision:
            found: str | None = proposed_now(self.workspace, binding, live.id, like=like)
        else:
            found = past_commit(self.workspace, binding, revision, like=like) if revision else None
        if found is None or (commit and self.workspace.has_same_content(binding, found, commit)):
            return commit or None
        return found

    def graft(self, binding: Binding) -> None:
        """Note the merged change requests whose commits the clone has, so that the mirror joins them."""
        for request in self.known[binding].merged[:GRAFTED]:
            commit = self.repository.find_revision(held_commit(request.description))
            if commit is None or self.repository.is_ancestor(commit, self.ground):
                return
            self.repository.update_ref(self.proposed(binding, request.number), commit, old=None)

    def anchor(self, binding: Binding) -> None:
        """Note what the branch proposed last, so that what reviewers did since is told from it."""
        live = self.known[binding].live
        if live is None:
            return
        commit = self.repository.find_revision(held_commit(live.description)) or ""
        self.cut = self.cut or not commit
        sign, revision = base_revision(live.description)
        written = written_revision(live.description) if sign == "-" else ""
        part = self.find_part(binding, commit, revision, written) if commit and written else commit
        if part != commit:
            self.name_content(binding, live.number, commit, part)
            return
        found = self.known_content(binding, commit, "" if commit and sign == "-" else revision)
        if found is None:
            found = self.ground  # the safest of all: what else differs is held, never undone
        elif found != commit or self.apart:
            found = self.upon_ground(binding, found, [commit] if found == commit else [])
        self.name_content(binding, live.number, commit or found, found)

    def name_content(self, binding: Binding, number: int, commit: str, content: str) -> None:
        """Let the refs name the branch's commit that a change request holds, and the commit of its content."""
        self.repository.update_ref(self.proposed(binding, number), commit, old=None)
        self.repository.update_ref(self.workspace.change_ref(binding, number), content, old=None)
        self.repository.update_ref(f"{TIP_REFS}{self.job.branch}", commit, old=None)

    def find_part(self, binding: Binding, commit: str, former: str, written: str) -> str:
        """What of a commit the platform held when it was written together with words of reviewers: a part of it where
        something waits for a person. Given are the revisions of what was there before without their words, and of what
        was written."""
        there = self.known_content(binding, "", written)
        content = self.repository.find_tree(there) if there is not None else None
        if content is None:
            return commit
        base = self.write_content(binding, self.known_content(binding, "", former) or self.ground, [])
        sent = SentContent(commit, commit, base, base)
        found = find_arrived(self.workspace, binding, sent, base, content, is_own=False)
        if not found:
            self.grown.append(base)
        return found or base

    def upon_ground(self, binding: Binding, held: str, parents: list[str]) -> str:
        """What the branch proposed before, joined with what it grew from, as the branch will be."""
        joined = self.write_content(binding, held, parents)
        if all(self.repository.is_ancestor(parent, self.job.commit) for parent in parents):
            self.grown.append(joined)
        return joined

    def write_content(self, binding: Binding, held: str, parents: list[str]) -> str:
        """What the branch proposed before, joined with what it grew from."""
        tree = self.repository.find_tree(self.ground)
        assert tree is not None
        tree = with_directory(self.workspace, binding, tree, held)
        return self.commit(tree, [*parents, self.ground], "syncd: what the branch proposed before\n")

    @property
    def apart(self) -> bool:
        """Whether what the branch grew from is none of the clone's commits."""
        return common_base(self.workspace, self.ground, self.job.commit) is None

    def proposed(self, binding: Binding, number: int) -> str:
        return f"{self.workspace.proposed_refs(binding)}{number}/{self.job.branch}"

    def tip(self) -> str:
        """The branch: the job's commit, or a merge of it with what it grew from, when its history lacks that."""
        missing = tuple(self.missing())
        if not missing:
            return self.job.commit
        tree = self.repository.find_tree(self.job.commit)
        assert tree is not None
        message = f"syncd: the branch with what it grew from\n\n{TIP}: {self.job.commit}\n"
        return self.commit(tree, [self.job.commit, *missing], message)

    def missing(self) -> Iterator[str]:
        if not self.grown and self.apart:
            yield self.ground
        yield from self.grown

    def commit(self, tree: str, parents: list[str], message: str) -> str:
        """Write a commit that no person made; its trailer keeps it out of what a change request tells of the branch."""
        person = self.workspace.committer()
        message = message if "\n\n" in message else f"{message}\n{GROUND}: {self.job.commit}\n"
        return self.repository.commit_tree(tree, parents=parents, message=message, author=person, committer=person)
