"""What a reader with known claims may read of a page, and which pages searches and crawlers pass over."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.layout.evaluation.loose_conditions import DocumentNode, close_loose_conditions
from syncd.layout.evaluation.variables import Variables, evaluate_nodes, has_conditions
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown

NOBODY: Mapping[str, Any] = {}
"""The claims of a reader whom nobody knows."""
CLOSED_TO_SEARCH = ("hidden", "noIndex")
"""Members that keep a page, and all below it, out of a site's search. Source: syncd/manual/reference/layout.md."""
CLOSED_TO_ROBOTS = (*CLOSED_TO_SEARCH, "noRobotsIndex", "condition")
"""Members that keep it out of web search engines, too: what is for some readers only is nothing to be found there."""
_EXPRESSION = re.compile(r"\{\{|class=\"expression\"")


def depends_on_reader(text: str) -> bool:
    """Return whether a text may say something else to another reader."""
    return has_conditions(text) or _EXPRESSION.search(text) is not None


def select_visible_text(body: str, variables: Variables) -> str:
    """Return the Markdown of a page below its title as the reader whose claims the variables have may read it."""
    if not depends_on_reader(body):
        return body
    document = to_document(body)
    shown = tuple(evaluate_nodes(list(document.nodes), variables))
    return to_markdown(document.model_copy(update={"nodes": shown}))


def list_hidden_parts(nodes: Sequence[DocumentNode], variables: Variables) -> Iterator[str]:
    """Yield the condition of each part of a document that the reader does not see."""
    closed = close_loose_conditions(nodes)
    yield from closed.conditions
    pending = list(reversed(closed.nodes))
    while pending:
        node = pending.pop()
        expression = str((node.get("data") or {}).get("expression"))
        if node.get("type") == "if" and variables.evaluate_condition(expression) is not True:
            yield expression
            continue
        for name in ("fragments", "nodes"):
            pending += [one for one in reversed(node.get(name) or ()) if isinstance(one, dict)]
