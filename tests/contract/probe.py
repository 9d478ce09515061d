"""Probes: for each operation of the API one request that must succeed, and the ways in which it must be refused."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.contract.world import World

ABSENT = object()


@dataclass(frozen=True)
class Ask:
    """One request of an operation and what is promised about it.

    Shape: `path` has the path parameters by their names in the API, `status` is what it is answered with, a refusal
    where nothing here could ever answer otherwise; `invalid`
    and `invalid_query` are bodies and query parameters that are refused with 400, beside those that every operation
    refuses. `unknown` names the path parameters of which an unknown value is a 404; by default all of them, for a
    DELETE all but the last. `items` is, for a list, how many items there are (3 or more). `open_body` is set where the
    document allows any other member. `outsider` is the status for a caller of another organization; None where the
    operation belongs to no organization. `is_open` says that no token is needed. `check` looks at the answer beyond
    its shape.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = ABSENT
    status: int = 200
    invalid: tuple[Any, ...] = ()
    invalid_query: tuple[Mapping[str, Any], ...] = ()
    unknown: tuple[str, ...] | None = None
    items: int | None = None
    open_body: bool = False
    outsider: int | None = 404
    is_open: bool = False
    check: Callable[[Any], object] | None = None


Probe = Callable[[World], Ask]
PROBES: dict[str, Probe] = {}


def probe(operation: str) -> Callable[[Probe], Probe]:
    """Given an operation's id, return a decorator that makes a function its probe."""

    def keep(function: Probe) -> Probe:
        assert operation not in PROBES, f"{operation} has two probes"
        PROBES[operation] = function
        return function

    return keep


def collect() -> None:
    """Read every module of probes, so that `PROBES` has them all."""
    for module in sorted((Path(__file__).parent / "probes").glob("[!_]*.py")):
        importlib.import_module(f"tests.contract.probes.{module.stem}")
