"""Blank the code of a page, so that what is left is prose at the same offsets."""

import re
from collections import deque
from collections.abc import Iterator

from syncd.layout.markdown.blocks import find_prose

_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<!--|<(pre|code|script|style)\b[^<>]*>", re.IGNORECASE)
_RUN = re.compile(r"`++")
_MATH = re.compile(r"\$\$[^$]{1,5000}\$\$")
_SEEN = re.compile(r"[^\n]")
_ENDS = {"code": "</code>", "pre": "</pre>", "script": "</script>", "style": "</style>"}


def blank_code(text: str, body: int) -> str:
    """Return a page's text with code replaced by spaces; `body` is where its body starts.

    Shape: code in fences, by indentation, in backticks and in HTML, comments, formulas and the frontmatter are spaces;
    line ends stay, so every place means the same in both. Linear time.
    """
    pieces: list[str] = []
    done = 0
    for start, end in _ProseScanner(text).spans(body):
        pieces += [_SEEN.sub(" ", text[done:start]), text[start:end]]
        done = end
    pieces.append(_SEEN.sub(" ", text[done:]))
    return _MATH.sub(lambda found: _SEEN.sub(" ", found[0]), "".join(pieces))


class _ProseScanner:
    """One pass over the blocks; `resume` is where the text inside a comment or an HTML element ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.resume = 0
        self.absent: set[str] = set()

    def spans(self, body: int) -> Iterator[tuple[int, int]]:
        """Yield the spans that are prose, in order."""
        for start, end in find_prose(self.text, body):
            if self.resume < end:
                yield from self.scan_block(max(start, self.resume), end)

    def scan_block(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        position = start
        runs: dict[int, deque[int]] | None = None
        while token := _TOKEN.search(self.text, position, end):
            position = token.end()
            if token[0].startswith("\\"):
                continue
            if token[0].startswith("`"):
                runs = runs if runs is not None else _index_backtick_runs(self.text, position, end)
                until = _find_code_end(runs, len(token[0]), position)
            else:
                until = self.find_closing("-->" if token[1] is None else _ENDS[token[1].lower()], position)
            if until > position:
                yield start, token.start()
                start = position = until
                if until >= end:
                    self.resume = until
                    return
        yield start, end

    def find_closing(self, closing: str, start: int) -> int:
        """Return the offset behind a closing sign, or `start`; a sign that was not found is never searched again."""
        at = -1 if closing in self.absent else self.text.find(closing, start)
        if at < 0:
            self.absent.add(closing)
            return start
        return at + len(closing)


def _index_backtick_runs(text: str, start: int, end: int) -> dict[int, deque[int]]:
    """Return where the runs of backticks behind an offset start, by their length."""
    runs: dict[int, deque[int]] = {}
    for run in _RUN.finditer(text, start, end):
        runs.setdefault(len(run[0]), deque()).append(run.start())
    return runs


def _find_code_end(runs: dict[int, deque[int]], length: int, start: int) -> int:
    """Return the offset behind the run that closes a code span, or `start` when none does."""
    closers = runs.get(length, deque())
    while closers and closers[0] < start:
        closers.popleft()
    return closers.popleft() + length if closers else start
