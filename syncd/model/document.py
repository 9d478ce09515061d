"""Document: rich text as the platform keeps it (API document, Conventions 7)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from syncd.model.base import Observed

DEEPEST = 200
"""Objects and lists within each other that a document may hold: some ninety blocks, more than any editor nests."""

BLOCKS = frozenset(
    {
        *("paragraph", "heading-1", "heading-2", "heading-3", "list-ordered", "list-unordered", "list-tasks"),
        *("list-item", "divider", "blockquote", "hint", "images", "image", "file", "drawing", "embed", "code"),
        *("code-line", "math", "expandable", "tabs", "tabs-item", "table", "swagger", "openapi-operation"),
        *("openapi-schemas", "openapi-webhook", "content-ref", "integration", "reusable-content", "stepper"),
        *("stepper-step", "columns", "column", "if", "updates", "update", "prompt"),
    }
)
INLINES = frozenset(
    {"link", "emoji", "icon", "expression", "inline-math", "inline-image", "annotation", "mention", "button"}
)
MARKS = frozenset(
    {"bold", "italic", "code", "keyboard", "strikethrough", "color", "superscript", "subscript"},
)
"""Types that the platform is known to have. Source: @gitbook/api 0.146.0. Others are kept as they are."""


def _check_bounds(nodes: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    level: list[Any] = list(nodes)
    for _ in range(DEEPEST):
        held = [value for value in level if isinstance(value, dict | list)]
        if not held:
            return nodes
        level = [one for value in held for one in (value.values() if isinstance(value, dict) else value)]
    raise ValueError(f"is nested deeper than {DEEPEST} levels")


class Document(Observed):
    """A tree of nodes; node types that this version does not know pass through untouched.

    A node is an `object` (block, inline, text or fragment) with its members. Blocks and inlines have a `type`,
    `isVoid`, `data` and `nodes`; a text node has `leaves`, each with `text` and `marks`; a fragment holds the blocks of
    a part of a void block, such as a caption. Nodes are plain dicts: what is not known of them has to come back as it
    came, at any depth, and a class for each type would have to know them all. Nobody changes one: whoever wants another
    document makes other nodes.
    """

    object: Literal["document"] = "document"
    data: dict[str, Any] = {}
    nodes: Annotated[tuple[dict[str, Any], ...], AfterValidator(_check_bounds)] = ()
    meta: dict[str, Any] | None = None

    def text(self) -> str:
        """Return the text of all leaves, one blank line between top-level blocks."""
        return "\n\n".join(_text(node) for node in self.nodes)


def _text(node: dict[str, Any]) -> str:
    pieces: list[str] = []
    pending = [node]
    while pending:
        here = pending.pop()
        pieces += [str(leaf.get("text", "")) for leaf in here.get("leaves") or [] if isinstance(leaf, dict)]
        for name in ("nodes", "fragments"):
            pending += [child for child in reversed(here.get(name) or []) if isinstance(child, dict)]
    return "".join(pieces)
