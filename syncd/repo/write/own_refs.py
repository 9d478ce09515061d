"""Refs that only syncd writes: one listing of them serves all who ask for a part, until one is moved.

They come with the first listing of any other refs, since a process of Git costs more than its answer.
"""

import re

from syncd.repo.process.git import Git
from syncd.repo.write import refs

OWN_REFS = "refs/syncd/"
"""Where syncd keeps refs below no name that people use."""
_OVERWRITTEN = "refs/remotes/*/overwritten/**"
"""What imports of a branch overwrote, which people may look at."""
_OWN = re.compile(rf"{OWN_REFS}|refs/remotes/[^/]+/overwritten/")


class OwnRefs:
    """Listings of refs, of which that of the refs that only syncd writes is kept."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._listing: dict[str, str] | None = None

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix, each with what it names."""
        if self._listing is None:
            found = refs.match_refs(self._git, refs.check_prefix(prefix), OWN_REFS, _OVERWRITTEN)
            self._listing = {ref: oid for ref, oid in found.items() if _OWN.match(ref)}
        elif not _OWN.match(prefix):
            found = refs.match_refs(self._git, refs.check_prefix(prefix))
        else:
            found = self._listing
        below = prefix.rstrip("/") + "/"
        return {ref: oid for ref, oid in found.items() if f"{ref}/".startswith(below)}

    def note_ref(self, ref: str, oid: str | None) -> None:
        """Note that a ref names a commit now, or is gone."""
        if self._listing is None or not _OWN.match(ref):
            return
        if oid is None:
            self._listing.pop(ref, None)
        else:
            self._listing[ref] = oid

    def forget(self, ref: str) -> None:
        """List anew where a ref may have moved or not."""
        if _OWN.match(ref):
            self._listing = None
