"""Prepare a run in a fresh clone: write the refs and commits that a clone with a history of runs would have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from syncd.model.change_request import ChangeRequest
from syncd.plan.message import REVISION, SPACE, TIP, build_marker
from syncd.plan.propose.description import (
    NOTHING_SENT,
    SentPart,
    read_base_revision,
    read_commit_unless_partial,
    read_sent_part,
    read_written_revision,
)
from syncd.repo.repository import Repository
from syncd.repo.values import Difference
from syncd.sync.bind.directory import follow_directory
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.ci.base import (
    ComparisonBase,
    Job,
    choose_mirror,
    find_common_base,
    find_comparison_base,
    has_main_as_opened,
    name_start,
    refuse_shallow,
    refuse_unreadable,
)
from syncd.sync.ci.known_requests import KnownRequests
from syncd.sync.ci.left_behind import require_none_left_behind
from syncd.sync.ci.past import replace_directory, write_past_commit, write_present_commit, write_proposed_commit
from syncd.sync.committer import COMMITTER
from syncd.sync.merge.base import TIP_REFS
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import Base
from syncd.sync.merge.write_part import NOT_SENT, write_part
from syncd.sync.mirror.history import read_past
from syncd.sync.mirror.sent_part import find_sent_part, leave_out_manual_steps, list_left_out
from syncd.sync.state.lane_content import find_arrived
from syncd.sync.state.request_commits import SentContent
from syncd.sync.state.request_state import record_request
from syncd.sync.workspace import Workspace

JOB_COMMIT_TRAILER = "Syncd-Job-Commit"
"""The trailer of a commit that was made for one run, with the commit that it was made for."""
OTHER_BRANCH = "another-branch"
"""Stands for the branch of a merged change request that is not the job's: its commit is no former tip of that."""
STEPS_READ, STEPS_COMPARED = 100, 20
"""Commits of the branch among which the one that squashed another branch is looked for, and those that are compared."""
JOINED_MAX = 5
"""Merged change requests that the next mirror commit may be joined to."""


@dataclass(frozen=True)
class Stage:
    """The workspace on which a job runs the flows, and what a person should know of how it was made.

    Shape: `is_cut` says that the clone lacks commits that the branch grew from, or proposed before.
    """

    workspace: Workspace
    notes: tuple[str, ...] = ()
    is_cut: bool = False


def prepare_stage(workspace: Workspace, job: Job, known: Mapping[Binding, KnownRequests]) -> Stage:
    """Return the stage on which a job runs the flows.

    Shape: the branch is the job's commit; where its history lacks what it grew from, it is a merge of that with the
    commit, whose tree is the commit's and whose trailer names it. Raises: GuardRefused, and what the adapters raise.
    """
    return _StageBuilder(workspace, job, known).build()


@dataclass
class _StageBuilder:
    workspace: Workspace
    job: Job
    known: Mapping[Binding, KnownRequests]
    base_commit: str = ""
    """The commit that main content is mirrored upon: what the branch grew from."""
    extra_parents: list[str] = field(default_factory=list)
    """What the branch grew from, where its history does not say so."""
    present: dict[str, str] = field(default_factory=dict)
    """By the id of a space, the revision of its main content, where that was compared with as it is now."""
    is_cut: bool = False

    @property
    def repository(self) -> Repository:
        return self.workspace.repository

    def build(self) -> Stage:
        bindings = self.workspace.bindings
        starts = {
            binding: find_comparison_base(self.workspace, binding, self.job, self.known[binding])
            for binding in bindings
        }
        mirror = choose_mirror(self.workspace, starts)
        if mirror is not None:
            self.repository.update_ref(self.workspace.main, mirror, old=None)
            for binding in bindings:
                follow_directory(self.workspace, binding, job=self.job.commit)
            self.base_commit = self.repository.resolve(self.workspace.main) or mirror
            for binding in bindings:
                self.join_merged(binding)
        else:
            self.base_commit = self.write_base(starts)
            for binding in bindings:
                require_none_left_behind(self.workspace, binding, self.base_commit, self.job.commit)
        for binding in bindings:
            self.record_request(binding)
        self.repository.update_ref(f"{HEADS}{self.job.branch}", self.write_tip(), old=None)
        onto = None if mirror is not None else self.base_commit
        named = {binding.space: name_start(self.workspace, binding, start) for binding, start in starts.items()}
        named |= self.present
        notes = tuple(dict.fromkeys(start.note for start in starts.values() if start.note))
        branch = self.job.branch if onto else ""  # without it, no space is bound to a branch
        return Stage(replace(self.workspace, onto=onto, branch=branch, starts=named), notes, self.is_cut)

    def write_base(self, starts: Mapping[Binding, ComparisonBase]) -> str:
        """The commit that holds what the branch grew from, in every space: one of the clone, or one made of several."""
        found = {binding: self.find_base_commit(binding, start) for binding, start in starts.items()}
        commits = set(found.values())
        if len(commits) == 1 and commits <= {start.commit for start in starts.values()}:
            return commits.pop()
        tree = self.repository.read_root_tree(self.job.commit)
        for binding, commit in found.items():
            tree = replace_directory(self.workspace, binding, tree, commit)
        return self.write_commit(tree, [], "syncd: what the branch grew from\n")

    def find_base_commit(self, binding: Binding, start: ComparisonBase) -> str:
        """A commit that holds a start."""
        found = self.find_content(binding, start.commit, start.revision)
        if found is not None:
            return self.take_out_others(binding, found, start) if start.absent else found
        if start.revision and not has_main_as_opened(self.known[binding].live):
            raise refuse_unreadable(binding.name)
        commit, revision = write_present_commit(self.workspace, binding, like=self.job.commit)
        self.present[binding.space] = f"?{revision}"
        return commit

    def take_out_others(self, binding: Binding, held: str, start: ComparisonBase) -> str:
        """What a revision holds of a commit that is not here, without what others had brought to main content."""
        since, until = (write_past_commit(self.workspace, binding, one, like=held) for one in start.others)
        tree = self.repository.find_tree(until) if until is not None else None
        if since is None or tree is None:
            raise refuse_unreadable(binding.name)
        result = merge(self.workspace, held, since, base=Base(tree, ()))
        if result.has_conflict_in(binding):
            raise refuse_shallow(binding.name, self.job.branch, self.known[binding].merged[0].number)
        return self.write_commit(result.tree_with_ours, [], "syncd: what the branch grew from\n")

    def find_content(self, binding: Binding, commit: str, revision: str) -> str | None:
        """The commit of the clone, or what the platform made of it, where that is something else; None for neither."""
        live = self.known[binding].live
        like = commit or self.job.commit
        found: str | None = None
        if live is not None and revision == live.revision:
            found = write_proposed_commit(self.workspace, binding, live, like=like)
        if found is None and revision:
            found = write_past_commit(self.workspace, binding, revision, like=like)
        if found is None or (commit and self.workspace.has_same_content(binding, found, commit)):
            return commit or None
        return found

    def join_merged(self, binding: Binding) -> None:
        """Note the merged change requests whose commits the clone has, so that the mirror joins them."""
        for request in self.known[binding].merged[:JOINED_MAX]:
            part = find_sent_part(self.workspace, binding, request, self.job.commit)
            named = part[0] if part is not None else read_commit_unless_partial(request.description)
            commit = self.repository.find_revision(named)
            if commit is None or self.repository.is_ancestor(commit, self.base_commit):
                return
            commit = leave_out_manual_steps(self.workspace, binding, request, commit) or self.base_commit
            is_own = request.subject.endswith(build_marker(self.job.branch, self.workspace.instance))
            branch = self.job.branch if is_own or self.has_squashed(commit) else OTHER_BRANCH
            self.repository.update_ref(self.proposed_ref(binding, request.number, branch), commit, old=None)
            record_request(self.workspace, binding, request)  # it may be that of another branch

    def has_squashed(self, commit: str) -> bool:
        """Whether the job's branch has, or had, all that a commit of another branch changed, though not the commit."""
        base = find_common_base(self.workspace, commit, self.job.commit)
        if base is None:
            return False
        changed = {change.path for change in self.repository.compare_trees(base, commit)}
        left = STEPS_COMPARED
        for step in self.repository.list_commits(base, self.job.commit, limit=STEPS_READ):
            here = {change.path for parent in step.parents[:1] for change in self._compare(parent, step.oid)}
            if not changed.isdisjoint(here) and left:
                left -= 1
                result = merge(self.workspace, step.oid, commit)
                if not result.conflicts and result.tree_with_ours == self.repository.find_tree(step.oid):
                    return True
        return False

    def _compare(self, before: str, after: str) -> Sequence[Difference]:
        """The differences of two commits; none where a shallow clone lacks the first."""
        is_here = bool(self.repository.select_present([before]))
        return self.repository.compare_trees(before, after) if is_here else ()

    def record_request(self, binding: Binding) -> None:
        """Note what the branch proposed last, so that what reviewers did since is told from it."""
        live = self.known[binding].live
        if live is None:
            return
        commit = self.repository.find_revision(read_commit_unless_partial(live.description)) or ""
        self.is_cut = self.is_cut or not commit
        sign, revision = read_base_revision(live.description)
        written = read_written_revision(live.description) if sign == "-" else ""
        sent = read_sent_part(live.description)
        later = self.repository.find_revision(sent.commit)
        if later is not None and read_past(self.workspace.client, binding.space, sent.revision) is not None:
            commit, sign, written = later, "-", sent.revision
        else:
            sent = NOTHING_SENT
        part = self.find_part(binding, live, commit, revision, written) if commit and written else None
        if part is not None and (content := self.leave_out_unsent(binding, commit, part, sent)) != commit:
            self.name_content(binding, live.number, commit, content)
            return
        found = self.find_content(binding, commit, "" if commit and sign == "-" else revision)
        if found is None:
            found = self.find_taken_in(binding, live)
        if found == commit:
            is_known = not self.has_foreign_base
        else:
            is_known = found == self.base_commit or self.repository.is_ancestor(found, self.job.commit)
        if not is_known:
            found = self.join_with_base(binding, found, [commit] if found == commit else [])
        self.name_content(binding, live.number, commit or found, found)

    def find_taken_in(self, binding: Binding, live: ChangeRequest) -> str:
        """The main content that a change request took in last, where nothing says what was written to it: what else
        differs there counts as the reviewers' and is never undone. What came to main content later must not be in it,
        or the reviewers would have deleted that."""
        found = self.find_taken_commit(binding, live)
        if found is not None:
            return self.base_commit if self.workspace.has_same_content(binding, found, self.base_commit) else found
        if live.outdated:
            raise refuse_unreadable(binding.name)
        return self.base_commit

    def find_taken_commit(self, binding: Binding, live: ChangeRequest) -> str | None:
        """A commit of the main content that a change request took in last; None where nothing shows that."""
        revision = live.revision_merged_ancestor or live.revision_initial or ""
        for commit in self.repository.find_carrying(self.job.commit, REVISION, revision, committer=COMMITTER[0]):
            if binding.space in commit.trailers.get(SPACE, []):
                return commit.oid
        return write_past_commit(self.workspace, binding, revision, like=self.job.commit) if revision else None

    def name_content(self, binding: Binding, number: int, commit: str, content: str) -> None:
        """Let the refs name the branch's commit that a change request holds, and the commit of its content."""
        self.repository.update_ref(self.proposed_ref(binding, number), commit, old=None)
        self.repository.update_ref(self.workspace.change_ref(binding, number), content, old=None)
        self.name_tip(binding, commit)

    def name_tip(self, binding: Binding, commit: str) -> None:
        """Let the branch's former tip have a space as a commit has it; in each space another one may be known."""
        ref = f"{TIP_REFS}{self.job.branch}"
        former = self.repository.resolve(ref)
        tree = self.repository.find_tree(former) if former is not None else None
        if former is not None and tree is not None and former != commit:
            tree = replace_directory(self.workspace, binding, tree, commit)
            commit = self.write_commit(tree, [former, commit], "syncd: what the branch was\n")
        self.repository.update_ref(ref, commit, old=former)

    def find_part(
        self, binding: Binding, live: ChangeRequest, commit: str, former: str, written: str
    ) -> tuple[str, str] | None:
        """What of a commit the platform held when it was written together with words of reviewers: a part of it where
        something waits for a person, and what that was written upon. Given are the revisions of what was there before
        without their words, and of what was written; None where that is the commit, or is not shown.
        """
        written_commit = self.find_content(binding, commit, written)
        content = self.repository.find_tree(written_commit) if written_commit not in (None, commit) else None
        if content is None:
            return None
        content = self.add_taken_in(binding, live, commit, content)
        before = self.find_content(binding, "", former) or self.find_taken_in(binding, live)
        base = self.write_content(binding, before, [])
        # What was sent is kept nowhere: it was the commit with the reviewers' words.
        tree = self.repository.read_root_tree(base)
        both = merge(self.workspace, commit, content, base=Base(tree, ()))
        desired = self.write_commit(both.tree_with_theirs, [commit], "syncd: what the branch proposed\n")
        sent = SentContent(desired, commit, base, base)
        found = find_arrived(self.workspace, binding, sent, base, content, is_own=True)
        if not found:
            self.extra_parents.append(base)
        return found or base, base

    def leave_out_unsent(self, binding: Binding, commit: str, part: tuple[str, str], sent: SentPart) -> str:
        """The part of a commit without the pages that are known not to have been sent: what reviewers wrote in these
        was not written upon it."""
        found, base = part
        lacks = list_left_out(self.repository, binding, sent, base, commit)
        tree = leave_out(self.repository, self.workspace.bindings, found, base, lacks)
        if tree == self.repository.find_tree(found):
            return found
        parents = self.repository.read_commit(base).parents
        return write_part(self.repository, commit, parents, tree, name="a branch", lacks=NOT_SENT)

    def add_taken_in(self, binding: Binding, live: ChangeRequest, commit: str, tree: str) -> str:
        """A tree with all that a commit has as main content has it, where the change request has taken that in: what
        lacks of it was not left unsent, but taken out by reviewers."""
        taken = self.find_taken_commit(binding, live)
        if taken is None:
            return tree
        lookup = self.repository.lookup
        differing = [found.path for found in self.repository.compare_trees(tree, commit) if binding.holds(found.path)]
        same = [(path,) for path in differing if lookup(taken, path) == lookup(commit, path)]
        return leave_out(self.repository, self.workspace.bindings, tree, commit, same)

    def join_with_base(self, binding: Binding, held: str, parents: list[str]) -> str:
        """What the branch proposed before, joined with what it grew from, as the branch will be."""
        joined = self.write_content(binding, held, parents)
        if all(self.repository.is_ancestor(parent, self.job.commit) for parent in parents):
            self.extra_parents.append(joined)
        return joined

    def write_content(self, binding: Binding, held: str, parents: list[str]) -> str:
        """What the branch proposed before, joined with what it grew from. Of a base that is newer than where both
        parted it has nothing: it would seem to have taken out what it never had."""
        known = find_common_base(self.workspace, self.base_commit, self.job.commit) or self.base_commit
        tree = self.repository.read_root_tree(known)
        tree = replace_directory(self.workspace, binding, tree, held)
        return self.write_commit(tree, [*parents, known], "syncd: what the branch proposed before\n")

    @property
    def has_foreign_base(self) -> bool:
        """Whether what the branch grew from is none of the clone's commits."""
        return find_common_base(self.workspace, self.base_commit, self.job.commit) is None

    def proposed_ref(self, binding: Binding, number: int, branch: str = "") -> str:
        return f"{binding.proposed_refs}{number}/{branch or self.job.branch}"

    def write_tip(self) -> str:
        """The branch: the job's commit, or a merge of it with what it grew from, when its history lacks that."""
        missing = tuple(self.list_missing())
        if not missing:
            return self.job.commit
        tree = self.repository.read_root_tree(self.job.commit)
        message = f"syncd: the branch with what it grew from\n\n{TIP}: {self.job.commit}\n"
        return self.write_commit(tree, [self.job.commit, *missing], message)

    def list_missing(self) -> Iterator[str]:
        if not self.extra_parents and self.has_foreign_base:
            yield self.base_commit
        yield from self.extra_parents

    def write_commit(self, tree: str, parents: list[str], message: str) -> str:
        """Write a commit that no person made; its trailer keeps it out of what a change request tells of the branch."""
        person = self.workspace.committer()
        message = message if "\n\n" in message else f"{message}\n{JOB_COMMIT_TRAILER}: {self.job.commit}\n"
        return self.repository.commit_tree(tree, parents=parents, message=message, author=person, committer=person)
