"""Translations of an organization."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.translation import Translation, TranslationCreate, TranslationUpdate


class Translations:
    """Operations on translations. Source: API document, Translations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listTranslations")
    def list(self, organization: str) -> Iterator[Translation]:
        """Return the translations of an organization."""
        return iterate_list(self._transport, _path(organization), Listing[Translation])

    @operation("createTranslation")
    def create(self, organization: str, translation: TranslationCreate) -> Translation:
        """Create a translation, and return it; its first run has started.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization), Translation, body=translation.wire())

    @operation("getTranslation")
    def get(self, organization: str, translation: str) -> Translation:
        """Return a translation."""
        return self._transport.call("GET", _path(organization, translation), Translation)

    @operation("updateTranslation")
    def update(self, organization: str, translation: str, update: TranslationUpdate) -> Translation:
        """Change the instructions of a translation, and return it."""
        return self._transport.call("PUT", _path(organization, translation), Translation, body=update.wire())

    @operation("deleteTranslation")
    def delete(self, organization: str, translation: str) -> None:
        """Delete a translation; success too when it did not exist."""
        self._transport.delete(_path(organization, translation))

    @operation("runTranslation")
    def run(self, organization: str, translation: str) -> None:
        """Start a translation of what changed since the last run."""
        self._transport.send("POST", _path(organization, translation, "run"))


def _path(organization: str, *more: str) -> tuple[str, ...]:
    return ("orgs", organization, "translations", *more)
