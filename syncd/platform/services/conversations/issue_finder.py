"""What a conversation is about: the sentences of its users that ask or complain, put together into a few issues."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from syncd.model.text import mask_unprintable
from syncd.platform.services.stems import find_stems, find_words

ISSUES_MAX = 5
"""Issues of one conversation."""
TERMS_MAX = 40
"""Stems of one issue, its first ones."""
TITLE_MAX, SUMMARY_MAX = 120, 1000
_READ_MAX = 20_000
"""Characters that are read of one conversation; people say early what they came for."""
_SENTENCES_MAX = 100
_ALIKE = 0.34
"""The share of two sentences' stems that must be common for them to be about one thing."""

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTE = re.compile(r"^>.*$", re.MULTILINE)
_BREAK = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n|\n(?=\s*(?:[-*]|\d+[.)])\s)|(?<=[。！？])")
_COMPLAINTS = """
cannot can't couldn't doesn't don't didn't won't isn't unable fail error broken break crash bug issue problem wrong
missing stuck slow timeout denied refuse reject invalid unexpected confusing unclear blocked impossible nothing never
instead lost
"""
_COMPLAINT = frozenset(stem for word in _COMPLAINTS.split() for stem in (word, *find_stems(word)))
_ASKING = re.compile(
    r"[?？]\s*$|^\W*(?:how|what|where|when|why|which|who|can|could|is|are|do|does|should|would)\b", re.I
)


@dataclass
class Issue:
    """One thing that somebody could not do or wanted to know. Shape: `terms` maps each stem to a word that has it."""

    title: str
    sentences: list[str]
    terms: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What was said about it."""
        return " ".join(self.sentences)[:SUMMARY_MAX]


def find_issues(subject: str, said: Iterable[str]) -> list[Issue]:
    """Return the issues that the sentences of a conversation's users raise, in order; none when there are no words at
    all.
    """
    found: list[Issue] = []
    every = _split_sentences(said)
    asked = [sentence for sentence in every if _is_issue(sentence)]
    # A request may be neither a question nor a complaint: what was said first stands for it then.
    for sentence in asked or every[:1] or [_clean_sentence(subject)]:
        _add_sentence(found, sentence)
    if len(found) == 1:
        found[0].terms = _collect_terms(subject) | found[0].terms
    return [Issue(one.title, one.sentences, _limit_terms(one.terms)) for one in found if one.terms]


def _split_sentences(said: Iterable[str]) -> list[str]:
    left, found = _READ_MAX, list[str]()
    for text in said:
        prose = _QUOTE.sub(" ", _CODE.sub(" ", text[:left]))
        found += [tidy for part in _BREAK.split(prose) if find_stems(tidy := _clean_sentence(part))]
        left -= len(text)
        if left <= 0:
            break
    return found[:_SENTENCES_MAX]


def _is_issue(sentence: str) -> bool:
    if _ASKING.search(sentence):
        return True
    spoken = sentence.casefold().replace("’", "'").split()
    return any(word.strip(".,!?:;\"'()") in _COMPLAINT for word in spoken) or not _COMPLAINT.isdisjoint(
        find_stems(sentence)
    )


def _add_sentence(found: list[Issue], sentence: str) -> None:
    terms = _collect_terms(sentence)
    for issue in found:
        common = len(terms.keys() & issue.terms.keys())
        if common and common / min(len(terms), len(issue.terms)) >= _ALIKE:
            issue.sentences.append(sentence)
            issue.terms = issue.terms | terms
            return
    if len(found) < ISSUES_MAX and terms:
        found.append(Issue(sentence[:TITLE_MAX], [sentence], terms))


def _collect_terms(text: str) -> dict[str, str]:
    terms: dict[str, str] = {}
    for stem, word in find_words(text):
        terms.setdefault(stem, word)
    return _limit_terms(terms)


def _limit_terms(terms: Mapping[str, str]) -> dict[str, str]:
    return dict(list(terms.items())[:TERMS_MAX])


def _clean_sentence(text: str) -> str:
    return " ".join(mask_unprintable(text).split())
