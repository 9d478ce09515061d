"""The tree of errors that the module's docstring draws is the one that there is."""

import re
from typing import NamedTuple

from syncd import errors
from syncd.errors import SyncdError

_ROW = re.compile(r"( *)[+-] (\w+) +(\d+)   (?:(never|later|at a known time)(?:: |$))?")


class Row(NamedTuple):
    """An error as the docstring draws it."""

    name: str
    parent: str
    exit_code: int
    retry: str


def list_rows() -> list[Row]:
    """The rows below the root; one that says nothing of a retry has that of the error above it."""
    above = [Row(SyncdError.__name__, "", SyncdError.exit_code, SyncdError.retry.value)]
    rows: list[Row] = []
    for line in (errors.__doc__ or "").splitlines():
        if (found := _ROW.match(line)) is not None:
            del above[len(found[1]) // 2 + 1 :]
            rows.append(Row(found[2], above[-1].name, int(found[3]), found[4] or above[-1].retry))
            above.append(rows[-1])
    return rows


def test_the_docstring_draws_every_error_with_its_exit_code_and_retry() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SyncdError)]
    assert list_rows() == [
        Row(kind.__name__, kind.__base__.__name__ if kind.__base__ else "", kind.exit_code, kind.retry.value)
        for kind in kinds
        if kind is not SyncdError
    ]
