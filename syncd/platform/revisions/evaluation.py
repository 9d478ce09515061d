"""Evaluation of a page's expressions, as far as they do not depend on the reader.

The variables of the space and of the page are known. An expression that uses anything else, such as a claim of the
visitor, has no value here unless the result is the same for everybody: `false && visitor.claims.x` is false.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.layout.site.check.condition_reach import ANY, UNDEFINED, Possible, find_possible_values, find_truths
from syncd.model.condition import NoCondition, Part, split_expression
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.tree import ROOT

Scalar = str | bool | int | float
DocumentNode = dict[str, Any]

BRACES = r"\{\{\s*+(space|page)\.vars\.([A-Za-z_][A-Za-z0-9_-]*+)\s*+\}\}"
"""A variable that a text names: its scope and its name."""
_BRACES = re.compile(BRACES)
_WHOLE_MAX = 1e15
"""Numbers from which on JavaScript may not write all digits."""


@dataclass(frozen=True)
class Variables:
    """The variables that a page can read, by scope: `space` and `page`."""

    scopes: Mapping[str, Mapping[str, Scalar]]

    @classmethod
    def of_page(cls, outline: Outline, entry: TreeEntry) -> "Variables":
        """Given a revision and where a page stands in it, return the variables that the page can read."""
        space = outline.entries[ROOT].node.fields.get("variables", {})
        return cls({"space": space, "page": entry.node.fields.get("variables", {})})

    def get(self, scope: str, name: str) -> Scalar | None:
        """Given a scope and a name, return the variable's value, or None when there is none."""
        return self.scopes[scope].get(name)

    def evaluate(self, expression: str) -> Scalar | None:
        """Given an expression, return its value; None when it has none, or not the same for every reader."""
        values = self._evaluate_possible(expression)
        (value,) = values if len(values) == 1 else (ANY,)
        return value if isinstance(value, str | bool | int | float) and value == value else None

    def evaluate_condition(self, condition: str) -> bool | None:
        """Given a condition, return whether it is true for every reader or for none; None when that differs."""
        truths = find_truths(self._evaluate_possible(condition))
        return next(iter(truths)) if len(truths) == 1 else None

    def _evaluate_possible(self, expression: str) -> Possible:
        try:
            return find_possible_values(split_expression(expression), self._find_values)
        except NoCondition:
            return frozenset({ANY})

    def _find_values(self, part: Part) -> Possible:
        match part.path:
            case (("space" | "page") as scope, _, name):
                value = self.scopes[scope].get(name)
                if value is None:
                    return frozenset({UNDEFINED})
                return frozenset({value if isinstance(value, str | bool) else float(value)})
        return frozenset({ANY})


def format_value(value: Scalar) -> str:
    """Given a value, return it as a reader sees it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_MAX:
        return str(int(value))
    return str(value)


def evaluate_nodes(nodes: list[DocumentNode], variables: Variables) -> Iterator[DocumentNode]:
    """Given nodes of a document, yield them with every expression and condition that has a value in its value's form.

    Shapes: an expression becomes text with the marks around it; a block whose condition is true becomes what it holds,
    one whose condition is false goes; all else stays as it is, code included.
    """
    for node in nodes:
        kind = node.get("type") if node.get("object") in ("block", "inline") else node.get("object")
        expression = str((node.get("data") or {}).get("expression"))
        if kind == "if" and (truth := variables.evaluate_condition(expression)) is not None:
            yield from evaluate_nodes(node["nodes"], variables) if truth else ()
        elif kind == "expression" and (value := variables.evaluate(expression)) is not None:
            leaf = {"object": "leaf", "text": format_value(value), "marks": node.get("marks", [])}
            yield {"object": "text", "leaves": [leaf]}
        elif kind == "text":
            yield node | {"leaves": [_fill_leaf(leaf, variables) for leaf in node.get("leaves", ())]}
        elif kind == "code":
            yield node
        else:
            held = {name: node[name] for name in ("nodes", "fragments") if isinstance(node.get(name), list)}
            yield node | {name: list(evaluate_nodes(inner, variables)) for name, inner in held.items()}


def fill_braces(text: str, variables: Variables) -> str:
    """Given text, return it with the variables that it names in braces, `{{ space.vars.<name> }}`, in their place."""
    return _BRACES.sub(lambda found: _fill_name(found, variables), text) if "{{" in text else text


def _fill_name(found: re.Match[str], variables: Variables) -> str:
    value = variables.get(found[1], found[2])
    return found[0] if value is None else format_value(value)


def _fill_leaf(leaf: DocumentNode, variables: Variables) -> DocumentNode:
    text = leaf.get("text", "")
    if "{{" not in text or any(mark.get("type") == "code" for mark in leaf.get("marks") or ()):
        return leaf
    return leaf | {"text": fill_braces(text, variables)}
