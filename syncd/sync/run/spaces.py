"""The spaces of one run as they are now: each is read once, and many of one organization in one listing."""

from collections.abc import Iterable, Sequence
from itertools import islice

from syncd.api.client import Client
from syncd.api.lists import LIMIT
from syncd.errors import PlatformError, RateLimited, Unauthorized, Unreachable
from syncd.model.space import Space
from syncd.sync.outcome import Outcome, outcome_from
from syncd.sync.state.space import read_space

SHARED_LISTING_FROM = 3
"""Spaces of one organization from which one listing costs less than a request each."""
LISTED_PER_SPACE = 20
"""Spaces in a listing that cost about as much as one request: a run of few spaces reads no more of an organization."""
_NO_SUCH_CALLER = 401
"""The status of an answer that refuses the token whatever it asks for."""


class SpaceReader:
    """Reads the spaces of one run.

    Shape: `failures` says what reading a space came to that could not be read.
    """

    def __init__(self, client: Client, ids: Sequence[str]) -> None:
        self._client, self._ids = client, ids
        self._spaces: dict[str, Space] = {}
        self.failures: dict[str, Outcome] = {}

    def read_all(self) -> None:
        """Read many spaces in one listing of their organization, where the platform allows it; the rest when asked for.

        Shape: what fails is in `failures`, where other spaces would fail alike; else it fails again when asked for.
        """
        missing, wanted, listed = list(self._ids), {*self._ids}, {""}
        while len(missing) >= SHARED_LISTING_FROM:
            first, *missing = missing
            try:
                organization = self.get(first).organization or ""
                if organization not in listed:
                    listed.add(organization)
                    most = LISTED_PER_SPACE * len(missing)
                    found = islice(self._client.spaces.list(organization, limit=min(most, LIMIT)), most)
                    self._spaces |= {
                        space.id: space for space in found if space.id in wanted and space.deleted_at is None
                    }
            except PlatformError as error:  # without a listing, the others are read singly
                if _is_shared_failure(error):
                    self._note_failure(error, missing)
            missing = [id for id in missing if id not in self._spaces and id not in self.failures]

    def get(self, id: str) -> Space:
        """Return a space as it was when the run read it; where it was not read yet, it is now.

        Raises: what the client raises; it is in `failures` then, of all spaces where others would fail alike.
        """
        if id not in self._spaces:
            try:
                self._spaces[id] = read_space(self._client, id)
            except PlatformError as error:
                self._note_failure(error, [id, *(self._ids if _is_shared_failure(error) else ())])
                raise
        return self._spaces[id]

    def forget(self, id: str) -> None:
        """Let a space be read again, since a write moved it."""
        self._spaces.pop(id, None)

    def _note_failure(self, error: PlatformError, ids: Iterable[str]) -> None:
        unread = [id for id in ids if id not in self._spaces and id not in self.failures]
        self.failures |= dict.fromkeys(unread, outcome_from(error))


def _is_shared_failure(error: PlatformError) -> bool:
    """Whether another space would fail alike: nothing answers, the limit is used up, or the token is nobody's."""
    if isinstance(error, Unreachable | Unauthorized):
        return error.status in (None, _NO_SUCH_CALLER)
    return isinstance(error, RateLimited)
