"""Turn the results of one run into one record for each subject: the repository, its spaces, its site, what it
publishes, its upstream.

Everything that says how the service is doing is computed from these records: see `daemon/health.py`.

| state      | meaning                                                                          | useful |
|------------|----------------------------------------------------------------------------------|--------|
| `ok`       | all was done, or there was nothing to do                                         | yes    |
| `conflict` | pages that both sides changed wait for a person; all else was done               | yes    |
| `approval` | a plan of the site waits for a person; all else was done                         | yes    |
| `manual`   | something on the site that only a person can do; all else was done               | yes    |
| `partial`  | some of its subjects got through, and others did not                             | no     |
| `held`     | a guard holds it, or a person has to choose                                      | no     |
| `waiting`  | no answer, the rate limit, a full disk: another try can succeed                  | no     |
| `failed`   | it cannot work until somebody mends it                                           | no     |
"""

from collections.abc import Sequence
from dataclasses import dataclass

from syncd.config import RepositoryConfig
from syncd.daemon.health import USEFUL, find_repository_run
from syncd.errors import AnotherRuns, Conflict
from syncd.store.runs import RunRecord
from syncd.sync.outcome import CONFLICT, PARTLY_DONE, Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import RUN, SUBJECTS_OF_FLOWS, Result, find_exit_code, is_stopped

_WORST_FIRST = ("failed", "held", "waiting", "conflict", "approval", "manual", "ok")
_GUARDED = 5
DEFECT = Waiting("the run ended in a defect; its traceback is on standard error", exit_code=1)
"""What a run comes to that an exception ended which is no error of syncd's."""


@dataclass(frozen=True)
class Subject:
    """What a record is about: `kind` is repository, space, site, publish or upstream, `name` its name in the
    configuration.
    """

    kind: str
    name: str = ""

    def is_about(self, result: Result) -> bool:
        """Return whether a result says what became of this space, site, published site or upstream."""
        is_named = self.kind != "space" or self.name == find_space(result)
        return is_named and SUBJECTS_OF_FLOWS.get(result.flow) == self.kind


@dataclass(frozen=True)
class _Verdict:
    state: str
    exit_code: int = 0
    why: str = ""
    hint: str = ""
    held: int = 0
    conflicts: int = 0


def list_subjects(repository: RepositoryConfig, *, site: bool = True) -> tuple[Subject, ...]:
    """Return the spaces of a repository, its site when a run looks at it, what it publishes, and its upstream."""
    spaces = [Subject("space", space.name) for space in repository.space]
    sites = [Subject("site")] if site and repository.site is not None and repository.site.apply else []
    published = [Subject("publish")] if site and repository.site and repository.site.publish else []
    upstreams = [Subject("upstream", repository.upstream.remote)] if repository.upstream is not None else []
    return (*spaces, *sites, *published, *upstreams)


def find_space(result: Result) -> str:
    """Return the name of the space that a result is about, or "" where it is about none alone."""
    return result.key.partition("/")[0] if SUBJECTS_OF_FLOWS.get(result.flow) == "space" else ""


def find_state(result: Result) -> str:
    """Return the state of a result in one word."""
    match result.outcome:
        case Waiting(exit_code=code) if code:
            return "waiting"
        case Held() if result.flow == CONFLICT:
            return "conflict"
        case Held(approval=True):
            return "approval"
        case Held(manual=True):
            return "manual"
        case Held(exit_code=code):
            return "held" if code in (_GUARDED, Conflict.exit_code) else "failed"
        case _:
            return "ok"


def is_complete_run(results: Sequence[Result]) -> bool:
    """Return whether a run came to its end: it did not when another syncd worked, or it was stopped."""
    refused = AnotherRuns.exit_code
    return not is_stopped(results) and not any(r.flow == RUN and r.outcome.exit_code == refused for r in results)


def judge_run(
    results: Sequence[Result], former: Sequence[RunRecord], subjects: Sequence[Subject], *, name: str, at: str
) -> tuple[RunRecord, ...]:
    """Return the records of the repository `name` after a run, from those before it.

    Shape: the repository's comes first. What the run did not get to because it ended early failed with it; what it was
    not asked for keeps its record. Units: `at` in ISO 8601.
    """
    known = {(record.kind, record.name): record for record in former}
    early = [result for result in results if result.flow == RUN and find_state(result) not in USEFUL]
    verdicts: dict[Subject, _Verdict] = {}
    for subject in subjects:
        own = [result for result in results if subject.is_about(result)]
        if own or early:
            verdicts[subject] = _find_worst([*own, *early])
    records = [
        _build_record(find_repository_run(former), Subject("repository", name), _judge_whole_run(results, verdicts), at)
    ]
    for subject in subjects:
        kept = known.get((subject.kind, subject.name))
        if subject in verdicts:
            records.append(_build_record(kept, subject, verdicts[subject], at))
        elif kept is not None:
            records.append(kept)
    return tuple(records)


def summarize_run(results: Sequence[Result]) -> Outcome:
    """Return the one outcome of a run that decides when the next one is.

    Shape: a time that the platform named wins. A failure decides only where nothing got through: what is wrong with one
    space makes no other wait. Waiting for people is no reason to run later.
    """
    wrong = [r.outcome for r in results if isinstance(r.outcome, Waiting | Held) and r.outcome.exit_code]
    for outcome in wrong:
        if isinstance(outcome, Waiting) and outcome.until is not None:
            return outcome
    if wrong:
        first = min(wrong, key=lambda outcome: isinstance(outcome, Held))
        return Held(first.why, first.hint, PARTLY_DONE) if _is_partly_done(results) else first
    changes = tuple(change for r in results if isinstance(r.outcome, Applied) for change in r.outcome.changes)
    return Applied(changes) if changes else Unchanged()


def _is_partly_done(results: Sequence[Result]) -> bool:
    """Whether a space was mirrored, a site was looked at or the upstream was fetched."""
    return any(result.flow in ("mirror", "site", "upstream") and not result.outcome.exit_code for result in results)


def _find_worst(results: Sequence[Result]) -> _Verdict:
    for state in _WORST_FIRST:
        for result in results:
            if find_state(result) == state:
                outcome = result.outcome
                if isinstance(outcome, Waiting | Held) and outcome.exit_code:
                    return _Verdict(state, outcome.exit_code, outcome.why, outcome.hint)
                return _Verdict(state)
    return _Verdict("ok")


def _judge_whole_run(results: Sequence[Result], verdicts: dict[Subject, _Verdict]) -> _Verdict:
    """What the run as a whole came to: only partly, when one of several subjects got through and something did not."""
    wrong = [result for result in results if find_state(result) not in USEFUL]
    worst = _find_worst(wrong or results)
    state, why = worst.state, worst.why
    if wrong:
        first = next(result for result in wrong if find_state(result) == state)
        why = why if first.flow == RUN else f"{first.flow} {first.key}: {why}".replace("  ", " ")
        why += f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        state = "partial" if any(verdict.state in USEFUL for verdict in verdicts.values()) else state
    held = sum(find_state(result) == "held" for result in results)
    conflicts = len({result.key for result in results if find_state(result) == "conflict"})
    if state == "conflict":
        why = f"{conflicts} {'page waits' if conflicts == 1 else 'pages wait'} for a person"
    return _Verdict(state, find_exit_code(results), why, worst.hint, held, conflicts)


def _build_record(former: RunRecord | None, subject: Subject, verdict: _Verdict, at: str) -> RunRecord:
    useful = verdict.state in USEFUL
    failures = 0 if useful else (former.failures if former else 0) + 1
    succeeded = at if useful else (former.succeeded if former else "")
    since = "" if useful else (former.since if former and former.failures else at)
    return RunRecord(
        subject.kind,
        subject.name,
        verdict.state,
        verdict.exit_code,
        verdict.why,
        verdict.hint,
        at,
        succeeded,
        since,
        failures,
        verdict.held,
        verdict.conflicts,
    )
