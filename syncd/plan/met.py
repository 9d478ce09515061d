"""What a commit says it has taken in without being its child: the trailers of a meeting that left pages held."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from syncd.model.text import one_line

MET, HELD, SINCE, TIP = "Syncd-Met", "Syncd-Held", "Syncd-Since", "Syncd-Tip"
Knot = frozenset[str]
"""Every path that one page has, in the base and on both sides."""


@dataclass(frozen=True)
class Claim:
    """A commit that holds all that `met` changed since `since`, but for the pages that are held."""

    commit: str
    met: tuple[str, ...]
    since: tuple[str, ...]
    held: tuple[Knot, ...] = ()

    @classmethod
    def whole(cls, *commits: str) -> tuple["Claim", ...]:
        """Given commits that a caller counts as taken in, with every page, return that as claims."""
        return tuple(cls(commit, (commit,), ()) for commit in commits)

    def holds(self, path: str) -> bool:
        """Given a path, return whether its page was held."""
        return any(path in knot for knot in self.held)


def claim_of(commit: str, trailers: Mapping[str, Sequence[str]]) -> Claim:
    """Given a commit and its trailers, return what it claims."""
    held = tuple(frozenset(_paths(value)) for value in trailers.get(HELD, ()))
    return Claim(commit, tuple(trailers.get(MET, ())), tuple(trailers.get(SINCE, ())), held)


def met_message(
    subject: str,
    *,
    met: Iterable[str] = (),
    since: Iterable[str] = (),
    held: Iterable[Sequence[str]] = (),
    tip: str = "",
) -> str:
    """Given what a commit takes in, return its message with the trailers that the next meeting reads."""
    lines = [f"{MET}: {commit}" for commit in met]
    lines += [f"{SINCE}: {commit}" for commit in since]
    lines += [f"{HELD}: {_value(paths)}" for paths in held]
    lines += [f"{TIP}: {tip}"] if tip else []
    first = one_line(subject)
    return f"{first}\n\n" + "\n".join(lines) + "\n" if lines else f"{first}\n"


def _value(paths: Sequence[str]) -> str:
    """One path as it is, where it is plain; else all of them as JSON, which knows no line ends and no lone bytes."""
    plain = len(paths) == 1 and paths[0].isprintable() and paths[0] == paths[0].strip() and paths[0][:1] not in '["'
    return paths[0] if plain else json.dumps(list(paths))


def _paths(value: str) -> list[str]:
    if not value.startswith("["):
        return [value]
    try:
        found = json.loads(value)
    except ValueError:
        return [value]
    return [path for path in found if isinstance(path, str)]
