"""Optimistic concurrency: prepare a change without the write lock, and record it if the state did not change."""

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from syncd.platform.storage.storage import Storage

ATTEMPTS = 3
"""Attempts without the write lock; after them the change is prepared while the lock is held, so that it succeeds."""

Prepared = TypeVar("Prepared")
Result = TypeVar("Result")


def prepare_and_record(
    storage: Storage,
    prepare: Callable[[sa.Connection], Prepared],
    record: Callable[[sa.Connection, Prepared], Result | None],
) -> Result:
    """Prepare a change in a reading transaction, record it in a writing one, and return what `record` returns.

    Shape: `record` compares the state with the one that was prepared for, and returns None when they differ.
    """
    for _ in range(ATTEMPTS):
        with storage.read() as connection:
            prepared = prepare(connection)
        with storage.write() as connection:
            result = record(connection, prepared)
        if result is not None:
            return result
    with storage.write() as connection:
        result = record(connection, prepare(connection))
    assert result is not None
    return result
