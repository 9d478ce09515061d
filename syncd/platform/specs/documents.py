"""Documents of an OpenAPI specification: the blocks that show its operations, webhooks and schemas, and its own words.

Nothing of the specification is copied but its texts: a renderer reads the rest of it by each block's reference.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from syncd.layout.richtext.reading import to_document
from syncd.model.computed_document import ModelsProps, OperationProps, TagProps

DocumentNode = dict[str, Any]
_METHODS = ("get", "post", "put", "delete", "patch", "options", "head", "trace")
_HOOK = "hook"
_TEXT_MAX = 200_000


def build_spec_nodes(
    spec: str, description: Mapping[str, Any], props: ModelsProps | TagProps | OperationProps
) -> list[DocumentNode] | None:
    """Return the nodes of a document of a specification, without keys; None when it has nothing of that name.

    Shape: `spec` is its slug, `description` what its newest version says.
    """
    ref = {"kind": "openapi", "spec": spec}
    match props:
        case ModelsProps():
            schemas = [str(name) for name in _read_mapping(_read_mapping(description.get("components")).get("schemas"))]
            return [_build_block("openapi-schemas", ref, schemas=schemas, grouped=True)] if schemas else []
        case OperationProps(page=name, method=method):
            block = _find_operation(ref, description, name, method)
            return None if block is None else [block]
        case TagProps(doc="info"):
            return _read_text(_read_mapping(description.get("info")).get("description"))
        case TagProps(doc=doc, page=tag):
            about = _find_tag(description, tag)
            blocks = list(_list_operations(ref, description, tag))
            if about is None and not blocks:
                return None
            return [*_read_text((about or {}).get("description")), *(blocks if doc == "operations" else ())]
    return None


def _find_operation(ref: DocumentNode, description: Mapping[str, Any], name: str, method: str) -> DocumentNode | None:
    if method == _HOOK:
        hook = _read_mapping(_read_mapping(description.get("webhooks")).get(name))
        found = next((one for one in _METHODS if one in hook), "")
        return _build_block("openapi-webhook", ref, name=name, method=found) if found else None
    operations = _read_mapping(_read_mapping(description.get("paths")).get(name))
    return _build_block("openapi-operation", ref, path=name, method=method) if method in operations else None


def _list_operations(ref: DocumentNode, description: Mapping[str, Any], tag: str) -> Iterator[DocumentNode]:
    for path, item in _read_mapping(description.get("paths")).items():
        for method in _METHODS:
            operation = _read_mapping(_read_mapping(item).get(method))
            tags = operation.get("tags")
            if isinstance(tags, list) and tag in tags:
                yield _build_block("openapi-operation", ref, path=str(path), method=method)


def _find_tag(description: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    tags = description.get("tags")
    listed = map(_read_mapping, tags) if isinstance(tags, list) else ()
    return next((tag for tag in listed if tag.get("name") == name), None)


def _build_block(kind: str, ref: DocumentNode, **data: Any) -> DocumentNode:
    return {"object": "block", "type": kind, "isVoid": True, "data": {"ref": dict(ref), **data}}


def _read_text(text: object) -> list[DocumentNode]:
    """The nodes of a description, which is Markdown."""
    return list(to_document(text[:_TEXT_MAX]).nodes) if isinstance(text, str) else []


def _read_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
