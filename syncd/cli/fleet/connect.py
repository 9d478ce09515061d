"""Open the database of a fleet by its URL, which is never printed."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from syncd.config.secrets import find_fleet_database
from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase, require_extra

VARIABLE = "SYNCD_FLEET_DATABASE"


def find_database(given: str, environ: Mapping[str, str]) -> str:
    """Return the URL that a command names, else that of the variable, else that of systemd's credential, else "".

    Raises: ConfigInvalid when the credential cannot be read.
    """
    return given or environ.get(VARIABLE, "") or find_fleet_database(environ)


@contextmanager
def open_database(given: str, *, environ: Mapping[str, str] = os.environ) -> Iterator[FleetDatabase]:
    """Open the database that a command names, else the variable, else systemd's credential `fleet-database`.

    Raises: ConfigInvalid without one, or without the extra; FleetUnreachable.
    """
    require_extra()
    url = find_database(given, environ)
    if not url:
        raise ConfigInvalid(
            "no database is named",
            hint=f"set {VARIABLE} to postgresql://user@host/database, or give the service a credential fleet-database",
        )
    with FleetDatabase(url) as database:
        yield database
