"""`syncd platform …`: the embedded platform from the command line."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.cli.setup.space_ids import read_space_id
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.site_ids import read_organization_id
from syncd.cli.terminal.text import escape, log_text, print_text
from syncd.daemon.systemd import ERROR, NOTICE, Heartbeat, Notifier
from syncd.errors import ConfigInvalid, NotFound
from syncd.model.wording import format_first

if TYPE_CHECKING:
    from syncd.platform.people.tokens import Token
    from syncd.platform.settings import PlatformSettings, ServiceEndpoint
    from syncd.platform.storage.storage_options import StorageOptions

ADDRESS_FILE = "address"
"""The file of the data directory with the address at which the platform was served last, for links to its pages."""
SKIPPED_SHOWN = 20
"""Up to so many skipped parts of an imported directory are printed; of more, the rest is counted."""
UNLISTED_SHOWN = 5
"""The same of its pages that no table of contents lists."""


@dataclass(frozen=True)
class PlatformOptions:
    """What a person typed about where the platform is; "" is the default."""

    data: Path
    database: str = ""
    files: str = ""
    endpoint: str = ""

    def build_data_dir(self) -> "StorageOptions":
        """Return where the platform keeps its data."""
        from syncd.platform.storage.storage_options import StorageOptions

        return StorageOptions(self.data, self.database or None, self.files or None, self.endpoint or None)

    @property
    def is_new(self) -> bool:
        """Whether there is no platform yet where its data would be."""
        return not self.database and not (self.data / "platform.db").is_file()

    def find_data_dir(self) -> "StorageOptions":
        """Return where an existing platform keeps its data. Raises: NotFound when there is none."""
        if self.is_new:
            raise NotFound(f"there is no platform in {self.data}", hint="name its directory with --data")
        return self.build_data_dir()


@dataclass(frozen=True)
class ServiceOptions:
    """What a person typed about external services; "" is none."""

    ask_url: str = ""
    ask_model: str = ""
    translate_url: str = ""
    translate_model: str = ""

    def build_settings(
        self,
        environ: Mapping[str, str],
        *,
        requests_per_minute: int | None = None,
        private_addresses: bool = False,
        public_url: str = "",
        origins: Sequence[str] = (),
    ) -> "PlatformSettings":
        """Return the platform's settings; `environ` has the keys of the services. Raises: ConfigInvalid."""
        from syncd.platform.http.addresses import parse_public_origin
        from syncd.platform.settings import PlatformSettings

        if self.ask_url and not self.ask_model:
            raise ConfigInvalid("--ask-url needs the name of a model", hint="add --ask-model NAME")
        return PlatformSettings(
            requests_per_minute=requests_per_minute,
            private_addresses=private_addresses,
            public_url=parse_public_origin(public_url) if public_url else "",
            origins=tuple(
                origin if origin == "*" else parse_public_origin(origin, option="--allow-origin") for origin in origins
            ),
            ask=_build_endpoint("ask", self.ask_url, self.ask_model, environ.get("SYNCD_ASK_KEY", "")),
            translate=_build_endpoint(
                "translate", self.translate_url, self.translate_model, environ.get("SYNCD_TRANSLATE_KEY", "")
            ),
        )


def _build_endpoint(name: str, url: str, model: str, key: str) -> "ServiceEndpoint | None":
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


def run_server(options: PlatformOptions, settings: "PlatformSettings", *, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT; print the URL as the first line of stdout, and notify systemd."""
    from syncd.cli.platform.git_host import RepositoryHost
    from syncd.platform.server import serve

    notify = Notifier(os.environ)
    heartbeat = Heartbeat(notify)
    status = ""

    def announce(url: str) -> None:
        nonlocal status
        (options.data / ADDRESS_FILE).write_text(f"{settings.public_url or url}\n", encoding="utf-8")
        status = f"listens on {url}"
        print(url, flush=True)
        notify.send_status(status)
        notify.send_ready()

    def report(fault: str) -> None:
        log_text(escape(fault) or "the database can be used again", ERROR if fault else NOTICE)
        notify.send_status(f"{fault}; {status}" if fault else status)

    def beat() -> bool:
        heartbeat.beat()
        return False

    settings = replace(settings, git_host=RepositoryHost())
    serve(options.build_data_dir(), settings, host=host, port=port, announce=announce, report=report, stop=beat)


def import_space(directory: Path, options: PlatformOptions, *, title: str, space: str, as_json: bool) -> None:
    """Import a directory as a revision of a space, and print the ids of both."""
    from syncd.platform.services.directory.read import check_directory, import_directory

    check_directory(directory)  # before a platform is made for it
    is_new = options.is_new
    with options.build_data_dir().open_for_command() as storage:
        storage.bootstrap()
        imported = import_directory(
            storage, directory, title=title or None, space=read_space_id(space) if space else None
        )
    _note_new_platform(options, is_new)
    if as_json:
        skipped = [f"{part.place}: {part.reason}".removeprefix(": ") for part in imported.skipped]
        facts = {"space": imported.space, "revision": imported.revision, "changed": imported.is_changed}
        print_document({**facts, "skipped": skipped, "unlisted": list(imported.unlisted)})
    else:
        for part in imported.skipped[:SKIPPED_SHOWN]:
            place = f"{escape(part.place)}: " if part.place else ""
            print_text(f"{place}not taken: {escape(part.reason)}", sys.stderr)
        if (more := len(imported.skipped) - SKIPPED_SHOWN) > 0:
            print(f"{more} more; syncd check {directory} names all", file=sys.stderr)
        if imported.unlisted:
            named = escape(format_first(imported.unlisted, UNLISTED_SHOWN))
            is_one = len(imported.unlisted) == 1
            why = f"SUMMARY.md does not list {'it' if is_one else 'them'}"
            if imported.is_inferred:
                why = f"{'it is the table' if is_one else 'they are tables'} of contents of a folder"
            print_text(f"not taken, since {why}: {named}", sys.stderr)
        print(f"space {imported.space}\nrevision {imported.revision}")


def _note_new_platform(options: PlatformOptions, is_new: bool) -> None:
    """Say that a platform was made, which a wrong --data does, too."""
    if is_new:
        print_text(f"note: there was no platform in {escape(str(options.data))}; a new one was made", sys.stderr)


def export_space(space: str, directory: Path, options: PlatformOptions) -> None:
    """Export a space and print how many files it has."""
    from syncd.platform.services.directory.write import export_directory

    with options.find_data_dir().open_for_command() as storage:
        count = export_directory(storage, read_space_id(space), directory)
    print(f"{count} files in {directory}")


def create_token(
    options: PlatformOptions, *, user: str, role: str, organization: str, label: str, as_json: bool
) -> None:
    """Make a token and print it, alone on stdout, so that a script can take it."""
    from syncd.platform.people.tokens import TokenHolder, issue_token

    is_new = options.is_new
    with options.build_data_dir().open_for_command() as storage:
        storage.bootstrap()
        token = issue_token(
            storage,
            TokenHolder(user or None, role or None, read_organization_id(organization) if organization else None),
            label=label,
        )
    _note_new_platform(options, is_new)
    if as_json:
        print_document(_build_document(token) | {"token": token.secret})
        return
    print(token.secret, flush=True)
    print(f"Token {token.id} of {_format_owner(token)}, shown this once; only its hash is kept.", file=sys.stderr)


def list_tokens(options: PlatformOptions, *, as_json: bool) -> None:
    """Print every token with its id, day, person and label; secrets are not kept."""
    from syncd.platform.people.tokens import find_tokens

    with options.find_data_dir().open_for_command() as storage:
        tokens = find_tokens(storage)
    if as_json:
        print_document({"tokens": [_build_document(token) for token in tokens]})
    else:
        print_text(
            "\n".join(_format_tokens(tokens)) or "There are no tokens; the first start of the platform makes one."
        )


def revoke_token(options: PlatformOptions, name: str) -> None:
    """Revoke a token, and print whose it was."""
    from syncd.platform.people.auth import REMEMBERED_S
    from syncd.platform.people.tokens import delete_token

    with options.find_data_dir().open_for_command() as storage:
        revoked = delete_token(storage, name)
    print(
        f"Token {revoked.id} of {_format_owner(revoked)} is revoked; "
        f"a running server refuses it within {REMEMBERED_S:g} seconds."
    )


def _build_document(token: "Token") -> dict[str, object]:
    document = asdict(token)
    del document["secret"]
    return document


def _format_owner(token: "Token") -> str:
    return escape(token.email or f"{token.display_name} ({token.user})")


def _format_tokens(tokens: "Sequence[Token]") -> list[str]:
    rows = [(token.id, token.created_at[:10], _format_owner(token), escape(token.label)) for token in tokens]
    width = max((len(whose) for _, _, whose, _ in rows), default=0)
    return [f"{id}  {day}  {whose:<{width}}  {label}".rstrip() for id, day, whose, label in rows]
