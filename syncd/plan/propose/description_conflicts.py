"""The part of a change request's description that names the pages in conflict, with both versions and what to do.

It stands between two lines for machines. The first has a fingerprint of what is in conflict, so that nothing is written
while that stays the same; the last has a digest of what stands between them, so that words are known that a person
wrote there: these stay, as the person's own.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syncd.layout.richtext.nodes import Node, add_keys, collect_text, make_block, make_mark, make_paragraph, make_text
from syncd.model.document import Document
from syncd.model.text import join_lines, show_hidden

PAGES_MAX, LINES_MAX, LINE_MAX = 20, 24, 300
"""Pages that are described one by one; lines of one version of a page that are shown; characters of a line."""
_TITLE = "Pages in conflict"
_FIRST = re.compile(r"Syncd-Conflicts: ([0-9a-f]{16})\b.*", re.DOTALL)
_LAST = re.compile(r"Syncd-Conflicts-End: ([0-9a-f]{8})")
_TRAILER = re.compile(r"Syncd-(?=[A-Z])")


@dataclass(frozen=True)
class SideVersion:
    """What one side has: `name` is what people call the side, `text` the lines of it that are in conflict, and `where`
    its path, or that it has none."""

    name: str
    where: str = ""
    text: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConflictingPage:
    """A page that was left out of a change request: why, what both sides have, and how people settle it."""

    path: str
    why: str
    versions: tuple[SideVersion, ...] = ()
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conflicts:
    """All pages in conflict of a change request; the fingerprint is of what they are, "" where there are none."""

    fingerprint: str = ""
    pages: tuple[ConflictingPage, ...] = ()


NO_CONFLICTS = Conflicts()


def render_conflicts(conflicts: Conflicts) -> list[Node]:
    """Return the blocks that describe conflicts, with lines for machines; none without conflicts."""
    if not conflicts.fingerprint:
        return []
    inner = [make_block("heading-2", {}, [make_text(_TITLE)])]
    for page in conflicts.pages[:PAGES_MAX]:
        inner += _render_page(page)
    if len(conflicts.pages) > PAGES_MAX:
        inner.append(make_paragraph([make_text(f"And {len(conflicts.pages) - PAGES_MAX} more pages.")]))
    about = " What follows was left out of this change request, and is kept up to date by syncd."
    first = make_paragraph([_render_code(f"Syncd-Conflicts: {conflicts.fingerprint}"), make_text(about)])
    last = make_paragraph([_render_code(f"Syncd-Conflicts-End: {_compute_digest(inner)}")])
    return [first, *inner, last]


def read_fingerprint(description: Document | None) -> str:
    """Return the fingerprint of the conflicts that a description is about, or ""."""
    place = _find_section(description.nodes if description is not None else ())
    found = _FIRST.fullmatch(collect_text(description.nodes[place[0]])) if place is not None and description else None
    return found[1] if found is not None else ""


def replace_conflicts(nodes: Sequence[Node], conflicts: Conflicts, *, before: int) -> list[Node]:
    """Return the blocks of a description with the present conflicts in place of those that it described before.

    Shape: a description without conflicts gets them in front of the block with the number `before`. A person's words
    stay.
    """
    fresh, place = add_keys(render_conflicts(conflicts)), _find_section(nodes)
    if place is None:
        return [*nodes[:before], *fresh, *nodes[before:]]
    first, last = place
    inner = list(nodes[first + 1 : last])
    found = _LAST.fullmatch(collect_text(nodes[last]))
    own = [] if found is not None and found[1] == _compute_digest(inner) else inner
    return [*nodes[:first], *own, *fresh, *nodes[last + 1 :]]


def _find_section(nodes: Sequence[Node]) -> tuple[int, int] | None:
    """Where the last part of this kind begins and ends."""
    lines = [collect_text(node) if node.get("type") == "paragraph" else "" for node in nodes]
    last = max((at for at, line in enumerate(lines) if _LAST.fullmatch(line)), default=-1)
    first = max((at for at, line in enumerate(lines[: last + 1]) if _FIRST.fullmatch(line)), default=-1)
    return (first, last) if first >= 0 else None


def _render_page(page: ConflictingPage) -> Iterator[Node]:
    yield make_paragraph(
        [make_text(_clean_text(page.path), [make_mark("bold")]), make_text(f": {_clean_text(page.why)}.")]
    )
    for version in page.versions:
        where = f" ({_clean_text(version.where)})" if version.where else ""
        yield make_paragraph([make_text(f"{_clean_text(version.name)}{where}{':' if version.text else '.'}")])
        if version.text:
            lines = [_clean_text(line, code=True) for line in version.text[:LINES_MAX]]
            if len(version.text) > LINES_MAX:
                lines.append(f"[cut: {len(version.text) - LINES_MAX} more lines]")
            yield make_block("code", {}, [make_block("code-line", {}, [make_text(line)]) for line in lines])
    if page.advice:
        items = [make_block("list-item", {}, [make_paragraph([make_text(_clean_text(item))])]) for item in page.advice]
        yield make_block("list-unordered", {}, items)


def _clean_text(text: str, *, code: bool = False) -> str:
    """Text from outside as one line that means nothing to machines, cut where it is too long."""
    cut = text if len(text) <= LINE_MAX else f"{text[:LINE_MAX]} [cut: {len(text) - LINE_MAX} more characters]"
    # A hyphen that looks alike: no line for machines begins in a text.
    return _TRAILER.sub("Syncd\u2010", show_hidden(cut.expandtabs(4)) if code else join_lines(cut))


def _compute_digest(nodes: Sequence[Node]) -> str:
    """A digest of the text without white space, so that an editor that only reflows it changes nothing."""
    text = "".join(collect_text(node) for node in nodes)
    return hashlib.sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _render_code(text: str) -> Node:
    return make_text(text, [make_mark("code")])
