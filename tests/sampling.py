"""Many cases of one claim: a few run by default, more with `-m long`, and all that is left with `-m hours`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sample_cases(cases: Iterable[Any], *, kept: Collection[int] = (), long: Collection[int] | None = None) -> list[Any]:
    """Given the cases of a test and the places of those that always run, return them all, the others marked `long`.

    Shape: where `long` names places, only those get that mark, and what is left is marked `hours`.
    """
    return [
        case if place in kept else _mark_case(case, long is None or place in long) for place, case in enumerate(cases)
    ]


def _mark_case(case: Any, is_long: bool) -> Any:
    mark = pytest.mark.long if is_long else pytest.mark.hours
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark)
