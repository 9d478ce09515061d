"""What the service logs of its runs: what is done, and what is wrong when it begins, changes and ends."""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from syncd.cli.service.log import Log, LogEvent
from syncd.cli.terminal.output import format_results
from syncd.cli.terminal.text import escape, style_text
from syncd.daemon.health import USEFUL
from syncd.daemon.hooks.receiver import UNKNOWN, WebhookAnswer
from syncd.daemon.records import find_space, find_state
from syncd.daemon.service import SELF
from syncd.daemon.systemd import ERROR, INFO, NOTICE, WARNING
from syncd.errors import Conflict
from syncd.model.wording import format_count
from syncd.store.incidents import Incident
from syncd.sync.outcome import CONFLICT, PAGE, Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import Result

_PRIORITIES = {"failed": ERROR, "held": ERROR} | dict.fromkeys(("waiting", "conflict", "approval", "manual"), WARNING)

_COUNTS = re.compile(r"\b\d+ (?:s|tries|times|try)\b|\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b")


class RunLog:
    """Logs the results of runs; what has not changed since the last run of a repository is not logged again."""

    def __init__(
        self,
        log: Log,
        list_former: Callable[[str], Sequence[Incident]] = lambda name: (),
        count_failures: Callable[[str], int] = lambda name: 0,
    ) -> None:
        """Begin with what a former service told of a repository, by its name; `list_former` returns it.

        `count_failures` returns how many runs of a repository failed since its last success, as they are recorded.
        """
        self._log, self._list_former, self._count_failures = log, list_former, count_failures
        self._open: dict[str, list[Result]] = {}
        """What was wrong or waited for a person as of the last run, by the repository's name."""
        self._failures: dict[str, int] = {}
        """Runs in a row that were no success."""

    def report(self, name: str, results: Sequence[Result]) -> None:
        """Log the results of one run of a repository."""
        former = self._find_former(name)
        self._log_news(name, results, former)
        before = [*self._open.get(name, []), *map(_build_result, former)]
        now = [result for result in results if _is_failure(result) or _is_waiting_for_person(result)]
        if any(_is_failure(result) for result in results):
            # The records outlive the service, and lack runs that another syncd kept from beginning.
            self._failures[name] = max(self._failures.get(name, 0) + 1, self._count_failures(name))
            # A run that failed did not check whether the others still wait.
            places = {(result.flow, result.key) for result in now}
            now += [one for one in before if not _is_failure(one) and (one.flow, one.key) not in places]
        else:
            self._log_settled(name, before, now)
            if failures := self._failures.pop(name, 0):
                self._log(LogEvent((f"works again, after {format_count(failures, 'run')} that failed",), NOTICE, name))
        self._open[name] = now

    def _find_former(self, name: str) -> Sequence[Incident]:
        """What waited for a person before the service started, and was logged then; () after the first run."""
        # A failure of then is no such: it is news for whoever started the service.
        return () if name in self._open else [one for one in self._list_former(name) if one.flow in (CONFLICT, PAGE)]

    def _log_news(self, name: str, results: Sequence[Result], former: Sequence[Incident]) -> None:
        known = [_forget_counts(result) for result in self._open.get(name, [])]
        logged = {(one.flow, one.key, one.why) for one in former}
        for result in results:
            if name == SELF and isinstance(result.outcome, Held | Waiting):
                self._log(_describe_refusal(result.outcome))
            elif isinstance(result.outcome, Held) and (result.flow, result.key, result.outcome.why) in logged:
                continue
            elif _forget_counts(result) not in known and not isinstance(result.outcome, Unchanged):
                self._log(_describe_result(name, result))

    def _log_settled(self, name: str, before: Sequence[Result], now: Sequence[Result]) -> None:
        still = {(result.flow, result.key) for result in now}
        for flow, key in dict.fromkeys((result.flow, result.key) for result in before):
            if flow in (CONFLICT, PAGE) and (flow, key) not in still:
                self._log(LogEvent((f"{flow} {escape(key)} settled",), NOTICE, name, {"flow": flow, "state": "ok"}))


def log_webhook(log: Log, answer: WebhookAnswer, more: int) -> None:
    """Log the answer to a webhook, and how many more of its sender were refused since one was logged."""
    others = f" ({more} more were refused before it)" if more else ""
    line = f"webhook of {answer.source or UNKNOWN}: {answer.status}, {escape(answer.text)}{others}"
    fields = {"flow": "webhook", "source": answer.source or UNKNOWN, "status": str(answer.status)}
    log(LogEvent((line,), WARNING if answer.is_refusal else INFO, fields=fields))


def log_warning(log: Log, text: str) -> None:
    """Log a warning, which may have several lines."""
    log(LogEvent(tuple(escape(line) for line in text.rstrip("\n").split("\n")), WARNING))


def _build_result(incident: Incident) -> Result:
    return Result(incident.flow, incident.key, Held(incident.why, incident.hint, Conflict.exit_code))


def _forget_counts(result: Result) -> Result:
    """A result as it is compared: how often, how long and until when changes from run to run."""
    outcome = result.outcome
    if isinstance(outcome, Waiting):
        outcome = replace(outcome, until=None)
    if isinstance(outcome, Held | Waiting):
        outcome = replace(outcome, why=_COUNTS.sub("", outcome.why))
    return replace(result, outcome=outcome)


def _is_failure(result: Result) -> bool:
    return find_state(result) not in USEFUL


def _is_waiting_for_person(result: Result) -> bool:
    """Whether a result says only that a person has to do something, or has something to read."""
    if isinstance(result.outcome, Applied):
        return all(change.verb == "report" for change in result.outcome.changes)
    if isinstance(result.outcome, Waiting):
        return not result.outcome.exit_code
    return find_state(result) in ("conflict", "approval", "manual")


def _describe_result(name: str, result: Result) -> LogEvent:
    done = NOTICE if isinstance(result.outcome, Waiting) or _has_notes(result.outcome) else INFO
    state = find_state(result)
    facts = {"flow": result.flow, "state": state, "space": find_space(result)}
    fields = {key: value for key, value in facts.items() if value}
    return LogEvent(tuple(format_results([result])), _PRIORITIES.get(state, done), name, fields)


def _describe_refusal(outcome: Held | Waiting) -> LogEvent:
    hints = (f"  hint: {escape(line)}" for line in filter(None, outcome.hint.split("\n")))
    return LogEvent(
        (f"{style_text('error:', 31, sys.stderr)} {escape(outcome.why)}", *hints), ERROR, fields={"state": "failed"}
    )


def _has_notes(outcome: Outcome) -> bool:
    return isinstance(outcome, Applied) and bool(outcome.notes)
