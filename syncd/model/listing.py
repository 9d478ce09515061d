"""The list envelope of every list endpoint (API document, Conventions 3)."""

from typing import Generic, TypeVar

from syncd.model.base import Observed

Item = TypeVar("Item", bound=Observed)


class Next(Observed):
    """Where the next page starts; `page` is an identifier, never an address to follow."""

    page: str


class Listing(Observed, Generic[Item]):
    """One page of a list: `next` is absent on the last page, `count` is the optional total."""

    items: tuple[Item, ...]
    next: Next | None = None
    count: int | None = None
