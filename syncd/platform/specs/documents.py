"""Documents of an OpenAPI specification: the blocks that show its operations, webhooks and schemas, and its own words.

Nothing of the specification is copied but its texts: a renderer reads the rest of it by each block's reference.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from syncd.layout.richtext.reading import to_document
from syncd.model.computed_document import ModelsProps, OperationProps, TagProps
from syncd.platform.specs.operations import (
    HOOK,
    SpecContent,
    find_hook_method,
    list_schemas,
    read_mapping,
)

DocumentNode = dict[str, Any]
_TEXT_MAX = 200_000


def build_spec_nodes(
    spec: str, content: SpecContent, props: ModelsProps | TagProps | OperationProps
) -> list[DocumentNode] | None:
    """Return the nodes of a document of a specification, without keys; None when it has nothing of that name.

    Shape: `spec` is its slug, `content` what its newest version says.
    """
    ref, description = {"kind": "openapi", "spec": spec}, content.description
    match props:
        case ModelsProps():
            schemas = list_schemas(description)
            return [_build_block("openapi-schemas", ref, schemas=schemas, grouped=True)] if schemas else []
        case OperationProps(page=name, method=method):
            block = _find_operation(ref, description, name, method)
            return None if block is None else [block]
        case TagProps(doc="info"):
            return _read_text(read_mapping(description.get("info")).get("description"))
        case TagProps(doc=doc, page=tag):
            about = content.tags.get(tag)
            blocks = list(_list_blocks(ref, content, tag))
            if about is None and not blocks:
                return None
            return [*_read_text((about or {}).get("description")), *(blocks if doc == "operations" else ())]
    return None


def _find_operation(ref: DocumentNode, description: Mapping[str, Any], name: str, method: str) -> DocumentNode | None:
    if method == HOOK:
        found = find_hook_method(read_mapping(read_mapping(description.get("webhooks")).get(name)))
        return _build_block("openapi-webhook", ref, name=name, method=found) if found else None
    operations = read_mapping(read_mapping(description.get("paths")).get(name))
    return _build_block("openapi-operation", ref, path=name, method=method) if method in operations else None


def _list_blocks(ref: DocumentNode, content: SpecContent, tag: str) -> Iterator[DocumentNode]:
    """The blocks of all operations and webhooks with a tag."""
    for operation in content.by_tag.get(tag, ()):
        kind, name = ("openapi-webhook", "name") if operation.is_hook else ("openapi-operation", "path")
        yield _build_block(kind, ref, **{name: operation.name}, method=operation.method)


def _build_block(kind: str, ref: DocumentNode, **data: Any) -> DocumentNode:
    return {"object": "block", "type": kind, "isVoid": True, "data": {"ref": dict(ref), **data}}


def _read_text(text: object) -> list[DocumentNode]:
    """The nodes of a description, which is Markdown."""
    return list(to_document(text[:_TEXT_MAX]).nodes) if isinstance(text, str) else []
