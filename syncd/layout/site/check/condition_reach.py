"""Whether a condition keeps anybody out: what it can come to when a visitor chooses every claim that nobody signed.

Each part of a condition is given the set of values that it can have, from the first part to the last; a set that grows
too large becomes `ANY`. So judging costs a bounded number of steps, and errs only towards a warning.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import product

from syncd.model.adaptive import UNSIGNED
from syncd.model.condition import Part, Value


class _Special(Enum):
    """Values that no literal has."""

    UNDEFINED = "undefined"
    ANY = "any"
    CLAIMS = "the claims themselves"


UNDEFINED, ANY, CLAIMS = _Special.UNDEFINED, _Special.ANY, _Special.CLAIMS
Possible = frozenset[Value | _Special]

_MAX = 16
"""Values that are told apart; of more, nothing is known."""
_BOTH: Possible = frozenset({True, False})
_ANYTHING: Possible = frozenset({ANY})
_NOTHING: Possible = frozenset({UNDEFINED})
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def reads_only_unsigned(parts: Sequence[Part]) -> bool:
    """Return whether unsigned claims are the only gate of a condition.

    Shape: true when it reads such a claim and can come true for a visitor of whom no signed claim is known.
    """
    reads = any(part.claim and part.claim[0] == UNSIGNED for part in parts)
    return reads and can_pass(parts)


def can_pass(parts: Sequence[Part]) -> bool:
    """Return whether a condition can come true without any signed claim."""
    return True in find_truths(find_possible_values(parts, _list_values))


def find_possible_values(parts: Sequence[Part], read: Callable[[Part], Possible]) -> Possible:
    """Return the values that an expression can have; `read` says those of each variable."""
    known: list[Possible] = []
    for part in parts:
        found = _find_value(part, [known[place] for place in part.of], parts, read)
        known.append(found if len(found) <= _MAX else _ANYTHING)
    return known[-1]


def find_truths(values: Possible) -> frozenset[bool]:
    """Return whether possible values count as true, as false, or as both."""
    return frozenset(truth is True for value in values for truth in _find_truth(value))


def _find_value(part: Part, of: list[Possible], parts: Sequence[Part], read: Callable[[Part], Possible]) -> Possible:
    match part.what:
        case "value":
            return frozenset({part.value})
        case "undefined":
            return _NOTHING
        case "read":
            return read(part)
        case "!":
            return _combine_values(of, lambda value: _find_truth(value, negate=True))
        case "-" | "+" if len(of) == 1:
            return _combine_values(of, lambda value: {_convert_number(part.what, value)})
        case "&&" | "||" | "??":
            return _choose(part.what, *of)
        case "?:":
            return frozenset().union(*(of[1 if truth else 2] for truth in _combine_values(of[:1], _find_truth)))
        case "==" | "===" | "!=" | "!==":
            return _combine_values(of, lambda one, other: _compare(part.what, one, other))
        case "in":
            return _combine_values(of, _find_membership)
        case "<" | ">" | "<=" | ">=":
            return _combine_values(of, lambda one, other: _compare_order(part.what, one, other))
        case "call" if part.path == ("includes",) and parts[part.of[0]].what == "list" and len(of) == 2:
            return _find_inclusion(of[0], of[1])
        case "list":
            return frozenset().union(*of)
        case "member" | "index" | "call":
            return _NOTHING if of[0] == _NOTHING else _ANYTHING
        case "+":
            return _combine_values(of, _add_values)
        case _:
            return _combine_values(of, _do_arithmetic)


def _list_values(part: Part) -> Possible:
    if part.claim is None or part.claim[:1] == (UNSIGNED,):
        return _ANYTHING
    return _NOTHING if part.claim else frozenset({CLAIMS})


def _combine_values(of: Iterable[Possible], work: Callable[..., Iterable[Value | _Special]]) -> Possible:
    return frozenset(result for values in product(*of) for result in work(*values))


def _find_truth(value: Value | _Special, *, negate: bool = False) -> Possible:
    if value is ANY:
        return _BOTH
    truth = value is CLAIMS or (value is not UNDEFINED and bool(value) and value == value)
    return frozenset({truth is not negate})


def _choose(sign: str, one: Possible, other: Possible) -> Possible:
    """`&&`, `||` and `??` give one of their sides."""
    found: set[Value | _Special] = set()
    for value in one:
        if sign == "??":
            going, staying = value in (None, UNDEFINED, ANY), value not in (None, UNDEFINED)
        else:
            truths = _find_truth(value)
            going, staying = (sign == "&&") in truths, (sign == "||") in truths
        found |= ({value} if staying else set()) | (other if going else frozenset())
    return frozenset(found)


def _compare(sign: str, one: Value | _Special, other: Value | _Special) -> Possible:
    equal = _compare_equal(one, other, strict=len(sign) == 3)
    return frozenset({result is not (sign[0] == "!") for result in equal})


def _compare_equal(one: Value | _Special, other: Value | _Special, *, strict: bool) -> set[bool]:
    if ANY in (one, other):
        return {True, False}
    if not strict and {one, other} <= {None, UNDEFINED}:
        return {True}
    if type(one) is type(other):
        return {one == other}
    plain = strict or {one, other} & {None, UNDEFINED}
    return {False} if plain else {True, False}


def _find_membership(name: Value | _Special, holder: Value | _Special) -> Possible:
    if holder is CLAIMS and name is not ANY:
        return frozenset({name == UNSIGNED})
    return _BOTH


def _compare_order(sign: str, one: Value | _Special, other: Value | _Special) -> Possible:
    if UNDEFINED in (one, other) or one != one or other != other:
        return frozenset({False})
    if isinstance(one, float) and isinstance(other, float):
        return frozenset({_ORDER[sign](one, other)})
    return _BOTH


def _find_inclusion(entries: Possible, wanted: Possible) -> Possible:
    return _combine_values((entries, wanted), lambda one, other: _compare_equal(one, other, strict=True)) | {False}


def _convert_number(sign: str, value: Value | _Special) -> Value | _Special:
    if isinstance(value, (bool, float)):
        return -float(value) if sign == "-" else float(value)
    return math.nan if value is UNDEFINED else ANY


def _add_values(one: Value | _Special, other: Value | _Special) -> Possible:
    return frozenset({one + other}) if isinstance(one, str) and isinstance(other, str) else _do_arithmetic(one, other)


def _do_arithmetic(one: Value | _Special, other: Value | _Special) -> Possible:
    """Arithmetic, of which only matters what becomes of a claim that nobody knows."""
    numbers = all(value is UNDEFINED or isinstance(value, float) for value in (one, other))
    return frozenset({math.nan}) if numbers and UNDEFINED in (one, other) else _ANYTHING
