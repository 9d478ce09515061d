"""Where pages of a revision are computed from: a specification by its slug, and how its pages are laid out."""

from dataclasses import dataclass

BUILTIN_OPENAPI = "builtin:openapi"


@dataclass(frozen=True, slots=True)
class PagesSource:
    """What a computed page says of its pages.

    Shape: `spec` is the slug of a specification; `has_models` asks for a page of all schemas, `is_by_operation` for a
    page of each operation instead of each tag.
    """

    spec: str
    has_models: bool
    is_by_operation: bool


def read_pages_source(computed: object) -> PagesSource | None:
    """Return what a computed page is computed from; None when it is no specification.

    Source: `ComputedContentSourceRevisionOpenAPI`, @gitbook/api 0.202.0.
    """
    match computed:
        case {"type": kind, "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": str(slug)}}}, **others}:
            found = others.get("props")
            props = found if isinstance(found, dict) else {}
            by_operation = props.get("grouping") == "by-operation"
            return PagesSource(slug, props.get("models") is True, by_operation) if kind == BUILTIN_OPENAPI else None
    return None
