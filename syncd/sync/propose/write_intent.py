"""Write what a branch asks for: read, merge, plan and write in rounds until nothing is left to write.

So a lost answer or a crash is repaired by the next round. What others write meanwhile is read into the change request's
commit and merged before anything is written upon it. Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from syncd.api.change_requests import NO_ROUTE
from syncd.errors import AnswerLost, Rejected, SyncdError
from syncd.layout.page.frontmatter import is_blank_page
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.translate import normalize_form
from syncd.model.anchor import Anchor
from syncd.plan.guard import guard_deletions
from syncd.plan.propose.alignment import DesiredSide
from syncd.plan.propose.comments import name_pages
from syncd.plan.propose.description import read_commit_of_revision
from syncd.plan.propose.proposal import ContentPlan, plan_proposal
from syncd.plan.propose.steps import InsertStep
from syncd.sync.binding import Binding
from syncd.sync.directories import follow_directories
from syncd.sync.merge.base import record_tip
from syncd.sync.merge.merge import find_moves
from syncd.sync.mirror.values import RevisionMoved
from syncd.sync.outcome import Applied
from syncd.sync.propose.arrived_pages import record_changed_pages
from syncd.sync.propose.changed_pages import find_changed_pages
from syncd.sync.propose.existing import find_deleted_pages, read_main_content, record_proposed_content
from syncd.sync.propose.gather_intent import gather_intent
from syncd.sync.propose.intent import ChangedPages, ExistingContent, Intent
from syncd.sync.propose.open_request import open_proposal, report_request
from syncd.sync.propose.via_comments import post_proposal, resolve_comments
from syncd.sync.propose.write import ContentWriter
from syncd.sync.state import sent_log
from syncd.sync.state.linked_files import find_linking_pages, list_linked, list_new_files
from syncd.sync.state.proposals import Proposal, detect_end, record_proposal
from syncd.sync.state.request_commits import find_content
from syncd.sync.workspace import Workspace

ROUNDS = 5
"""Times that content is written and read again: a retitled page takes two, a lost answer one more."""


@dataclass(frozen=True)
class WrittenIntent:
    """The result of writing an intent: the plan of the first round, the change request, and the intent of the last.

    Shape: `revision` is the one that the last write made, or "". `is_found` says that the change request was there
    before, opened by another clone or by a run that was killed; then the first plan was not made against it.
    """

    plan: ContentPlan
    live: Proposal | None
    intent: Intent
    notes: tuple[str, ...]
    revision: str = ""
    is_found: bool = False


def write_intent(
    workspace: Workspace,
    binding: Binding,
    intent: Intent,
    live: Proposal | None,
    *,
    subject: str,
    done: list[Applied],
) -> WrittenIntent:
    """Bring what a branch asks for to the platform; `live` is its change request, None for a new one.

    Shape: `done` gets what was written when an error ends the rounds.
    Raises: RevisionMoved when others kept writing; MainMoved when the change request has main content that the mirror
    lacks; ProposalEnded when somebody merged or archived it; what planning, the guards and the adapters raise.
    """
    if workspace.write == "comments":
        workspace.client.change_requests.writes = False
    rounds = _Rounds(workspace, binding, intent, live, subject)
    try:
        for _ in range(ROUNDS):
            if rounds.run_round():
                return rounds.result()
        raise RevisionMoved(
            f"{binding.name}/{intent.branch}: the change request kept changing while it was written",
            hint="the next run goes on from what it holds",
        )
    except SyncdError:
        done += rounds.list_written(is_new=live is None)
        raise


class _Rounds:
    """Reads, plans and writes; each round begins with what the platform holds by then."""

    def __init__(
        self, workspace: Workspace, binding: Binding, intent: Intent, live: Proposal | None, subject: str
    ) -> None:
        self.workspace, self.binding, self.intent, self.live = workspace, binding, intent, live
        self.subject = subject
        self._desired: tuple[str | None, DesiredSide] | None = None
        self.first_plan: ContentPlan | None = None
        self.notes: list[str] = []
        self.written: dict[str, Anchor] = {}
        self.revisions: tuple[str, ...] = ()
        self.is_recorded = self.is_commented = self.has_lost_answer = self.has_written = False
        self.is_first, self.can_restore, self.is_found = True, True, False
        self.changed: ChangedPages | None = None

    def result(self) -> WrittenIntent:
        """Return what became of the intent."""
        assert self.first_plan is not None
        if self.live is not None and not self.workspace.is_dry_run and not self.is_commented:
            resolve_comments(self.workspace, self.binding, self.live)
        # Where only a few pages are sent, nothing in the tables of the space is skipped.
        skipped = () if self.is_commented or self._desired is None else _list_skipped(self.binding, self.desired.draft)
        notes = tuple(dict.fromkeys((*self.notes, *self.intent.notes, *skipped)))
        revision = self.revisions[-1] if self.revisions else ""
        return WrittenIntent(self.first_plan, self.live, self.intent, notes, revision, self.is_found)

    def list_written(self, *, is_new: bool) -> list[Applied]:
        """Return what was written so far; `is_new` says that there was no change request before."""
        if self.live is None or not (is_new or self.has_written):
            return []
        request = self.live.change_request
        head = report_request(request, "create" if is_new else "update")
        if self.first_plan is not None and self.revisions:
            return [Applied((head, *self.first_plan.report.changes))]
        return [Applied((head,), (f"#{request.number} was written in part",) if self.has_written else ())]

    def run_round(self) -> bool:
        """Read, merge, plan and write once; return whether no further round is needed."""
        if self.is_first:
            self.is_first = False
            self.changed = find_changed_pages(self.workspace, self.binding, self.intent, self.live)
            if self.changed is not None:
                self.first_plan = self.changed.plan
                return self._write_plan(self.changed.plan, self.changed.content)
        if self._has_recorded_changed():
            return True
        content = self._read_content()
        if content is None:
            return True
        wanted = _add_differences(self.workspace, self.binding, self.intent, self.desired, content)
        existing = content.existing
        if self.live is not None and self.can_restore:
            existing = replace(existing, deleted=find_deleted_pages(self.workspace, self.binding, existing, wanted))
        plan = plan_proposal(wanted, existing)
        if self.live is None and plan.steps:
            # A change request that changes nothing on the platform would be opened again whenever it is merged.
            bare = plan_proposal(_ignore_form(self.workspace, wanted, content), content.existing)
            plan = plan if bare.steps else bare
        self.first_plan = self.first_plan or plan
        if not plan.steps:
            return self._record_arrival(plan)
        _guard_deletions(self.workspace, self.binding, content, plan, self.intent)
        return self.workspace.is_dry_run or self._write_plan(plan, content)

    @property
    def desired(self) -> DesiredSide:
        """What the branch asks for, by its tables; it is read again when the intent has other files."""
        tree = self.workspace.repository.find_tree(self.intent.desired)
        if self._desired is None or self._desired[0] != tree:
            self._desired = tree, _read_desired(self.workspace, self.binding, self.intent)
        return self._desired[1]

    def _has_recorded_changed(self) -> bool:
        """Whether the last round wrote a few pages alone, and just these have arrived; that is recorded then."""
        changed, self.changed = self.changed, None
        if changed is None or self.live is None or self.has_lost_answer:
            return False
        ids = {anchor.path: id for id, anchor in self.written.items()}
        return record_changed_pages(self.workspace, self.binding, self.intent, self.live, changed, ids, self.revisions)

    def _read_content(self) -> ExistingContent | None:
        """Record what the change request holds, and gather the intent anew from it; return what it holds.

        None when that is exactly what the last round wrote.
        """
        workspace, binding, desired = self.workspace, self.binding, self.intent.desired
        if self.live is None:
            return read_main_content(workspace, binding, layout_commit=desired)
        content = record_proposed_content(
            workspace, binding, self.live, self.written, layout_commit=desired, own_revisions=self.revisions
        )
        if self.revisions and not self.has_lost_answer and _holds_desired(workspace, binding, content, self.intent):
            return None
        branch, elsewhere = self.intent.branch, self.intent.elsewhere
        self.intent = gather_intent(workspace, binding, branch, self.live, elsewhere) or self.intent
        return content

    def _record_arrival(self, plan: ContentPlan) -> bool:
        """The plan is empty: return whether Git has recorded that all has arrived.

        If not, mark `desired` as being sent although nothing is: the next round's reading then makes the branch's
        commit a parent of the change request's commit, and has each page at the branch's path.
        """
        placed = {id: Anchor(id, "page", path, "", "", "") for id, path in plan.placed.items()}
        is_placed = self.written.items() >= placed.items()
        if self.live is None or self.workspace.is_dry_run or (self.is_recorded and is_placed):
            return True
        self.written |= placed
        self.is_recorded = True
        sent_log.begin_sending(self.workspace, self.binding, self.live.change_request.number, self.intent.desired)
        return False

    def _write_plan(self, plan: ContentPlan, content: ExistingContent) -> bool:
        """Open the change request where there is none, and write the plan; return whether this ends the rounds.

        It does so only where the platform takes no content. Else the next round reads back what arrived.
        """
        workspace, binding, revision = self.workspace, self.binding, content.existing.revision.id
        if self.live is None:
            self.live = open_proposal(workspace, binding, self.intent, self.subject)
            _record_opened(workspace, binding, self.live)
            if self.live.change_request.revision_initial != revision or not self.live.is_fresh:
                self.is_found = not self.live.is_fresh
                return False  # it holds more than the main content that was planned against: plan again against it
            revision = self.live.change_request.revision
        writer = ContentWriter(workspace, binding, self.live.change_request.id, content.translation, revision)
        # Both records come before the first write: by them a later run tells what a killed one wrote from what
        # reviewers did.
        record_tip(workspace, self.intent.branch)
        sent_log.begin_sending(workspace, binding, self.live.change_request.number, self.intent.desired)
        self.revisions = ()  # of what was written in part, nobody knows yet which revision has all of it
        try:
            writer.write(plan)
            self.revisions = tuple(writer.revisions)
        except RevisionMoved:
            pass  # somebody wrote since it was read: the next round reads what they wrote, and merges it first
        except AnswerLost as lost:
            self.has_lost_answer = True
            self.notes.append(f"an answer was lost ({lost.what}); what had arrived was looked up")
        except Rejected as refusal:
            if _has_moved(workspace, binding, self.live, writer.revision):
                return False  # somebody deleted, say, a page since it was read: the next round sees that
            if refusal.status != NO_ROUTE[0]:
                self._plan_refused_anew(refusal, plan)
                return False
            if workspace.write == "content":
                hint = 'write = "auto" puts the proposal into comments of the change request'
                raise Rejected(refusal.what, hint=hint, status=refusal.status) from refusal
            self.notes.append(self._propose_in_comments(plan, self.live))
            self.is_commented = True
            return True
        finally:
            self.has_written |= bool(writer.revisions)
        self.written |= writer.written
        return False

    def _plan_refused_anew(self, refusal: Rejected, plan: ContentPlan) -> None:
        """Let the next round plan from both trees, where this one planned from tables of contents, which have no slugs;
        and insert pages anew, where this one brought them back.

        Raises: the refusal, where this round did neither; ProposalEnded.
        """
        try:
            with detect_end(self.workspace, self.binding, self.live):
                raise refusal
        except Rejected:
            has_restored = any(isinstance(step, InsertStep) and step.former is not None for step in plan.steps)
            if self.changed is None and not has_restored:
                raise
            self.changed = self.first_plan = None
            self.can_restore = not has_restored

    def _propose_in_comments(self, plan: ContentPlan, live: Proposal) -> str:
        """Put the plan into comments, since the platform's API writes no content, and return a note."""
        workspace, binding, desired = self.workspace, self.binding, self.intent.desired
        # This commit later identifies text that a person pasted, so Git has it before anybody can read a comment.
        workspace.client.change_requests.writes = False
        sent_log.begin_comments(workspace, binding, live.change_request.number, desired)
        sent_log.end_sending(workspace, binding, live.change_request.number)
        content = record_proposed_content(workspace, binding, live, {}, layout_commit=desired)
        return post_proposal(workspace, binding, self.intent, live, plan, paths=name_pages(content.existing))


def _has_moved(workspace: Workspace, binding: Binding, live: Proposal, revision: str) -> bool:
    """Whether others wrote to a change request since it was at a revision: then that may be why a write was refused."""
    return workspace.client.change_requests.get(binding.space, live.lane).revision != revision


def _holds_desired(workspace: Workspace, binding: Binding, content: ExistingContent, intent: Intent) -> bool:
    """Whether the platform holds what is desired, and nobody wrote anything else in between."""
    held = find_content(workspace.repository, content.commit)
    return all(workspace.has_same_content(binding, one, intent.desired) for one in (content.commit, held))


def _record_opened(workspace: Workspace, binding: Binding, live: Proposal) -> None:
    """Record a change request in Git before anything is written to it; for one that another clone has opened, take its
    last state from its description."""
    record_proposal(workspace, binding, live)
    repository, ref = workspace.repository, workspace.change_ref(binding, live.change_request.number)
    number, description = live.change_request.number, live.change_request.description
    is_sending = sent_log.is_sending(workspace, binding, number)
    commit = None if is_sending else repository.find_revision(read_commit_of_revision(description))
    if commit is not None and repository.resolve(ref) is None:
        repository.update_ref(ref, commit, old=None)


def _list_skipped(binding: Binding, draft: Draft) -> Iterator[str]:
    """A line for each place in the branch's files that no platform can store."""
    for part in draft.skipped:
        yield f"{binding.path(part.path)}:{part.line}:{part.column}: {part.reason}"


def _guard_deletions(
    workspace: Workspace, binding: Binding, content: ExistingContent, plan: ContentPlan, intent: Intent
) -> None:
    pages = [anchor for anchor in content.existing.anchors.values() if anchor.kind == "page"]
    if len(pages) == 1 and is_blank_page(workspace.repository.read(pages[0].oid).decode("utf-8", "replace")):
        return  # every new space has such a page, and says nothing by it
    remain, repository, tip = len(pages) - len(plan.deleted), workspace.repository, intent.tip
    main = repository.resolve(workspace.main) or tip
    followed = follow_directories(repository, [tip], tip, main)[0].tree if plan.deleted else tip
    is_absent = repository.find_tree(followed, binding.directory) is None
    absent = f"{intent.branch} has no directory {binding.directory}" if is_absent else ""
    scope, force = f"propose.{binding.name}", workspace.force
    guard_deletions(scope, plan.deleted, len(pages), remain=remain, force=force, absent=absent)


def _read_desired(workspace: Workspace, binding: Binding, intent: Intent) -> DesiredSide:
    """Return the tree and blobs that a branch asks for; no page is read for it."""
    repository = workspace.repository
    listing = repository.list_files(intent.desired, binding.directory)
    blobs = {path: blob.oid for path, blob in listing.items() if blob.mode.startswith("100")}
    draft = read_draft(blobs.keys(), lambda path: repository.read(blobs[path]), links=False, at=binding.directory)
    return DesiredSide(draft, blobs)


def _ignore_form(workspace: Workspace, wanted: DesiredSide, content: ExistingContent) -> DesiredSide:
    """What is wanted, with each page as the platform has it that differs in line ends or the end of the file alone."""
    known = {wanted.renames.get(anchor.path, anchor.path): anchor.oid for anchor in content.existing.anchors.values()}
    changed = {path: oid for path in wanted.draft.documents if (oid := known.get(path)) and oid != wanted.blobs[path]}
    present = workspace.repository.select_present(changed.values())

    def read_normalized(oid: str) -> str:
        return normalize_form(workspace.repository.read_content(oid).decode("utf-8", "surrogateescape"))

    readable = ((path, oid) for path, oid in changed.items() if oid in present)
    same = {path: oid for path, oid in readable if read_normalized(oid) == read_normalized(wanted.blobs[path])}
    return replace(wanted, blobs={**wanted.blobs, **same}) if same else wanted


def _add_differences(
    workspace: Workspace, binding: Binding, intent: Intent, desired: DesiredSide, content: ExistingContent
) -> DesiredSide:
    """Complete the desired side with what only a comparison with existing content shows: renames, newly linked files,
    and links to files that are gone."""
    repository = workspace.repository
    known = {anchor.path: anchor.oid for anchor in content.existing.anchors.values()}
    blobs, root = desired.blobs, desired.draft.settings.add_root("")
    changed = [path for path in desired.draft.documents if blobs[path] != known.get(path)]
    linked = {file for page in changed for file in list_linked(repository.read(blobs[page]), page, root=root)}
    changes = repository.list_changes(content.commit, intent.desired, binding.directory)
    new = {path: oid for path, oid in list_new_files(changes, root=root).items() if path not in known}
    pages = {path: blobs[path] for path in (*desired.draft.documents, *desired.draft.includes)}
    there = {anchor.path: anchor.oid for anchor in content.existing.anchors.values() if anchor.kind == "file"}
    gone = {path: oid for path, oid in there.items() if path not in blobs}
    linking = find_linking_pages(repository, binding, pages, {**new, **gone}, root=root)
    # What the platform has as a file stays one, also where only pages that did not change link to it.
    kept = there.keys() & blobs.keys()
    linked_here = {path for path in linked & blobs.keys() if path.startswith(root) and not path.endswith(".md")}
    files = {*desired.draft.files, *kept, *linked_here, *(linking.keys() - gone)}
    moves = find_moves(workspace, content.commit, intent.desired)
    if (held := find_content(repository, content.commit)) != repository.read_root_tree(content.commit):
        # Git's merge with main content may have moved a page that the platform's own has left where it was.
        moves = find_moves(workspace, held, intent.desired) | moves
    renames = {
        binding.inner(old): binding.inner(new)
        for old, new in moves.items()
        if binding.holds(old) and binding.holds(new)
    }
    draft = replace(desired.draft, files=tuple(sorted(files)))
    return DesiredSide(draft, blobs, renames, linking, read=lambda path: repository.read_content(blobs[path]))
