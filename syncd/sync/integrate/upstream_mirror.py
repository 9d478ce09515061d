"""Upstream mirror: what the platform has, as branches of the Git remote, where plain Git settles what is in conflict.

| branch there                     | holds                                                                         |
|----------------------------------|-------------------------------------------------------------------------------|
| `<mirror>`                       | main content, the commit of `platform/main`                                   |
| `<mirror>-changes/<space>/<n>`   | a change request's content, as long as a page is in conflict with it          |

The very commits are pushed: whoever merges one has taken it in, for Git and so for syncd. They go by fast-forward; what
is replaced or deleted is only what this clone pushed there itself, which a ref of our own says, and change requests'
content of a clone whose place it takes. Nothing else is kept, so a run that is killed between two pushes is made whole
by the next.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice

from syncd.errors import Conflict
from syncd.fault_points import FaultPoint, reach
from syncd.plan.change import Change
from syncd.plan.message import CHANGE_REQUEST
from syncd.repo.remote.remote import Refusal
from syncd.sync.committer import COMMITTER
from syncd.sync.integrate.upstream import Exchange, Step, build_push_error
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged
from syncd.sync.state.conflicts import find_unshared_request
from syncd.sync.workspace import Upstream, Workspace


def push_mirror(exchange: Exchange, conflicts: Collection[str], *, is_whole: bool) -> Iterator[Step]:
    """Yield the steps that bring what the platform has to the remote; none where the remote has it.

    Shape: `conflicts` are the change requests that pages are in conflict with, as `<space>/<number>`; `is_whole` says
    that every change request that is not among them is settled.
    """
    workspace, upstream = exchange.workspace, exchange.workspace.upstream
    if upstream is None or exchange.remote_heads is None or not upstream.has_mirror:
        return
    wanted = dict(_find_wanted(workspace, upstream, conflicts))
    for branch, commit in wanted.items():
        if {exchange.remote_heads.get(branch), workspace.repository.resolve(upstream.last_seen_ref(branch))} != {
            commit
        }:
            yield f"push {upstream.name}/{branch}", partial(_push, exchange, upstream, branch, commit)
    for branch, commit in _find_pushed(workspace, upstream).items():
        name = branch.removeprefix(upstream.change_branch(""))
        if branch not in wanted and (is_whole or workspace.repository.resolve(_change_ref(workspace, name)) is None):
            yield f"delete {upstream.name}/{branch}", partial(_delete, exchange, upstream, branch, commit)


def find_conflicting(workspace: Workspace, conflicts: Sequence[Held]) -> set[str]:
    """Return the change requests, as `<space>/<number>`, that pages of a branch are in conflict with, also at the
    upstream remote, where main content is not what they wait for."""
    lanes, main = f"{workspace.remote}/changes/", f"{workspace.remote}/main"
    in_main = {held.paths for held in conflicts if held.lane == main}
    own = {held.lane for held in conflicts if held.lane.startswith(lanes) and held.paths not in in_main}
    unshared = {find_unshared_request(workspace, held.lane, held.branch) for held in conflicts}
    return {lane.removeprefix(lanes) for lane in own} | unshared - {""}


def _find_wanted(workspace: Workspace, upstream: Upstream, conflicts: Collection[str]) -> Iterator[tuple[str, str]]:
    """The branches that the remote is to have, and the commit of each."""
    refs = {upstream.mirror: workspace.main}
    refs |= {upstream.change_branch(name): _change_ref(workspace, name) for name in sorted(conflicts)}
    for branch, ref in refs.items():
        if (commit := workspace.repository.resolve(ref)) is not None:
            yield branch, commit


def _change_ref(workspace: Workspace, name: str) -> str:
    return f"refs/remotes/{workspace.remote}/changes/{name}"


def _find_pushed(workspace: Workspace, upstream: Upstream) -> dict[str, str]:
    """The branches of change requests that this clone has pushed, and what."""
    found = workspace.repository.list_refs(upstream.last_seen_ref("")).items()
    each = {upstream.parse_last_seen_ref(ref): commit for ref, commit in found}
    return {branch: commit for branch, commit in each.items() if branch.startswith(upstream.change_branch(""))}


def _push(exchange: Exchange, upstream: Upstream, branch: str, commit: str) -> Outcome:
    assert exchange.remote_heads is not None
    repository, name = exchange.repository, f"{upstream.name}/{branch}"
    remote_commit = exchange.remote_heads.get(branch)
    if remote_commit == commit:  # a run was killed before it could record that
        exchange.record_last_seen(upstream, branch, commit)
        return Unchanged()
    if (
        remote_commit is not None
        and not repository.is_ancestor(remote_commit, commit)
        and not _was_pushed_here(exchange, upstream, branch, remote_commit)
    ):
        return Held(
            f"{name} has commits that this clone did not push there; it was left as it is",
            f"only one syncd may push there; to let this one do it: git push {upstream.name} --delete {branch}\n"
            'to let it push none: mirror = "" in [repository.upstream] of its configuration',
            exit_code=Conflict.exit_code,
        )
    with exchange.open_remote(upstream) as remote:
        refusal = remote.push(commit, branch, old=remote_commit)
    if refusal is not None:
        raise _build_refusal(upstream, branch, refusal)
    return exchange.record_push(upstream, branch, branch, commit)


def _was_pushed_here(exchange: Exchange, upstream: Upstream, branch: str, remote_commit: str) -> bool:
    """Whether a branch of the remote is where this clone has put it; or, where it has put none there, whether it holds
    a change request's content as another clone has read it, whose place this one takes."""
    pushed = exchange.repository.resolve(upstream.last_seen_ref(branch))
    if pushed is not None or branch == upstream.mirror:
        return remote_commit == pushed
    number, person = branch.rpartition("/")[2], f"{COMMITTER[0]} <{COMMITTER[1]}>"
    found = exchange.repository.find_carrying(remote_commit, CHANGE_REQUEST, number, committer=person)
    return any(commit.oid == remote_commit for commit in islice(found, 1))


def _delete(exchange: Exchange, upstream: Upstream, branch: str, pushed: str) -> Outcome:
    """Delete the branch of a change request that is settled or over; what somebody else put there stays."""
    assert exchange.remote_heads is not None
    repository, name = exchange.repository, f"{upstream.name}/{branch}"
    remote_commit = exchange.remote_heads.get(branch)
    outcome: Outcome = Unchanged()
    if remote_commit == pushed:
        with exchange.open_remote(upstream) as remote:
            refusal = remote.delete(branch, old=pushed)
        if refusal is not None:
            raise _build_refusal(upstream, branch, refusal)
        reach(FaultPoint.BRANCH_PUSHED)
        del exchange.remote_heads[branch]
        repository.set_ref(upstream.tracking_ref(branch), None)
        why = "no page is in conflict with it any more"
        outcome = Applied((Change("delete", "branch", name, why, before=pushed),))
    elif remote_commit is not None:
        outcome = Applied((), (f"{name} is not needed any more, and somebody has pushed to it: delete it there",))
    repository.delete_ref(upstream.last_seen_ref(branch), old=pushed)
    return outcome


def _build_refusal(upstream: Upstream, branch: str, refusal: Refusal) -> Conflict:
    hint = 'allow it there, or set mirror = "" under [repository.upstream]'
    return build_push_error(f"{upstream.name} did not take {branch}", refusal, hint=hint)
