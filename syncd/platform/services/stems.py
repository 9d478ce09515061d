"""Words of plain text as stems that can be compared: letter case, endings and words without meaning taken away."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

STEM_MAX = 40
"""Characters of a stem; what is longer is no word."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts that put no space between words."""
_WITHOUT_MEANING = """
a about above after again all also am an and any are as at be because been before being below between both but by came
can come could did do does doing don down during each else even ever every few for from further get gets getting go goes
going got had has have having he hello help her here hers hi him his how however i if in into is it its itself just know
let like make makes many may me might me more most much must my need needed needs no nor not now of off on once one only
or other our ours out over own please same see seem shall she should so some something still such take thank thanks than
that the their theirs them then there these they thing this those through to too tried try trying under until up us use
used uses using very want wanted wants was way we well were what when where which while who whom why will with would yes
you your yours
"""
_STOP_WORDS = frozenset(_WITHOUT_MEANING.split())


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each meaningful word of a plain text as its stem and as it is written, in order.

    Shape: scripts without spaces give pairs of neighbouring signs instead of words.
    """
    for found in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = found[0]
        if _WIDE.search(word):
            yield from ((pair, pair) for pair in _pair_signs(word))
        elif len(word) <= STEM_MAX and (short := compute_stem(word.casefold())):
            yield short, word


def find_stems(text: str) -> list[str]:
    """Return the stems of a plain text's words, in order, with repetitions."""
    return [short for short, _ in find_words(text)]


@lru_cache(maxsize=16_384)
def compute_stem(word: str) -> str:
    """Return the stem of a word in lower case, "" when the word has no meaning of its own.

    Words in ASCII are stemmed as English, others are taken as they are written.
    """
    bare = word.replace("’", "'")
    if bare.endswith(("n't", "'re", "'ve", "'ll")):
        return ""
    bare = bare.partition("'")[0]
    if bare in _STOP_WORDS or (len(bare) < 2 and not bare.isdigit()):
        return ""
    # A stemmer keeps the word it works on in itself, so two threads must not share one.
    return str(snowballstemmer.stemmer("english").stemWord(bare)) if bare.isascii() else bare


def _pair_signs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    yield from (word[at : at + 2] for at in range(min(len(word), 10_000) - 1))
