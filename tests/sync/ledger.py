"""An oracle for lost text: every word that a side wrote, and what may have become of it.

A word is `w` and a number, written once in all history; a page carries a mark, `page` and a number, in a paragraph that
nobody edits. A word has to be there in the end unless a side that saw it deleted it; a deleted one has to be gone,
unless its page was deleted while another side had changed it, or a person chose between two versions of its lines.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher

WORD = re.compile(r"\bw\d+\b")
MARK = re.compile(r"\bpage\d+\b")


def words(text: str) -> set[str]:
    """Given a text, return the words of the ledger that it holds, its mark among them."""
    return set(WORD.findall(text)) | set(MARK.findall(text))


@dataclass
class Ledger:
    """What was written, what was deleted by a side that had seen it, and of that what may come back."""

    written: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    may_return: set[str] = field(default_factory=set)
    deleted_pages: dict[str, set[str]] = field(default_factory=dict)
    _next: int = 0

    def number(self) -> int:
        """Return a number that was never given out before."""
        self._next += 1
        return self._next

    def word(self) -> str:
        """Return a word that was never written before."""
        return self._written(f"w{self.number()}")

    def mark(self) -> str:
        """Return the mark of a new page."""
        return self._written(f"page{self.number()}")

    def _written(self, word: str) -> str:
        self.written.add(word)
        return word

    def delete(self, gone: Iterable[str]) -> None:
        """Given words that a side saw and deleted, expect them to be gone."""
        self.deleted.update(gone)

    def delete_page(self, mark: str, text: str, others: Collection[str]) -> None:
        """Given a page that a side deletes and its other versions, expect it to go unless one says something else.

        Shape: what comes back is a version of another side as a whole, with the words that this side had deleted first.
        """
        seen = words(text)
        self.delete(seen)
        seen |= {word for other in others for word in words(other)} & self.deleted
        self.deleted_pages[mark] = self.deleted_pages.get(mark, set()) | seen
        if any(other != text for other in others):
            self.may_return |= seen

    def touch(self, mark: str) -> None:
        """Given a page that a side changes: if another side has deleted it, the change brings it back."""
        self.may_return |= self.deleted_pages.get(mark, set())

    def choose(self, texts: Iterable[str]) -> None:
        """Given the versions of a page among which a person chose, let their deleted words come back."""
        for text in texts:
            self.may_return |= words(text) & self.deleted

    def complaints(self, text: str) -> list[str]:
        """Given all text of a side at the end, return what is lost and what was brought back."""
        here = words(text)
        lost = sorted(self.written - self.deleted - here)
        back = sorted((self.deleted - self.may_return) & here)
        return [f"{word} is lost" for word in lost] + [f"{word} was deleted and is back" for word in back]


def same_place(base: str, ours: str, theirs: str) -> bool:
    """Given a base and two versions of it, return whether both changed the same paragraph, or two that touch."""
    before = base.split("\n\n")
    return any(
        a_start <= b_end and b_start <= a_end
        for a_start, a_end in _changed(before, ours.split("\n\n"))
        for b_start, b_end in _changed(before, theirs.split("\n\n"))
    )


def _changed(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(start, end) for kind, start, end, _, _ in blocks if kind != "equal"]
