"""Questions that a site's pages answer: what they call themselves a question, then what their titles are about."""

from collections.abc import Iterator, Sequence

from syncd.platform.revisions.outline import TreeEntry, is_page
from syncd.platform.services.ask.answers import format_question
from syncd.platform.services.ask.open_pages import PublishedSpace, is_page_open
from syncd.platform.services.ask.retrieval import list_headings
from syncd.platform.storage.storage import Storage

QUESTIONS_MAX = 5
PAGES_MAX = 100
"""Pages that are read for them, the first ones of each space."""


def recommend_questions(storage: Storage, where: Sequence[PublishedSpace]) -> list[str]:
    """Return a few questions that the open pages of published spaces answer, in reading order."""
    pages = [found for place in where for found in _list_pages(place)]
    asked: dict[str, None] = {}
    for place, entry in pages:
        for heading in (entry.node.title, *list_headings(storage, place.outline, entry)):
            if heading.rstrip().endswith("?"):
                asked[heading] = None
        if len(asked) >= QUESTIONS_MAX:
            break
    for _, entry in pages[: QUESTIONS_MAX - len(asked)]:
        asked[format_question(entry.node.title)] = None
    return list(asked)[:QUESTIONS_MAX]


def _list_pages(place: PublishedSpace) -> Iterator[tuple[PublishedSpace, TreeEntry]]:
    found = 0
    for id, entry in place.outline.entries.items():
        if found < PAGES_MAX and is_page(entry.node) and entry.node.body and is_page_open(place.outline, id):
            found += 1
            yield place, entry
