"""`trust`: show what a configuration in a repository says, and record that its owner wants just that."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, format_time, print_text, style_text
from syncd.config import ConfigFile, trust_document
from syncd.config.finding import NAME, find_platform, is_trusted, read_valid
from syncd.config.reading import Document
from syncd.config.register import Record, Register
from syncd.config.trust import Key, check_token_command, find_privileged_keys, list_keys
from syncd.daemon.workspaces import read_time
from syncd.errors import ConfigInvalid, NotARepository, SyncdError
from syncd.repo.process.location import discover_repository
from syncd.repo.remote.address import parse_address
from syncd.repo.repository import Repository

MEANINGS = {
    "platform.url": "your token is sent there",
    "platform.token_file": "your token is read from this file",
    "platform.token_command": "this command runs as you, and what it prints is your token",
    "platform.insecure": "your token may travel unencrypted",
    "repository.path": "this repository is read and changed",
    "repository.remote": "refs below this name are written",
    "repository.site.publish": "a site is built for readers",
    "repository.site.publish.directory": "a site is written there, and what syncd made there is replaced",
    "repository.site.publish.branch": "a site is pushed to this branch of the Git remote",
    "repository.site.publish.base_url": "pages say that they are found there",
    "repository.site.publish.index": "whether search engines may list the site",
    "repository.site.publish.public": "a site for visitors who sign in may be built for everybody",
    "repository.write": "main content may be written without a change request",
    "repository.upstream": "commits come from the Git remote origin, and go there",
    "repository.upstream.remote": "commits come from this Git remote, and go there",
    "repository.upstream.url": "commits come from there, and go there",
    "repository.upstream.push": "branches that commits go to",
    "repository.upstream.side": "branches that commits go to",
    "repository.upstream.mirror": "the branch that the platform's content goes to",
    "repository.upstream.username": "the upstream's token is sent under this name",
    "repository.upstream.token_file": "what is in this file is sent to the upstream",
    "repository.upstream.ssh_key_file": "this key speaks for you at the upstream",
    "repository.upstream.import_url": "the platform fetches from there",
    "repository.upstream.import_token_file": "what is in this file is sent to the platform",
    "repository.upstream.known_hosts_file": "hosts are believed that this file names",
    "notifications": "people are notified",
    "notifications.desktop": "notifications are shown on your desktop",
    "notifications.target": "names of pages and what is wrong are sent to these receivers",
    "notifications.target.name": "this receiver is notified",
    "notifications.target.url": "names of pages and what is wrong are sent there",
    "notifications.target.url_file": "names of pages and what is wrong are sent to the address in this file",
    "notifications.target.secret_file": "what is in this file signs notifications",
    "notifications.target.events": "what is sent",
    "notifications.target.repositories": "the repositories that are spoken of",
    "notifications.target.private": "the receiver may be in your private network",
    "webhooks": "the service hears webhooks",
    "webhooks.listen": "the service listens at this address",
    "webhooks.interval": "webhooks may ask for a run this often",
    "webhooks.source": "these senders may ask for runs",
    "webhooks.source.name": "this sender may ask for runs",
    "webhooks.source.kind": "webhooks of this kind are read",
    "webhooks.source.secret_file": "whoever knows what is in this file may ask for runs",
}
"""What each privileged key decides, in words for the person who is asked."""
_HARMLESS: dict[str, Sequence[object]] = {"repository.write": ("auto", "content", "comments")}
"""Values of privileged keys that decide nothing of what the meaning warns of."""


@dataclass(frozen=True)
class TrustOptions:
    """What a person typed behind `trust`."""

    file: Path | None = None
    yes: bool = False
    as_json: bool = False


def run_trust(options: TrustOptions) -> None:
    """Show the chosen configuration, ask for consent, and record that it is trusted.

    Raises: ConfigInvalid; BadParameter when consent cannot be asked for, because stdin is no terminal.
    """
    file = _locate_config(options.file)
    document = read_valid(file)
    if file.origin == "work tree":
        check_token_command(file, document.raw)
    is_known = is_trusted(file, document, os.environ)
    if options.as_json:
        if options.yes:
            trust_document(file, document, os.environ, at=read_time().isoformat())
        print_document(_build_document(file, document, is_trusted=is_known or options.yes))
        return
    print_text("\n".join(_format_config(file, document)))
    if is_known:
        print("This is trusted already.")
        return
    if not options.yes:
        _confirm(file)
    trust_document(file, document, os.environ, at=read_time().isoformat())
    print(
        "Trusted, until one byte of it changes."
        if file.origin == "work tree"
        else "Trusted, until one of these changes."
    )


def list_trusted(*, as_json: bool) -> None:
    """Print every configuration that is trusted, and whether it has changed since."""
    found = [(record, _find_state(record)) for record in Register(os.environ).list_records()]
    if as_json:
        print_document(
            {"trusted": [{"file": one.file, "at": one.at, "state": state, "keys": one.keys} for one, state in found]}
        )
        return
    for record, state in found:
        print(f"{escape(record.file)}  since {format_time(record.at)}{'' if state == 'unchanged' else f'  ({state})'}")
    if not found:
        print("Nothing is trusted.")


def revoke(options: TrustOptions) -> None:
    """Forget that a configuration was trusted. Raises: ConfigInvalid when it was not."""
    path = Path(os.path.abspath(options.file)) if options.file is not None else None
    if path is None or path.is_dir():
        path = _locate_config(options.file).path
    if not Register(os.environ).remove(path):
        raise ConfigInvalid(f"{path} is not trusted", hint="what is: syncd trust --list")
    if options.as_json:
        print_document({"file": str(path), "trusted": False})
    else:
        print(f"{escape(str(path))} is trusted no more.")


def _locate_config(given: Path | None) -> ConfigFile:
    """The configuration of the repository around a file, a directory, or the current directory."""
    path = Path(os.path.abspath(given or Path.cwd()))
    directory = path if path.is_dir() else path.parent
    place = discover_repository(directory)
    if place is None:
        raise NotARepository(f"{directory} is in no Git repository", hint="name a syncd.toml, or its repository")
    found = [ConfigFile(place.common_dir / NAME, "git directory", place.work_tree)]
    if place.work_tree is not None:
        found.append(ConfigFile(place.work_tree / NAME, "work tree", place.work_tree))
    if path.is_dir():
        file = next((one for one in found if os.path.lexists(one.path)), None)
        if file is None:
            raise ConfigInvalid(f"there is no {NAME} in {place.work_tree or place.git_dir}")
        return file
    real = path.parent.resolve() / path.name
    file = next((one for one in found if one.path == real), None)
    if file is None:
        hint = f"a file that --config names needs no trust: --config {path}"
        raise ConfigInvalid(f"{path} is no configuration that syncd finds by itself", hint=hint)
    return file


def _confirm(file: ConfigFile) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"nobody is here to ask: read {file.path}, then add --yes")
    if not typer.confirm("Trust this?", err=True):
        print("Nothing was recorded.", file=sys.stderr)
        raise typer.Exit(1)


def _format_config(file: ConfigFile, document: Document) -> list[str]:
    whose = "comes with the repository: whoever commits can change it"
    if file.origin == "git directory":
        whose = "lies in the git directory: no commit can change it"
    lines = [f"{style_text(escape(str(file.path)), 1, sys.stdout)} {whose}"]
    privileged = find_privileged_keys(document.raw)
    lines += ["Only you may decide:", *_format_keys(privileged)] if privileged else []
    if not any(key.plain.startswith("platform") for key in privileged):
        lines.append(_describe_platform(file))
    lines += _format_remotes(file, document)
    permitted = [key for key in list_keys(document.raw) if key not in privileged]
    return [*lines, "The repository may decide:", *_format_keys(permitted)]


def _format_keys(keys: Sequence[Key]) -> list[str]:
    lines = []
    for key in keys:
        told = "" if key.value in _HARMLESS.get(key.plain, ()) else MEANINGS.get(key.plain, "")
        meaning = f"   {style_text(f'! {told}', 33, sys.stdout)}" if told else ""
        value = json.dumps(key.value, ensure_ascii=False, default=str)
        lines.append(f"  {escape(key.name)} = {escape(value)}{meaning}")
    return lines


def _describe_platform(file: ConfigFile) -> str:
    try:
        url = find_platform(os.environ, os.environ.get("SYNCD_URL", ""), at=file.path)["url"]
    except ConfigInvalid:
        return "It names no platform: SYNCD_URL does, or [platform] in your own configuration."
    return f"Your token is sent to {escape(str(url))}, which you named yourself."


def _format_remotes(file: ConfigFile, document: Document) -> list[str]:
    """The addresses of upstreams that the file leaves to Git."""
    upstreams = [one["upstream"] for one in document.raw.get("repository", ()) if "upstream" in one]
    names = [str(one.get("remote", "origin")) for one in upstreams if "url" not in one]
    if not names:
        return []
    with Repository.open(file.top or file.path.parent) as repository:
        urls = {name: repository.find_remote_url(name) for name in names}
    return [
        f"  {escape(name)} is {escape(parse_address(url).url)}, says Git"
        for name, url in urls.items()
        if url is not None
    ]


def _build_document(file: ConfigFile, document: Document, *, is_trusted: bool) -> dict[str, object]:
    privileged = {key.name: key.value for key in find_privileged_keys(document.raw)}
    permitted = {key.name: key.value for key in list_keys(document.raw) if key.name not in privileged}
    keys = {"privileged": privileged, "permitted": permitted}
    return {"file": str(file.path), "origin": file.origin, **keys, "trusted": is_trusted}


def _find_state(record: Record) -> str:
    path = Path(record.file)
    if not os.path.lexists(path):
        return "gone"
    try:
        file = _locate_config(path)
        return "unchanged" if is_trusted(file, read_valid(file), os.environ) else "changed since"
    except SyncdError:
        return "changed since"
