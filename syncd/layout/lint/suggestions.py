"""Suggestions: which existing name a wrong one was probably meant to be."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from posixpath import basename, commonprefix, dirname

from syncd.layout.tree.spelling import format_renaming

SEARCHES_MAX = 200
"""Wrong names for which a likeness is searched; whoever has more of them has another problem."""
COMPARISONS_MAX = 400
"""Names that one wrong name is compared with."""
CHARACTERS_MAX = 60_000
"""Characters of names that are looked at closely, over all wrong names: each of them costs as much as it is long."""
SIMILARITY_MIN = 0.8


class NearMisses:
    """Names to choose from, indexed by their last part and by their folder."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._beside: dict[str, list[str]] = {}
        for name in names:
            self._by_name.setdefault(basename(name).lower(), []).append(name)
            self._beside.setdefault(dirname(name), []).append(name)
        self._left = SEARCHES_MAX
        self._effort = CHARACTERS_MAX

    def find(self, wrong: str) -> str | None:
        """Return the existing name that was probably meant by one that does not exist, or None.

        Shape: the same file name in another folder, else a likely misspelling among the names beside it.
        """
        self._left -= 1
        if self._left < 0:
            return None
        same = self._by_name.get(basename(wrong).lower(), ())
        if same and basename(wrong).lower() != "readme.md":
            return max(same[:COMPARISONS_MAX], key=lambda name: (len(commonprefix((name, wrong))), name))
        return self._alike(wrong, self._beside.get(dirname(wrong), ())[:COMPARISONS_MAX])

    def _alike(self, wrong: str, names: Iterable[str]) -> str | None:
        """Return the name that is most similar; most are excluded by their length and letters alone."""
        matcher = SequenceMatcher(b=wrong)
        best: tuple[float, str] | None = None
        for name in names:
            matcher.set_seq1(name)
            if matcher.real_quick_ratio() < SIMILARITY_MIN or matcher.quick_ratio() < SIMILARITY_MIN:
                continue
            self._effort -= len(name)
            if self._effort < 0:
                break
            if (ratio := matcher.ratio()) >= SIMILARITY_MIN:
                best = max(best or (ratio, name), (ratio, name))
        return best[1] if best is not None else None


def format_suggestion(name: str | None) -> str:
    """Return the hint for a suggested name, "" for None."""
    return f"did you mean {name}?" if name else ""


def format_space_renaming(path: str) -> str:
    """Return the hint for a file whose name only looks like the one that is meant: how it is renamed; "" for others."""
    renaming = format_renaming(path)
    return f"rename the file; in the directory of the space: {renaming}" if renaming else ""
