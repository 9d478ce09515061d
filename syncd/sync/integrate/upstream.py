"""Upstream: the tracked branches come from a Git remote before all else, and go back to it after all else.

| the remote's branch          | the branch here                                                                   |
|------------------------------|-----------------------------------------------------------------------------------|
| has more commits             | is fast-forwarded                                                                 |
| has other commits            | is merged with them, page by page, as with the platform                           |
| was rewritten                | follows when it has nothing of its own; else a person has to act                  |
| takes no push (protected)    | goes to a side branch, for a pull request                                         |

Nothing is ever forced. What a branch last held of the remote is kept in a ref of our own, since a plain `git fetch`
moves the tracking ref too. syncd's own refs are not shared: the mirror commits in a branch's history say to another
clone what was shared, and two clones that knew of each other's change requests would both write to them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from syncd.errors import Conflict, RefMoved, Stopped
from syncd.fault_points import FaultPoint, reach
from syncd.plan.change import Change
from syncd.repo.remote.remote import Refusal, Remote
from syncd.sync.branches import HEADS, match_branches
from syncd.sync.integrate.absent import Presence, find_absent, is_missing, list_branches_of_people
from syncd.sync.integrate.flow import integrate
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.workspace import Upstream, Workspace

Step = tuple[str, Callable[[], Outcome]]

_ALLOW = 'allow it there, or set push = "never" under [repository.upstream]'


class Exchange:
    """The exchange of one run with the upstream remote; a branch that could not be fetched is not pushed."""

    def __init__(
        self, workspace: Workspace, names: Sequence[str], patterns: Sequence[str], others: Sequence[str] = ()
    ) -> None:
        """Prepare the exchange of tracked branches, by name and by pattern; without an upstream there is nothing to
        do.

        Shape: `others` are branches that are fetched, too, and never brought to a branch here.
        """
        self.workspace, self.repository = workspace, workspace.repository
        self.names, self.patterns, self.others = tuple(names), tuple(patterns), tuple(others)
        self.remote_heads: dict[str, str] | None = None
        """The remote's branches as they are now; None when they could not be read."""
        self._all_heads: frozenset[str] = frozenset()
        """All branches of the remote, read only where a named one is neither there nor here."""

    def list_fetch_steps(self, *, move: bool) -> Iterator[Step]:
        """Return the steps before all flows: fetch, then bring each branch what the remote has, when it may `move`."""
        upstream = self.workspace.upstream
        if upstream is None:
            return
        yield f"fetch {upstream.name}", partial(self._fetch_branches, upstream)
        if self.remote_heads is not None and move:
            for branch in self._list_branches():
                yield f"{upstream.name}/{branch}", partial(self._take_in, upstream, branch)

    def find_absent(self) -> Mapping[str, Held]:
        """Return by name what is to be said of named branches that are neither here nor at the remote, as
        `absent.find_absent`; none where the remote was not read.
        """
        upstream = self.workspace.upstream
        if upstream is not None and self.remote_heads is None:
            return {}
        proposed = [binding.proposed_refs for binding in self.workspace.bindings]
        presence = Presence(self.repository, upstream, self.remote_heads or {}, self._all_heads, proposed)
        return find_absent(presence, self.names, self.patterns)

    def list_push_steps(self, *, create: bool) -> Iterator[Step]:
        """Return the steps after all flows: push each branch that the remote lacks commits of.

        Shape: a branch that the remote does not have is made there when it is called by name and the run may `create`.
        What only a side branch has is told by a step of its own, in each run until somebody merges it.
        """
        upstream = self.workspace.upstream
        if upstream is None or self.remote_heads is None or upstream.push == "never":
            return
        for branch in self._list_branches():
            tip, seen = self.repository.resolve(f"{HEADS}{branch}"), self.remote_heads.get(branch)
            # A branch that only a pattern matches may be somebody's own affair until the remote has it.
            if tip is not None and tip != seen and (seen is not None or (create and branch in self.names)):
                yield f"push {upstream.name}/{branch}", partial(self._push_branch, upstream, branch, tip, seen)
                if self._is_left_aside(upstream, branch, tip):
                    side = upstream.side.format(branch=branch)
                    hint = f"merge the pull request from {side} there, or open one"
                    why = f"{upstream.name}/{branch} lacks what it has"
                    yield f"{upstream.name}/{side}", partial(Waiting, why, hint, exit_code=0)

    def _is_left_aside(self, upstream: Upstream, branch: str, tip: str) -> bool:
        """Whether only the side branch has a branch's tip: a pull request that was squashed has left nothing there."""
        assert self.remote_heads is not None
        there, side = self.remote_heads.get(branch), self.remote_heads.get(upstream.side.format(branch=branch))
        if there is None or side != tip or self.repository.is_ancestor(tip, there):
            return False
        return self.repository.find_tree(tip) != self.repository.find_tree(there)

    def push_branch(self, branch: str) -> Mapping[str, str]:
        """Push a branch that the remote lacks commits of, and return the remote's branches by now.

        Shape: what the remote does not take is missing in the answer. Raises: as the steps do.
        """
        upstream, tip = self.workspace.upstream, self.repository.resolve(f"{HEADS}{branch}")
        if upstream is None or self.remote_heads is None or tip is None:
            return {}
        if self.remote_heads.get(branch) != tip:
            self._push_branch(upstream, branch, tip, self.remote_heads.get(branch))
        return self.remote_heads

    def _list_branches(self) -> list[str]:
        assert self.remote_heads is not None
        present = {ref.removeprefix(HEADS) for ref in self.repository.list_refs(HEADS)} if self.patterns else ()
        found = match_branches({*self.remote_heads, *present}, self.patterns)
        return [*dict.fromkeys(self.names), *sorted(set(found) - set(self.names) - self._list_side_branches())]

    def _list_side_branches(self) -> set[str]:
        """Side branches that the remote has: they are what syncd made of a branch, and none of their own."""
        upstream = self.workspace.upstream
        assert upstream is not None
        return {
            side
            for name in self.remote_heads or ()
            if (side := upstream.side.format(branch=name)) in (self.remote_heads or ())
        }

    def open_remote(self, upstream: Upstream) -> Remote:
        """Prepare to connect to the upstream. Raises: ConfigInvalid, GitFailed."""

        def pulse() -> None:
            if self.workspace.is_cancelled():
                raise Stopped(f"stopped while {upstream.name} was spoken to", hint="the next run takes up from here")

        return self.repository.open_remote(upstream.access, pulse=pulse, permit=self.workspace.permit)

    def _fetch_branches(self, upstream: Upstream) -> Outcome:
        requested = list_requested(upstream, [*self.names, *self.patterns], self.others)
        with self.workspace.upstream_guard("fetch"), self.open_remote(upstream) as remote:
            heads = self.workspace.upstream_heads
            if heads is None:
                heads = remote.list_heads(requested)
            there = {name: heads[name] for name in match_branches(heads, requested)}
            news = [name for name, oid in there.items() if oid != self.repository.resolve(upstream.tracking_ref(name))]
            if news:
                known = {
                    *self.repository.list_refs(HEADS).values(),
                    *self.repository.list_refs("refs/remotes/").values(),
                }
                there |= remote.fetch(news, known=sorted(known))
            if self.names and all(is_missing(self.repository, name, there) for name in self.names):
                self._all_heads = list_branches_of_people(remote.list_heads(["*"]), upstream, self.others)
        changes = [*self._prune_tracking(upstream, requested, there), *self._track_all(upstream, news, there)]
        self.remote_heads = there
        return Applied(tuple(changes)) if changes else Unchanged()

    def _prune_tracking(
        self, upstream: Upstream, requested: Sequence[str], there: Mapping[str, str]
    ) -> Iterator[Change]:
        """Forget where branches were that the remote has no more; first, since `a` is in the way of `a/b`."""
        prefix = upstream.tracking_ref("")
        tracked = {ref.removeprefix(prefix): (ref, oid) for ref, oid in self.repository.list_refs(prefix).items()}
        for name in sorted(match_branches(tracked.keys() - there.keys() - {"HEAD"}, requested)):
            ref, oid = tracked[name]
            self.repository.delete_ref(ref, old=oid)
            yield Change("delete", "branch", f"{upstream.name}/{name}", "the remote has it no more", before=oid)

    def _track_all(self, upstream: Upstream, names: Sequence[str], there: Mapping[str, str]) -> Iterator[Change]:
        for name in names:
            old = self.repository.set_ref(upstream.tracking_ref(name), there[name])
            key = f"{upstream.name}/{name}"
            yield Change("update" if old else "create", "branch", key, "fetched", before=old, after=there[name])

    def _take_in(self, upstream: Upstream, branch: str) -> Outcome:
        """Bring a branch what the remote has, and remember what it holds of it."""
        assert self.remote_heads is not None
        theirs, ours = self.remote_heads.get(branch), self.repository.resolve(f"{HEADS}{branch}")
        if theirs is None:
            return self._delete_gone(upstream, branch, ours)
        outcome = self._integrate_remote(upstream, branch, ours, theirs)
        tip = self.repository.resolve(f"{HEADS}{branch}")
        if tip is not None and self.repository.is_ancestor(theirs, tip):
            self.record_last_seen(upstream, branch, theirs)
        return outcome

    def _integrate_remote(self, upstream: Upstream, branch: str, ours: str | None, theirs: str) -> Outcome:
        name = f"{upstream.name}/{branch}"
        if ours is None:
            self.repository.fast_forward(branch, old=None, new=theirs)
            return Applied((Change("create", "branch", branch, f"from {name}", after=theirs),))
        last_seen = self._find_rewritten(upstream, branch, ours, theirs)
        if last_seen is None and self.repository.find_merge_base(ours, theirs) is None:
            raise Conflict(
                f"{name} and {branch} have no commit in common; nothing was moved",
                hint=f"is it the right repository? If it is: git merge --allow-unrelated-histories {name}",
            )
        if last_seen is None:
            return integrate(self.workspace, branch, upstream.tracking_ref(branch))
        if not self.repository.is_ancestor(ours, last_seen):
            raise _build_rewritten_error(name, branch, last_seen)
        self.repository.follow(branch, old=ours, new=theirs)
        words = f"follows {name}, which was rewritten"
        return Applied((Change("move", "branch", branch, words, before=ours, after=theirs),))

    def _find_rewritten(self, upstream: Upstream, branch: str, ours: str, theirs: str) -> str | None:
        """What the branch last held of the remote, when the remote has given that up and nobody has settled it here."""
        last_seen, is_ancestor = self.repository.resolve(upstream.last_seen_ref(branch)), self.repository.is_ancestor
        if last_seen is None or ours == theirs or is_ancestor(last_seen, theirs):
            return None
        # Who merged or rebased has settled it; but a remote that only went back is in every branch that did not.
        settled = is_ancestor(theirs, ours) and not (is_ancestor(theirs, last_seen) and is_ancestor(last_seen, ours))
        return None if settled else last_seen

    def _delete_gone(self, upstream: Upstream, branch: str, ours: str | None) -> Outcome:
        """A branch that the remote has no more goes here too, where nobody works and only a pattern tracks it."""
        last_seen = self.repository.resolve(upstream.last_seen_ref(branch))
        bare = self.repository.work_tree is None
        if last_seen is None or ours != last_seen or not bare or branch in self.names:
            return Unchanged()
        if self.repository.is_shown(branch):  # in a linked work tree of the bare repository
            return Unchanged()
        self.repository.delete_ref(f"{HEADS}{branch}", old=ours)
        self.repository.delete_ref(upstream.last_seen_ref(branch), old=last_seen)
        return Applied((Change("delete", "branch", branch, f"{upstream.name} has it no more", before=ours),))

    def record_last_seen(self, upstream: Upstream, branch: str, commit: str) -> None:
        """Record which commit of a branch of the remote was taken in, or pushed, last."""
        self.repository.set_ref(upstream.last_seen_ref(branch), commit)

    def _push_branch(self, upstream: Upstream, branch: str, tip: str, seen: str | None) -> Outcome:
        assert self.remote_heads is not None
        name, side = f"{upstream.name}/{branch}", upstream.side.format(branch=branch)
        if self.remote_heads.get(side) == tip or (seen is not None and self.repository.is_ancestor(tip, seen)):
            return Unchanged()  # it waits on the side for a pull request, or the remote has it
        if seen is not None:
            if (last_seen := self._find_rewritten(upstream, branch, tip, seen)) is not None:
                raise _build_rewritten_error(name, branch, last_seen)
            if not self.repository.is_ancestor(seen, tip):
                return Held(f"{name} has commits that {branch} lacks", "syncd pull", exit_code=Conflict.exit_code)
        elif self.repository.resolve(upstream.last_seen_ref(branch)) is not None:
            return Held(
                f"{upstream.name} has no branch {branch} any more",
                f"to bring it back: git push {upstream.name} {branch}",
            )
        with self.open_remote(upstream) as remote:
            if upstream.push == "branch":
                refusal = remote.push(tip, branch, old=seen)
                if refusal is None:
                    return self.record_push(upstream, branch, branch, tip)
                if not refusal.is_protected:
                    raise build_push_error(f"{upstream.name} did not take {branch}", refusal, hint=_ALLOW)
                why = f"{upstream.name} takes no push to {branch} ({refusal.reason})"
            else:
                why = f"{name} is left to people"
            return self._push_side_branch(upstream, remote, branch, tip, why)

    def _push_side_branch(self, upstream: Upstream, remote: Remote, branch: str, tip: str, why: str) -> Outcome:
        """Push a branch to its side branch, unless a pull request from there would be empty."""
        assert self.remote_heads is not None
        side = upstream.side.format(branch=branch)
        if upstream.is_of_mirror(side):
            raise Conflict(
                f"the side branch of {branch} would be {side}, which holds what the platform has; nothing was pushed",
                hint="set side, or mirror, to another name under [repository.upstream]",
            )
        seen, there = self.remote_heads.get(branch), self.remote_heads.get(side)
        if seen is not None and self.repository.find_tree(seen) == self.repository.find_tree(tip):
            return Unchanged()
        if there is not None and not self.repository.is_ancestor(there, tip):
            raise Conflict(
                f"{upstream.name}/{side} has commits that {branch} lacks; nothing was pushed",
                hint=f"merge its pull request, or delete the branch {side} there",
            )
        refusal = remote.push(tip, side, old=there)
        if refusal is not None:
            raise build_push_error(f"{upstream.name} did not take {side}", refusal, hint=_ALLOW)
        arrived = self.record_push(upstream, branch, side, tip)
        return Applied(arrived.changes, (f"{why}: open a pull request from {side}",))

    def record_push(self, upstream: Upstream, branch: str, name: str, tip: str) -> Applied:
        """Record that the remote has a branch's tip under a name now, and return the push as an outcome."""
        assert self.remote_heads is not None
        reach(FaultPoint.BRANCH_PUSHED)
        old, self.remote_heads[name] = self.remote_heads.get(name), tip
        self.repository.set_ref(upstream.tracking_ref(name), tip)
        if name == branch:
            self.record_last_seen(upstream, branch, tip)
        return Applied((Change("update", "branch", f"{upstream.name}/{name}", "pushed", before=old, after=tip),))


def list_requested(upstream: Upstream, tracked: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the names and patterns of all branches of the upstream that a run asks for."""
    requested = [*tracked]
    if upstream.push != "never":
        requested += [upstream.side.format(branch=name) for name in tracked]
    if upstream.has_mirror:
        requested += [upstream.mirror, upstream.change_branch("*")]
    return [*requested, *others]


def build_push_error(what: str, refusal: Refusal, *, hint: str) -> Conflict:
    """Return the error of a push that was refused: somebody was faster, or a person has to do what the hint says."""
    why = f"{what}: {refusal.reason}"
    return RefMoved(why, hint="run syncd again") if refusal.has_moved else Conflict(why, hint=hint)


def _build_rewritten_error(name: str, branch: str, last_seen: str) -> Conflict:
    return Conflict(
        f"{name} was rewritten, and {branch} has commits of its own; nothing was moved",
        hint=f"git rebase --onto {name} {last_seen[:12]} {branch}, or git merge {name}, then run syncd again",
    )
