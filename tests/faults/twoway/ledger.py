"""Who wrote and who deleted each word, in terms of what each had seen; and what must be true of it at the end.

A token is `alive` (it must be on every side), `dead` (somebody who saw it deleted it, and nobody else knew better: it
must be on none) or `free` (two people, or one who rewrote history, disagreed about it: either will do).
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from tests.faults.twoway.pages import Page, View, by_mark, drafts_of, tokens_of


@dataclass
class Token:
    """A word, a mark or a title's word.

    Shape: `page` is the mark of its page; `why` says who decided last, `droppers` are all who took it away.
    """

    author: str
    page: str
    state: str = "alive"
    why: str = ""
    droppers: set[str] = field(default_factory=set)


@dataclass
class Ledger:
    """What was written and deleted, by whom."""

    tokens: dict[str, Token] = field(default_factory=dict)
    edits: int = 0
    deleted_pages: dict[str, set[str]] = field(default_factory=dict)
    dropped_drafts: set[str] = field(default_factory=set)
    """Of pages that came back and were deleted, or lost the line, by somebody who saw it."""

    def begin(self, view: View) -> None:
        """Given what there is before the first step, let nobody have written it."""
        self._write("nobody", view, tokens_of(view), "beginning")

    def edit(self, actor: str, before: View, after: View, why: str, others: Callable[[], Iterable[View]]) -> None:
        """Given what an actor saw and what they made of it on purpose, record it.

        Shape: `others` returns what all other sides have; it is asked for only when a page was deleted.
        """
        self.edits += 1
        seen, left = tokens_of(before), tokens_of(after)
        self.dropped_drafts |= drafts_of(before) - drafts_of(after)
        self._write(actor, after, left - seen, why)
        pages, kept = by_mark(before), by_mark(after)
        for mark in pages.keys() - kept.keys():
            self._delete_page(pages[mark], before, why, others())
        for name in seen - left:
            token = self.tokens[name]
            if token.page in kept or token.page not in pages:
                token.droppers.add(actor)
                self._set(name, "dead", why)
        self._touch(before, after, why)

    def rewrite(self, actor: str, before: View, after: View, why: str) -> None:
        """Given what a branch held before and after its history was rewritten, record it.

        What others wrote and the branch now lacks was not deleted: it has to come in again. What the actor wrote is
        dropped, which anybody who has it by now need not take for a deletion.
        """
        self.edits += 1
        seen, left = tokens_of(before), tokens_of(after)
        for name in seen - left:
            if self.tokens[name].author == actor:
                self._set(name, "free", why)
        self._write(actor, after, left - seen, why)
        self._touch(before, after, why)

    def free(self, names: Iterable[str], why: str) -> None:
        """Given tokens about which a person decided between two versions, let either be right."""
        for name in names:
            if name in self.tokens:
                self._set(name, "free", why)

    def revive(self, names: Iterable[str], why: str) -> None:
        """Given tokens that somebody brought back while nobody else had a say that they do not know, let them live."""
        for name in names:
            self.tokens[name].state, self.tokens[name].why = "alive", why

    def contest(self, marks: Iterable[str], why: str, *, kept: Collection[str] | None = None) -> None:
        """Given pages that are in conflict, let what was deleted of them come back: all of it, or what was `kept`."""
        wanted = set(marks)
        gone = (name for name, one in self.tokens.items() if one.page in wanted and one.state == "dead")
        self.free([name for name in gone if kept is None or name in kept], why)

    def named(self, state: str) -> set[str]:
        """Return the tokens in a state."""
        return {name for name, token in self.tokens.items() if token.state == state}

    def _write(self, actor: str, view: View, names: set[str], why: str) -> None:
        """Record what is new; what was there once and comes back by somebody's deed may stay or go."""
        for page in view.values():
            for name in page.tokens & names:
                if name not in self.tokens:
                    self.tokens[name] = Token(actor, page.mark, why=why)
                elif self.tokens[name].state == "dead":
                    self._set(name, "free", why)

    def _delete_page(self, page: Page, seen: View, why: str, others: Iterable[View]) -> None:
        """A page goes, unless some side says something of it that the actor had not seen: then it may stay.

        So may a page of which two took the same word away, since neither sees that the other did so too, and a group
        that some side has put another page into.
        """
        mine, views = page.tokens, list(others)
        versions = [other for view in views if (other := by_mark(view).get(page.mark))]
        unseen = any(self._says_more(other, mine) for other in versions)
        unseen |= any(token.page == page.mark and len(token.droppers) > 1 for token in self.tokens.values())
        if page.is_group:
            unseen |= any(_list_below(view, page.mark) - _list_below(seen, page.mark) for view in views)
        if unseen:  # another version comes back as a whole, with the words that this side had deleted first
            deleted = self.named("dead")
            self.free({name for other in versions for name in other.tokens & deleted}, why)
        self.deleted_pages.setdefault(page.mark, set()).update(mine)
        for name in mine:
            self._set(name, "free" if unseen else "dead", why)

    def _says_more(self, other: Page, mine: set[str]) -> bool:
        more = any(self.tokens[name].state != "dead" for name in other.tokens - mine if name in self.tokens)
        return more or any(self.tokens[name].state != "alive" for name in mine - other.tokens)

    def _touch(self, before: View, after: View, why: str) -> None:
        """A page that somebody edits who has not seen its deletion may come back, as it was for them; so may a group
        that they put a page into."""
        former, later = by_mark(before), by_mark(after)
        for mark in former.keys() & later.keys() & self.deleted_pages.keys():
            is_edited = (former[mark].text, former[mark].title) != (later[mark].text, later[mark].title)
            if is_edited or (later[mark].is_group and _list_below(after, mark) - _list_below(before, mark)):
                gone = {name for name in self.deleted_pages[mark] if self.tokens[name].state == "dead"}
                self.free(gone | (later[mark].tokens & self.named("dead")), f"{why} touched the deleted page")

    def _set(self, name: str, state: str, why: str) -> None:
        if state == "dead" and self.tokens[name].state == "free":
            return
        self.tokens[name].state, self.tokens[name].why = state, why


def _list_below(view: View, mark: str) -> set[str]:
    """The marks of the pages right below another page, or in a group."""
    return {page.mark for page in view.values() if (above := view.get(page.above)) and above.mark == mark}
