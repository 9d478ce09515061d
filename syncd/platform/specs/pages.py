"""Pages of an OpenAPI description: one for each tag or operation, below the tag's parent, and one for all schemas."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncd.model.text import join_lines
from syncd.platform.specs.operations import (
    HOOK,
    UNTAGGED,
    SpecOperation,
    is_hidden,
    is_name,
    list_operations,
    list_schemas,
    list_tags,
)
from syncd.platform.specs.sources import PagesSource

PAGES_MAX = 1_000
"""Pages of tags and operations of one description; later ones are left out."""
LEVELS_MAX = 5
"""How many tags may be above a tag; one below more than that stands at the top."""
_TAGS_MAX = 10_000
"""Tags of operations that are looked at: more than get a page, since tags that are listed come before others."""
_TITLE_MAX = 200
_DESCRIPTION_MAX = 1_000
_ICON = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


@dataclass(frozen=True, slots=True)
class SpecPage:
    """A page of a description. Shape: `props` are those of its document, `fields` further members of the page."""

    title: str
    props: Mapping[str, Any]
    fields: Mapping[str, Any] = field(default_factory=dict)
    pages: tuple["SpecPage", ...] = ()


def list_spec_pages(description: Mapping[str, Any], source: PagesSource) -> tuple[SpecPage, ...]:
    """Return the pages of a description that a source asks for: tags in its order, others where they are first used.

    Shape: an operation without a tag has the tag `default`, which comes last. A tag has a page when it has an operation
    or is above one that has, unless it or one above it is hidden.
    Source: "Structuring your API reference" and "OpenAPI layouts" of GitBook's documentation.
    """
    pages = _PageList(list_tags(description), source)
    for operation in list_operations(description):
        pages.add(operation)
    models = (SpecPage("Models", {"doc": "models"}),) if source.has_models and list_schemas(description) else ()
    return (*pages.build(), *models)


def count_pages(pages: tuple[SpecPage, ...]) -> int:
    """Return how many pages there are, those below them included."""
    return sum(1 + count_pages(page.pages) for page in pages)


class _PageList:
    """The operations of a description by their tags, and its tags by the one above each."""

    def __init__(self, tags: Mapping[str, Mapping[str, Any]], source: PagesSource) -> None:
        self._tags, self._source = tags, source
        self._operations: dict[str, list[SpecOperation]] = {}
        self._below: dict[str, list[str]] = {}
        self._left = PAGES_MAX

    def add(self, operation: SpecOperation) -> None:
        """Add an operation to the pages of its tags; what has a page of its own is below one tag."""
        tags = operation.tags
        if self._source.is_by_operation:
            tags = (next((tag for tag in tags if tag in self._tags), tags[0]),)
        for tag in tags:
            if tag in self._operations or len(self._operations) < _TAGS_MAX:
                self._operations.setdefault(tag, []).append(operation)

    def build(self) -> Iterator[SpecPage]:
        """Yield the pages at the top."""
        used = sorted(self._operations, key=lambda tag: tag == UNTAGGED)
        shown: set[str] = set()
        for tag in used:
            named = (tag, *self._find_above(tag))
            if not any(is_hidden(self._tags.get(one, {})) for one in named):
                shown.update(named)
        for tag in (*self._tags, *(tag for tag in used if tag not in self._tags)):
            if tag in shown:
                self._below.setdefault(next(iter(self._find_above(tag)), ""), []).append(tag)
        yield from self._build_tags("")

    def _find_above(self, tag: str) -> list[str]:
        """The tags above one, nearest first; none where they go round in a circle or are too many."""
        above: list[str] = []
        here = _read_parent(self._tags.get(tag, {}))
        while here in self._tags:
            if here in (tag, *above) or len(above) == LEVELS_MAX:
                return []
            above.append(here)
            here = _read_parent(self._tags[here])
        return above

    def _build_tags(self, above: str) -> Iterator[SpecPage]:
        for tag in self._below.get(above, ()):
            if self._left <= 0:
                return
            self._left -= 1
            has_text_only = self._source.is_by_operation or tag not in self._operations
            props = {"doc": "tag" if has_text_only else "operations", "page": tag}
            own = tuple(self._build_operations(tag)) if self._source.is_by_operation else ()
            about = self._tags.get(tag, {})
            yield SpecPage(_make_tag_title(tag, about), props, _read_fields(about), (*own, *self._build_tags(tag)))

    def _build_operations(self, tag: str) -> Iterator[SpecPage]:
        for operation in self._operations.get(tag, ()):
            if self._left > 0 and is_name(operation.name):
                self._left -= 1
                yield _make_operation_page(operation)


def _make_operation_page(operation: SpecOperation) -> SpecPage:
    members = operation.members
    shown = operation.name if operation.is_hook else f"{operation.method.upper()} {operation.name}"
    props: dict[str, Any] = {
        "doc": "operation",
        "page": operation.name,
        "method": HOOK if operation.is_hook else operation.method,
    }
    if members.get("deprecated") is True:
        props["deprecated"] = True
    return SpecPage(_choose_title(members.get("summary"), members.get("operationId"), shown), props)


def _make_tag_title(tag: str, about: Mapping[str, Any]) -> str:
    """The title of a tag's page: the one that is given, else its name as words."""
    words = " ".join(word[:1].upper() + word[1:] for word in tag.split("-"))
    return _choose_title(about.get("x-page-title"), about.get("x-displayName"), words, tag)


def _choose_title(*candidates: object) -> str:
    """The first of several texts that has something to see."""
    texts = (join_lines(text[: 2 * _TITLE_MAX])[:_TITLE_MAX].strip() for text in candidates if isinstance(text, str))
    return next((text for text in texts if text), "Untitled")


def _read_fields(about: Mapping[str, Any]) -> dict[str, Any]:
    icon, text = about.get("x-page-icon"), about.get("x-page-description")
    fields = {"icon": icon} if isinstance(icon, str) and _ICON.fullmatch(icon) else {}
    description = join_lines(text[:_DESCRIPTION_MAX]) if isinstance(text, str) else ""
    return fields | ({"description": description} if description else {})


def _read_parent(about: Mapping[str, Any]) -> str:
    """The name of the tag above one, "" without one; `parent` is its name since OpenAPI 3.2."""
    named = (about.get(name) for name in ("parent", "x-parent"))
    return next((name for name in named if isinstance(name, str)), "")
