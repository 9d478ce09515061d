"""`notify test`: send a notification to each receiver now, and say what came of it."""

import os
from pathlib import Path

import typer

from syncd.cli.fleet.connect import find_database, open_database
from syncd.cli.terminal.context import load_config_file, require_config_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.daemon.notifications.outbox import Delivery, Target
from syncd.daemon.notifications.targets import build_subscriptions, build_target, build_test
from syncd.errors import ConfigInvalid, ServiceUnavailable
from syncd.fleet.repositories import list_repositories

_HINT = "a receiver of notifications is [[notifications.target]] in the configuration of the service"


def try_targets(config_file: Path | None, database: str, name: str, *, as_json: bool) -> int:
    """Send a test to each receiver, or to one, print what came of it, and return the exit code.

    Shape: without a configuration that is named, a fleet whose database is named says who is notified.
    Raises: BadParameter; ConfigInvalid when there is none, or its secret cannot be read; FleetUnreachable.
    """
    if config_file is None and (find_database(database, os.environ)):
        targets = _list_fleet_targets(database)
    else:
        config = load_config_file(require_config_file(config_file))
        targets = [subscription.target for subscription in build_subscriptions(config, os.environ)]
    if not targets:
        raise ConfigInvalid("nobody is notified", hint=_HINT)
    chosen = [target for target in targets if name in ("", target.name)]
    if not chosen:
        raise typer.BadParameter(f"there are {', '.join(target.name for target in targets)}, and no {name[:80]}")
    results: dict[str, Delivery] = {}
    for target in chosen:
        delivery = target.deliver(build_test(target.name))
        # Repositories of a fleet may mean several receivers by one name: what is wrong with any of them counts.
        if delivery.state != "sent" or target.name not in results:
            results[target.name] = delivery
    has_failed = any(delivery.state != "sent" for delivery in results.values())
    if as_json:
        facts = {name: {"state": delivery.state, "why": delivery.why} for name, delivery in results.items()}
        print_document({"targets": facts})
    else:
        # What is wrong comes first.
        for receiver, delivery in sorted(results.items(), key=lambda item: item[1].state == "sent"):
            line = f"{receiver}: it arrived" if delivery.state == "sent" else f"! {receiver}: {delivery.why}"
            print_text(escape(line))
    return ServiceUnavailable.exit_code if has_failed else 0


def _list_fleet_targets(url: str) -> list[Target]:
    """The receivers of all repositories of a fleet, with the secrets of this machine, as a worker on it has them."""
    with open_database(url) as database:
        database.read_settings()
        repositories = list_repositories(database)
    tables = dict.fromkeys(target for one in repositories for target in one.notifications.target)
    return [build_target(target, os.environ) for target in tables]
