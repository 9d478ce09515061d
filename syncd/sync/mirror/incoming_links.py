"""Convert texts of the platform for Git: links become relative paths, and what only Git stores is kept."""

from collections.abc import Callable, Iterator

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.links import build_target_filter, follow_moves
from syncd.layout.tree.preserve import BROKEN, preserve_frontmatter, preserve_links
from syncd.layout.tree.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.wording import format_first
from syncd.plan.mirror.revision import RevisionBody
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.mirror.values import GatheredRevision


class IncomingTexts:
    """Converts texts of one revision for Git; `notes` name links that the platform broke and that still work in Git."""

    def __init__(
        self, repository: Repository, binding: Binding, gathered: GatheredRevision, translation: Translation
    ) -> None:
        self.repository, self.binding, self.gathered, self.translation = repository, binding, gathered, translation
        self.gone = frozenset(gathered.plan.gone)
        self.notes: list[str] = []

    def convert_text(self, item: RevisionBody, body: bytes, former: str | None, *, title: str) -> bytes:
        """Return the text that Git is to have of one on the platform; `former` is the blob in its place in Git.

        Shape: where the platform names the blob, its text is complete; else what the platform cannot know stays.
        """
        arrived = self.translation.translate_incoming(body, item.id)
        if former is None or (item.blob is not None and BROKEN.encode() not in arrived):
            return arrived
        try:
            current, incoming = self.repository.read(former).decode(), arrived.decode()
        except UnicodeDecodeError:
            return arrived
        text = incoming if item.blob is not None else preserve_frontmatter(current, incoming, title=title)
        text, healed = preserve_links(current, text, lambda address: self._works(address, item.path))
        if healed:
            self.notes.append(f"{item.path}: the platform lost {format_first(healed, 5)}; Git keeps it")
        return arrived if text == incoming else text.encode()

    def _works(self, address: str, at: str) -> bool:
        """Whether an address leads to a file in Git; of all others the platform alone can say what is there."""
        found = resolve_address(address, at=at)
        if found is not None and self.translation.find_id(found[0]) is not None:
            return True
        start, path = self.gathered.base.start, resolve_address(address, at=self.binding.path(at))
        if start is None or path is None or (found is not None and found[0] in self.gone):
            return False
        return self.repository.lookup(start, path[0]) is not None


def follow_links(repository: Repository, gathered: GatheredRevision, put: Callable[[bytes], str]) -> Iterator[Anchor]:
    """Yield an anchor for each text that is not fetched and has links to pages that the revision moved.

    Shape: the texts that moved, and those that stayed and link to one that did; `put` stores a new text. A text that is
    known from main content alone names a page where main content has it in Git, which may be elsewhere although it is
    in the same place on the platform.
    """
    plan, base, main = gathered.plan, gathered.base.anchors, gathered.base.former
    placed = [(item.id, item.path, item.form) for item in plan.fetch]
    placed += [(anchor.id, anchor.path, anchor.form) for anchor in (*plan.moved, *plan.keep)]
    moves = {base[id].path: path for id, path, _ in placed if id in base and base[id].path != path}
    apart = {
        main[id].path: path
        for id, path, form in placed
        if id in main and main[id].form == form and main[id].path != path
    }
    if not (moves or apart):
        return
    all_moves = apart | moves
    may_lead_to = build_target_filter(all_moves)
    for anchor in (*plan.moved, *plan.keep):
        known = base[anchor.id]
        if anchor.kind == "file":
            continue
        body = repository.read(anchor.oid)
        if known.path == anchor.path and not may_lead_to(body):
            continue
        followed = all_moves if known == main.get(anchor.id) else moves
        try:
            text = follow_moves(body.decode(), followed, at=known.path, to=anchor.path).encode()
        except UnicodeDecodeError:
            continue
        if text != body:
            yield anchor._replace(oid=put(text))
