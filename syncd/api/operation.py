"""The names of operations: each method of the client says which operation of the API it stands for."""

from collections.abc import Callable
from typing import TypeVar

Call = TypeVar("Call", bound=Callable[..., object])

_ATTRIBUTE = "_operation"


def operation(id: str) -> Callable[[Call], Call]:
    """Return a decorator that marks a method as the one that calls an operation of the API."""

    def mark(call: Call) -> Call:
        setattr(call, _ATTRIBUTE, id)
        return call

    return mark


def find_operation(call: object) -> str | None:
    """Return the id of the operation that a method calls, or None."""
    return getattr(call, _ATTRIBUTE, None)
