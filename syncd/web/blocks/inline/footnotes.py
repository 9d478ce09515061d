"""Footnotes: what annotations say, and what Markdown has below a text, in one list at the end of the page."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from syncd.web.blocks.elements import EMPTY, join_markup, write_element
from syncd.web.blocks.members import Node
from syncd.web.blocks.state import Footnote, RenderState


def write_reference(state: RenderState, note: Footnote, content: Markup = EMPTY) -> Markup:
    """Return the number of a footnote in the text, as a link to it; `content` is what it is to."""
    back = state.allocate_id(note.wanted_back)
    note.back = note.back or back
    words = state.context.labels.footnote.format(number=note.number)
    link = write_element("a", str(note.number), href=f"#{note.anchor}", id=back, role="doc-noteref", aria_label=words)
    return content + write_element("sup", link, class_="b-footnote")


def write_footnotes(state: RenderState, render_line: Callable[[RenderState, Sequence[Node]], Markup]) -> Markup:
    """Return the list of footnotes, each with a link back to where it is spoken of."""
    if not state.footnotes and not any(file.words for file in state.note_files):
        return EMPTY
    items: list[Markup] = []
    _write_numbered(state, items, render_line)
    # What the text does not speak of is a writer's slip, and still words of the page.
    for file in state.note_files:
        for label in file.words:
            state.notes, state.hides_anchors = file, file.hides_anchors
            state.number_footnote(label)
            _write_numbered(state, items, render_line)
    title = write_element("h2", state.context.labels.footnotes, class_="b-hidden", id="_footnotes")
    return write_element(
        "section",
        title + write_element("ol", join_markup(items)),
        class_="b-footnotes",
        role="doc-endnotes",
        aria_labelledby="_footnotes",
    )


def _write_numbered(
    state: RenderState, items: list[Markup], render_line: Callable[[RenderState, Sequence[Node]], Markup]
) -> None:
    """Add the footnotes that have a number and are not among the items; one may speak of others, which follow it."""
    while len(items) < len(state.footnotes):
        note = state.footnotes[len(items)]
        state.notes, state.hides_anchors = note.file, note.file.hides_anchors
        content = note.content if note.words is None else render_line(state, note.words)
        if note.back:
            label = state.context.labels.back
            content += " " + write_element("a", "↩", href=f"#{note.back}", role="doc-backlink", aria_label=label)
        items.append(write_element("li", content, id=note.anchor))
