"""Builds the receivers of a configuration, and finds where on the platform people see what a result is about."""

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from syncd.config import Config, RepositoryConfig, load_notification_address, load_notification_secret
from syncd.config.shapes import NotificationTargetConfig
from syncd.daemon.locks import STATE_FILE
from syncd.daemon.notifications.desktop import DesktopTarget, find_session_address
from syncd.daemon.notifications.http_target import HttpTarget
from syncd.daemon.notifications.ledger import Subscription
from syncd.daemon.notifications.news import Interest, build_interest
from syncd.daemon.notifications.outbox import Target
from syncd.daemon.records import find_space
from syncd.errors import ConfigInvalid
from syncd.net.failures import Refused
from syncd.net.targets import parse_target
from syncd.store.incidents import Notification
from syncd.store.status import read_page_address
from syncd.sync.outcome import CONFLICT, PAGE
from syncd.sync.run.values import Result

_FIRST_PAGE = "README.md"


def build_subscriptions(config: Config, environ: Mapping[str, str]) -> list[Subscription]:
    """Return the receivers that a configuration names, with their addresses and secrets. Raises: ConfigInvalid."""
    found = [Subscription(build_target(one, environ), build_interest(one)) for one in config.notifications.target]
    if config.notifications.desktop:
        address = find_session_address(environ)
        if not address:
            raise ConfigInvalid(
                "notifications.desktop needs the session of a desktop, and this service has none",
                hint="run the service as yourself: syncd service install --user; or set it to false",
            )
        desktop = DesktopTarget(address)
        found.append(Subscription(desktop, Interest(desktop.name)))
    return found


def build_target(target: NotificationTargetConfig, environ: Mapping[str, str]) -> Target:
    """Return a receiver of a configuration with its address and secret. Raises: ConfigInvalid."""
    secret = load_notification_secret(target, environ)
    plain = secret.get_secret_value() if secret is not None else ""
    address = load_notification_address(target, environ)
    try:
        parse_target(address)
    except Refused as refused:
        what = f"the address of notifications.target {target.name} cannot be used: {refused}"
        raise ConfigInvalid(what, hint="write it like https://hooks.example.com/services/X") from None
    return HttpTarget(target.name, address, plain, target.private)


def build_test(target: str) -> Notification:
    """Return a notification that says only that it arrived."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lines = ("This is a test: syncd reaches you here.", "next: nothing has to be done")
    return Notification(str(uuid.uuid4()), target, "test", "", "syncd: a test", lines, at)


def build_address_finder(repository: RepositoryConfig, git_dir: Path | None) -> Callable[[Result], str]:
    """Return a function that says where people see what a result of a repository is about, or ""."""

    def find(result: Result) -> str:
        if git_dir is None:
            return ""
        for space in repository.space:
            directory = f"{space.directory}/" if space.directory else ""
            if result.flow in (CONFLICT, PAGE) and result.key.startswith(directory):
                path = result.key.removeprefix(directory)
            elif find_space(result) == space.name:
                path = _FIRST_PAGE
            else:
                continue
            return read_page_address(git_dir / STATE_FILE, space.id, path)
        return ""

    return find
