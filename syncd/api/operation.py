"""The names of operations: each method of the client says which operation of the API it stands for."""

from collections.abc import Callable
from typing import TypeVar

Call = TypeVar("Call", bound=Callable[..., object])

_ATTRIBUTE = "_operation"


def operation(id: str) -> Callable[[Call], Call]:
    """Given an operation's id, return a decorator that marks the method that calls it."""

    def mark(call: Call) -> Call:
        setattr(call, _ATTRIBUTE, id)
        return call

    return mark


def find_operation(call: object) -> str | None:
    """Given a method, return the id of the operation that it stands for, or None."""
    return getattr(call, _ATTRIBUTE, None)
