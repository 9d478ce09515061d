"""What counts as a word: the same for what is indexed and for what is asked, on every database."""

import re
import unicodedata

TERMS_MAX = 32
"""Words of a query that are looked for; further ones are ignored."""
WORD_MAX = 64
"""Characters of a word that count; PostgreSQL refuses very long ones."""

# Scripts without spaces between words: each of their signs is a word.
_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")


def split_words(text: str) -> list[str]:
    """Given text, return its words in order, without case and accents."""
    if not text.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", bare)
    return [word[:WORD_MAX] for word in _WORD.findall(text.casefold())]


def parse_query(query: str) -> tuple[str, ...]:
    """Given what a person asks, return the words to look for, each once; the last one may be the beginning of a word.

    Nothing but letters and digits is left of a query, so no sign of it can mean anything to a database.
    """
    found = split_words(query)[:TERMS_MAX]
    return tuple(dict.fromkeys(reversed(found)))[::-1]


def has_any_term(wanted: tuple[str, ...], text: str) -> bool:
    """Given terms, return whether a text has any of them."""
    present = set(split_words(text))
    return not present.isdisjoint(wanted) or any(word.startswith(wanted[-1]) for word in present)
