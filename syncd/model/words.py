"""What counts as a word: the same for what is indexed and for what is asked, on every database."""

import re
import unicodedata

TERMS_MAX = 32
"""Words of a query that are looked for; further ones are ignored."""
WORD_MAX = 64
"""Characters of a word that count; PostgreSQL refuses very long ones."""

# Scripts without spaces between words: each of their signs is a word, but for the points, the loose accents and the
# numbers without a sign (U+3097) that lie in the same blocks.
_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"(?!\W)[{_SIGNS}]|[^\W_{_SIGNS}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, case-folded and without accents."""
    return [word[:WORD_MAX] for word in _WORD.findall(_fold(text))]


def _fold(text: str) -> str:
    if not text.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", bare)
    return text.casefold()


def parse_query(query: str) -> tuple[str, ...]:
    """Return the words of a query, each once; a page matches the last one also by its beginning.

    Only letters and digits are left of a query, so that no sign of it can have a meaning for the database.
    """
    found = split_words(query)[:TERMS_MAX]
    return tuple(dict.fromkeys(reversed(found)))[::-1]


def has_any_term(wanted: tuple[str, ...], text: str) -> bool:
    """Return whether a text has any of the terms, or a word that begins with the last one."""
    folded, last = _fold(text), wanted[-1]
    places = [place for place in map(folded.find, wanted) if place >= 0]
    if not places:
        return False
    # No word goes beyond a space, so that none before this one can be a term.
    start = folded.rfind(" ", 0, min(places)) + 1
    found = (match.group()[:WORD_MAX] for match in _WORD.finditer(folded, start))  # the first one is often enough
    return any(word in wanted or word.startswith(last) for word in found)
