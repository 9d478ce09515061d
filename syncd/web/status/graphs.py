"""Graphs of the requests to the platform: numbers in, the shapes of an inline SVG out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syncd.model.moment import format_moment
from syncd.web.status.values import RequestMinute

MINUTES = 60
WIDTH, HEIGHT = 600.0, 96.0
_STEP = WIDTH / MINUTES


@dataclass(frozen=True)
class Bar:
    """One bar, in units of the view box; `label` says its numbers."""

    x: float
    y: float
    width: float
    height: float
    label: str
    is_bad: bool = False


@dataclass(frozen=True)
class Graph:
    """A graph of one hour. Shape: `rows` are the same numbers as plain text; `top` is its full height."""

    key: str
    title: str
    summary: str
    top: str
    bars: tuple[Bar, ...]
    rows: tuple[tuple[str, str], ...]


def build_graphs(minutes: Sequence[RequestMinute], now: float) -> tuple[Graph, ...]:
    """Return the graphs of latency, requests and the rate limit within the last hour. Units: `now` in epoch seconds."""
    begin = (now // 60 - MINUTES + 1) * 60
    recent = [minute for minute in minutes if begin <= minute.at <= now and minute.count]
    count, failures = sum(one.count for one in recent), sum(one.failures for one in recent)
    mean = sum(one.seconds for one in recent) / count if count else 0.0
    longest = max((one.longest for one in recent), default=0.0)
    limited = [one for one in recent if one.limit]
    left = f"{_share(limited[-1]):.0%} left" if limited else "no answer named a limit"
    failed = f", {failures} failed" if failures else ""
    return (
        _build("requests", "Requests", f"{count} in the last hour{failed}", recent, begin, lambda m: m.count, "{:.0f}"),
        _build(
            "latency",
            "Latency",
            f"mean {mean * 1000:.0f} ms, longest {longest * 1000:.0f} ms",
            recent,
            begin,
            lambda m: m.seconds / m.count * 1000,
            "{:.0f} ms",
        ),
        _build("budget", "Rate limit", left, limited, begin, lambda m: _share(m) * 100, "{:.0f} %", top=100.0),
    )


def _share(minute: RequestMinute) -> float:
    return max(minute.remaining or 0.0, 0.0) / minute.limit if minute.limit else 1.0


def _build(
    key: str,
    title: str,
    summary: str,
    minutes: Sequence[RequestMinute],
    begin: float,
    read: Callable[[RequestMinute], float],
    form: str,
    top: float = 0.0,
) -> Graph:
    values = [(minute, read(minute)) for minute in minutes]
    highest = top or max((value for _, value in values), default=0.0) or 1.0
    bars, rows = [], []
    for minute, value in values:
        height = max(HEIGHT * min(value / highest, 1.0), 1.0)
        x = (minute.at - begin) / 60 * _STEP
        moment, text = format_moment(minute.at)[:16], form.format(value)
        failed = f", {minute.failures} failed" if minute.failures else ""
        bars.append(
            Bar(
                round(x, 1),
                round(HEIGHT - height, 1),
                _STEP - 2,
                round(height, 1),
                f"{moment}: {text}{failed}",
                bool(failed),
            )
        )
        rows.append((moment, f"{text}{failed}"))
    return Graph(key, title, summary, form.format(highest) if values else "", tuple(bars), tuple(reversed(rows)))
