"""Reading what happened to an integration's installations, and what was done about it."""

from typing import Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.installation import IntegrationEvent, IntegrationEventDetail
from syncd.model.listing import Listing
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.integrations.access import AtIntegration
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.integrations import events, logs

router = create_router(prefix="/integrations/{integration_name}/events", tags=["integrations"])


@router.get("", response_model=Listing[IntegrationEvent], openapi_extra=declare_role("admin"))
def list_integration_events(at: AtIntegration, paging: Paging) -> JSONResponse:
    """List the events of an integration, newest first. They are kept for 30 days, the last 10,000 of them."""
    query = sa.select(events).where(events.c.integration == at.name)
    with at.storage.read() as connection:
        at.require_owned(connection)
        envelope = paging.paginate_rows(connection, query, events.c.number, descending=True)
    return answers.ok(envelope | {"items": [_serialize_event(row) for row in envelope["items"]]})


@router.get("/{event_id}", response_model=IntegrationEventDetail, openapi_extra=declare_role("admin"))
def get_integration_event(at: AtIntegration, event_id: str) -> JSONResponse:
    """Return an event with the trace of its delivery. Raises: Failure 404."""
    with at.storage.read() as connection:
        at.require_owned(connection)
        query = sa.select(events).where(events.c.id == event_id, events.c.integration == at.name)
        row = connection.execute(query).one_or_none()
        if row is None:
            raise Failure(404, f"No event {event_id} of integration {at.name}.")
        lines = connection.execute(sa.select(logs).where(logs.c.event == row.id).order_by(logs.c.number)).all()
    trace = {"logs": [{"message": line.message, "timestamp": line.at, "level": line.level} for line in lines]}
    return answers.ok({"event": _serialize_event(row), "trace": trace})


def _serialize_event(row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "integrationId": row.integration,
        "installationId": row.installation,
        "createdAt": row.created_at,
        "payload": row.payload,
        # There are two statuses: while a webhook is still being called, the event has not arrived yet.
        "status": row.status or "failed",
    }
