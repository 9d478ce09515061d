"""Conditions: the expressions over a visitor's claims that decide who sees a section, a site-space or a link.

Conditions are written in JavaScript, of which this module reads the part without statements, functions and templates:
operators, literals, members and method calls. It does not run them; it says whether a text can be one, of what parts
it is made, and of what claims it speaks. Source: API document, SiteSection and SiteSpace; @gitbook/api 0.146.0.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

CONDITION_MAX = 1024
"""Characters. Source: API document, Limits."""
DEPTH_MAX = 24
"""How deep parentheses, lists, arguments and `?:` may nest."""
STEPS_MAX = 512
"""Words and signs of one condition: what reading it, and judging it, may cost."""

ClaimPath = tuple[str, ...]
Span = tuple[int, int]
Value = bool | float | str | None

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*')
    | (?P<mark>===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|[<>!()\[\].,?:+\-*/%])
    )""",
    re.VERBOSE,
)
_RANKS = (
    ("??",),
    ("||",),
    ("&&",),
    ("==", "!=", "===", "!=="),
    ("<", ">", "<=", ">=", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)
_RANK = {operator: rank for rank, operators in enumerate(_RANKS) for operator in operators}
_PREFIXES = ("!", "-", "+")
_LITERALS = {"true": True, "false": False, "null": None}
_UNDEFINED = "undefined"
_ROOTS = {"visitor": "claims", "space": "vars", "page": "vars"}
_OPEN = -1
"""In the place of a part: a variable whose names are still being read."""
_END = ("end", "")


@dataclass(frozen=True)
class Part:
    """One part of a condition.

    Shape: `what` is "value" (a literal, which is `value`), "undefined", "read" (a variable, whose names are `path`),
    an operator, or one of "?:", "list", "member", "index" and "call" (a method, named by `path`); `of` are the places
    of what it is made of among the condition's parts, all of them before its own; `span` is where it stands.
    """

    what: str
    span: Span
    of: tuple[int, ...] = ()
    value: Value = None
    path: ClaimPath = ()

    @property
    def claim(self) -> ClaimPath | None:
        """The names below `visitor.claims` when this part reads a claim, or all of them, else None."""
        return self.path[2:] if self.what == "read" and self.path[0] == "visitor" else None


class NoCondition(ValueError):
    """A text is no condition; `at` is the character, from 0, at which that shows."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


def split_condition(text: str) -> tuple[Part, ...]:
    """Return the parts of a condition, each behind those that it is made of; the last one is the condition itself.

    Raises: NoCondition when the text is too long, has too many parts, nests too deep, is no expression, or reads no
    claim.
    """
    parts = split_expression(text)
    if not any(part.claim is not None for part in parts):
        raise NoCondition("a condition reads at least one claim, such as visitor.claims.isBetaUser")
    return parts


def split_expression(text: str) -> tuple[Part, ...]:
    """Return the parts of an expression, which need not read a claim, as `split_condition`. Raises: NoCondition."""
    if len(text) > CONDITION_MAX:
        raise NoCondition(f"a condition has at most {CONDITION_MAX} characters")
    reader = _Reader(text)
    reader.whole()
    return tuple(reader.parts)


def find_condition_claims(text: str) -> frozenset[ClaimPath]:
    """Return the claims that a condition reads, each as its names below `visitor.claims`.

    Shape: `visitor.claims.unsigned.plan === "pro"` gives `("unsigned", "plan")`; a key that is computed ends the
    path, and a property of a value, such as its length, looks like one more name.
    Raises: ValueError when the text is no condition.
    """
    return frozenset(part.claim for part in split_condition(text) if part.claim is not None)


def _check_condition(text: str) -> str:
    split_condition(text)
    return text


Condition = Annotated[str, Field(max_length=CONDITION_MAX), AfterValidator(_check_condition)]
"""The type of a member that holds a condition."""


class _Reader:
    """Reads one expression from left to right; what it can not read, it refuses."""

    def __init__(self, text: str) -> None:
        self.parts: list[Part] = []
        self._tokens = list(_tokens(text.rstrip()))
        self._at = 0
        self._depth = 0

    def whole(self) -> None:
        self._expression()
        if self._kind != "end":
            raise self._wrong("an operator or the end")

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _here(self) -> str:
        """The mark or word at hand; empty for a string or number, which is never taken for a mark."""
        kind, text, _ = self._tokens[self._at]
        return text if kind in ("mark", "name") else ""

    def _wrong(self, wanted: str) -> NoCondition:
        at = self._tokens[self._at][2]
        return NoCondition(f"a condition needs {wanted} at character {at + 1}", at)

    def _take(self) -> str:
        text = self._tokens[self._at][1]
        self._at += 1
        return text

    def _accept(self, mark: str) -> bool:
        found = self._here == mark
        if found:
            self._at += 1
        return found

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise self._wrong(f"`{mark}`")

    def _add(self, what: str, start: int, *of: int, value: Value = None, path: ClaimPath = (), end: int = 0) -> int:
        """Note a part that ends before the token at hand, or where it is said, and return its place."""
        _, text, at = self._tokens[self._at - 1]
        self.parts.append(Part(what, (start, end or at + len(text)), of, value, path))
        return len(self.parts) - 1

    @property
    def _start(self) -> int:
        return self._tokens[self._at][2]

    def _expression(self) -> int:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise NoCondition(f"a condition nests at most {DEPTH_MAX} deep", self._start)
        start = self._start
        found = self._operation(0)
        if self._accept("?"):
            first = self._expression()
            self._expect(":")
            found = self._add("?:", start, found, first, self._expression())
        self._depth -= 1
        return found

    def _operation(self, least: int) -> int:
        start, prefixes = self._start, list[tuple[str, int]]()
        while self._here in _PREFIXES:
            at = self._start
            prefixes.append((self._take(), at))
        found = self._chain()
        for prefix, at in reversed(prefixes):
            found = self._add(prefix, at, found)
        while (rank := _RANK.get(self._here, -1)) >= least:
            operator = self._take()
            found = self._add(operator, start, found, self._operation(rank + 1))
        return found

    def _chain(self) -> int:
        """Read an operand with its members and calls; `names` are those of the variable that it is, if it is one."""
        start, names = self._start, list[tuple[str, int]]()
        found = self._read_name(names) if self._here in _ROOTS else self._operand()
        while True:
            if self._here in (".", "?."):
                optional = self._take() == "?."
                if not (optional and self._here in ("(", "[")):
                    found = self._member(start, found, names)
            elif self._here == "[":
                found = self._index(start, found, names)
            elif self._here == "(":
                found = self._call(start, found, names)
            else:
                return self._variable(start, found, names)

    def _read_name(self, names: list[tuple[str, int]]) -> int:
        start = self._start
        names.append((name := self._take(), start + len(name)))
        return _OPEN

    def _member(self, start: int, found: int, names: list[tuple[str, int]]) -> int:
        if self._kind != "name":
            raise self._wrong("a name")
        if found == _OPEN:
            return self._read_name(names)
        return self._add("member", start, found, path=(self._take(),))

    def _index(self, start: int, found: int, names: list[tuple[str, int]]) -> int:
        """Read what stands in brackets: a plain string in them is a name like any other."""
        (kind, text, _), (_, close, at) = self._tokens[self._at + 1 : self._at + 3]
        if found == _OPEN and kind == "string" and close == "]":
            self._at += 3
            names.append((_unquote(text), at + 1))
            return _OPEN
        found = self._variable(start, found, names)
        self._take()
        key = self._expression()
        self._expect("]")
        return self._add("index", start, found, key)

    def _call(self, start: int, found: int, names: list[tuple[str, int]]) -> int:
        """Read the arguments of what was named last, which is a method of what stands before it."""
        method = names.pop()[0] if names else ""
        if found != _OPEN and self.parts[found].what == "member" and found == len(self.parts) - 1:
            member = self.parts.pop()
            (found,), (method,) = member.of, member.path
        found = self._variable(start, found, names)
        self._take()
        return self._add("call", start, found, *self._list(")"), path=(method,))

    def _variable(self, start: int, found: int, names: list[tuple[str, int]]) -> int:
        """Note the variable that was read, if one was; it must be one that a condition may read."""
        if found != _OPEN:
            return found
        path = tuple(name for name, _ in names)
        end = names[-1][1] if names else start
        names.clear()
        if path[1:2] != (_ROOTS[path[0]] if path else "",):
            raise NoCondition("a condition reads visitor.claims, space.vars and page.vars, and nothing else", start)
        return self._add("read", start, path=path, end=end)

    def _operand(self) -> int:
        """Read a literal, a list or a group."""
        start = self._start
        if self._kind == "string":
            return self._add("value", start, value=_unquote(self._take()))
        if self._kind == "number":
            return self._add("value", start, value=float(self._take()))
        if self._accept("("):
            found = self._expression()
            self._expect(")")
            return found
        if self._accept("["):
            return self._add("list", start, *self._list("]"))
        if self._here in _LITERALS:
            return self._add("value", start, value=_LITERALS[self._take()])
        if self._accept(_UNDEFINED):
            return self._add(_UNDEFINED, start)
        raise self._wrong("a value, or one of visitor.claims, space.vars and page.vars,")

    def _list(self, end: str) -> Iterator[int]:
        while not self._accept(end):
            yield self._expression()
            if not self._accept(","):
                self._expect(end)
                return


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at = 0
    for _ in range(STEPS_MAX):
        if at == len(text):
            break
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            if text[at] == "=":
                raise NoCondition(f"a condition compares with == or ===, not with the = at character {at + 1}", at)
            raise NoCondition(f"a condition cannot be read from character {at + 1} on", at)
        kind = str(match.lastgroup)
        yield kind, match[kind], match.start(kind)
        at = match.end()
    else:
        raise NoCondition(f"a condition has at most {STEPS_MAX} words and signs", at)
    # Ends enough that looking ahead needs no care.
    yield from ((*_END, len(text)) for _ in range(3))


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])
