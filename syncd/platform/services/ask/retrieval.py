"""The passages that a question is about: pages by the search index, then their sections by the words they share.

The index says for each word of the question which pages have it; the pages with the most telling words are read, and
only these are looked at section by section. What it costs follows the question, not the site.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from syncd.layout.evaluation.visible import depends_on_reader
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.page.includes import IncludesTooMuch, has_includes
from syncd.layout.richtext.outline import split_sections
from syncd.model.words import parse_query
from syncd.platform.cache import Cache
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.page_text import evaluate_page_text, expand_page_text
from syncd.platform.services.ask.open_pages import PublishedSpace, is_page_open
from syncd.platform.services.search import index
from syncd.platform.services.search.engine import MATCHES_MAX, find_matches
from syncd.platform.services.stems import find_stems, find_words
from syncd.platform.storage.storage import Storage

PAGES_MAX = 20
"""Pages that are read for one question."""
PASSAGES_MAX = 8
COVERED = 0.45
"""The share of what a question says that a passage must have for it to be about the question."""
_WORDS_MAX = 16
_SECTIONS_MAX = 400
"""Sections of one page that are looked at."""
_BODY_MAX = 20_000
_PREFIX_MIN = 3
_TITLE, _HEADING = 1, 2
"""How often a word counts that is in the page's title or in the section's heading."""
_TIERS = {"0": 3.0, "1": 2.0}
"""How much a page counts that has a word in its title, or in a heading; one that has it elsewhere counts once."""
_SATURATION, _BY_LENGTH = 1.2, 0.75
"""The two numbers of BM25."""
_REMEMBERED = 20_000_000
_CONDITION = re.compile(r"\{%-?\s{0,100}(if|endif)\b")

_Section = tuple[str, str, str, Mapping[str, int], int]
_cache: Cache[str, tuple[_Section, ...]] = Cache(_REMEMBERED, weigh=lambda read: sum(len(one[2]) for one in read) + 1)


@dataclass(frozen=True)
class Passage:
    """A section of a page. Shape: `coverage` is the share of the question's words, by weight, that are in it."""

    place: PublishedSpace
    page: str
    title: str
    anchor: str
    heading: str
    body: str
    score: float
    coverage: float

    @property
    def path(self) -> str:
        """Where it is read, below the site, with its anchor."""
        path = "/".join(part for part in (self.place.path, self.place.outline.entries[self.page].path) if part)
        return f"{path}#{self.anchor}" if self.anchor else path


@dataclass(frozen=True)
class RetrievalResult:
    """What there is for a question: passages, the best first, and further headings of their pages."""

    passages: tuple[Passage, ...] = ()
    related_headings: tuple[str, ...] = ()


def find_passages(storage: Storage, where: Sequence[PublishedSpace], question: str) -> RetrievalResult:
    """Return the passages of published spaces that are about a question; none when no passage is."""
    wanted = _list_stems(question)
    if not wanted or not where:
        return RetrievalResult()
    by_space = {place.space: place for place in where}
    index.refresh_index(storage, list(by_space))
    worth, ranked = _rank_pages(storage, by_space, wanted)
    read = [
        (place, page, part)
        for place, page in ranked
        for part in _read_sections(storage, place.outline, place.outline.entries[page])
    ]
    passages = sorted(_rate_sections(read, worth), key=lambda one: (-one.score, one.place.space, one.page, one.anchor))
    telling = tuple(one for one in passages if one.coverage >= COVERED)[:PASSAGES_MAX]
    chosen = {(one.page, one.heading) for one in telling[:3]}
    near = {one.page for one in telling[:2]}
    beside = (part[1] for _, page, part in read if page in near and (page, part[1]) not in chosen)
    return RetrievalResult(telling, tuple(dict.fromkeys(heading for heading in beside if heading)))


def list_headings(storage: Storage, outline: Outline, entry: TreeEntry) -> list[str]:
    """Return the headings of a page that everybody sees, in order."""
    return [heading for _, heading, *_ in _read_sections(storage, outline, entry) if heading]


def _list_stems(question: str) -> dict[str, str]:
    """Return the stems of a question's words, each with the prefix by which the index finds its words."""
    wanted: dict[str, str] = {}
    for stem, word in find_words(question):
        prefix = _find_common_prefix(stem, word.casefold())
        wanted.setdefault(stem, prefix if len(prefix) >= _PREFIX_MIN else word)
    return dict(list(wanted.items())[:_WORDS_MAX])


def _find_common_prefix(one: str, other: str) -> str:
    size = next((at for at, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its), len(one))
    return one[:size]


def _rank_pages(
    storage: Storage, by_space: Mapping[str, PublishedSpace], wanted: Mapping[str, str]
) -> tuple[dict[str, float], list[tuple[PublishedSpace, str]]]:
    """The weight of each stem, and the pages that have the most of them."""
    scores: dict[tuple[str, str], float] = defaultdict(float)
    worth: dict[str, float] = {}
    with storage.read() as connection:
        for stem, prefix in wanted.items():
            matches = find_matches(connection, parse_query(prefix), list(by_space))
            worth[stem] = math.log(1 + (MATCHES_MAX + 1) / (len(matches) + 1))
            for match in matches:
                scores[match.space, match.page] += worth[stem] * _TIERS.get(match.key[:1], 1.0)
    best = sorted(scores, key=lambda one: (-scores[one], one))
    opened = ((by_space[space], page) for space, page in best if is_page_open(by_space[space].outline, page))
    return worth, [one for one, _ in zip(opened, range(PAGES_MAX), strict=False)]


def _read_sections(storage: Storage, outline: Outline, entry: TreeEntry) -> tuple[_Section, ...]:
    """The sections of a page with what it includes and the values that it shows, as everybody sees them."""
    if entry.node.body is None:
        return ()
    if (known := _cache.get(entry.node.body)) is not None:
        return known
    own = storage.blobs.get(entry.node.body).decode(errors="replace")
    if not has_includes(own) and not depends_on_reader(own):
        return _cache.put(entry.node.body, _split_text(own))
    text = own
    with suppress(IncludesTooMuch):
        text = expand_page_text(own, outline, entry, storage.blobs.get)
    text = evaluate_page_text(text, outline, entry)
    key = sha256(text.encode(errors="surrogatepass")).hexdigest()
    return known if (known := _cache.get(key)) is not None else _cache.put(key, _split_text(text))


def _split_text(text: str) -> tuple[_Section, ...]:
    read = []
    for part in split_sections(drop_conditions(split_after_title(text)[1]))[:_SECTIONS_MAX]:
        body = "\n".join(part.lines)[:_BODY_MAX]
        counted = Counter(find_stems(body))
        for stem in find_stems(part.title):
            counted[stem] += _HEADING
        read.append((part.id, part.title, body, dict(counted), sum(counted.values())))
    return tuple(read)


def _rate_sections(
    read: Iterable[tuple[PublishedSpace, str, _Section]], worth: Mapping[str, float]
) -> Iterator[Passage]:
    listed = list(read)
    everything = math.fsum(worth.values())
    average = sum(part[4] for *_, part in listed) / max(len(listed), 1) or 1.0
    for place, page, (anchor, heading, body, counted, size) in listed:
        title = place.outline.entries[page].node.title
        in_title = set(find_stems(title))
        # What stands before the first heading stands under the title.
        in_heading = () if heading else in_title
        often = {stem: counted.get(stem, 0) + (_TITLE if stem in in_title else 0) for stem in worth}
        often |= {stem: often[stem] + _HEADING for stem in worth if stem in in_heading}
        norm = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * size / average)
        score = math.fsum(worth[stem] * n * (_SATURATION + 1) / (n + norm) for stem, n in often.items())
        covered = math.fsum(worth[stem] for stem, n in often.items() if n) / everything
        # A heading alone answers nothing, and a title covers all sections of its page alike.
        if body and any(stem in counted or stem in in_heading for stem in worth):
            yield Passage(place, page, title, anchor, heading or title, body, score, covered)


def drop_conditions(markdown: str) -> str:
    """Return Markdown without its conditional blocks, nested ones included; one that is never closed goes on to the
    end.
    """
    kept: list[str] = []
    depth = start = at = 0
    while mark := _CONDITION.search(markdown, at):
        closed = markdown.find("%}", mark.end())
        at = len(markdown) if closed < 0 else closed + 2
        if mark[1] == "if":
            if not depth:
                kept.append(markdown[start : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
            start = at
    if not depth:
        kept.append(markdown[start:])
    return "".join(kept)
