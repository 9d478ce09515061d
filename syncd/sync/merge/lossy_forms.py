"""Forms: what a server made of a page where that does not mean what Git says, so that its losses are never mirrored.

Kept in Git, below `refs/syncd/forms/`: under a page's id and the blob that Git has for it, the text that the server
answers for that blob. Each side is compared with its own last-seen form only; deleting the ref costs no text, but the
next edit of such a page on the platform then shows what the server had lost as if the editor had removed it.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.compare.patch_page import transferred
from syncd.layout.compare.reformat import settled
from syncd.layout.compare.words import Loss, distance, is_lossy, lost_words
from syncd.model.anchor import Anchor
from syncd.model.blob_id import compute_blob_id
from syncd.repo import Blob
from syncd.sync.workspace import Binding, Workspace

OVERWRITTEN = "contested"
"""The folder of edits that replaced words of Git's which the server had lost: `<Git's blob>/<the edited blob>`."""
FORMS_MAX = 8
"""Forms of one page that are kept without a look at which of them is still needed."""

_TAG = re.compile(rb"<[A-Za-z][^<>]{0,200}>")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True)
class GitVersions:
    """What Git may have for a page, as blob ids, the likeliest first.

    Shape: `written` is what this run sent, when nobody else can have written since; `sent` is what earlier runs may
    have sent, or what a person was asked to paste.
    """

    blobs: tuple[str, ...] = ()
    written: str = ""
    sent: tuple[str, ...] = ()

    def list_all(self) -> tuple[str, ...]:
        """Return all of them."""
        return tuple(dict.fromkeys(blob for blob in (self.written, *self.blobs, *self.sent) if blob))


@dataclass
class NormalisedForms:
    """The forms of one space; `save` makes what was learnt durable, before any ref or record relies on it."""

    workspace: Workspace
    binding: Binding
    notes: list[str] = field(default_factory=list)
    _known: dict[str, Blob] | None = None
    _new: dict[str, bytes] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """Where they are kept."""
        return forms_ref(self.binding)

    def choose_text(self, page: str, text: bytes, git: GitVersions, *, at: str) -> bytes:
        """Given a page's id, its text as the server answers it, and what Git may have, return the text for Git.

        Shape: one of Git's own texts, byte for byte, where the server's stands for it; else the server's, each block
        that means the same in Git's bytes, and what the server had lost before the edit still in it.
        """
        read = self.workspace.repository.read
        likeliest: bytes | None = None
        for blob in git.list_all():
            former = read(blob)
            found = settled(former, text, at=at)
            if found == former or self._has_form(page, blob, text, at):
                return former
            likeliest = found if likeliest is None and blob not in git.sent else likeliest
        if blob := git.written or self._find_sent(text, git, at):
            self.learn(page, blob, text)
            return read(blob)
        edited = self._apply_edit(page, text, git.blobs, at)
        if edited is not None:
            return edited
        if likeliest is None:
            return text
        self._note_lost_placeholders(read(git.blobs[0]), likeliest, at)
        return likeliest

    def learn(self, page: str, blob: str, text: bytes) -> None:
        """Given a page, a blob of Git and the server's form of it, remember that; a strange id cannot be kept."""
        if _PLAIN.fullmatch(page):
            self._new[f"{page}/{blob}"] = text

    def find_form(self, page: str, blob: str) -> bytes | None:
        """Given a page and a blob of Git, return the server's form of it, when that means something else."""
        name = f"{page}/{blob}"
        if name in self._new:
            return self._new[name]
        kept = self.read_known().get(name)
        return self.workspace.repository.read(kept.oid) if kept is not None else None

    def read_known(self) -> Mapping[str, Blob]:
        """Return what is kept, by name."""
        if self._known is None:
            commit = self.workspace.repository.resolve(self.ref)
            self._known = self.workspace.repository.tree(commit) if commit is not None else {}
        return self._known

    def has_unsaved(self, page: str) -> bool:
        """Given a page, return whether something about it is not durable yet."""
        return any(name.startswith(f"{page}/") for name in self._new)

    def find_losses(self, anchors: Iterable[Anchor]) -> Iterator[tuple[Anchor, tuple[Loss, ...]]]:
        """Given the pages of a lane, return each of which the server does not keep every word, with those words."""
        for anchor in anchors:
            form = self.find_form(anchor.id, anchor.oid) if anchor.kind == "page" else None
            if form is not None:
                lost = lost_words(self.workspace.repository.read(anchor.oid), form, at=anchor.path)
                if lost:
                    yield anchor, lost

    def save(self) -> None:
        """Make what was learnt durable."""
        new = {
            name: text
            for name, text in self._new.items()
            if name not in self.read_known() or self._is_changed(name, text)
        }
        if not new:
            return
        repository = self.workspace.repository
        old, person = repository.resolve(self.ref), self.workspace.committer()
        with repository.writer(self.ref, old=old) as writer:
            for name in self._find_stale(new):
                writer.remove(name)
            for name, text in sorted(new.items()):
                writer.put(name, writer.blob(text))
            words = f"What the server made of pages of {self.binding.name}\n"
            writer.commit(message=words, author=person, committer=person, parents=[], base=old)
        self._known = None
        self._new = {}

    def _note_lost_placeholders(self, former: bytes, text: bytes, at: str) -> None:
        """Note placeholders that went with an edit: where no form is known, nobody can tell who took them away."""
        if not Counter(_TAG.findall(former)) - Counter(_TAG.findall(text)):
            return
        for loss in lost_words(former, text, at=at):
            gone = " ".join(word for word in loss.words if word.startswith("<"))
            where = f"{self.binding.path(at)}:{loss.line}"
            self.notes += [f"{where}: {gone} went with an edit on the platform; git log -p has it"] if gone else []

    def _is_changed(self, name: str, text: bytes) -> bool:
        return self.workspace.repository.read(self.read_known()[name].oid) != text

    def _has_form(self, page: str, blob: str, text: bytes, at: str) -> bool:
        """Whether the server's text is, in meaning, the one that stood for this blob of Git before."""
        form = self.find_form(page, blob)
        return form is not None and settled(form, text, at=at) == form

    def _find_sent(self, text: bytes, git: GitVersions, at: str) -> str:
        """The blob that was sent, if the text is what the server made of it, and not of what was there before."""
        read = self.workspace.repository.read
        nearest: int | None = None
        for blob in git.sent:
            if blob in git.blobs or not is_lossy(read(blob), text, at=at):
                continue
            if nearest is None:
                nearest = min((distance(read(known), text, at=at) for known in git.blobs), default=sys.maxsize)
            if distance(read(blob), text, at=at) < nearest:
                return blob
        return ""

    def _apply_edit(self, page: str, text: bytes, blobs: Sequence[str], at: str) -> bytes | None:
        """Git's text with an edit that a person made to the server's form of it; None where no form is known."""
        for blob in blobs:
            form = self.find_form(page, blob)
            if form is None:
                continue
            former = self.workspace.repository.read(blob)
            found = transferred(former, form, text, at=at)
            if settled(found.body, text, at=at) != found.body:
                self.learn(page, compute_blob_id(found.body), text)
            if found.clashes:
                self._new[f"{OVERWRITTEN}/{blob}/{compute_blob_id(found.body)}"] = b"".join(
                    b"%d\n" % at for at in found.clashes
                )
            return found.body
        return None

    def _find_stale(self, new: Mapping[str, bytes]) -> Iterator[str]:
        """Names of forms that no lane holds any more, for pages that have gathered many."""
        per_page: dict[str, list[str]] = {}
        for name in self.read_known():
            per_page.setdefault(name.partition("/")[0], []).append(name)
        crowded = [names for page, names in per_page.items() if len(names) >= FORMS_MAX and page != OVERWRITTEN]
        live = self._list_live_blobs() if crowded else frozenset()
        for names in crowded:
            yield from (name for name in names if name not in new and name.rpartition("/")[2] not in live)

    def _list_live_blobs(self) -> frozenset[str]:
        """Every blob of the space in main content, in a change request or in a branch."""
        repository, remote = self.workspace.repository, f"refs/remotes/{self.workspace.remote}/"
        commits = {*repository.refs(remote).values(), *repository.refs("refs/heads/").values()}
        return frozenset(
            blob.oid for commit in commits for blob in repository.tree(commit, self.binding.directory).values()
        )


def forms_ref(binding: Binding) -> str:
    """Given a space, return the ref of its forms."""
    return f"refs/syncd/forms/{binding.name}"


def find_overwritten(workspace: Workspace, ours: str, theirs: str) -> frozenset[str]:
    """Given two commits, return the paths of pages where theirs replaced words of ours that the server had lost.

    Shape: such a page differs on one side only, and yet a person has to choose. Costs nothing where there is none.
    """
    repository = workspace.repository
    found: set[str] = set()
    for binding in workspace.bindings:
        commit = repository.resolve(forms_ref(binding))
        pairs = repository.tree(commit, OVERWRITTEN) if commit is not None else {}
        if pairs:
            here = {blob.oid for blob in repository.tree(ours, binding.directory).values()}
            there = repository.tree(theirs, binding.directory)
            known = {after for before, _, after in (pair.partition("/") for pair in pairs) if before in here}
            found |= {binding.path(path) for path, blob in there.items() if blob.oid in known}
    return frozenset(found)
