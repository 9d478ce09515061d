"""A rule about reusable content: what includes itself, at once or by way of others."""

import re
from collections.abc import Iterator

from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Page, Space
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import Target
from syncd.model.text import quote_name

_TAG = re.compile(r'\{%[ \t]*include[ \t]+"$')
_LOOK_BACK = 40
_SHOWN_MAX = 8
"""Files of one cycle that a message names."""


def is_include(page: Page, target: Target) -> bool:
    """Return whether an address of a page is what a tag includes."""
    return _TAG.search(page.text[max(0, target.start - _LOOK_BACK) : target.start]) is not None


def check_includes(space: Space) -> Iterator[Finding]:
    """Yield each tag by which content includes itself: where it would come again, it is said to be missing."""
    done: set[str] = set()
    for page in space.read_published_pages():
        yield from _find_cycles(space, page.path, done)


def _find_cycles(space: Space, start: str, done: set[str]) -> Iterator[Finding]:
    """Yield the tags of the cycles that can be reached from a file and were not seen yet: a search in depth."""
    pending = [(start, _list_includes(space, start))] if start not in done else []
    done.add(start)
    # The files from the start to here in order, each with the tag that is followed.
    trail: dict[str, Target] = {}
    while pending:
        path, targets = pending[-1]
        step = next(targets, None)
        if step is None:
            pending.pop()
            trail.pop(path, None)
            continue
        target, inner = step
        trail.pop(path, None)
        trail[path] = target
        if inner in trail:
            yield from _report_cycle(space, list(trail.items()), inner)
        elif inner not in done:
            done.add(inner)
            pending.append((inner, _list_includes(space, inner)))


def _list_includes(space: Space, path: str) -> Iterator[tuple[Target, str]]:
    page = space.read_page(path)
    for target in page.targets if "include" in page.text else ():
        found = resolve_address(target.text, at=path) if is_include(page, target) else None
        if found is not None and found[0] in space.files:
            yield target, found[0]


def _report_cycle(space: Space, trail: list[tuple[str, Target]], first: str) -> Iterator[Finding]:
    """Yield a finding at each tag of a cycle; `trail` ends with the tag that closes it."""
    paths = [path for path, _ in trail]
    cycle = trail[paths.index(first) :]
    names = [quote_name(path) for path, _ in cycle]
    for number, (path, target) in enumerate(cycle):
        others = [*names[number + 1 :], *names[: number + 1]]
        shown = " includes ".join([*others[:_SHOWN_MAX], *(["…"] if len(others) > _SHOWN_MAX else [])])
        message = f"this includes itself: {names[number]} includes {shown}"
        yield make_finding("include-cycle", path, space.read_page(path).locate(target.start), message)
