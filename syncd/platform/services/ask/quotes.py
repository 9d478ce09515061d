"""An answer in the site's own words: the sentences of the best passages that say most of what was asked, as quotes."""

import re
from collections.abc import Iterator, Sequence

from syncd.platform.services.ask.retrieval import Passage
from syncd.platform.services.stems import find_stems

QUOTED_MAX = 3
"""Passages that are quoted."""
_SENTENCES = 3
_QUOTE_MAX = 700
_RATIO = 0.5
"""What the score of a further passage must be of the best one's."""

_END = re.compile(r"\n|(?<=[.!?:;])\s+|(?<=[。！？])")
_ENDED = tuple(".!?:;。！？…")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~$])")


def choose_quotes(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that are good enough to be quoted; `passages` has the best one first."""
    return [one for one in passages[:QUOTED_MAX] if one.score >= passages[0].score * _RATIO]


def render_quotes(passages: Sequence[Passage], question: str, base: str) -> Iterator[str]:
    """Yield the Markdown of an answer that quotes passages, as it grows by one passage each time.

    Shape: `base` is the address of the site, with a slash at its end.
    """
    wanted = set(find_stems(question))
    text = ""
    for passage in passages:
        name = passage.title if passage.heading == passage.title else f"{passage.title} › {passage.heading}"
        quote = _escape_markdown(_choose_sentences(passage.body, wanted))
        text += f"From [{_escape_markdown(name)}](<{base}{passage.path}>):\n\n> {quote}\n\n"
        yield text.rstrip() + "\n"


def _choose_sentences(body: str, wanted: set[str]) -> str:
    sentences = [one for part in _END.split(body) if (one := part.strip())]
    rated = sorted(range(len(sentences)), key=lambda at: (-len(wanted & set(find_stems(sentences[at]))), at))
    # A sentence seldom says it all: what follows the best one is what explains it.
    best = rated[0] if rated else 0
    chosen = sorted({best, *range(best, min(best + _SENTENCES, len(sentences)))})
    quoted = _join_sentences([sentences[at] for at in chosen])
    return quoted if len(quoted) <= _QUOTE_MAX else quoted[:_QUOTE_MAX].rsplit(" ", 1)[0] + " …"


def _join_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one line; what ends without a stop, such as a cell of a table, is told apart by a dot."""
    pieces = [one if one.endswith(_ENDED) else f"{one} ·" for one in sentences]
    return " ".join(pieces).removesuffix(" ·")


def _escape_markdown(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
