"""Cells in columns that hold more than text: numbers, ticks, options, and references to pages, files and images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.layout.richtext.attributes import make_choice, read_number, write_number
from syncd.layout.richtext.html.elements import Content, list_only_elements, write_html_tag, write_html_text
from syncd.layout.richtext.nodes import Node, make_url_ref, read_url

TYPES = frozenset({"text", "number", "checkbox", "rating", "select", "content-ref", "image", "files"})
"""Types of columns whose cells HTML says. A cell of people (`users`) has only their names there."""

NO_VALUE: Any = object()
"""The value of a cell that has none: it is not among the values of its record."""

Cell = tuple[Any, Any]
"""A value, and for references the words for them where they are not the usual ones."""

FIT_VALUES = make_choice("contain", "cover", "fill")
"""How an image fits into its card."""
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class CellType:
    """What a column of any type but text holds: the type, and the words of each option to select."""

    type: str
    options: Mapping[str, str] = field(default_factory=dict)

    def read(self, content: Content, fit: str | None = None) -> Cell | None:
        """Return the cell in its HTML content; `fit` is how an image fits in it. None when it is no such value."""
        if self.type == "select":
            return _read_options(content, self.options)
        if not content:
            return ([] if self.type == "files" else NO_VALUE), None
        if self.type == "files":
            return _read_references(content)
        if self.type in ("content-ref", "image"):
            return _read_reference(content, fit)
        text = content[0] if len(content) == 1 and isinstance(content[0], str) else ""
        if self.type == "checkbox":
            return (_TRUTH[text], None) if text in _TRUTH else None
        if text == "null":
            return None, None
        number = read_number(text)
        return None if number is None else (number, None)

    def write(self, value: Any, words: Any) -> str | None:
        """Return the HTML of a value and the words for it; None when HTML cannot express it."""
        if self.type == "select":
            return _write_options(value, self.options)
        if value is NO_VALUE:
            return ""
        if self.type == "files":
            return _write_references(value, words)
        if self.type in ("content-ref", "image"):
            ref = value["ref"] if read_fit(value) else value
            return _write_references([ref], None if words is None else [words])
        if self.type == "checkbox":
            return str(value).lower() if isinstance(value, bool) else None
        return "null" if value is None else write_number(value)


def read_fit(value: object) -> str | None:
    """Return how the image in the value of a cell fits; None when the value does not say."""
    if not isinstance(value, dict) or value.keys() != {"ref", "objectFit"}:
        return None
    return FIT_VALUES.write(value["objectFit"])


def make_default_label(ref: Node) -> str | None:
    """Return the words that the platform writes for the address of a reference: all of it, its anchor or its end.

    None when it is no address.
    """
    url = read_url(ref)
    if url is None or "://" in url:
        return url
    path, sign, anchor = url.partition("#")
    return f"#{anchor}" if sign else path.rstrip("/").rpartition("/")[2] or url


def make_cell_labels(value: Any, label_of: Callable[[Node], str | None] = make_default_label) -> Any:
    """Return the words for all that the value of a cell refers to; `label_of` returns those for one reference.

    Shape: a list for files; None for a value that is no reference, or one without words.
    """
    if isinstance(value, list):
        labels = [label_of(ref) if isinstance(ref, dict) else None for ref in value]
        return None if None in labels or not labels else labels
    ref = value.get("ref", value) if isinstance(value, dict) else None
    return label_of(ref) if isinstance(ref, dict) else None


def is_label(kept: Any, usual: Any) -> bool:
    """Return whether the words that are kept for a cell are as many as the default ones."""
    if isinstance(usual, list):
        return isinstance(kept, list) and len(kept) == len(usual) and all(isinstance(word, str) for word in kept)
    return usual is not None and isinstance(kept, str)


def _read_options(content: Content, options: Mapping[str, str]) -> Cell | None:
    spans = list_only_elements(content)
    if spans is None or any(span.name != "span" or span.attributes.keys() != {"data-option"} for span in spans):
        return None
    chosen = [str(span.attributes["data-option"]) for span in spans]
    return (chosen, None) if [span.text for span in spans] == _list_option_words(chosen, options) else None


def _write_options(chosen: Any, options: Mapping[str, str]) -> str | None:
    words = _list_option_words(chosen, options) if isinstance(chosen, list) else None
    if words is None:
        return None
    pairs = zip(chosen, words, strict=True)
    return "".join(
        f"{write_html_tag('span', {'data-option': option})}{write_html_text(label)}</span>" for option, label in pairs
    )


def _list_option_words(chosen: Sequence[Any], options: Mapping[str, str]) -> list[str] | None:
    """The words of chosen options, with a comma behind each but the last one."""
    if not all(isinstance(option, str) and option in options for option in chosen):
        return None
    return [f"{options[option]}, " for option in chosen[:-1]] + [options[option] for option in chosen[-1:]]


def _read_reference(content: Content, fit: str | None) -> Cell | None:
    cell = _read_references(content)
    if cell is None or len(cell[0]) != 1:
        return None
    (ref,), labels = cell
    return {"ref": ref, "objectFit": fit} if fit else ref, labels[0] if labels else None


def _read_references(content: Content) -> Cell | None:
    links = list_only_elements(content)
    if links is None or any(link.name != "a" or link.attributes.keys() != {"href"} for link in links):
        return None
    urls, labels = [link.attributes["href"] for link in links], [link.text for link in links]
    if not all(urls) or None in labels:
        return None
    refs = [make_url_ref(str(url)) for url in urls]
    return refs, None if labels == (make_cell_labels(refs) or []) else labels


def _write_references(refs: Any, labels: list[str] | None) -> str | None:
    urls = [read_url(ref) for ref in refs] if isinstance(refs, list) else [None]
    if None in urls:
        return None
    pairs = zip(urls, labels or make_cell_labels(refs) or (), strict=True)
    return "".join(f"{write_html_tag('a', {'href': url})}{write_html_text(label)}</a>" for url, label in pairs)
