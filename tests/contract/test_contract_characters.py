"""No operation takes text that no file and no database can hold: half a character, or NUL, wherever a body has text."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.probe import ABSENT, PROBES, collect
from tests.contract.world import World

pytestmark = pytest.mark.long

collect()

Place = tuple[str | int, ...]


@pytest.mark.parametrize("target", ["in-process"], indirect=True)
@pytest.mark.parametrize("operation", sorted(PROBES))
def test_text_that_nothing_can_hold_is_refused(world: World, operation: str) -> None:
    ask = PROBES[operation](world)
    for added in ("\ud800", "\0"):
        for place in texts(None if ask.body is ABSENT else ask.body):
            answer = world.call(operation, ask.path, query=ask.query, body=longer(ask.body, place, added))
            assert answer.status_code == 400, f"{place}: {answer.status_code} {answer.text[:500]}"


def texts(value: Any, place: Place = ()) -> Iterator[Place]:
    """Return where a body has texts."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(item, (*place, key))


def longer(body: Any, place: Place, added: str) -> Any:
    """Return the body with something at the end of one text."""
    whole = [copy.deepcopy(body)]
    here: Any = whole
    for step in (0, *place)[:-1]:
        here = here[step]
    here[(0, *place)[-1]] += added
    return whole[0]
