"""The words for references in the cells of tables: those that follow from what a reference leads to are not kept."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from syncd.layout.richtext.html.cells import is_label, make_cell_labels, make_default_label
from syncd.layout.richtext.nodes import Node
from syncd.layout.richtext.references import find_cells

LabelOf = Callable[[Node], str | None]
"""The words for a reference; None where it has no other than those that the platform writes for its address."""


def add_labels(nodes: Iterable[Node], label_of: LabelOf = lambda ref: None) -> None:
    """Add to each table of a document the words for references that have none."""
    for data, place, label in _find_labels(nodes, label_of):
        labels = data.setdefault("labels", {})
        if not is_label(labels.get(place), label):
            labels[place] = label


def drop_labels(nodes: Iterable[Node], label_of: LabelOf) -> None:
    """Remove from the tables of a document the words that `add_labels` would add again."""
    for data, place, label in _find_labels(nodes, label_of):
        labels = data.get("labels", {})
        if labels.get(place) == label:
            del labels[place]
        if labels == {}:
            data.pop("labels", None)


def _find_labels(nodes: Iterable[Node], label_of: LabelOf) -> Iterator[tuple[Node, str, Any]]:
    """The data of each table, the name of each cell that refers to something, and the words for that."""
    for data, place, value in find_cells(nodes):
        label = make_cell_labels(value, lambda ref: label_of(ref) or make_default_label(ref))
        if label is not None and isinstance(data.get("labels", {}), dict):
            yield data, place, label
