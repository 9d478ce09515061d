"""Replay old addresses of a site through what it was and what it shall be: which of them get lost, and how."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.follow import Fate, follow_address
from syncd.model.redirect import make_source_key

Verdict = Literal["ok", "fixed", "moved", "regression", "wrong-landing", "new-loop"]
BAD: frozenset[str] = frozenset({"regression", "wrong-landing", "new-loop"})
"""Verdicts that make the command fail."""
Renamed = Mapping[tuple[str, str], str]
"""The file that a page has now, by the id of its space and the file that it had."""


@dataclass(frozen=True)
class Replay:
    """One address, what it led to and what it leads to, and what to think of that."""

    url: str
    verdict: Verdict
    before: Fate
    after: Fate

    @property
    def is_worse(self) -> bool:
        """Whether visitors are worse off than before."""
        return self.verdict in BAD


def simulate_addresses(urls: Iterable[str], before: SiteMap, after: SiteMap, renamed: Renamed) -> tuple[Replay, ...]:
    """Return a replay of each address on the site before and after a change.

    Shape: ok: the same content, or nothing, as before · fixed: nothing or a loop before, content now · moved: the same
    content behind a redirect, or, where it is gone or its redirect was changed, another · regression: something before,
    nothing now · wrong-landing: the content still exists, and the address leads to another · new-loop: it goes round in
    circles now.
    """
    simulation = _Simulation(before, after, renamed)
    return tuple(simulation.simulate(url) for url in dict.fromkeys(urls))


class _Simulation:
    """Follows addresses on the site before and after a change."""

    def __init__(self, before: SiteMap, after: SiteMap, renamed: Renamed) -> None:
        self.before, self.after, self.renamed = before, after, renamed
        self.published = frozenset(str(item.fields.get("space")) for item in after.file.of("variant"))
        self.files = {space: frozenset(pages.values()) for space, pages in after.pages.items()}

    def simulate(self, url: str) -> Replay:
        was, now = follow_address(self.before, url), follow_address(self.after, url)
        return Replay(url, self._judge_change(was, now), was, now)

    def _judge_change(self, was: Fate, now: Fate) -> Verdict:
        found = was.end in ("page", "elsewhere")
        if now.end == "loop":
            return "ok" if was.end == "loop" else "new-loop"
        if now.end == "nothing":
            return "regression" if found else "ok"
        if not found:
            return "fixed"
        if self._has_same_content(was, now):
            return "moved" if now.hops and not was.hops else "ok"
        return "moved" if self._is_gone(was) or _is_retargeted(was, now) else "wrong-landing"

    def _has_same_content(self, was: Fate, now: Fate) -> bool:
        if was.spot is None or now.spot is None:
            return was.at == now.at
        old, new = was.spot, now.spot
        if not old.file or not new.file:  # nobody can look into the space: the same path of it is the same content
            return (old.space, old.path) == (new.space, new.path)
        return (old.space, self.renamed.get((old.space, old.file), old.file)) == (new.space, new.file)

    def _is_gone(self, was: Fate) -> bool:
        """Whether what an address led to is content that the site has no more."""
        if was.spot is None:
            return False
        space, file = was.spot.space, was.spot.file
        known = self.files.get(space)
        lost = known is not None and bool(file) and self.renamed.get((space, file), file) not in known
        return lost or space not in self.published


def _is_retargeted(was: Fate, now: Fate) -> bool:
    """Whether the redirect that answers is the same and somebody made it lead elsewhere."""
    if not was.rule or make_source_key(was.rule) != make_source_key(now.rule):
        return False
    return was.hops[0].to != now.hops[0].to
