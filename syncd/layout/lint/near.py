"""Near misses: which existing name a wrong one was probably meant to be."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from posixpath import basename, commonprefix, dirname

TRIES = 200
"""Wrong names for which a likeness is searched; whoever has more of them has another problem."""
COMPARED = 400
"""Names that one wrong name is compared with."""
EFFORT = 60_000
"""Characters of names that are looked at closely, over all wrong names: each of them costs as much as it is long."""
LIKE = 0.8


class Near:
    """Names to choose from, found by their last part first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._beside: dict[str, list[str]] = {}
        for name in names:
            self._by_name.setdefault(basename(name).lower(), []).append(name)
            self._beside.setdefault(dirname(name), []).append(name)
        self._left = TRIES
        self._effort = EFFORT

    def to(self, wrong: str) -> str | None:
        """Given a name that does not exist, return the one that was probably meant.

        Shapes: the same file name in another folder, else a likely misspelling among the names beside it.
        """
        self._left -= 1
        if self._left < 0:
            return None
        same = self._by_name.get(basename(wrong).lower(), ())
        if same and basename(wrong).lower() != "readme.md":
            return max(same[:COMPARED], key=lambda name: (len(commonprefix((name, wrong))), name))
        return self._alike(wrong, self._beside.get(dirname(wrong), ())[:COMPARED])

    def _alike(self, wrong: str, names: Iterable[str]) -> str | None:
        """The name that is most like a wrong one; most are ruled out by their length and letters alone."""
        matcher = SequenceMatcher(b=wrong)
        best: tuple[float, str] | None = None
        for name in names:
            matcher.set_seq1(name)
            if matcher.real_quick_ratio() < LIKE or matcher.quick_ratio() < LIKE:
                continue
            self._effort -= len(name)
            if self._effort < 0:
                break
            if (ratio := matcher.ratio()) >= LIKE:
                best = max(best or (ratio, name), (ratio, name))
        return best[1] if best is not None else None


def meant(name: str | None) -> str:
    """Given a near miss or None, return the hint for it."""
    return f"did you mean {name}?" if name else ""
