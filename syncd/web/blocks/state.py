"""The state of one rendering: names that are given out on the page, and what is noted for whoever asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from syncd.layout.page.anchors import PageAnchors
from syncd.layout.page.footnotes import make_footnote_ids, take_footnotes
from syncd.layout.richtext.anchors import make_anchor
from syncd.web.blocks.context import BlockContext, OutlineEntry, Ref, Target
from syncd.web.blocks.elements import EMPTY, check_link, find_host, is_foreign, write_element
from syncd.web.blocks.members import Node, collect_words, read_number

DEPTH_MAX = 60
"""Blocks and inlines within each other; what is deeper is shown as its words."""
_PIXELS_MAX = 10_000


def make_ref_key(ref: Ref) -> str:
    """Return what is equal for equal references."""
    return repr(sorted((str(name), str(value)) for name, value in ref.items()))


def find_shown_size(data: Node, target: Target) -> dict[str, str]:
    """Return the width and height of an image: what its writer leaves out follows from the file.

    With both, a page keeps the room for an image while it loads.
    """
    width, height = _read_pixels(data, "width"), _read_pixels(data, "height")
    if target.width and target.height:
        if width is None:
            width = target.width if height is None else max(1, round(height * target.width / target.height))
        height = height or max(1, round(width * target.height / target.width))
    return {name: str(value) for name, value in (("width", width), ("height", height)) if value}


def _read_pixels(data: Node, member: str) -> int | None:
    value = read_number(data, member)
    return round(value) or None if value is not None and 0 < value < _PIXELS_MAX else None


@dataclass
class NoteFile:
    """The footnotes of one file: their words by label, and those that have a number on the page."""

    words: dict[str, list[Node]] = field(default_factory=dict)
    hides_anchors: bool = False
    numbered: dict[str, "Footnote"] = field(default_factory=dict)


@dataclass
class Footnote:
    """A footnote: its number and anchor, the anchor of the first place that speaks of it, and what it says.

    Shape: `words` are None for an annotation, which has its `content`.
    """

    file: NoteFile
    number: int
    anchor: str
    wanted_back: str
    words: list[Node] | None = None
    content: Markup = EMPTY
    back: str = ""


@dataclass
class RenderState:
    """What rendering one document has come to; `render_list` renders blocks one behind the other."""

    context: BlockContext
    render_list: Callable[["RenderState", Sequence[Node]], Markup]
    shift: int = 0
    """By how much levels of headings grow: the title of the page is the only one of level 1."""
    outline: list[OutlineEntry] = field(default_factory=list)
    assets: set[str] = field(default_factory=set)
    unresolved: dict[str, Ref] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    words: int = 0
    depth: int = 0
    trail: tuple[str, ...] = ()
    """The reusable contents around what is being rendered."""
    includes: int = 0
    has_ended: bool = False
    """Whether the reader sees nothing of what follows, behind a condition that has no end."""
    html_depth: int = 0
    """Elements of a writer's HTML around what is being rendered."""
    links: int = 0
    """Links around what is being rendered: no other link may stand in one."""
    notes: NoteFile = field(default_factory=NoteFile)
    """The footnotes of the file that is being rendered."""
    note_files: list[NoteFile] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)
    """Those that the text speaks of, in the order in which it does."""
    has_words_beside: bool = False
    """Whether words stand beside what is being rendered of a line."""
    hides_anchors: bool = False
    """Whether what is being rendered has no anchors to which links lead."""
    _anchors: PageAnchors = field(init=False)
    _hidden_anchors: PageAnchors = field(init=False)

    def __post_init__(self) -> None:
        self._anchors = PageAnchors(self.context.prefix)
        self._hidden_anchors = PageAnchors(f"{self.context.prefix}_hidden-")

    def render_nodes(self, nodes: Sequence[Node]) -> Markup:
        """Render blocks, one behind the other; as their words where they are nested too deep."""
        if self.depth >= DEPTH_MAX:
            words = collect_words(list(nodes))
            return self.write_note(self.context.labels.nested, words) if words else Markup()
        self.depth += 1
        html = self.render_list(self, nodes)
        self.depth -= 1
        return html

    def allocate_id(self, wanted: str) -> str:
        """Return an id that no other element of the page has: the wanted one, or that with a number."""
        return (self._hidden_anchors if self.hides_anchors else self._anchors).allocate(wanted)

    def allocate_anchor(self, text: str) -> str:
        """Return the id of what has this text: made as those of headings are."""
        return self.allocate_id(make_anchor(text))

    def resolve(self, ref: Ref) -> Target | None:
        """Return what a reference leads to, with an address that may become a link or ""; None when it leads nowhere.

        What leads nowhere is noted.
        """
        found = self.context.resolve(ref)
        if found is None and ref.get("kind") == "url" and isinstance(url := ref.get("url"), str):
            found = Target(url)
        if found is None or (found.address and check_link(found.address) is None):
            self.note_unresolved(ref)
            return None
        return found

    def note_unresolved(self, ref: Ref) -> None:
        """Note a reference that leads nowhere."""
        self.unresolved.setdefault(make_ref_key(ref), ref)

    def loads_picture(self, target: Target, address: str) -> bool:
        """Return whether the page loads a picture: one of its own host, and one by https where it loads those."""
        if target.is_own or not is_foreign(address):
            return True
        return self.context.loads_foreign_pictures and not address.lower().startswith("http:")

    def write_picture_link(self, address: str, alt: str, theme: str = "") -> Markup:
        """Return a link to a picture that is not loaded, with its host and what it shows; its words alone in a link.

        Shape: `theme` is the class of a picture of one theme.
        """
        words = self.context.labels.foreign_picture.format(host=find_host(address) or address)
        words = f"{words}: {alt}" if alt else words
        class_ = f"b-foreign-picture {theme}".rstrip()
        if self.links:
            return write_element("span", words, class_=class_)
        return write_element("a", words, href=address, rel="noopener noreferrer", class_=class_)

    def open_file(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the blocks of a file without its footnotes, which are those of the text from here on."""
        rest, words = take_footnotes(nodes)
        self.notes = NoteFile(words, self.hides_anchors)
        self.note_files.append(self.notes)
        return rest

    def number_footnote(self, label: str) -> Footnote:
        """Return a footnote of the file, with the next number where the text has not spoken of it before."""
        if label not in self.notes.numbered:
            self.notes.numbered[label] = self.add_footnote(label, self.notes.words[label])
        return self.notes.numbered[label]

    def add_footnote(self, label: str, words: list[Node] | None = None) -> Footnote:
        """Return a footnote with the next number."""
        wanted, back = make_footnote_ids(label)
        note = Footnote(self.notes, len(self.footnotes) + 1, self.allocate_id(wanted), back, words)
        self.footnotes.append(note)
        return note

    def write_note(self, note: str, words: str | Markup) -> Markup:
        """Return words with a note before them that says why they stand so."""
        said = words if isinstance(words, Markup) else write_element("p", words)
        return write_element("div", write_element("p", note, class_="b-note-reason") + said, class_="b-note")

    def note_unknown(self, kind: Any) -> str:
        """Note a type of node that is not known, and return what a reader is told of it."""
        label = str(kind)[:60] or "?"
        self.unknown[label] = None
        return self.context.labels.unknown.format(type=label)
