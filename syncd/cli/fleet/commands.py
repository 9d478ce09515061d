"""The commands of a fleet."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

fleet = typer.Typer(help="Keep many repositories in step from many machines.", **GROUP_SETTINGS)

FleetDatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        envvar="SYNCD_FLEET_DATABASE",
        show_envvar=True,
        show_default=False,
        help="PostgreSQL of the fleet.",
        metavar="URL",
    ),
]
NamesArgument = Annotated[list[str], typer.Argument(metavar="NAME", help="Repositories of the fleet.")]


@fleet.callback()
def fleet_group() -> None:
    """Keep many repositories in step from many machines."""


@fleet.command("init")
def fleet_init(
    database: FleetDatabaseOption = "",
    state_ref: Annotated[
        str, typer.Option("--state-ref", metavar="REF", help="Where Git remotes keep the state of a repository.")
    ] = "refs/syncd/fleet",
) -> None:
    """Make the tables of a fleet in a database of PostgreSQL.

    Where they are already, nothing changes.
    """
    from syncd.cli.fleet.repositories import init_fleet

    init_fleet(database, state_ref)


@fleet.command("add")
def fleet_add(
    config: ConfigOption = None,
    priority: Annotated[
        int, typer.Option("--priority", metavar="N", min=-100, max=100, help="Of higher ones first.")
    ] = 0,
    database: FleetDatabaseOption = "",
) -> None:
    """Add the repositories of a configuration to the fleet.

    One that the fleet has by this name is changed.
    """
    from syncd.cli.fleet.repositories import add_to_fleet

    add_to_fleet(database, config, priority)


@fleet.command("remove")
def fleet_remove(names: NamesArgument, database: FleetDatabaseOption = "") -> None:
    """Remove repositories from the fleet.

    Nothing is deleted at the Git remote or on the platform.
    """
    from syncd.cli.fleet.repositories import remove_from_fleet

    remove_from_fleet(database, names)


@fleet.command("export")
def fleet_export(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Repositories; else all.")] = None,
    database: FleetDatabaseOption = "",
) -> None:
    """Print the repositories of the fleet as a configuration."""
    from syncd.cli.fleet.repositories import export_fleet

    export_fleet(database, names or ())


@fleet.command("wake")
def fleet_wake(names: NamesArgument, database: FleetDatabaseOption = "") -> None:
    """Let repositories be looked at now, not when their interval ends."""
    from syncd.cli.fleet.repositories import wake_in_fleet

    wake_in_fleet(database, names)


@fleet.command("worker")
def fleet_worker(
    cache: Annotated[Path, typer.Option("--cache", metavar="DIR", help="Directory for clones, of this worker alone.")],
    cache_size: Annotated[
        float, typer.Option("--cache-size", metavar="GIB", min=0.001, help="Beyond it, clones are removed.")
    ] = 20.0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=64, help="Runs at once.")] = 4,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of this worker; else the host's.")] = "",
    lease: Annotated[
        float, typer.Option("--lease", metavar="S", min=2, max=3600, help="Seconds until others take over.")
    ] = 60.0,
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="Answer /metrics, /livez and /readyz there.")
    ] = "",
    webhooks: Annotated[
        str, typer.Option("--webhooks", metavar="ADDRESS:PORT", help="Hear webhooks for the whole fleet there.")
    ] = "",
    log_format: Annotated[str, typer.Option("--log-format", metavar="FORMAT", help="text, json or journal.")] = "",
    database: FleetDatabaseOption = "",
) -> None:
    """Work for the fleet, in the foreground."""
    from syncd.cli.fleet.worker import WorkerCommandOptions, run_worker

    run_worker(WorkerCommandOptions(database, cache, cache_size, jobs, name, lease, log_format, listen, webhooks))


@fleet.command("pending")
def fleet_pending(
    digest: Annotated[str, typer.Argument(metavar="ID", help="Show all of the plan whose digest begins so.")] = "",
    json: JsonOption = False,
    database: FleetDatabaseOption = "",
) -> None:
    """List the plans of sites that wait for approval in the fleet."""
    from syncd.cli.fleet.approve import show_fleet_pending

    show_fleet_pending(database, digest, as_json=json)


@fleet.command("approve")
def fleet_approve(
    digest: Annotated[str, typer.Argument(metavar="ID", help="The plan's digest, or how it begins.")],
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why; it is kept with the plan.")] = "",
    json: JsonOption = False,
    database: FleetDatabaseOption = "",
) -> None:
    """Let one plan that waits through, once, within a day.

    Whichever worker takes its repository carries it out.
    """
    from syncd.cli.fleet.approve import approve_in_fleet

    approve_in_fleet(database, digest, comment, as_json=json)


@fleet.command("drain")
def fleet_drain(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Its name, as fleet status shows it.")],
    database: FleetDatabaseOption = "",
) -> None:
    """Ask a worker to end.

    Its runs end at the next step where they can, and its repositories go to other workers.
    """
    from syncd.cli.fleet.status import drain_in_fleet

    drain_in_fleet(database, worker)


@fleet.command("web")
def fleet_web(
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="Of this machine; or unix:PATH.")
    ] = "127.0.0.1:9472",
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    database: FleetDatabaseOption = "",
) -> None:
    """Serve the status page of the fleet, in the foreground.

    It prints a link that works once, and another one for each line that is typed.
    """
    from syncd.cli.fleet.web import serve_fleet_page

    serve_fleet_page(database, listen, should_open=open_it)


@fleet.command("status")
def fleet_status(json: JsonOption = False, database: FleetDatabaseOption = "") -> None:
    """Show its workers and its repositories, problems first."""
    from syncd.cli.fleet.status import show_fleet_status

    exit_with(show_fleet_status(database, as_json=json))
