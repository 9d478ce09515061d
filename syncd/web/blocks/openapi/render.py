"""Blocks of OpenAPI: an operation, a webhook, schemas."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from markupsafe import Markup, escape

from syncd.layout.page.anchors import read_webhook_name
from syncd.layout.page.specifications import DESCRIPTION_MAX, name_operation, read_part, read_words
from syncd.layout.richtext.reading import to_document
from syncd.web.blocks.code import highlight_code
from syncd.web.blocks.context import OutlineEntry
from syncd.web.blocks.elements import EMPTY, write_element
from syncd.web.blocks.members import Node, read_data, read_fragment, read_ref, read_text
from syncd.web.blocks.openapi.schemas import SchemaReader, format_example
from syncd.web.blocks.openapi.security import list_requirements
from syncd.web.blocks.openapi.specification import (
    Part,
    Specification,
    find_schema_name,
    read_parts,
)
from syncd.web.blocks.state import RenderState
from syncd.web.rendering import render_template

_DESCRIPTIONS_MAX = 60_000
"""Characters of all descriptions of a block that are read as Markdown."""
_MARKUP = frozenset("*_`[<#|\n")
_TYPES_MAX = 5
_GOOD = ("1", "2", "3")


def _render_operation(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    path, method = read_text(data, "path"), read_text(data, "method")
    specification = _open_specification(state, node)
    operation, item = specification.find_operation(path, method) if specification else ({}, {})
    if specification is None or not operation:
        return _render_missing(state, node, f"{method.upper()} {path}".strip())
    return _OperationRenderer(state, specification).render(method, specification.server, path, operation, item)


def _render_webhook(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    name = read_webhook_name(node)
    specification = _open_specification(state, node)
    method, operation, item = (
        specification.find_webhook(name, read_text(data, "method")) if specification else ("", {}, {})
    )
    if specification is None or not operation:
        return _render_missing(state, node, name)
    return _OperationRenderer(state, specification).render(method, "", name, operation, item)


def _render_schemas(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    named = data.get("schemas")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    specification = _open_specification(state, node)
    known = specification.schemas if specification else {}
    found = [(name, known[name]) for name in names or list(known)[:50] if isinstance(known.get(name), Mapping)]
    if specification is None or not found:
        return _render_missing(state, node, ", ".join(names))
    reader = SchemaReader(specification)
    members = [reader.read_member(str(name), part) for name, part in found]
    return _write_template(state, "blocks/api_schemas.html", schemas=members)


def _open_specification(state: RenderState, node: Node) -> Specification | None:
    ref = read_ref(read_data(node))
    found = state.context.read_specification(ref) if ref is not None else None
    if found is None and ref is not None:
        state.note_unresolved(ref)
    return Specification(found) if isinstance(found, Mapping) else None


def _render_missing(state: RenderState, node: Node, words: str) -> Markup:
    """What is said of an operation that is not there: its name, and the caption that its writer gave it."""
    caption = state.render_nodes(read_fragment(node, "caption") or [])
    said = write_element("p", write_element("code", words)) if words else EMPTY
    return state.write_note(state.context.labels.missing_operation, said + caption)


def _write_template(state: RenderState, name: str, **values: Any) -> Markup:
    return render_template(name, labels=state.context.labels, write_text=_DescriptionWriter(state), **values)


class _DescriptionWriter:
    """Writes descriptions, which are Markdown, as HTML; once all are too long together, as plain text."""

    def __init__(self, state: RenderState) -> None:
        self.state, self.left = state, _DESCRIPTIONS_MAX

    def __call__(self, text: str) -> Markup:
        """Return a description in which nothing is an anchor of the page."""
        around, self.state.hides_anchors = self.state.hides_anchors, True
        html = self.write_with_anchors(text)
        self.state.hides_anchors = around
        return html

    def write_with_anchors(self, text: str) -> Markup:
        """Return a description whose headings are anchors of the page."""
        state, text = self.state, text[:DESCRIPTION_MAX]
        self.left -= len(text)
        if not _MARKUP & set(text) or self.left < 0:
            state.words += len(text.split())
            return write_element("p", escape(text), dir="auto") if text else EMPTY
        # Headings of a description are none of the page's outline, and its footnotes are its own.
        outline, notes = list(state.outline), state.notes
        html = state.render_nodes(state.open_file(to_document(text).nodes))
        state.outline[:], state.notes = outline, notes
        return html


class _OperationRenderer:
    """One operation of a specification, as values of its template."""

    def __init__(self, state: RenderState, specification: Specification) -> None:
        self.state, self.specification = state, specification
        self.reader = SchemaReader(specification)

    def render(self, method: str, server: str, path: str, operation: Part, item: Part) -> Markup:
        parameters = self.specification.list_parameters(item, operation)
        body = self.specification.find_body(operation, parameters)
        title = read_words(operation, "summary") or read_words(operation, "operationId")
        self.state.words += len(title.split())
        return _write_template(
            self.state,
            "blocks/api_operation.html",
            anchor=self._add_to_outline(name_operation(operation, method, path)),
            method=method.lower(),
            server=server,
            path=path,
            title=title,
            description=read_words(operation, "description"),
            is_deprecated=operation.get("deprecated") is True,
            security=list(list_requirements(self.specification, operation)),
            groups=list(self._group_parameters(parameters)),
            body=body,
            body_types=list(self._list_media(body)),
            body_flags=("required",) if body.get("required") is True else (),
            responses=[
                self._read_response(status, part) for status, part in self.specification.list_responses(operation)
            ],
        )

    def _add_to_outline(self, title: str) -> str:
        """The anchor of the operation, which readers find on the page as they find a heading."""
        anchor, outline = self.state.allocate_anchor(title), self.state.outline
        # Many writers put a heading with the same words before it.
        if not outline or outline[-1].title.casefold() != title.casefold():
            outline.append(OutlineEntry(anchor, title, 2))
        return anchor

    def _group_parameters(self, parameters: list[Part]) -> Iterator[tuple[str, list[Any]]]:
        labels = self.state.context.labels
        for place, title in (
            ("path", labels.path_parameters),
            ("query", labels.query_parameters),
            ("header", labels.header_parameters),
            ("cookie", labels.cookie_parameters),
            ("formData", labels.form_parameters),
        ):
            found = [one for one in parameters if read_words(one, "in") == place]
            if found:
                yield title, [self._read_parameter(one) for one in found]

    def _read_parameter(self, parameter: Part) -> Any:
        # Version 2 has no schema around what a parameter is.
        schema = read_part(parameter, "schema") or read_part(self._find_first_media(parameter), "schema") or parameter
        is_retired = parameter.get("deprecated") is True and schema is not parameter
        flags = ("required",) * (parameter.get("required") is True) + ("deprecated",) * is_retired
        if description := read_words(parameter, "description"):
            schema = {**schema, "description": description}
        return self.reader.read_member(read_words(parameter, "name"), schema, flags)

    def _find_first_media(self, part: Part) -> Part:
        return next(iter(read_parts(list(read_part(part, "content").values()))), {})

    def _read_response(self, status: str, response: Part) -> dict[str, Any]:
        headers = read_part(response, "headers")
        return {
            "status": status,
            "is_good": status[:1] in _GOOD,
            "description": read_words(response, "description"),
            "media": list(self._list_media(response)),
            "headers": [
                self._read_parameter({"name": name, **self.specification.follow(part)})
                for name, part in list(headers.items())[:30]
                if isinstance(part, Mapping)
            ],
        }

    def _list_media(self, part: Part) -> Iterator[dict[str, Any]]:
        for name, media in list(read_part(part, "content").items())[:_TYPES_MAX]:
            if not isinstance(media, Mapping):
                continue
            schema = read_part(media, "schema")
            example = format_example(self._find_example(media, schema))
            yield {
                "name": str(name),
                "schema": self.reader.read_member(find_schema_name(schema), schema) if schema else None,
                "example": highlight_code(example, "json", self.state.context.highlighted) if example else EMPTY,
            }

    def _find_example(self, media: Part, schema: Part) -> Any:
        if "example" in media:
            return media["example"]
        for part in read_part(media, "examples").values():
            example = self.specification.follow(part) if isinstance(part, Mapping) else {}
            if "value" in example:
                return example["value"]
        return self.reader.make_example(schema) if schema else ""


OPENAPI_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "swagger": _render_operation,
    "openapi": _render_operation,
    "openapi-operation": _render_operation,
    "openapi-webhook": _render_webhook,
    "openapi-schemas": _render_schemas,
}
