"""Many redirects: five hundred a request where the platform offers that, else four requests at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from syncd.api.parallel import run_parallel
from syncd.errors import PlatformError, Rejected, SyncdError
from syncd.model.redirect import RedirectResult, RedirectUpserts, make_source_key
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import LiveSite
from syncd.plan.site.steps import Step
from syncd.sync.site.calls import CallSender, is_fatal
from syncd.sync.site.read.parts import NOT_OFFERED

SIZE = 500
"""Redirects of one request. Source: `bulkUpsertSiteRedirects`, @gitbook/api 0.202.0."""
BULK_FROM = 3
"""Redirects from which it pays to ask whether many are taken at once."""
WORKERS = 4
LARGE_WORKERS = 2
"""While what came of one large request is written down, the platform works on the next."""

Result = tuple[Step, PlatformError | None]
Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass
class RedirectSender:
    """Carries out steps on redirects; whether many are taken at once is found out at the first try."""

    calls: CallSender
    live: LiveSite
    offered: bool = True

    def carry_out(self, steps: Sequence[Step]) -> Iterator[list[Result]]:
        """Yield the results of steps on different redirects, as they are done.

        Raises: what `is_fatal`, Stopped.
        """
        together = [step for step in steps if self._source(step)] if self.offered and len(steps) >= BULK_FROM else []
        known = set(map(id, together))
        alone = [step for step in steps if id(step) not in known]
        for chunk, results in self._send_chunks(list(_split_chunks(together))):
            if results is None:
                alone += chunk
            else:
                yield results
        for step, error in _run_each(self._send_alone, alone, workers=WORKERS):
            yield [(step, error)]

    def _send_chunks(self, chunks: Sequence[list[Step]]) -> Iterator[tuple[list[Step], list[Result] | None]]:
        """Send each chunk as one request; the first one finds out whether that is offered."""
        for some in (chunks[:1], chunks[1:]):
            if self.offered:
                yield from _run_each(self._send_together, some, workers=LARGE_WORKERS)
            else:
                yield from ((chunk, None) for chunk in some)

    def _send_alone(self, step: Step) -> PlatformError | None:
        try:
            self.calls.carry_out(step)
        except PlatformError as error:
            if is_fatal(error):
                raise
            return error
        return None

    def _send_together(self, steps: Sequence[Step]) -> list[Result] | None:
        """Send steps as one request; None when the platform has no such operation."""
        reader, ids = self.calls.reader, self.calls.ids
        items = [{"source": self._source(step), "destination": self._destination(step)} for step in steps]
        upserts = RedirectUpserts.model_validate({"redirects": items})
        try:
            answers = reader.client.redirects.upsert(reader.organization, reader.site, upserts)
        except PlatformError as error:
            self.offered = error.status not in NOT_OFFERED
            if self.offered and is_fatal(error):
                raise
            return None  # refused as a whole: one at a time, it turns out which of them is at fault
        found = {make_source_key(one.source): one for one in answers}
        results: list[Result] = []
        for step in steps:
            answer = found.get(make_source_key(self._source(step)))
            if answer is not None and answer.id is not None and answer.status != "error":
                ids.add(step.ref, answer.id)
            results.append((step, _find_error(step, answer)))
        return results

    def _source(self, step: Step) -> str:
        """The source of a step that can be done together with others; "" for one that renames or that is unknown."""
        there = self.live.items.get(step.id) if isinstance(step.id, str) else None
        before = str(there.fields["source"]) if there is not None else ""
        if step.call is Call.REDIRECT_CREATE:
            return str(step.body["source"])
        if step.call is Call.REDIRECT_DELETE:
            return before
        return before if "destination" in step.body and step.body.get("source", before) == before else ""

    def _destination(self, step: Step) -> Any:
        return None if step.call is Call.REDIRECT_DELETE else self.calls.ids.resolve(step.body["destination"])


def split_rounds(steps: Sequence[Step], live: LiveSite) -> Iterator[list[Step]]:
    """Yield steps on redirects in rounds, in order: within one, none needs a source that another leaves."""
    current: list[Step] = []
    left: set[str] = set()
    for step in steps:
        if left and "source" in step.body and make_source_key(step.body["source"]) in left:
            yield current
            current, left = [], set()
        current.append(step)
        there = live.items.get(step.id) if isinstance(step.id, str) else None
        if there is not None and (step.call is Call.REDIRECT_DELETE or "source" in step.body):
            left.add(make_source_key(str(there.fields["source"])))
    yield current


def _run_each(call: Callable[[Item], Answer], items: Sequence[Item], *, workers: int) -> Iterator[tuple[Item, Answer]]:
    """Yield the answer of a call for each item. Raises: the first error, once all calls that were under way have
    ended.
    """
    errors: list[SyncdError] = []

    def try_item(item: Item) -> list[Answer]:
        try:
            return [] if errors else [call(item)]
        except SyncdError as error:
            errors.append(error)
            return []

    for item, answers in run_parallel(try_item, items, workers=workers):
        yield from ((item, answer) for answer in answers)
    if errors:
        raise errors[0]


def _split_chunks(steps: Sequence[Step]) -> Iterator[list[Step]]:
    for at in range(0, len(steps), SIZE):
        yield list(steps[at : at + SIZE])


def _find_error(step: Step, answer: RedirectResult | None) -> PlatformError | None:
    if answer is None:
        return Rejected(f"{step.ref}: the platform does not say what became of it")
    return Rejected(f"{step.ref}: {answer.error or 'refused'}", status=400) if answer.status == "error" else None
