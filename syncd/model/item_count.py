"""How many pages, files and reusable contents of one answer are read."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from pydantic import AfterValidator, ValidationInfo

ITEMS_MAX = {"pages": 20_000, "files": 40_000, "reusable contents": 20_000}
"""Twice the pages of the largest benchmark: a page is 700 bytes of JSON and takes 5 KB of memory, the others 1 KB."""

Item = TypeVar("Item")


class TooManyItems(Exception):
    """An answer has more pages, files or reusable contents than are read."""


class ItemCount:
    """Counts the items of one answer; handed to pydantic as the context in which the answer is read."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        """Count one more item of a kind. Raises: TooManyItems, and nothing more of the answer is read."""
        self._counts[kind] += 1
        if self._counts[kind] > ITEMS_MAX[kind]:
            raise TooManyItems(f"there are more than {ITEMS_MAX[kind]} {kind}")


def make_counter(kind: str) -> AfterValidator:
    """Return a validator that counts each item of a kind where pydantic's context is an ItemCount."""

    def count(item: Item, info: ValidationInfo) -> Item:
        if isinstance(info.context, ItemCount):
            info.context.add(kind)
        return item

    # pydantic takes any function with these two arguments; its own alias for them is not public.
    counting: Callable[..., object] = count
    return AfterValidator(counting)
