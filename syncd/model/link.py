"""Link: a reference in content, to what it leads and whether that is there (API document, Links list)."""

from typing import Literal

from syncd.model.backlink import BacklinkLocation
from syncd.model.base import Observed
from syncd.model.listing import Listing

Status = Literal["ok", "broken", "in-app"]
"""`ok`: no problem; `broken`: the target does not exist in the revision; `in-app`: an internal URL of the app."""


class Link(Observed):
    """One target and every place of the listed content that leads to it; `relation` is `reference` or `dependsOn`."""

    status: str
    relation: str
    target_reference: BacklinkLocation
    location_references: tuple[BacklinkLocation, ...]


class BrokenLinks(Observed):
    """How many links are broken; `change_request` counts those that main content does not have."""

    total: int
    change_request: int | None = None


class LinkStats(Observed):
    """Counts over all pages of a list of links."""

    total: int
    broken: BrokenLinks


class LinkList(Listing[Link]):
    """One page of a list of links, and the counts of the whole list."""

    stats: LinkStats
