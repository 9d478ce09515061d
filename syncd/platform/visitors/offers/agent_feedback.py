"""What agents say of pages, kept with the counts of a site's events, for who may change the site."""

from collections import Counter

from fastapi import Response

from syncd.model.assistant import FEEDBACK_MAX, AgentFeedback
from syncd.platform.content.view import find_main_content
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions.outline import is_page
from syncd.platform.sites.structure import AtSite
from syncd.platform.visitors.insights import EventKey, count_events

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-insights"])

AGENT_FEEDBACK = "agent_feedback"
"""The type of the event that is counted."""


class AgentFeedbackBody(RequestBody, AgentFeedback):
    """Body of `POST …/agent-feedback`."""


@router.post("/agent-feedback", status_code=204, openapi_extra=declare_role("read", extension=True, visitors=True))
def submit_site_agent_feedback(at: AtSite, body: AgentFeedbackBody) -> Response:
    """Keep what an agent says of a page that it may read. Raises: Failure 404 for any other page.

    Source: `submitSiteAgentFeedback`, @gitbook/api 0.202.0.
    """
    with at.storage.read() as connection:
        structure = at.load_structure(connection)
    site_space = next((row for row in structure.site_spaces if row.space == body.space_id), None)
    outline = find_main_content(at.storage, at.caller, body.space_id) if site_space is not None else None
    entry = outline.entries.get(body.page_id) if outline is not None else None
    if site_space is None or entry is None or not is_page(entry.node):
        raise Failure(404, f"Site {at.site_id} has no page {body.page_id} in space {body.space_id}.")
    said = " ".join(body.feedback.split())[:FEEDBACK_MAX]
    with at.storage.write() as connection:
        key = EventKey(AGENT_FEEDBACK, site_space.id, body.page_id, said)
        count_events(connection, at.storage.now(), at.site_id, Counter([key]))
    return answers.no_content()
