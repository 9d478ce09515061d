"""Work that takes long and must be recorded at once: done beside the writers, recorded only if nothing moved."""

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from syncd.platform.storage.storage import Storage

ATTEMPTS = 3
"""Tries beside other writers; the last one holds them up instead, so that it cannot lose the race again."""

Prepared = TypeVar("Prepared")
Result = TypeVar("Result")


def prepare_and_record(
    storage: Storage,
    prepare: Callable[[sa.Connection], Prepared],
    record: Callable[[sa.Connection, Prepared], Result | None],
) -> Result:
    """Given how something is prepared from one state and recorded in the next, return what recording it returns.

    Shapes: `record` looks at the state again, and returns None when that is not the one that was prepared for.
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
