"""Whether a page helped: a form of three answers at its end, which are counted, and nothing of who gave them."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import parse_qs, quote

from fastapi import Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from syncd.net.page_values import is_own_origin
from syncd.platform.http import addresses
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import open_space_outline
from syncd.platform.visitors.frames import FEEDBACK, build_feedback_path
from syncd.platform.visitors.insights import RATINGS, EventKey, count_events
from syncd.platform.visitors.offers.refusals import answer_form
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.visits import SiteVisit

RATED = "page_post_feedback"
"""The type of the event that is counted, as other renderers count it."""


async def receive_feedback(request: Request, visit: SiteVisit, parts: Sequence[str]) -> Response | None:
    """Count an answer and lead back to its page; None where no such page of the visitor asks for one.

    `parts` are the segments of the address below the site. What is no address of a form is only read: 405.
    """
    match parts:
        case [own, "v", site_space, name, page] if own == OWN_FILES and name == FEEDBACK:
            headers = {key.lower(): value for key, value in request.headers.items()}
            if not is_own_origin(headers, addresses.find_origin(request)):
                return answer_form(request, visit.site, 403)
            rating = parse_qs((await request.body()).decode("ascii", "replace")).get("rating", [""])[0]
            if rating not in RATINGS:
                return answer_form(request, visit.site, 400)
            storage: Storage = request.app.state.storage
            back = await run_in_threadpool(_count_rating, storage, visit, EventKey(RATED, site_space, page, rating))
            return None if back is None else RedirectResponse(back, 303, {"Cache-Control": "no-store"})
    return PlainTextResponse("This address is only read.\n", 405, {"Allow": "GET, HEAD"})


def _count_rating(storage: Storage, visit: SiteVisit, key: EventKey) -> str | None:
    """Count, and return the path of the page."""
    site_space = next((row for row in visit.visible_site_spaces if row.id == key.site_space), None)
    if site_space is None or not build_feedback_path(visit, site_space, key.page):
        return None
    with storage.read() as connection:
        outline = open_space_outline(connection, visit, site_space)
    entry = outline.entries.get(key.page)
    if entry is None or not visit.may_read_page(outline, entry):
        return None
    with storage.write() as connection:
        count_events(connection, storage.now(), visit.site.row.id, Counter([key]))
    return quote(visit.build_path(site_space, entry.path))
