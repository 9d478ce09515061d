"""Ask: a question to a site, answered from pages that its visitor may read, on a page that needs no script.

Pages with a condition, and parts whose condition depends on the reader, are quoted to nobody. The operator's model is
asked for a person who came from a page of the site; anything else that follows a link gets quotes, which cost little.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import anyio.to_thread
import sqlalchemy as sa
from fastapi import Request

from syncd.model.ask import QUESTION_MAX
from syncd.model.document import Document
from syncd.platform.http import addresses
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.services.ask.answers import AnswerStream
from syncd.platform.services.ask.open_pages import PublishedSpace
from syncd.platform.services.ask.retrieval import Passage, RetrievalResult, find_passages
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import open_space_outline
from syncd.platform.visitors.frames import build_ask_path, build_search_path, find_space_locale, may_ask
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.pages import PageMemory, PageRenderer, RenderedPage
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.blocks import BlockContext, render_document
from syncd.web.blocks.labels import find_block_labels
from syncd.web.pages.lists import write_paragraph
from syncd.web.pages.search_results import SearchResult, render_results
from syncd.web.pages.wording import PageWords, find_words
from syncd.web.rendering import Html


def offer_question(
    visit: SiteVisit, site_space: sa.Row[Any], searched: str, words: PageWords, *, has_results: bool
) -> Iterator[SearchResult]:
    """Yield what leads from a search to the answer, where there are answers; it says when nothing was found."""
    if searched.strip() and may_ask(visit, site_space):
        yield SearchResult(
            f"{words.ask}: {searched}", build_ask_path(visit, searched), "" if has_results else words.no_results
        )


def find_question_path(visit: SiteVisit, parts: Sequence[str], query: Mapping[str, str]) -> str | None:
    """Return where an address of a page leads that asks or searches: `?ask=` to the answer, `?q=` to what is found.

    Shape: `parts` are the segments below the site; None for one that does neither. A question leads to the search where
    the site answers none.
    """
    name = next((name for name in ("ask", "q") if name in query), None)
    listed = [row for row in visit.visible_site_spaces if not row.hidden]
    if name is None or not listed or parts[:1] == (OWN_FILES,) or (parts and "." in parts[-1]):
        return None
    words = query[name].strip()[:QUESTION_MAX]
    return (
        build_ask_path(visit, words)
        if name == "ask" and words and may_ask(visit, listed[0])
        else build_search_path(visit, words)
    )


async def answer_question(request: Request, visit: SiteVisit) -> RenderedPage | None:
    """Return the page that answers the question in the query; None where the site answers none, or none was asked.

    Raises: Failure 503 when too many wait.
    """
    question = request.query_params.get("q", "").replace("\0", "").strip()[:QUESTION_MAX]
    listed = [row for row in visit.visible_site_spaces if not row.hidden]
    if not question or not listed or not may_ask(visit, listed[0]):
        return None
    storage: Storage = request.app.state.storage
    scheduler: RequestScheduler = request.app.state.scheduler
    found = await scheduler.compute(request, lambda: _find(storage, visit, listed, question))
    settings: PlatformSettings = request.app.state.settings
    is_person = request.headers.get("sec-fetch-site") == "same-origin"
    base = f"{addresses.find_origin(request)}{visit.base}/"
    stream = AnswerStream(question, found, base, "document", settings.ask if is_person else None)
    # A model takes its time, and so waits in a thread, not within a slot for computing.
    answer = await anyio.to_thread.run_sync(partial(_find_last, stream))
    memory: PageMemory = request.app.state.page_memory
    renderer = PageRenderer(storage, memory, visit)
    return await scheduler.compute(request, lambda: _render(renderer, listed[0], question, answer, found.passages))


def _find(storage: Storage, visit: SiteVisit, listed: Sequence[sa.Row[Any]], question: str) -> RetrievalResult:
    spaces: dict[str, PublishedSpace] = {}
    for row in listed:
        if row.space not in spaces:
            with storage.read() as connection:
                outline = open_space_outline(connection, visit, row)
            path, revision = visit.structure.compute_variant_path(row), visit.require_space(row).revision
            spaces[row.space] = PublishedSpace(row.space, revision, outline, path)
    return find_passages(storage, list(spaces.values()), question)


def _find_last(stream: AnswerStream) -> dict[str, Any]:
    *_, last = stream.list_events()
    return last


def _render(
    renderer: PageRenderer, site_space: sa.Row[Any], question: str, answer: dict[str, Any], passages: Sequence[Passage]
) -> RenderedPage:
    visit = renderer.visit
    locale = find_space_locale(visit, site_space)
    words = find_words(locale)
    if "answer" in answer:
        document = Document.model_validate(answer["answer"]["document"])
        context = BlockContext(labels=find_block_labels(locale), highlighted=renderer.memory.highlighted)
        body = render_document(document, context).html
        body += _render_sources(visit, passages, words.sources)
    else:
        body = write_paragraph(words.no_answer)
    with renderer.storage.read() as connection:
        outline = open_space_outline(connection, visit, site_space)
    return renderer.render_words(site_space, outline, question, body)


def _render_sources(visit: SiteVisit, passages: Sequence[Passage], title: str) -> Html:
    sources = {
        one.page: SearchResult(one.title, f"{visit.base}/{one.path}", one.heading if one.heading != one.title else "")
        for one in reversed(passages)
    }
    return Html("<h2>{}</h2>").format(title) + render_results(list(sources.values())[::-1], "")
