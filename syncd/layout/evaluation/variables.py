"""Evaluation of a page's expressions: for one reader, or as far as they do not depend on the reader.

The variables of the space and of the page are known. Without a reader, an expression that uses anything else, such as
a claim of the visitor, has no value unless the result is the same for everybody: `false && visitor.claims.x` is false.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.layout.evaluation.known_values import UNDEFINED as MISSING
from syncd.layout.evaluation.known_values import (
    Known,
    NoValue,
    Scalar,
    find_known_value,
    find_member,
    format_value,
    is_true,
)
from syncd.layout.evaluation.loose_conditions import DocumentNode, close_loose_conditions
from syncd.layout.richtext.plain_page import read_plain_page
from syncd.layout.site.check.condition_reach import ANY, UNDEFINED, Possible, find_possible_values, find_truths
from syncd.model.condition import NoCondition, Part, split_expression

BRACES = r"\{\{\s*+(space|page)\.vars\.([A-Za-z_][A-Za-z0-9_-]*+)\s*+\}\}"
"""A variable that a text names: its scope and its name."""
_BRACES = re.compile(BRACES)
_CONDITION = re.compile(r"\{%-?\s{0,100}if\b")


def has_conditions(text: str) -> bool:
    """Return whether a text may have a part that is for some readers only."""
    return _CONDITION.search(text) is not None


@dataclass(frozen=True)
class Variables:
    """The variables that a page can read, by scope: `space` and `page`; and the claims of its reader.

    Shape: without `claims`, nothing is known of the reader. With them, they are all that the reader has, and every
    condition is decided: one that cannot be computed is false, so that nobody sees what is not meant for them.
    """

    scopes: Mapping[str, Mapping[str, Scalar]]
    claims: Mapping[str, Any] | None = None

    def get(self, scope: str, name: str) -> Scalar | None:
        """Return the value of a variable, or None when there is none of that name in the scope."""
        return self.scopes.get(scope, {}).get(name)

    def evaluate(self, expression: str) -> Scalar | None:
        """Return the value of an expression; None when it has none, or not the same one for every reader."""
        if self.claims is not None:
            known = self._evaluate_known(expression)
            return known if isinstance(known, str | bool | float) and known == known else None
        values = self._evaluate_possible(expression)
        (value,) = values if len(values) == 1 else (ANY,)
        # NaN, the only value that is not equal to itself, is none that a page could show.
        return value if isinstance(value, str | bool | int | float) and value == value else None

    def evaluate_condition(self, condition: str) -> bool | None:
        """Return whether a condition is true, where that is the same for every reader; else None."""
        if self.claims is not None:
            return is_true(self._evaluate_known(condition))
        truths = find_truths(self._evaluate_possible(condition))
        return next(iter(truths)) if len(truths) == 1 else None

    def _evaluate_possible(self, expression: str) -> Possible:
        try:
            return find_possible_values(split_expression(expression), self._find_values)
        except NoCondition:
            return frozenset({ANY})

    def _evaluate_known(self, expression: str) -> Known:
        try:
            return find_known_value(split_expression(expression), self._read_known)
        except (NoCondition, NoValue):
            return MISSING

    def _read_known(self, part: Part) -> Known:
        value: Any = self.claims if part.path[0] == "visitor" else self.scopes.get(part.path[0], {})
        for name in part.path[2:]:
            value = find_member(value, name)
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    def _find_values(self, part: Part) -> Possible:
        match part.path:
            case (("space" | "page") as scope, _, name):
                value = self.get(scope, name)
                if value is None:
                    return frozenset({UNDEFINED})
                return frozenset({value if isinstance(value, str | bool) else float(value)})
        return frozenset({ANY})


def evaluate_nodes(nodes: list[DocumentNode], variables: Variables) -> Iterator[DocumentNode]:
    """Yield the nodes of a document with every expression and condition that has a value replaced by what it gives.

    Shape: an expression becomes text with the marks around it; a block whose condition is true becomes its content,
    one whose condition is false is left out; everything else stays as it is, code included. For a reader whose claims
    are known, what a condition that is no block may hide is left out, too, and so is a page that has conditions and is
    too large to be read as nodes.
    """
    yield from _evaluate_nodes(nodes if variables.claims is None else close_loose_conditions(nodes).nodes, variables)


def _evaluate_nodes(nodes: list[DocumentNode], variables: Variables) -> Iterator[DocumentNode]:
    for node in nodes:
        kind = node.get("type") if node.get("object") in ("block", "inline") else node.get("object")
        expression = str((node.get("data") or {}).get("expression"))
        if kind == "if" and (truth := variables.evaluate_condition(expression)) is not None:
            yield from _evaluate_nodes(node["nodes"], variables) if truth else ()
        elif kind == "expression" and (value := variables.evaluate(expression)) is not None:
            leaf = {"object": "leaf", "text": format_value(value), "marks": node.get("marks", [])}
            yield {"object": "text", "leaves": [leaf]}
        elif kind == "text":
            yield node | {"leaves": [_fill_leaf(leaf, variables) for leaf in node.get("leaves", ())]}
        elif kind == "code":
            if not hides_whole(node, variables):
                yield node
        else:
            held = {name: node[name] for name in ("nodes", "fragments") if isinstance(node.get(name), list)}
            yield node | {name: list(_evaluate_nodes(inner, variables)) for name, inner in held.items()}


def hides_whole(node: DocumentNode, variables: Variables) -> bool:
    """Return whether a block shows a whole text as it is written, whose conditions nobody can decide for a reader."""
    if variables.claims is None or node.get("type") != "code":
        return False
    text = read_plain_page([node])
    return text is not None and has_conditions(text)


def fill_braces(text: str, variables: Variables) -> str:
    """Return a text with the variables that it names in braces, `{{ space.vars.<name> }}`, replaced by their values."""
    return _BRACES.sub(lambda found: _fill_name(found, variables), text) if "{{" in text else text


def _fill_name(found: re.Match[str], variables: Variables) -> str:
    value = variables.get(found[1], found[2])
    return found[0] if value is None else format_value(value)


def _fill_leaf(leaf: DocumentNode, variables: Variables) -> DocumentNode:
    text = leaf.get("text", "")
    if "{{" not in text or any(mark.get("type") == "code" for mark in leaf.get("marks") or ()):
        return leaf
    return leaf | {"text": fill_braces(text, variables)}
