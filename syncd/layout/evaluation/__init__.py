"""Expressions and conditions of documents: their values, for every reader or for one whose claims are known."""

from syncd.layout.evaluation.known_values import Scalar, format_value
from syncd.layout.evaluation.loose_conditions import close_loose_conditions
from syncd.layout.evaluation.variables import (
    BRACES,
    Variables,
    evaluate_nodes,
    fill_braces,
    has_conditions,
    hides_whole,
)

__all__ = [
    "BRACES",
    "Scalar",
    "Variables",
    "close_loose_conditions",
    "evaluate_nodes",
    "fill_braces",
    "format_value",
    "has_conditions",
    "hides_whole",
]
