"""Refs that only syncd writes: one listing of them serves all who ask for a part, until one is moved."""

import re

from syncd.repo.process.git import Git
from syncd.repo.write import refs

OWN_REFS = "refs/syncd/"
"""Where syncd keeps refs below no name that people use."""
_ROOT = re.compile(rf"{OWN_REFS}|refs/remotes/[^/]+/overwritten/")
"""The second is what imports of a branch overwrote, which people may look at."""


class OwnRefs:
    """Listings of refs, of which those that only syncd writes are kept."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._listings: dict[str, dict[str, str]] = {}

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix, each with what it names."""
        root = _find_root(prefix)
        if root is None:
            return refs.list_refs(self._git, prefix)
        if root not in self._listings:
            self._listings[root] = refs.list_refs(self._git, root)
        below = prefix.rstrip("/") + "/"
        return {ref: oid for ref, oid in self._listings[root].items() if f"{ref}/".startswith(below)}

    def note_ref(self, ref: str, oid: str | None) -> None:
        """Note that a ref names a commit now, or is gone."""
        listing = self._listings.get(_find_root(ref) or "")
        if listing is not None and oid is None:
            listing.pop(ref, None)
        elif listing is not None and oid is not None:
            listing[ref] = oid

    def forget(self, ref: str) -> None:
        """List anew where a ref may have moved or not."""
        self._listings.pop(_find_root(ref) or "", None)


def _find_root(ref: str) -> str | None:
    found = _ROOT.match(ref)
    return found[0] if found is not None else None
