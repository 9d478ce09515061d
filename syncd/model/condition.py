"""Conditions: the small expressions over a visitor's claims that decide who sees a section, a site-space or a link.

Conditions are written in JavaScript, of which this module reads the part without statements, functions and templates:
operators, literals, members and method calls. It does not run them; it says whether a text can be one, and of what
claims it speaks. Source: API document, SiteSection and SiteSpace; not-shown.md (c) 22.
"""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

CONDITION_MAX = 1024
"""Characters. Source: API document, Limits."""
DEPTH_MAX = 24
"""How deep parentheses, lists, arguments and `?:` may nest."""

ClaimPath = tuple[str, ...]

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
_LITERALS = ("true", "false", "null", "undefined")
_ROOTS = {"visitor": "claims", "space": "vars", "page": "vars"}
_END = ("end", "")


def claims_of(text: str) -> frozenset[ClaimPath]:
    """Given a condition, return the claims that it reads, each as its names below `visitor.claims`.

    Shapes: `visitor.claims.unsigned.plan === "pro"` gives `("unsigned", "plan")`; a key that is computed ends the
    path, and a property of a value (`length`) looks like one more name.
    Raises: ValueError when the text is too long, nests too deep, is no expression, or reads no claim.
    """
    if len(text) > CONDITION_MAX:
        raise ValueError(f"a condition has at most {CONDITION_MAX} characters")
    reader = _Reader(text)
    reader.whole()
    if not reader.claims:
        raise ValueError("a condition reads at least one claim, such as visitor.claims.isBetaUser")
    return frozenset(reader.claims)


def _checked(text: str) -> str:
    claims_of(text)
    return text


Condition = Annotated[str, Field(max_length=CONDITION_MAX), AfterValidator(_checked)]
"""The type of a member that holds a condition."""


class _Reader:
    """Reads one expression from left to right; what it can not read, it refuses."""

    def __init__(self, text: str) -> None:
        self.claims: set[ClaimPath] = set()
        self._tokens = list(_tokens(text))
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

    def _wrong(self, wanted: str) -> ValueError:
        return ValueError(f"a condition needs {wanted} at character {self._tokens[self._at][2] + 1}")

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

    def _expression(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ValueError(f"a condition nests at most {DEPTH_MAX} deep")
        self._operation(0)
        if self._accept("?"):
            self._expression()
            self._expect(":")
            self._expression()
        self._depth -= 1

    def _operation(self, least: int) -> None:
        while self._here in _PREFIXES:
            self._take()
        self._chain()
        while (rank := _RANK.get(self._here, -1)) >= least:
            self._take()
            self._operation(rank + 1)

    def _chain(self) -> None:
        """Read an operand with its members and calls, and note the variable that it stands for."""
        path = self._operand()
        while True:
            if self._here in (".", "?."):
                optional = self._take() == "?."
                if not (optional and self._here in ("(", "[")):
                    path = _longer(path, self._member())
            elif self._accept("["):
                key = self._key()
                if key is None:
                    self._note(path)
                path = _longer(path, key)
            elif self._accept("("):
                # What is called is a method of what stands before it.
                self._note(path[:-1] if path else None)
                path = None
                self._list(")")
            else:
                self._note(path)
                return

    def _operand(self) -> list[str] | None:
        """Read a literal, a list or a group, which gives None, or a variable's first name."""
        if self._kind in ("string", "number"):
            self._take()
        elif self._accept("("):
            self._expression()
            self._expect(")")
        elif self._accept("["):
            self._list("]")
        elif self._here in _LITERALS:
            self._take()
        elif self._here in _ROOTS:
            return [self._take()]
        else:
            raise self._wrong("a value, or one of visitor.claims, space.vars and page.vars,")
        return None

    def _member(self) -> str:
        if self._kind != "name":
            raise self._wrong("a name")
        return self._take()

    def _key(self) -> str | None:
        """Read what stands in brackets; return it when it is a plain string, else None."""
        kind, text, _ = self._tokens[self._at]
        if kind == "string" and self._tokens[self._at + 1][1] == "]":
            self._at += 2
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        self._expression()
        self._expect("]")
        return None

    def _list(self, end: str) -> None:
        while not self._accept(end):
            self._expression()
            if not self._accept(","):
                self._expect(end)
                return

    def _note(self, path: list[str] | None) -> None:
        if path is None:
            return
        holder = _ROOTS[path[0]] if path else ""
        if path[1:2] != [holder]:
            raise ValueError("a condition reads visitor.claims, space.vars and page.vars, and nothing else")
        if path[0] == "visitor":
            self.claims.add(tuple(path[2:]))


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"a condition cannot be read from character {at + 1} on")
        kind = str(match.lastgroup)
        yield kind, match[kind], match.start(kind)
        at = match.end()
    # Two ends, so that looking one token ahead needs no care.
    yield (*_END, len(text))
    yield (*_END, len(text))


def _longer(path: list[str] | None, name: str | None) -> list[str] | None:
    return None if path is None or name is None else [*path, name]
