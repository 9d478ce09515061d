"""Connections to the database of a fleet, to a real server."""

import psycopg

from syncd.fleet.database import FleetDatabase, build_connection_options
from tests.fleet.conftest import Fleet


def test_a_connection_ends_soon_when_its_server_cannot_be_reached_any_more(fleet: Fleet) -> None:
    with FleetDatabase(fleet.url) as database, database.transact() as cursor:
        chosen = cursor.connection.info.get_parameters()
    assert 0 < int(chosen["tcp_user_timeout"]) < 60_000
    probing = int(chosen["keepalives_count"]) * int(chosen["keepalives_interval"])
    assert 0 < int(chosen["keepalives_idle"]) + probing < 60


def test_what_the_url_of_a_database_says_of_its_connections_counts() -> None:
    url = "postgresql://user@db.example/fleet?keepalives_idle=7&application_name=docs"
    options = build_connection_options(url)
    assert {"keepalives_idle", "application_name"}.isdisjoint(options)
    chosen = psycopg.conninfo.conninfo_to_dict(url, **options)
    assert (chosen["keepalives_idle"], chosen["application_name"]) == ("7", "docs")
    assert chosen["connect_timeout"]
