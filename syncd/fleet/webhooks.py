"""Webhooks of a fleet: what a worker that hears them is told of the repositories, which change while it listens."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from syncd.daemon.hooks.listener import WebhookListener, build_wakeable, load_sources
from syncd.daemon.hooks.matching import WakeableRepository
from syncd.daemon.hooks.receiver import WebhookAnswer
from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase
from syncd.fleet.repositories import FleetRepository, list_repositories, read_stamp


class FleetWebhooks:
    """Hears webhooks for all repositories of a fleet; a context manager. Each sender may wake each repository."""

    def __init__(
        self,
        database: FleetDatabase,
        environ: Mapping[str, str],
        address: str,
        *,
        wake: Callable[[WakeableRepository], object],
        report: Callable[[WebhookAnswer, int], None],
        warn: Callable[[str], None],
    ) -> None:
        """Listen nowhere yet; `update` begins.

        Shape: `wake` and `report` as for `WebhookListener`; `warn` gets tracebacks, and what is wrong with secrets.
        """
        self._database, self._environ, self._address, self._warn = database, environ, address, warn
        self._listener = WebhookListener(wake, report, warn)
        self._stamp: object = None
        self._repositories: Sequence[FleetRepository] = ()
        self._wakeable: Sequence[WakeableRepository] = ()
        self._complaint, self._has_begun = "", False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._listener.__exit__(*error)

    def begin(self) -> None:
        """Listen. Raises: ConfigInvalid for an address that is wrong or taken, or a secret that cannot be read."""
        self._configure()
        self._has_begun = True

    def update(self) -> None:
        """Hear what the fleet has by now, with the secrets of now; what is wrong is told once.

        Raises: FleetUnreachable.
        """
        if not self._has_begun:
            return
        try:
            self._configure()
            self._complaint = ""
        except ConfigInvalid as error:
            if error.what != self._complaint:
                self._complaint = error.what
                self._warn(f"webhooks are heard as before: {error.what}")

    def count_answers(self) -> Mapping[tuple[str, int], int]:
        """Return how often each sender got each answer."""
        return self._listener.receiver.count_answers()

    def _configure(self) -> None:
        if not self._address:
            return
        stamp = read_stamp(self._database)
        if stamp != self._stamp:
            self._repositories = list_repositories(self._database)
            self._wakeable = [one for each in self._repositories for one in build_wakeable(each.build_config())]
            self._stamp = stamp
        # Repositories that were added together name the same senders.
        tables = {one.webhooks for one in self._repositories if one.webhooks is not None}
        sources = {source.name: source for table in tables for source in load_sources(table, self._environ)}
        self._listener.configure(self._address, list(sources.values()), self._wakeable)
