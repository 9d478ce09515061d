"""Events of a site: what readers do there, as a renderer tells it, and how often (@gitbook/api 0.202.0)."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from syncd.model.base import Declared, Observed

EVENTS_MAX = 500
TYPE_PATTERN = r"^[a-z][a-z_]{0,49}$"


class SiteEvents(Declared):
    """Body of `POST …/insights/events`; each event has a `type`, a `location`, and what its type brings along."""

    events: list[dict[str, Any]] = Field(max_length=EVENTS_MAX)


class SiteEvent(Observed):
    """What is read of an event."""

    type: Annotated[str, StringConstraints(pattern=TYPE_PATTERN)]
    location: dict[str, Any] = {}
    query: str = ""
    feedback: dict[str, Any] = {}


class EventCount(Observed):
    """How often something happened on a day in UTC; `detail` is what was searched or asked, or how a page was rated."""

    day: str
    type: str
    site_space: str | None = None
    page: str | None = None
    detail: str | None = None
    count: int
