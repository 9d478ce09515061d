"""The lease of a repository: who may write for it, until when, and a number that grows with each new holder.

A worker that was stopped cannot know for how long. So nobody asks his own clock: the database is asked before each
write, and whoever comes too late is told so.
"""

import threading
import time
from datetime import datetime
from types import TracebackType
from typing import Self

from syncd.errors import FleetUnreachable, LeaseLost
from syncd.fleet.database import FleetDatabase

_RENEWALS = 3
"""Times that a lease is renewed before it would run out."""


class Lease:
    """The lease of one repository, renewed by a thread of its own; a context manager that gives it back."""

    def __init__(
        self,
        database: FleetDatabase,
        repository: str,
        *,
        worker: str,
        fence: int,
        seconds: float,
        acquired_at: datetime,
    ) -> None:
        """Own a lease that was just acquired; `acquire_lease` is the way to come by one."""
        self.repository, self.worker, self.fence, self.acquired_at = repository, worker, fence, acquired_at
        self._database, self._seconds = database, seconds
        self._lost = threading.Event()
        self._ended = threading.Event()
        self._good_until = time.monotonic() + seconds
        self._thread = threading.Thread(target=self._renew_often, name=f"lease of {repository}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        try:
            self._database.query(
                "UPDATE syncd_fleet_leases SET expires_at = clock_timestamp()"
                " WHERE repository = %(repository)s AND fence = %(fence)s AND expires_at > clock_timestamp()",
                {"repository": self.repository, "fence": self.fence},
            )
        except FleetUnreachable:
            return  # it runs out by itself

    @property
    def is_lost(self) -> bool:
        """Whether the lease is known to be lost, or has not been renewed for as long as it is good; asks nobody."""
        return self._lost.is_set() or time.monotonic() > self._good_until

    def check(self) -> None:
        """Renew the lease. Raises: LeaseLost when it ran out or another worker has it; FleetUnreachable."""
        if not self._renew():
            raise LeaseLost(
                f"the lease of {self.repository} ran out, and another worker may have it; nothing was written",
                hint="the fleet goes on by itself; is this machine overloaded, or was it asleep?",
            )

    def _renew(self) -> bool:
        asked_at = time.monotonic()
        found = self._database.query(
            "UPDATE syncd_fleet_leases SET expires_at = clock_timestamp() + make_interval(secs => %(seconds)s)"
            " WHERE repository = %(repository)s AND fence = %(fence)s AND expires_at > clock_timestamp()"
            " RETURNING fence",
            {"repository": self.repository, "fence": self.fence, "seconds": self._seconds},
        )
        if not found:
            self._lost.set()
        else:
            self._good_until = asked_at + self._seconds
        return bool(found)

    def _renew_often(self) -> None:
        while not self._ended.wait(self._seconds / _RENEWALS):
            try:
                if not self._renew():
                    return
            except FleetUnreachable:
                continue  # it is good until it runs out


def acquire_lease(database: FleetDatabase, repository: str, *, worker: str, seconds: float) -> Lease | None:
    """Return the lease of a repository, or None when another holder has it, or the fleet has no such repository.

    Shape: its fence is greater than that of every holder before, also of one that has it from before the repository was
    removed and added again. Raises: FleetUnreachable.
    """
    with database.transact() as cursor:
        cursor.execute(
            "INSERT INTO syncd_fleet_leases AS l (repository, worker, fence, expires_at)"
            " SELECT name, %(worker)s, greatest(last_fence + 1, nextval('syncd_fleet_fences')),"
            " clock_timestamp() + make_interval(secs => %(seconds)s)"
            " FROM syncd_fleet_repositories WHERE name = %(repository)s"
            " ON CONFLICT (repository) DO UPDATE SET worker = excluded.worker,"
            " fence = greatest(l.fence + 1, excluded.fence), expires_at = excluded.expires_at"
            " WHERE l.expires_at <= clock_timestamp()"
            " RETURNING fence, clock_timestamp()",
            {"repository": repository, "worker": worker, "seconds": seconds},
        )
        found = cursor.fetchone()
    if found is None:
        return None
    return Lease(database, repository, worker=worker, fence=found[0], seconds=seconds, acquired_at=found[1])
