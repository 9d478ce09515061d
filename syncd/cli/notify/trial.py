"""`notify test`: send a notification to each receiver now, and say what came of it."""

import os
from pathlib import Path

import typer

from syncd.cli.terminal.context import load_config_file, require_config_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.daemon.notifications.targets import build_subscriptions, build_test
from syncd.errors import ConfigInvalid, ServiceUnavailable

_HINT = "a receiver of notifications is [[notifications.target]] in the configuration of the service"


def try_targets(config_file: Path | None, name: str, *, as_json: bool) -> int:
    """Send a test to each receiver, or to one, print what came of it, and return the exit code.

    Raises: BadParameter; ConfigInvalid when there is none, or its secret cannot be read.
    """
    config = load_config_file(require_config_file(config_file))
    targets = [subscription.target for subscription in build_subscriptions(config, os.environ)]
    if not targets:
        raise ConfigInvalid("nobody is notified", hint=_HINT)
    chosen = [target for target in targets if name in ("", target.name)]
    if not chosen:
        raise typer.BadParameter(f"there are {', '.join(target.name for target in targets)}, and no {name[:80]}")
    results = {target.name: target.deliver(build_test(target.name)) for target in chosen}
    has_failed = any(delivery.state != "sent" for delivery in results.values())
    if as_json:
        facts = {name: {"state": delivery.state, "why": delivery.why} for name, delivery in results.items()}
        print_document({"targets": facts})
    else:
        # What is wrong comes first.
        for target, delivery in sorted(results.items(), key=lambda item: item[1].state == "sent"):
            line = f"{target}: it arrived" if delivery.state == "sent" else f"! {target}: {delivery.why}"
            print_text(escape(line))
    return ServiceUnavailable.exit_code if has_failed else 0
