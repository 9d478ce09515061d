"""One run of one repository: every flow in its order, what they hand on to each other, and the record of outcomes."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from syncd.errors import Conflict, Stopped, SyncdError
from syncd.sync.bind.flow import bind_spaces
from syncd.sync.bind.former_records import convert_former_record
from syncd.sync.binding import Binding
from syncd.sync.branches import Branch, find_tracked, put_ancestors_first
from syncd.sync.gc_tuning import collect_seldom
from syncd.sync.git_import.flow import finish_import, import_branch
from syncd.sync.integrate.flow import integrate, list_ahead
from syncd.sync.integrate.upstream import Exchange
from syncd.sync.integrate.upstream_mirror import find_conflicting, push_mirror
from syncd.sync.mirror.flow import mirror
from syncd.sync.mirror.overwritten import list_overwritten_refs
from syncd.sync.mirror.values import MainMoved
from syncd.sync.outcome import (
    BIND,
    CONFLICT,
    PAGE,
    Applied,
    Outcome,
    Unchanged,
    join_outcomes,
    outcome_of,
)
from syncd.sync.policy import GIT_IMPORT
from syncd.sync.propose.flow import find_new_branches, guard_new_branches, propose
from syncd.sync.publish.target.options import PublishOptions
from syncd.sync.review.auto_merge import merge_proposal
from syncd.sync.review.close import close_proposals, is_over
from syncd.sync.review.flow import read_merged, review
from syncd.sync.run.record import record_results
from syncd.sync.run.spaces import SpaceReader
from syncd.sync.run.values import RUN, Result, RunOptions, is_stopped
from syncd.sync.site.options import SiteOptions
from syncd.sync.state.lane_content import has_equal_content
from syncd.sync.state.proposals import Proposal, detect_end, find_proposal, list_proposals
from syncd.sync.workspace import Workspace


@dataclass
class Flows:
    """One run: each flow has its own outcome, so that none stops another.

    Shape: `proposals` holds the change requests of each space that was mirrored, as they are now.
    """

    workspace: Workspace
    options: RunOptions
    proposals: dict[Binding, list[Proposal]] = field(default_factory=dict)
    _spaces: SpaceReader = field(init=False)
    _written_requests: set[str] = field(default_factory=set)
    """The lanes of change requests that this run wrote to after it had read them."""
    _updated_requests: set[str] = field(default_factory=set)
    """The lanes of change requests that were updated from main content that Git did not have yet."""
    _held_branches: dict[Binding, list[str]] = field(default_factory=dict)
    """Branches that would open too many change requests at once."""
    _has_merged: bool = False
    """Whether main content moved by a merge of ours."""
    _conflicting_requests: set[str] = field(default_factory=set)
    """Change requests, as `<space>/<number>`, that conflict with a branch where main content does not."""
    _has_failed: bool = False
    """Whether a flow failed, so that there may be conflicts that this run did not find."""

    def run(self) -> Iterator[Result]:
        """Run every flow that the options ask for; yield what each came to, and once for each branch every page that
        waits for a person.

        Source: ARCHITECTURE.md, "One run".
        """
        reported: set[tuple[str, str]] = set()
        for result in self._run_all():
            self._has_failed |= bool(result.outcome.exit_code)
            conflicts = result.outcome.conflicts if isinstance(result.outcome, Applied | Unchanged) else ()
            self._conflicting_requests |= find_conflicting(self.workspace, conflicts)
            yield result
            for held in conflicts:
                if (place := (held.branch, held.paths[0])) not in reported:
                    reported.add(place)
                    yield Result(PAGE if held.is_invalid else CONFLICT, held.paths[0], held)

    def _run_all(self) -> Iterator[Result]:
        exchange = Exchange(self.workspace, self.options.branches, self.options.patterns, self.options.others)
        fetching = exchange.list_fetch_steps(move=self.options.integrate)
        yield from (self._run_flow("upstream", *step) for step in fetching)
        yield from self._bind_and_read()
        branches = find_tracked(self.workspace.repository, self.options.branches, self.options.patterns)
        if self.options.integrate:
            # Where it is asked which side goes first, a branch that is absent is made afterwards.
            absent = exchange.find_absent() if self.options.prefer is None else {}
            yield from (Result("integrate", name, held) for name, held in absent.items())
            branches = [branch for branch in branches if branch.name not in absent]
            yield from self._integrate_all(branches)
        if self.options.propose:
            yield from self._propose_all(branches, exchange)
        if self.options.site is not None:
            yield self._run_flow("site", self.options.site.file, partial(self._site, self.options.site))
        if self.options.should_publish:
            pushing = exchange.list_push_steps(create=self.options.integrate)
            yield from (self._run_flow("upstream", *step) for step in pushing)
            is_whole = self.options.is_complete and not self._has_failed
            mirroring = push_mirror(exchange, self._conflicting_requests, is_whole=is_whole)
            yield from (self._run_flow("upstream", *step) for step in mirroring)
        if (publication := self.options.publication) is not None:
            yield self._run_flow("publish", publication.target, partial(self._publish, exchange, publication))

    def _bind_and_read(self) -> Iterator[Result]:
        """Bring what the platform has into Git."""
        self.workspace, outcomes = bind_spaces(self.workspace, prefer=self.options.prefer, move=self.options.integrate)
        yield from (Result(BIND, name, outcome) for name, outcome in outcomes)
        bindings = self.workspace.bindings
        for binding in bindings if self.workspace.write == GIT_IMPORT else ():
            yield self._run_flow("import", binding.name, partial(finish_import, self.workspace, binding))
        self._spaces = SpaceReader(self.workspace.client, [binding.space for binding in bindings])
        self._spaces.read_all()
        for binding in bindings:
            yield from self._run_incoming(binding)

    def _integrate_all(self, branches: Sequence[Branch]) -> Iterator[Result]:
        for branch in branches:
            yield self._run_flow("integrate", branch.name, partial(self._integrate, branch))

    def _propose_all(self, branches: Sequence[Branch], exchange: Exchange) -> Iterator[Result]:
        """Bring what branches have to the platform, and what came of it there back into them."""
        yield from self._hold_new_branches(branches)
        for branch in self._order_branches(branches):
            for binding in self.workspace.bindings:
                if binding not in self.proposals or branch.name in self._held_branches.get(binding, ()):
                    continue
                if self.workspace.is_imported(branch.name):
                    yield from self._run_import(binding, branch, exchange)
                else:
                    yield from self._run_outgoing(binding, branch)
        if self.options.integrate:
            if self._has_merged:
                yield from self._integrate_all(branches)
            yield from self._import_again(branches, exchange)

    def _order_branches(self, branches: Sequence[Branch]) -> list[Branch]:
        """First the branches that have a change request, since what they brought to the platform counts; then the new
        ones, each after those that it grew from."""
        known = {proposal.branch for own in self.proposals.values() for proposal in own}
        new = [branch for branch in branches if branch.name not in known and self._has_own_commits(branch)]
        repository = self.workspace.repository
        ordered = put_ancestors_first(repository, new, exclude=repository.resolve(self.workspace.main))
        return [branch for branch in branches if branch not in new] + ordered

    def _run_flow(self, flow: str, key: str, run: Callable[[], Outcome]) -> Result:
        outcome, notices = outcome_of(run), self.workspace.client.take_notices()
        if isinstance(outcome, Applied):  # nothing new was read where nothing changed
            outcome = replace(outcome, notes=(*outcome.notes, *notices))
        return Result(flow, key, outcome)

    def _run_steps(self, flow: str, key: str, run: Callable[[list[Applied]], Outcome]) -> Iterator[Result]:
        """Run a flow of several steps; what it had done when an error ended it is a result of its own."""
        done: list[Applied] = []
        result = self._run_flow(flow, key, partial(run, done))
        if result.outcome.exit_code and (before := join_outcomes(done)) != Unchanged():
            yield Result(flow, key, before)
        yield result

    def _run_on_main(
        self, flow: str, key: str, binding: Binding, run: Callable[[list[Applied]], Outcome]
    ) -> Generator[Result, None, Result]:
        """Run a flow of several steps and return its last result; where it needs newer main content than Git has,
        mirror that and run the flow again."""
        moved: list[MainMoved] = []

        def attempt(done: list[Applied]) -> Outcome:
            try:
                return run(done)
            except MainMoved as error:
                moved.append(error)
                raise

        *before, result = self._run_steps(flow, key, attempt)
        yield from before
        if moved:
            self._spaces.forget(binding.space)
            yield from self._run_steps("mirror", binding.name, partial(self._mirror, binding))
            *before, result = self._run_steps(flow, key, run)
            yield from before
        yield result
        return result

    def _run_incoming(self, binding: Binding) -> Iterator[Result]:
        if (unread := self._spaces.failures.get(binding.space)) is not None:
            yield Result("mirror", binding.name, unread)
            return
        yield from self._run_steps("mirror", binding.name, partial(self._mirror, binding))
        read: set[str] = set()
        for lane in [proposal.lane for proposal in self.proposals.get(binding, [])]:
            result = yield from self._run_on_main("review", binding.name, binding, partial(self._review, binding, lane))
            read |= {lane} if not result.outcome.exit_code else set()
        if self.options.is_complete and read:
            closed = self._run_steps("close", binding.name, partial(self._close, binding, read))
            yield from (result for result in closed if result.outcome != Unchanged())

    def _hold_new_branches(self, branches: Sequence[Branch]) -> Iterator[Result]:
        """Hold the branches of a space that would open too many change requests at once; others go on."""
        for binding in self.proposals:
            result = self._run_flow("propose", binding.name, partial(self._guard_new_branches, binding, branches))
            if result.outcome.exit_code:
                self._held_branches.setdefault(binding, [branch.name for branch in branches if not branch.is_named])
                yield result

    def _guard_new_branches(self, binding: Binding, branches: Sequence[Branch]) -> Outcome:
        own = self.proposals[binding]
        names = find_new_branches(self.workspace, binding, branches, self._spaces.get(binding.space), own)
        outcome = outcome_of(partial(guard_new_branches, self.workspace, binding, names))
        if outcome.exit_code:
            self._held_branches[binding] = names
        return outcome

    def _run_outgoing(self, binding: Binding, branch: Branch) -> Iterator[Result]:
        key = f"{binding.name}/{branch.name}"
        proposed = yield from self._run_on_main("propose", key, binding, partial(self._propose, binding, branch))
        if self.workspace.policy.merge != "auto" or proposed.outcome.exit_code:
            return
        is_written = isinstance(proposed.outcome, Applied)
        merged = self._run_flow("merge", key, partial(self._merge, binding, branch, is_written=is_written))
        yield merged
        if isinstance(merged.outcome, Applied) or merged.outcome.exit_code == Conflict.exit_code:
            yield from self._read_again(binding)

    def _read_again(self, binding: Binding) -> Iterator[Result]:
        self._has_merged = True
        self._spaces.forget(binding.space)
        del self.proposals[binding]
        yield from self._run_incoming(binding)

    def _run_import(self, binding: Binding, branch: Branch, exchange: Exchange) -> Iterator[Result]:
        """Let the platform import the branch as main content, and mirror what came of it."""
        run = partial(self._import, binding, branch, exchange)
        imported = self._run_flow("import", f"{binding.name}/{branch.name}", run)
        yield imported
        if isinstance(imported.outcome, Applied) and not self.workspace.is_dry_run:
            yield from self._read_again(binding)

    def _import_again(self, branches: Sequence[Branch], exchange: Exchange) -> Iterator[Result]:
        """Bring back at once what somebody wrote while a branch was imported, as far as it merges."""
        for branch in [one for one in branches if self.workspace.is_imported(one.name)]:
            for binding in [one for one in self.proposals if list_overwritten_refs(self.workspace, one)]:
                yield from self._run_import(binding, branch, exchange)
                yield self._run_flow("integrate", branch.name, partial(self._integrate, branch))

    def _mirror(self, binding: Binding, done: list[Applied]) -> Outcome:
        space = self._spaces.get(binding.space)
        own = list_proposals(self.workspace, binding, space)
        outcome, own = mirror(
            self.workspace,
            binding,
            space=space,
            proposals=own,
            read_merged=partial(read_merged, self.workspace, binding),
            done=done,
        )
        self.proposals[binding] = [proposal for proposal in own if proposal.change_request.status != "merged"]
        return outcome

    def _review(self, binding: Binding, lane: str, done: list[Applied]) -> Outcome:
        own = self.proposals[binding]
        index = next((index for index, proposal in enumerate(own) if proposal.lane == lane), None)
        if index is None:  # somebody merged it meanwhile
            return Unchanged()
        try:
            with detect_end(self.workspace, binding, own[index]):
                own[index], outcome = review(
                    self.workspace,
                    binding,
                    own[index],
                    space=self._spaces.get(binding.space),
                    proposals=own,
                    done=done,
                    reviews=self.options.reviews,
                    is_updated=lane in self._updated_requests,
                    will_propose=self.options.propose,
                )
        except MainMoved as moved:
            if moved.is_updated:
                self._updated_requests.add(lane)
            raise
        self._updated_requests.discard(lane)
        if isinstance(outcome, Applied):
            self._written_requests.add(lane)
        return outcome

    def _close(self, binding: Binding, read: Collection[str], done: list[Applied]) -> Outcome:
        own = self.proposals[binding]
        over = [proposal for proposal in own if proposal.lane in read and is_over(self.workspace, proposal, own)]
        outcome = close_proposals(self.workspace, binding, over, existing=len(own), done=done)
        self.proposals[binding] = [proposal for proposal in own if proposal not in over]
        return outcome

    def _integrate(self, branch: Branch) -> Outcome:
        """Merge into a branch: first change requests that hold main content, so that one merge brings both; then main
        content; then the other change requests."""
        workspace = self.workspace
        convert_former_record(workspace, branch.name)
        lanes = {
            workspace.change_ref(binding, proposal.change_request.number): binding
            for binding, own in self.proposals.items()
            for proposal in own
            if proposal.branch == branch.name and proposal.change_request.is_live
            if branch.is_named or self._has_edits(binding, proposal)
        }
        ahead = list_ahead(workspace, branch.name, lanes)
        follows = [workspace.main] if branch.is_named or self._is_all_in_main(branch) else []
        bindings = workspace.bindings if branch.name == workspace.branch else ()
        overwritten = [ref for binding in bindings for ref in sorted(list_overwritten_refs(workspace, binding))]
        refs = [*ahead, *follows, *overwritten, *(ref for ref in lanes if ref not in ahead)]
        outcome = join_outcomes([integrate(workspace, branch.name, ref) for ref in refs])
        # A page that is in conflict with both is told of as one with main content, before and after it is proposed.
        name = f"{workspace.remote}/main"
        return replace(outcome, conflicts=tuple(sorted(outcome.conflicts, key=lambda held: held.lane != name)))

    def _has_edits(self, binding: Binding, proposal: Proposal) -> bool:
        """Whether a change request holds more than its branch and main content say: then reviewers wrote in it."""
        repository = self.workspace.repository
        here = repository.resolve(self.workspace.change_ref(binding, proposal.change_request.number))
        tip = repository.resolve(f"refs/heads/{proposal.branch}")
        return here is not None and tip is not None and not has_equal_content(self.workspace, binding, here, tip)

    def _is_all_in_main(self, branch: Branch) -> bool:
        """Whether all commits of a branch are in main content, so that following it is a fast-forward."""
        repository = self.workspace.repository
        tip, main = repository.resolve(branch.ref), repository.resolve(self.workspace.main)
        return tip is not None and main is not None and repository.is_ancestor(tip, main)

    def _has_own_commits(self, branch: Branch) -> bool:
        """Whether main content lacks commits of a branch; false for an impossible name, which the flows report."""
        with suppress(SyncdError):
            return not self._is_all_in_main(branch)
        return False

    def _propose(self, binding: Binding, branch: Branch, done: list[Applied]) -> Outcome:
        return propose(
            self.workspace,
            binding,
            branch.name,
            space=self._spaces.get(binding.space),
            proposals=self.proposals[binding],
            done=done,
            subject=self.options.subject,
            is_requested=not self.options.integrate,
        )

    def _import(self, binding: Binding, branch: Branch, exchange: Exchange) -> Outcome:
        space, push = self._spaces.get(binding.space), partial(exchange.push_branch, branch.name)
        return import_branch(self.workspace, binding, branch.name, space=space, push=push)

    def _merge(self, binding: Binding, branch: Branch, *, is_written: bool) -> Outcome:
        own = [proposal for proposal in self.proposals[binding] if proposal.branch == branch.name]
        newest = max(own, key=lambda proposal: proposal.change_request.number, default=None)
        if is_written or (newest is not None and newest.lane in self._written_requests):
            newest = find_proposal(self.workspace, binding, branch.name)
        return merge_proposal(self.workspace, binding, newest) if newest is not None else Unchanged()

    def _site(self, options: SiteOptions) -> Outcome:
        # What sites are made of takes a third of the start-up of a run, and most runs have none.
        from syncd.sync.site.flow import reconcile

        return reconcile(self.workspace, options)

    def _publish(self, exchange: Exchange, options: PublishOptions) -> Outcome:
        # Pages need most of the libraries that there are, and most runs build none.
        from syncd.sync.publish.target.flow import publish_site

        return publish_site(self.workspace, exchange, options)


def run_cycle(workspace: Workspace, options: RunOptions) -> list[Result]:
    """Run every flow once, record each outcome, and return them in order.

    Shape: of a flow that ran twice, the failure is recorded, if any. An error that ends the run early is the last
    result, of the flow `run`. A run that is asked to stop ends with the flow that noticed it.
    Source: ARCHITECTURE.md, "One run".
    """
    results: list[Result] = []

    def run() -> Outcome:
        for result in Flows(workspace, options).run():
            results.append(result)
            if result.outcome.exit_code == Stopped.exit_code:
                break
        return Unchanged()

    with collect_seldom():
        ended = outcome_of(run)
    is_whole = not ended.exit_code and not is_stopped(results)
    remembered = outcome_of(partial(record_results, workspace, options, results, is_whole=is_whole))
    return results + [Result(RUN, "", wrong) for wrong in (ended, remembered) if wrong.exit_code]
