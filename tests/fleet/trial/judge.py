"""Judge a trial by what the remotes and the platform have logged, and by what PostgreSQL saw of leases."""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tests.fleet.trial.people import Browser, Written, is_ours
from tests.fleet.trial.platform import hash_token
from tests.fleet.trial.play import Disturbance, Fleet
from tests.fleet.trial.world import PAGE, WORD, TrialRepository, run_git

ALLOWED_SECONDS = 10.0
"""How much longer than its interval a change may take while nothing befalls the fleet."""
_STATE = "refs/syncd/fleet/"


@dataclass
class Verdict:
    """What a trial came to. Shape: each list is of what must not be, in sentences. Units: seconds."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    overlapping: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    calm: list[float] = field(default_factory=list)
    """How long each change took that nothing befell."""
    disturbed: list[float] = field(default_factory=list)
    """How long the others took."""
    requests_after_lease: int = 0
    """Requests of a worker that was stopped between the database's answer and its own request."""

    @property
    def failures(self) -> list[str]:
        """All that must not be."""
        return [*self.lost, *self.doubled, *self.overlapping, *self.late]


@dataclass(frozen=True)
class Lease:
    """Who had a repository, from when on."""

    worker: str
    fence: int
    at: float


def judge_trial(fleet: Fleet) -> Verdict:
    """Return what a trial came to, once the fleet has come to rest."""
    with closing(Browser(fleet.platform.url, fleet.world.owner)) as browser:
        return _judge(fleet, browser)


def _judge(fleet: Fleet, browser: Browser) -> Verdict:
    verdict = Verdict()
    writes = [json.loads(line) for line in fleet.platform.log.read_text().splitlines()]
    labels = {hash_token(token): name for name, token in fleet.world.tokens.items()}
    leases = _read_leases(fleet)
    sent = _list_arrivals(writes, labels)
    by_repository = defaultdict(list)
    for one in fleet.diary.written:
        by_repository[one.repository].append(one)
    for repository in fleet.world.repositories:
        _judge_words(verdict, browser, repository, by_repository[repository.name])
        _judge_requests(verdict, browser, repository)
        _judge_state(verdict, repository)
        _judge_writers(verdict, repository, writes, labels, leases[repository.name])
        pushed = _list_pushed_words(repository)
        for one in by_repository[repository.name]:
            arrived = sent.get(one.word) if one.word.endswith("g") else pushed.get(one.word)
            if arrived is not None:
                _judge_time(verdict, fleet, one, arrived, leases[repository.name])
    return verdict


def _read_leases(fleet: Fleet) -> Mapping[str, list[Lease]]:
    found = defaultdict(list)
    for repository, *rest in fleet.database.query(
        "SELECT repository, worker, fence, at FROM trial_leases ORDER BY fence"
    ):
        found[repository].append(Lease(*rest))
    return found


def _list_arrivals(writes: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> dict[str, float]:
    """When each word was first written to the platform by a worker."""
    found: dict[str, float] = {}
    for write in writes:
        if write["who"] in labels and write["status"] < 300 and write["path"].endswith("/content"):
            for word in write["words"]:
                found.setdefault(word, write["ended"])
    return found


def _judge_words(verdict: Verdict, browser: Browser, repository: TrialRepository, written: Sequence[Written]) -> None:
    """Each word is in the branch at the remote, and in main content or the one change request that waits."""
    for space in repository.spaces:
        words = {one.word for one in written if one.space == space.id}
        in_git = WORD.findall(
            run_git(repository.remote, "cat-file", "blob", f"refs/heads/main:{space.directory}/{PAGE}")
        )
        on_platform = WORD.findall(browser.read_text(space.id))
        for request in browser.list_requests(space.id, "draft", "open"):
            on_platform += set(WORD.findall(browser.read_text(space.id, request["id"]))) - set(on_platform)
        for where, found in (("Git", in_git), ("the platform", on_platform)):
            at = f"{repository.name}/{space.directory}"
            verdict.lost += [f"{word} of {at} is not in {where}" for word in sorted(words - set(found))]
            verdict.doubled += [f"{word} of {at} is twice in {where}" for word in set(found) if found.count(word) > 1]


def _judge_requests(verdict: Verdict, browser: Browser, repository: TrialRepository) -> None:
    """Of the change requests that syncd opened for a space, no two waited at once."""
    for space in repository.spaces:
        ours = filter(is_ours, browser.list_requests(space.id, "draft", "open", "merged", "archived"))
        latest = ""
        for request in ours:
            at = f"change request {request['number']} of {repository.name}/{space.directory}"
            if request["status"] == "archived":
                verdict.doubled.append(f"{at} was archived, and no branch was deleted")
            elif latest > request["createdAt"]:
                verdict.doubled.append(f"{at} was opened while another one waited")
            latest = max(latest, request.get("mergedAt") or "9")


def _judge_state(verdict: Verdict, repository: TrialRepository) -> None:
    """The state moved forward only: no commit of it has the number of an older lease than the one before."""
    ref = f"{_STATE}{repository.name}"
    # One line for each move, latest first.
    commits = run_git(
        repository.remote, "reflog", "show", "--format=%H %(trailers:key=Syncd-Fence,valueonly,separator=)", ref
    )
    fences = [int(line.split()[1]) for line in commits.splitlines()][::-1]
    if fences != sorted(fences):
        verdict.overlapping.append(f"{repository.name}: the state went back, by leases {fences}")


def _judge_writers(
    verdict: Verdict,
    repository: TrialRepository,
    writes: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str],
    leases: Sequence[Lease],
) -> None:
    """Who wrote to the platform had the lease then.

    Shape: a worker that is stopped between the database's answer and its own system call sends that one request when
    it wakes up. It is counted; a second one of the same lease is a failure.
    """
    spaces, begins = {space.id for space in repository.spaces}, [one.at for one in leases]
    late: defaultdict[int, int] = defaultdict(int)
    for write in writes:
        worker = labels.get(write["who"])
        if worker is None or write["space"] not in spaces:
            continue
        at = bisect_right(begins, write["begun"]) - 1
        if at >= 0 and leases[at].worker == worker:
            continue
        before = next((one for one in reversed(leases[: max(at, 0)]) if one.worker == worker), None)
        what = f"{write['method']} {write['path']} ({write['status']}) by {worker}"
        if before is None:
            verdict.overlapping.append(f"{repository.name}: {what}, which never had the lease")
            continue
        late[before.fence] += 1
        verdict.requests_after_lease += 1
        if late[before.fence] > 1:
            verdict.overlapping.append(
                f"{repository.name}: {what} under lease {before.fence}, after {leases[at].fence}"
            )


def _list_pushed_words(repository: TrialRepository) -> dict[str, float]:
    """When each word was first in the branch at the remote; Git's log of it has whole seconds."""
    moves = run_git(repository.remote, "reflog", "show", "--date=unix", "--format=%H %gd", "refs/heads/main")
    found: dict[str, float] = {}
    earlier = ""
    for line in reversed(moves.splitlines()):
        commit, _, selector = line.partition(" ")
        for word in _list_new_words(repository, earlier, commit):
            found.setdefault(word, float(selector.partition("{")[2].rstrip("}")) + 1)
        earlier = commit
    return found


def _list_new_words(repository: TrialRepository, earlier: str, later: str) -> Iterator[str]:
    if earlier:
        for line in run_git(repository.remote, "diff", "--unified=0", earlier, later, "--").splitlines():
            if line.startswith("+"):
                yield from WORD.findall(line)


def _judge_time(verdict: Verdict, fleet: Fleet, written: Written, arrived: float, leases: Sequence[Lease]) -> None:
    """A change is in step one interval and ten seconds after it was made, or after the end of what befell it."""
    allowed, took = fleet.options.interval + ALLOWED_SECONDS, arrived - written.at
    until = written.at
    for one in fleet.disturbances:
        if one.begun <= until + allowed and one.ended + fleet.options.lease >= written.at and _has_met(one, leases):
            until = max(until, one.ended + fleet.options.lease)
    (verdict.disturbed if until > written.at else verdict.calm).append(took)
    if arrived > until + allowed:
        held = f", {until - written.at:.0f} s of them disturbed" if until > written.at else ""
        verdict.late.append(f"{written.word} of {written.repository} took {took:.0f} s{held}, not {allowed:.0f} s")


def _has_met(disturbance: Disturbance, leases: Sequence[Lease]) -> bool:
    """Whether a disturbance befell a repository: all of them, or the worker that had its lease last."""
    if not disturbance.worker:
        return True
    at = bisect_right([one.at for one in leases], disturbance.ended) - 1
    return any(one.worker == disturbance.worker for one in leases[max(at - 1, 0) : at + 1])
