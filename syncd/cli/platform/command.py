"""`syncd platform …`: the embedded platform from the command line."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.cli.sync.space_ids import read_space_id
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import log_text, print_text, safe
from syncd.daemon.systemd import ERROR, NOTICE, Heartbeat, Notifier
from syncd.errors import ConfigInvalid, NotFound

if TYPE_CHECKING:
    from syncd.platform.people.tokens import Token
    from syncd.platform.settings import PlatformSettings, ServiceEndpoint
    from syncd.platform.storage.storage_options import StorageOptions

SKIPPED_SHOWN = 20
"""Parts of an imported directory that were not taken, and that are printed; of more, the rest is counted."""


@dataclass(frozen=True)
class Kept:
    """Where the words of a command say that the platform is; an empty one says nothing."""

    data: Path
    database: str = ""
    files: str = ""
    endpoint: str = ""

    def premises(self) -> "StorageOptions":
        """Return the premises."""
        from syncd.platform.storage.storage_options import StorageOptions

        return StorageOptions(self.data, self.database or None, self.files or None, self.endpoint or None)

    def existing(self) -> "StorageOptions":
        """Return the premises, for commands that look for what is there. Raises: NotFound."""
        if not self.database and not (self.data / "platform.db").is_file():
            raise NotFound(f"there is no platform in {self.data}", hint="name its directory with --data")
        return self.premises()


@dataclass(frozen=True)
class Services:
    """The services elsewhere that the words of a command name; an empty one is none."""

    ask_url: str = ""
    ask_model: str = ""
    translate_url: str = ""
    translate_model: str = ""

    def settings(
        self,
        environ: Mapping[str, str],
        *,
        requests_per_minute: int | None = None,
        private_addresses: bool = False,
        public_url: str = "",
        origins: Sequence[str] = (),
    ) -> "PlatformSettings":
        """Given the environment, which holds their keys, return a platform's settings. Raises: ConfigInvalid."""
        from syncd.platform.http.addresses import parse_public_origin
        from syncd.platform.settings import PlatformSettings

        if self.ask_url and not self.ask_model:
            raise ConfigInvalid("--ask-url needs the name of a model", hint="add --ask-model NAME")
        return PlatformSettings(
            requests_per_minute=requests_per_minute,
            private_addresses=private_addresses,
            public_url=parse_public_origin(public_url) if public_url else "",
            origins=tuple(one if one == "*" else parse_public_origin(one, option="--allow-origin") for one in origins),
            ask=_endpoint("ask", self.ask_url, self.ask_model, environ.get("SYNCD_ASK_KEY", "")),
            translate=_endpoint(
                "translate", self.translate_url, self.translate_model, environ.get("SYNCD_TRANSLATE_KEY", "")
            ),
        )


def _endpoint(name: str, url: str, model: str, key: str) -> "ServiceEndpoint | None":
    from syncd.net.failures import Refused
    from syncd.net.targets import parse_target
    from syncd.platform.settings import ServiceEndpoint

    if not url:
        if model:
            raise ConfigInvalid(f"--{name}-model needs a service", hint=f"add --{name}-url URL")
        return None
    try:
        parse_target(url)
    except Refused as refused:
        raise ConfigInvalid(f"--{name}-url: {refused}", hint="write https://HOST/PATH") from None
    if not (key.isascii() and key.isprintable()):
        raise ConfigInvalid(
            f"SYNCD_{name.upper()}_KEY holds a character that no key has", hint="look for a line end in it"
        )
    return ServiceEndpoint(url, model, key)


def run_server(kept: Kept, settings: "PlatformSettings", *, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT; the URL is the first line of stdout, and systemd hears of it too."""
    from syncd.platform.server import serve

    notify = Notifier(os.environ)
    heartbeat = Heartbeat(notify)
    status = ""

    def announce(url: str) -> None:
        nonlocal status
        status = f"listens on {url}"
        print(url, flush=True)
        notify.status(status)
        notify.ready()

    def report(fault: str) -> None:
        log_text(safe(fault) or "the database can be used again", ERROR if fault else NOTICE)
        notify.status(f"{fault}; {status}" if fault else status)

    def turn() -> bool:
        heartbeat.beat()
        return False

    serve(kept.premises(), settings, host=host, port=port, announce=announce, report=report, stop=turn)


def import_space(directory: Path, kept: Kept, *, title: str, space: str, as_json: bool) -> None:
    """Import a directory and print the ids that it got."""
    from syncd.platform.services.directory.read import import_directory

    with kept.premises().open() as storage:
        storage.bootstrap()
        made = import_directory(storage, directory, title=title or None, space=read_space_id(space) if space else None)
    if as_json:
        skipped = [f"{one.path}:{one.line}:{one.column}: {one.why}" for one in made.skipped]
        emit({"space": made.space, "revision": made.revision, "changed": made.changed, "skipped": skipped})
    else:
        for one in made.skipped[:SKIPPED_SHOWN]:
            print_text(f"{safe(one.path)}:{one.line}:{one.column}: not taken: {safe(one.why)}", sys.stderr)
        if (more := len(made.skipped) - SKIPPED_SHOWN) > 0:
            print(f"{more} more; syncd check {directory} names all", file=sys.stderr)
        print(f"space {made.space}\nrevision {made.revision}")


def export_space(space: str, directory: Path, kept: Kept) -> None:
    """Export a space and print how many files it has."""
    from syncd.platform.services.directory.write import export_directory

    with kept.existing().open() as storage:
        count = export_directory(storage, read_space_id(space), directory)
    print(f"{count} files in {directory}")


def create_token(kept: Kept, *, user: str, role: str, organization: str, label: str, as_json: bool) -> None:
    """Make a token and print it, alone on stdout, so that a script can take it."""
    from syncd.platform.people.tokens import TokenHolder, issue_token

    with kept.premises().open() as storage:
        storage.bootstrap()
        made = issue_token(storage, TokenHolder(user or None, role or None, organization or None), label=label)
    if as_json:
        emit(_document(made) | {"token": made.secret})
        return
    print(made.secret, flush=True)
    print(f"Token {made.id} of {_whose(made)}, shown this once; only its hash is kept.", file=sys.stderr)


def list_tokens(kept: Kept, *, as_json: bool) -> None:
    """Print every token by what may be known about it."""
    from syncd.platform.people.tokens import find_tokens

    with kept.existing().open() as storage:
        tokens = find_tokens(storage)
    if as_json:
        emit({"tokens": [_document(token) for token in tokens]})
    else:
        print_text("\n".join(_lines(tokens)) or "There are no tokens; the first start of the platform makes one.")


def revoke_token(kept: Kept, name: str) -> None:
    """End a token and say whose it was."""
    from syncd.platform.people.auth import REMEMBERED_S
    from syncd.platform.people.tokens import delete_token

    with kept.existing().open() as storage:
        ended = delete_token(storage, name)
    print(
        f"Token {ended.id} of {_whose(ended)} is revoked; a running server refuses it within {REMEMBERED_S:g} seconds."
    )


def _document(token: "Token") -> dict[str, object]:
    shown = asdict(token)
    del shown["secret"]
    return shown


def _whose(token: "Token") -> str:
    return safe(token.email or f"{token.display_name} ({token.user})")


def _lines(tokens: "Sequence[Token]") -> list[str]:
    rows = [(token.id, token.created_at[:10], _whose(token), safe(token.label)) for token in tokens]
    width = max((len(whose) for _, _, whose, _ in rows), default=0)
    return [f"{id}  {day}  {whose:<{width}}  {label}".rstrip() for id, day, whose, label in rows]
