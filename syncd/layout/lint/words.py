"""The words of a page in their places: a copy of its text in which all that is code is blank."""

import re
from collections import deque
from collections.abc import Iterator

from syncd.layout.markdown.blocks import prose

_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<!--|<(pre|code|script|style)\b[^<>]*>", re.IGNORECASE)
_RUN = re.compile(r"`++")
_MATH = re.compile(r"\$\$[^$]{1,5000}\$\$")
_SEEN = re.compile(r"[^\n]")
_ENDS = {"code": "</code>", "pre": "</pre>", "script": "</script>", "style": "</style>"}


def prose_only(text: str, body: int) -> str:
    """Given a page and where its body starts, return a text of the same length with its prose alone.

    Shapes: code in fences, by indentation, in backticks and in HTML, comments, formulas and the frontmatter are spaces;
    line ends stay, so every place means the same in both. Linear time.
    """
    pieces: list[str] = []
    done = 0
    for start, end in _Words(text).spans(body):
        pieces += [_SEEN.sub(" ", text[done:start]), text[start:end]]
        done = end
    pieces.append(_SEEN.sub(" ", text[done:]))
    return _MATH.sub(lambda found: _SEEN.sub(" ", found[0]), "".join(pieces))


class _Words:
    """One pass over the blocks; `resume` is where what a comment or an HTML element swallowed ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.resume = 0
        self.absent: set[str] = set()

    def spans(self, body: int) -> Iterator[tuple[int, int]]:
        """The spans that are prose, in order."""
        for start, end in prose(self.text, body):
            if self.resume < end:
                yield from self.block(max(start, self.resume), end)

    def block(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        position = start
        runs: dict[int, deque[int]] | None = None
        while token := _TOKEN.search(self.text, position, end):
            position = token.end()
            if token[0].startswith("\\"):
                continue
            if token[0].startswith("`"):
                runs = runs if runs is not None else _runs(self.text, position, end)
                until = _closed(runs, len(token[0]), position)
            else:
                until = self.closed("-->" if token[1] is None else _ENDS[token[1].lower()], position)
            if until > position:
                yield start, token.start()
                start = position = until
                if until >= end:
                    self.resume = until
                    return
        yield start, end

    def closed(self, closing: str, start: int) -> int:
        """Behind a closing sign, or where the search started; a sign that was not found is never searched again."""
        at = -1 if closing in self.absent else self.text.find(closing, start)
        if at < 0:
            self.absent.add(closing)
            return start
        return at + len(closing)


def _runs(text: str, start: int, end: int) -> dict[int, deque[int]]:
    """Where the runs of backticks behind a place start, by their length."""
    runs: dict[int, deque[int]] = {}
    for run in _RUN.finditer(text, start, end):
        runs.setdefault(len(run[0]), deque()).append(run.start())
    return runs


def _closed(runs: dict[int, deque[int]], length: int, start: int) -> int:
    """Behind the run that closes a code span, or where the span started when none does."""
    closers = runs.get(length, deque())
    while closers and closers[0] < start:
        closers.popleft()
    return closers.popleft() + length if closers else start
