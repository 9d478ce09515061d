"""The value of an expression for one reader, whose claims are all known: what JavaScript would make of it.

Nothing is run: an expression is a bounded number of parts, and each part is given its value from those before it.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from syncd.model.condition import Part

Scalar = str | bool | int | float
_WHOLE_MAX = 1e15
"""Numbers from which on JavaScript may not write all digits."""
TEXT_MAX = 10_000
"""Characters of a text that an expression may build."""


class Missing(Enum):
    """The value of what is not there, JavaScript's `undefined`."""

    UNDEFINED = "undefined"


UNDEFINED = Missing.UNDEFINED
Known = bool | float | str | list[Any] | dict[str, Any] | Missing | None


class NoValue(ValueError):
    """An expression does what is not known here, or what JavaScript would refuse."""


def find_known_value(parts: Sequence[Part], read: Callable[[Part], Known]) -> Known:
    """Return the value of an expression; `read` says that of each variable.

    Raises: NoValue.
    """
    known: list[Known] = []
    for part in parts:
        found = _find_value(part, [known[place] for place in part.of], read)
        if isinstance(found, str) and len(found) > TEXT_MAX:
            raise NoValue
        known.append(float(found) if isinstance(found, int) and not isinstance(found, bool) else found)
    return known[-1]


def find_member(value: object, name: str) -> Known:
    """Return a member of a value by its name: a claim in others, or the length of a text or list."""
    if isinstance(value, Mapping):
        found: Any = value.get(name, UNDEFINED)
        return found if isinstance(found, str | bool | int | float | list | dict | None) else UNDEFINED
    if isinstance(value, str | list) and name == "length":
        return float(len(value))
    if isinstance(value, str | list) and name.isdecimal() and len(name) < 10 and int(name) < len(value):
        return value[int(name)]
    return UNDEFINED


def format_value(value: Scalar) -> str:
    """Return a value as a reader sees it, such as `3` for 3.0 and `true` for True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_MAX:
        return str(int(value))
    return str(value)


def is_true(value: Known) -> bool:
    """Return whether a value counts as true."""
    if isinstance(value, list | dict):
        return True
    return value is not UNDEFINED and bool(value) and value == value


def _find_value(part: Part, of: list[Known], read: Callable[[Part], Known]) -> Known:
    match part.what:
        case "value":
            return part.value
        case "undefined":
            return UNDEFINED
        case "read":
            return read(part)
        case "list":
            return list(of)
        case "!":
            return not is_true(of[0])
        case "-" | "+" if len(of) == 1:
            return -_convert_number(of[0]) if part.what == "-" else _convert_number(of[0])
        case "?:":
            return of[1] if is_true(of[0]) else of[2]
        case "&&":
            return of[1] if is_true(of[0]) else of[0]
        case "||":
            return of[0] if is_true(of[0]) else of[1]
        case "??":
            return of[1] if of[0] in (None, UNDEFINED) else of[0]
        case "member":
            return find_member(of[0], part.path[0])
        case "index":
            return find_member(of[0], _convert_text(of[1]))
        case "call":
            return _call_method(part.path[0], of[0], of[1:])
    return _combine(part.what, of[0], of[1])


def _combine(sign: str, one: Known, other: Known) -> Known:
    match sign:
        case "===" | "!==":
            return _is_same(one, other) is (sign == "===")
        case "==" | "!=":
            return _is_equal(one, other) is (sign == "==")
        case "in":
            return _is_member(one, other)
        case "<" | ">" | "<=" | ">=":
            if isinstance(one, str) and isinstance(other, str):
                return bool(_ORDER[sign](one, other))
            return bool(_ORDER[sign](_convert_number(one), _convert_number(other)))
        case "+" if any(isinstance(value, str | list | dict) for value in (one, other)):
            return _convert_text(one) + _convert_text(other)
    return _calculate(sign, _convert_number(one), _convert_number(other))


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _calculate(sign: str, one: float, other: float) -> float:
    try:
        match sign:
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
            case "%":
                return math.fmod(one, other)
            case "/":
                return one / other
    except (ZeroDivisionError, ValueError, OverflowError):
        if sign == "%" or one == 0 or one != one:
            return math.nan
        return math.copysign(math.inf, one) * math.copysign(1, other)
    raise NoValue


def _is_same(one: Known, other: Known) -> bool:
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return one is other
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def _is_equal(one: Known, other: Known) -> bool:
    if one in (None, UNDEFINED) or other in (None, UNDEFINED):
        return one in (None, UNDEFINED) and other in (None, UNDEFINED)
    if type(one) is type(other) or isinstance(one, list | dict) or isinstance(other, list | dict):
        return _is_same(one, other)
    return _convert_number(one) == _convert_number(other)


def _is_member(name: Known, holder: Known) -> bool:
    if not isinstance(holder, list | dict):
        raise NoValue
    return find_member(holder, _convert_text(name)) is not UNDEFINED


def _call_method(name: str, value: Known, given: list[Known]) -> Known:
    match name, value, given:
        case "includes", list(), [wanted]:
            return any(_is_same(_make_number(one), wanted) for one in value)
        case "includes", str(), [str() as wanted]:
            return wanted in value
        case "startsWith", str(), [str() as wanted]:
            return value.startswith(wanted)
        case "endsWith", str(), [str() as wanted]:
            return value.endswith(wanted)
        case "toLowerCase", str(), []:
            return value.lower()
        case "toUpperCase", str(), []:
            return value.upper()
        case "trim", str(), []:
            return value.strip()
        case "toString", _, []:
            return _convert_text(value)
    raise NoValue


def _make_number(value: Any) -> Known:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _convert_number(value: Known) -> float:
    if isinstance(value, str):
        try:
            return float(value.strip() or 0) if "_" not in value else math.nan
        except ValueError:
            return math.nan
    if value is None:
        return 0.0
    return float(value) if isinstance(value, bool | int | float) else math.nan


def _convert_text(value: Known) -> str:
    if isinstance(value, dict | list):
        raise NoValue
    if value is None or value is UNDEFINED:
        return "null" if value is None else "undefined"
    return format_value(value)
