"""The garbage collector of Python, and work that makes very many objects of which none is garbage yet."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""About what a revision of ten thousand pages allocates."""


@contextmanager
def collect_seldom() -> Iterator[None]:
    """Look for garbage cycles less often: what is read is large and holds none, and looking took a third of a run."""
    usual = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
