"""Undo what a server loses of a page's text, so that a lossy round trip never reaches Git.

A server stores a normalised form of the text that it is sent, and may lose words. That form is kept in Git, below
`refs/syncd/forms/`, as `<page id>/<Git's blob>`. The server's next answer is compared with the form, and Git's text
with its own last version, so that only what people edited is merged. Deleting the ref loses no text; but the next edit
of such a page on the platform then looks as if the editor had removed what the server had lost.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.layout.compare.lost_words import LostLine, count_different_words, find_lost_words, is_lossy
from syncd.layout.compare.patch_page import patch_page
from syncd.layout.compare.reformat import preserve_formatting
from syncd.model.anchor import Anchor
from syncd.model.blob_id import compute_blob_id
from syncd.repo.values import Blob
from syncd.sync.binding import Binding
from syncd.sync.workspace import Workspace

UNSEEN_EDITS = "contested"
"""The folder with a record of edits that replaced words which the server had lost, so that their editor could not see
them: `<Git's blob>/<the edited blob>`. Its name is that of refs that exist."""
FORMS_MAX = 8
"""Forms of one page from which on those that nothing needs any more are removed."""

_TAG = re.compile(rb"<[A-Za-z][^<>]{0,200}>")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True)
class GitVersions:
    """The blobs that Git may have for a page, the likeliest first.

    Shape: `written` is what this run sent, when nobody else can have written since; `sent` are those that an earlier
    run may have sent, or that a person was asked to paste. `is_resent` says that it had the page's text with another
    title, also where the text was there before.
    """

    blobs: tuple[str, ...] = ()
    written: str = ""
    sent: tuple[str, ...] = ()
    is_resent: bool = False

    def list_all(self) -> tuple[str, ...]:
        """Return all of them, each once."""
        return tuple(dict.fromkeys(blob for blob in (self.written, *self.blobs, *self.sent) if blob))


@dataclass
class NormalisedForms:
    """The normalised forms of one space; `save` makes new ones durable, before any ref or record relies on them."""

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
        """Return the text that Git keeps of a page whose text the server answered; `git` has the blobs of
        Git that the text may be the server's version of.

        Shape: one of Git's own texts, byte for byte, where the server's is a form of it. Else the server's text, in
        which blocks that mean the same have Git's bytes, and words that the server had lost are still there.
        """
        read = self.workspace.repository.read
        likeliest: bytes | None = None
        # The order matters: a text that means what Git has is no edit, and a difference from what this run just sent is
        # the server's doing. Only what is left can be somebody's edit.
        for blob in git.list_all():
            former = read(blob)
            found = preserve_formatting(former, text, at=at)
            if found == former or self._has_form(page, blob, text, at):
                return former
            # What was sent may never have arrived, so that its bytes are no guide for a text of unknown origin.
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
        """Note the server's form of a blob of Git; a page whose id cannot be a file name is ignored."""
        if _PLAIN.fullmatch(page):
            self._new[f"{page}/{blob}"] = text

    def find_form(self, page: str, blob: str) -> bytes | None:
        """Return the server's form of a blob of Git, or None when none is known."""
        name = f"{page}/{blob}"
        if name in self._new:
            return self._new[name]
        kept = self.read_known().get(name)
        return self.workspace.repository.read(kept.oid) if kept is not None else None

    def read_known(self) -> Mapping[str, Blob]:
        """Return the forms that are kept in Git, by name."""
        if self._known is None:
            commit = self.workspace.repository.resolve(self.ref)
            self._known = self.workspace.repository.list_files(commit) if commit is not None else {}
        return self._known

    def has_unsaved(self, page: str) -> bool:
        """Return whether a form of a page is not saved yet."""
        return any(name.startswith(f"{page}/") for name in self._new)

    def find_losses(self, anchors: Iterable[Anchor]) -> Iterator[tuple[Anchor, tuple[LostLine, ...]]]:
        """Yield each page of a lane of which the server does not keep every word, with those words."""
        for anchor in anchors:
            form = self.find_form(anchor.id, anchor.oid) if anchor.kind == "page" else None
            if form is not None:
                lost = find_lost_words(self.workspace.repository.read(anchor.oid), form, at=anchor.path)
                if lost:
                    yield anchor, lost

    def save(self) -> None:
        """Write new forms into Git, and remove those that are not needed any more."""
        new = {
            name: text
            for name, text in self._new.items()
            if name not in self.read_known() or self._is_changed(name, text)
        }
        if not new:
            return
        repository = self.workspace.repository
        old, person = repository.resolve(self.ref), self.workspace.committer()
        with repository.open_writer(self.ref, old=old) as writer:
            for name in self._find_stale(new):
                writer.remove(name)
            for name, text in sorted(new.items()):
                writer.put(name, writer.write_blob(text))
            words = f"What the server made of pages of {self.binding.name}\n"
            # Without parents, so that Git can prune the forms that were removed.
            writer.commit(message=words, author=person, committer=person, parents=[], base=old)
        self._known = None
        self._new = {}

    def _note_lost_placeholders(self, former: bytes, text: bytes, at: str) -> None:
        """Note tags that an edit removed: where no form is known, nobody can tell whether the editor or the server
        did."""
        if not Counter(_TAG.findall(former)) - Counter(_TAG.findall(text)):
            return
        for loss in find_lost_words(former, text, at=at):
            gone = " ".join(word for word in loss.words if word.startswith("<"))
            where = f"{self.binding.path(at)}:{loss.line}"
            self.notes += [f"{where}: {gone} went with an edit on the platform; git log -p has it"] if gone else []

    def _is_changed(self, name: str, text: bytes) -> bool:
        return self.workspace.repository.read(self.read_known()[name].oid) != text

    def _has_form(self, page: str, blob: str, text: bytes, at: str) -> bool:
        """Whether the server's text means the same as the form that is kept for this blob."""
        form = self.find_form(page, blob)
        return form is not None and preserve_formatting(form, text, at=at) == form

    def _find_sent(self, text: bytes, git: GitVersions, at: str) -> str:
        """The sent blob of which the text is a form, rather than of a version that was there before; "" for none."""
        read = self.workspace.repository.read
        nearest: int | None = None
        for blob in git.sent:
            if git.is_resent and _has_lost_tags_alone(read(blob), text, at):
                return blob
            if blob in git.blobs or not is_lossy(read(blob), text, at=at):
                continue
            if nearest is None:
                nearest = min(
                    (count_different_words(read(known), text, at=at) for known in git.blobs), default=sys.maxsize
                )
            if count_different_words(read(blob), text, at=at) < nearest:
                return blob
        return ""

    def _apply_edit(self, page: str, text: bytes, blobs: Sequence[str], at: str) -> bytes | None:
        """Apply an edit of the server's form to Git's text; None where no form is known."""
        for blob in blobs:
            form = self.find_form(page, blob)
            if form is None:
                continue
            former = self.workspace.repository.read(blob)
            found = patch_page(former, form, text, at=at)
            if preserve_formatting(found.body, text, at=at) != found.body:
                self.learn(page, compute_blob_id(found.body), text)
            if found.conflicts:
                self._new[f"{UNSEEN_EDITS}/{blob}/{compute_blob_id(found.body)}"] = b"".join(
                    b"%d\n" % line for line in found.conflicts
                )
            return found.body
        return None

    def _find_stale(self, new: Mapping[str, bytes]) -> Iterator[str]:
        """The names of forms of blobs that no branch or ref holds any more, for pages with many forms."""
        per_page: dict[str, list[str]] = {}
        for name in self.read_known():
            per_page.setdefault(name.partition("/")[0], []).append(name)
        crowded = [names for page, names in per_page.items() if len(names) >= FORMS_MAX and page != UNSEEN_EDITS]
        # It lists every branch, which is worth it only once a page has many forms.
        live = self._list_live_blobs() if crowded else frozenset()
        for names in crowded:
            yield from (name for name in names if name not in new and name.rpartition("/")[2] not in live)

    def _list_live_blobs(self) -> frozenset[str]:
        """The blobs of the space in main content, in change requests and in branches."""
        repository, remote = self.workspace.repository, f"refs/remotes/{self.workspace.remote}/"
        commits = {*repository.list_refs(remote).values(), *repository.list_refs("refs/heads/").values()}
        return frozenset(
            blob.oid for commit in commits for blob in repository.list_files(commit, self.binding.directory).values()
        )


def _has_lost_tags_alone(former: bytes, text: bytes, at: str) -> bool:
    """Whether all that two forms of a page differ in is that one lacks words such as `<person>`."""
    gone = [word for loss in find_lost_words(former, text, at=at) for word in loss.words]
    return bool(gone) and all(word.startswith("<") for word in gone) and not any(find_lost_words(text, former, at=at))


def forms_ref(binding: Binding) -> str:
    """Return the ref of a space's forms."""
    return f"refs/syncd/forms/{binding.name}"


def find_unseen_edits(workspace: Workspace, ours: str, theirs: str) -> frozenset[str]:
    """Return the paths of pages where theirs replaced words of ours that the server had lost.

    Shape: such a page differs on one side only, and yet it is a conflict: the editor never saw the words. Costs nothing
    where there is none.
    """
    repository = workspace.repository
    found: set[str] = set()
    for binding in workspace.bindings:
        commit = repository.resolve(forms_ref(binding))
        pairs = repository.list_files(commit, UNSEEN_EDITS) if commit is not None else {}
        if pairs:
            our_blobs = {blob.oid for blob in repository.list_files(ours, binding.directory).values()}
            their_files = repository.list_files(theirs, binding.directory)
            known = {after for before, _, after in (pair.partition("/") for pair in pairs) if before in our_blobs}
            found |= {binding.path(path) for path, blob in their_files.items() if blob.oid in known}
    return frozenset(found)
