"""Apply an edit of the server's form of a page to the writer's form of it, where the two do not mean the same."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.compare.alignment import pair_equal_items, pair_occurrences
from syncd.layout.compare.page_blocks import ComposedBlock, TokenizedPage, compose_page, read_block_source
from syncd.layout.compare.reformat import copy_line_ends
from syncd.layout.compare.tokens import tokenize_page
from syncd.layout.page.frontmatter import patch_frontmatter

TOKENS_MAX = 1_500
"""Words and signs of a passage that are merged word by word; a longer one is a clash."""

COMPARISONS_MAX = 2_500
"""Pairs of blocks in one passage whose words are compared, to find which stands for which."""

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\s+|[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True)
class PatchedPage:
    """The writer's page with the edit in it.

    Shape: `conflicts` are the lines of the writer's page whose words the edit replaced although the server's form of
    them had lost something.
    """

    body: bytes
    conflicts: tuple[int, ...] = ()


class _BlockMatch(NamedTuple):
    """Blocks of the server's form and the blocks of the writer's form that correspond; `is_equal` when they mean the
    same."""

    server: range
    writer: range
    is_equal: bool


def patch_page(writer: bytes, before: bytes, after: bytes, *, at: str) -> PatchedPage:
    """Return the writer's page with the edit that turns the server's form of it from `before` into `after`.

    Shape: what the edit did not touch keeps the writer's bytes, also where the server had lost some of it; where it
    touched such a passage both are merged word by word, and where both change the same words the edit wins. New lines
    end as most of the writer's do.
    """
    before, after = copy_line_ends(writer, before), copy_line_ends(writer, after)
    try:
        one, base, other = (tokenize_page(text.decode(), at=at) for text in (writer, before, after))
    except UnicodeDecodeError:
        return PatchedPage(after, (1,))
    if one is None or base is None or other is None:
        return PatchedPage(after, (1,))
    if base.has_same_content(other):
        return PatchedPage(writer)
    patcher = _Patcher(one, base, other)
    text = compose_page(list(patcher.compose_blocks()), one, other, head=patcher.patch_head())
    return PatchedPage(text.encode(), tuple(patcher.conflicts))


class _Patcher:
    def __init__(self, writer: TokenizedPage, before: TokenizedPage, after: TokenizedPage) -> None:
        self.writer, self.before, self.after = writer, before, after
        self.unchanged = dict(pair_equal_items(before.list_tokens(), after.list_tokens()))
        self.matches = list(_match_blocks(before, writer))
        self.moved_blocks = self._find_moved_blocks()
        self.removed: list[_BlockMatch] = []
        self.added: list[int] = []
        self.conflicts: list[int] = []

    def patch_head(self) -> str:
        """Return the writer's frontmatter with each key that the edit changed."""
        before, after, writer = self.before.frontmatter, self.after.frontmatter, self.writer.frontmatter
        if before == after:
            return self.writer.head
        if not (isinstance(before, dict) and isinstance(after, dict) and isinstance(writer, dict)):
            self.conflicts += [] if writer in (before, after) else [1]
            return self.after.head
        edited = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        if any(writer.get(key) not in (before.get(key), after.get(key)) for key in edited):
            self.conflicts.append(1)
        try:
            return patch_frontmatter(self.writer.head, {key: after.get(key) for key in edited})
        except FileInvalid:
            return self.after.head

    def compose_blocks(self) -> Iterator[ComposedBlock]:
        """Yield the blocks of the edited page: untouched matches, and between them the result of the touched ones."""
        done = 0
        touched: list[_BlockMatch] = []
        for match in (*self.matches, None):
            if match is not None and (not match.server or not self._is_untouched(match)):
                touched.append(match)
                continue
            start = len(self.after.blocks) if match is None else self.unchanged[match.server[0]]
            yield from self._patch_matches(touched, range(done, start))
            touched = []
            if match is not None:
                done = start + len(match.server)
                same = len(match.server) == len(match.writer)
                for index in match.writer:
                    yield self._take_writer_block(index, start + index - match.writer.start if same else None)
        new = _count_words(_read_source(self.after, range(index, index + 1)) for index in self.added)
        for match in self.removed:
            if _has_most(new, _count_words([_read_source(self.before, match.server)])):
                self._add_conflict(match.writer)

    def _find_moved_blocks(self) -> dict[int, int]:
        """Return the blocks of the edited page that stood elsewhere before, each with the writer's block that
        corresponds."""
        there = {
            match.server[0]: match.writer[0] for match in self.matches if len(match.server) == len(match.writer) == 1
        }
        here, after = self.before.list_tokens(), self.after.list_tokens()
        came = sorted(set(range(len(after))) - set(self.unchanged.values()))
        went = [index for index in there if index not in self.unchanged]
        found = pair_occurrences([after[index] for index in came], [here[index] for index in went])
        return {came[one]: there[went[other]] for one, other in found}

    def _add_conflict(self, indices: range) -> None:
        self.conflicts.append(self.writer.blocks[indices.start].start + 1 + self.writer.head.count("\n"))

    def _is_untouched(self, match: _BlockMatch) -> bool:
        """Return whether the edit left the blocks of a match as they were, one below the other."""
        first = self.unchanged.get(match.server[0])
        return first is not None and all(
            self.unchanged.get(index) == first + index - match.server[0] for index in match.server
        )

    def _take_writer_block(self, index: int, desired: int | None = None) -> ComposedBlock:
        return ComposedBlock(read_block_source(self.writer, index), index, desired)

    def _take_new_blocks(self, indices: range, slots_taken: range = range(0)) -> Iterator[ComposedBlock]:
        slots = slots_taken if len(slots_taken) == len(indices) else [None] * len(indices)
        for index, slot in zip(indices, slots, strict=True):
            if index in self.moved_blocks:
                yield ComposedBlock(read_block_source(self.writer, self.moved_blocks[index]), None, index)
            else:
                self.added.append(index)
                yield ComposedBlock(read_block_source(self.after, index), slot, index)

    def _patch_matches(self, matches: list[_BlockMatch], after: range) -> Iterator[ComposedBlock]:
        """Yield the result of matches that the edit touched; around it stay blocks that the server had lost as a
        whole."""
        found = [index for index, match in enumerate(matches) if match.server]
        first, last = (found[0], found[-1] + 1) if found else (len(matches), len(matches))
        yield from (self._take_writer_block(index) for match in matches[:first] for index in match.writer)
        yield from self._patch_between(matches[first:last], after) if found else self._take_new_blocks(after)
        yield from (self._take_writer_block(index) for match in matches[last:] for index in match.writer)

    def _patch_between(self, matches: Sequence[_BlockMatch], after: range) -> Iterator[ComposedBlock]:
        before = range(matches[0].server.start, matches[-1].server.stop)
        if all(match.is_equal for match in matches):
            yield from self._take_new_blocks(after, range(matches[0].writer.start, matches[-1].writer.stop))
        elif len(before) == len(after):
            shift = after.start - before.start
            for match in matches:
                here = range(match.server.start + shift, match.server.stop + shift)
                yield from self._patch_passage(match.server, match.writer, here)
        else:
            yield from self._patch_passage(before, range(matches[0].writer.start, matches[-1].writer.stop), after)

    def _patch_passage(self, before: range, writer: range, after: range) -> Iterator[ComposedBlock]:
        before_tokens, desired, writer_tokens = (
            _list_tokens(self.before, before),
            _list_tokens(self.after, after),
            _list_tokens(self.writer, writer),
        )
        if before_tokens == desired:
            yield from (self._take_writer_block(index) for index in writer)
        elif writer_tokens in ([], before_tokens, desired) or not after:
            if not after and writer_tokens not in ([], before_tokens):
                self.removed.append(_BlockMatch(before, writer, False))
            yield from self._take_new_blocks(after, writer)
        else:
            merged = merge_words(
                _read_source(self.before, before), _read_source(self.writer, writer), _read_source(self.after, after)
            )
            if merged is None:
                self._add_conflict(writer)
                yield from self._take_new_blocks(after)
            else:
                yield ComposedBlock(
                    merged, writer.start if len(writer) == 1 else None, after.start if len(after) == 1 else None
                )


def merge_words(base: str, one: str, other: str) -> str | None:
    """Return a passage with two edits of it, merged word by word; None when both change the same words.

    Shape: white space is as in the first edit, unless the second one changed it.
    """
    sides = [_TOKEN.findall(text) for text in (base, one, other)]
    if max(map(len, sides)) > TOKENS_MAX:
        return None
    first, second = (_Edits(sides[0], row) for row in sides[1:])
    changes = sorted([*first.changes(1), *second.changes(2)])
    if any(_is_conflict(sides[0], above, below) for above, below in pairwise(changes)):
        return None
    result: list[str] = []
    done = 0
    for change in (*changes, _TokenChange(len(sides[0]), len(sides[0]), 0, ())):
        unchanged = range(done, change.start)
        result += [
            _choose_changed(sides[0][index], first.equal_tokens[index], second.equal_tokens[index])
            for index in unchanged
        ]
        result += change.tokens
        done = change.end
    return "".join(result)


class _TokenChange(NamedTuple):
    """The tokens of the base that one side replaced, and the tokens in their place."""

    start: int
    end: int
    side: int
    tokens: tuple[str, ...]

    def has_words(self, base: Sequence[str]) -> bool:
        return any(token[0].isalnum() for token in (*base[self.start : self.end], *self.tokens))


def _is_conflict(base: Sequence[str], above: _TokenChange, below: _TokenChange) -> bool:
    """Return whether two changes are of different sides and touch; words with only white space between them touch."""
    if above.side == below.side:
        return False
    between = "".join(base[above.end : below.start])
    return below.start <= above.end or (not between.strip() and above.has_words(base) and below.has_words(base))


class _Edits:
    """How one sequence of words and signs became another; all white space is equal."""

    def __init__(self, base: Sequence[str], edited: Sequence[str]) -> None:
        before, after = ([" " if token.isspace() else token for token in side] for side in (base, edited))
        self.edited = edited
        self.codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        self.equal_tokens = {
            start + offset: edited[first + offset]
            for kind, start, end, first, _ in self.codes
            if kind == "equal"
            for offset in range(end - start)
        }

    def changes(self, side: int) -> Iterator[_TokenChange]:
        """Yield what was replaced by what, in order."""
        for kind, start, end, first, last in self.codes:
            if kind != "equal":
                yield _TokenChange(start, end, side, tuple(self.edited[first:last]))


def _choose_changed(base: str, one: str, other: str) -> str:
    return one if other == base else other


def _match_blocks(server: TokenizedPage, writer: TokenizedPage) -> Iterator[_BlockMatch]:
    """Yield the matching blocks of both forms of a page, in order."""
    server_done = writer_done = 0
    for server_index, writer_index in (
        *pair_equal_items(server.list_tokens(), writer.list_tokens()),
        (len(server.blocks), len(writer.blocks)),
    ):
        yield from _match_unequal_blocks(
            server, writer, range(server_done, server_index), range(writer_done, writer_index)
        )
        if server_index < len(server.blocks):
            yield _BlockMatch(range(server_index, server_index + 1), range(writer_index, writer_index + 1), True)
        server_done, writer_done = server_index + 1, writer_index + 1


def _match_unequal_blocks(
    server: TokenizedPage, writer: TokenizedPage, server_blocks: range, writer_blocks: range
) -> Iterator[_BlockMatch]:
    """Yield matches among blocks that do not mean the same: by position, else by the words that they share."""
    found = (
        list(writer_blocks)
        if len(server_blocks) == len(writer_blocks)
        else _find_similar_blocks(server, writer, server_blocks, writer_blocks)
    )
    if len(found) < len(server_blocks) or not server_blocks:
        yield _BlockMatch(server_blocks, writer_blocks, False)
        return
    done = writer_blocks.start
    for server_index, writer_index in zip(server_blocks, found, strict=True):
        if writer_index > done:
            yield _BlockMatch(range(server_index, server_index), range(done, writer_index), False)
        yield _BlockMatch(range(server_index, server_index + 1), range(writer_index, writer_index + 1), False)
        done = writer_index + 1
    if done < writer_blocks.stop:
        yield _BlockMatch(range(server_blocks.stop, server_blocks.stop), range(done, writer_blocks.stop), False)


def _find_similar_blocks(
    server: TokenizedPage, writer: TokenizedPage, server_blocks: range, writer_blocks: range
) -> list[int]:
    """Return for each of the server's blocks the next of the writer's that has most of its words; [] when one has
    none."""
    found: list[int] = []
    if len(server_blocks) * len(writer_blocks) > COMPARISONS_MAX:
        return found
    done = writer_blocks.start
    for server_index in server_blocks:
        similar = (
            index for index in range(done, writer_blocks.stop) if _shares_words(server, server_index, writer, index)
        )
        writer_index = next(similar, None)
        if writer_index is None:
            return []
        found.append(writer_index)
        done = writer_index + 1
    return found


def _shares_words(one: TokenizedPage, index: int, other: TokenizedPage, other_index: int) -> bool:
    """Return whether most words of a block are in another one."""
    return _has_most(
        _count_words([read_block_source(other, other_index)]), _count_words([read_block_source(one, index)])
    )


def _count_words(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in _WORD.findall(text))


def _has_most(found: Counter[str], words: Counter[str]) -> bool:
    return 2 * (words & found).total() > words.total()


def _list_tokens(page: TokenizedPage, indices: range) -> list[object]:
    return [page.blocks[index].tokens for index in indices]


def _read_source(page: TokenizedPage, indices: range) -> str:
    if not indices:
        return ""
    first, last = page.blocks[indices[0]], page.blocks[indices[-1]]
    return page.source(first.start, last.end)
