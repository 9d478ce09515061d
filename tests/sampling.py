"""Many cases of one claim: a few run by default, all of them with `-m long`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sample_cases(cases: Iterable[Any], *, kept: Collection[int]) -> list[Any]:
    """Given the cases of a test and the places of those that always run, return them all, the others marked `long`."""
    return [
        case if place in kept else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for place, case in enumerate(cases)
    ]
