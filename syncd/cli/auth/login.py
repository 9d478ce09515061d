"""`auth login` and `auth logout`: a token is checked before it is saved, and deleted wherever it was saved."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import typer
from pydantic import SecretStr

from syncd.api.client import Client
from syncd.api.transport.addresses import parse_base_url
from syncd.cli.auth.platforms import PUBLIC_PLATFORM, build_named_platform, find_configured_platform
from syncd.cli.auth.status import build_user_document
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import make_client_options
from syncd.cli.terminal.text import escape, print_text
from syncd.config import PlatformConfig
from syncd.config.saved_tokens import SavedToken, Storage, TokenRegister
from syncd.config.tokens import find_token_source
from syncd.daemon.workspaces import read_time
from syncd.errors import ConfigInvalid
from syncd.model.user import User

TOKEN_BYTES_MAX = 1 << 14
NO_ARGUMENT = (
    "a token is never given on the command line, where everybody on this machine can read it: "
    "syncd auth login asks for it, and --with-token reads it from stdin"
)


_FROM_FILE = "--with-token < FILE"


@dataclass(frozen=True)
class LoginOptions:
    """What a person typed behind `auth login`; `extra` are words that the command does not have."""

    url: str = ""
    extra: Sequence[str] = ()
    with_token: bool = False
    storage: str = ""
    insecure: bool = False
    config: Path | None = None


def run_login(options: LoginOptions, *, as_json: bool) -> None:
    """Read a token, ask the platform whose it is, save it, and say where.

    Raises: BadParameter; ConfigInvalid when it cannot be saved; PlatformError, Unauthorized when it is not valid.
    """
    if options.extra:
        raise typer.BadParameter(NO_ARGUMENT)
    if options.storage and options.storage not in get_args(Storage):
        raise typer.BadParameter(f"--storage {options.storage}: write keyring or file")
    platform = _choose_platform(options)
    parse_base_url(platform.url, insecure=platform.insecure)
    token = _read_stdin() if options.with_token else _prompt_token(platform.url)
    saved, user = save_token(platform, token, storage=cast(Storage, options.storage) if options.storage else None)
    if as_json:
        print_document(
            {"url": saved.url, "user": build_user_document(user), "storage": saved.storage, "saved_at": saved.at}
        )
        return
    print_text("\n".join(_format_login(platform, saved, user)))


def save_token(platform: PlatformConfig, token: str, *, storage: Storage | None = None) -> tuple[SavedToken, User]:
    """Save a token once the platform said whose it is; return what was saved, and the user.

    Raises: ConfigInvalid; PlatformError, Unauthorized when it is not valid.
    """
    with Client(platform.url, token, make_client_options(platform)) as client:
        user = client.users.get_current()
    at = read_time().isoformat(timespec="seconds")
    saved = SavedToken(platform.url, "file", at, user.display_name or user.id, platform.insecure)
    return TokenRegister(os.environ).save(saved, SecretStr(token), storage=storage), user


def ask_for_login(platform: PlatformConfig) -> None:
    """Ask for a token on the terminal, and save it once the platform said whose it is.

    Raises: ConfigInvalid; PlatformError, Unauthorized when it is not valid.
    """
    saved, user = save_token(platform, _prompt_token(platform.url))
    print_text("\n".join(_format_login(platform, saved, user)), sys.stderr)


def run_logout(url: str, config_file: Path | None, *, as_json: bool) -> None:
    """Delete what was saved for a platform. Raises: BadParameter; ConfigInvalid when nothing was."""
    register = TokenRegister(os.environ)
    if not url:
        platform = find_configured_platform(config_file)
        saved = register.list_saved()
        if platform is None and len(saved) != 1:
            names = f": {', '.join(one.url for one in saved)}" if saved else "; nothing is saved"
            raise typer.BadParameter(f"name the platform, because none is configured here{names}")
        url = platform.url if platform is not None else saved[0].url
    elif "://" not in url:
        raise typer.BadParameter("this is no address of a platform; which there are: syncd auth status")
    removed = register.remove(url)
    if removed is None:
        raise ConfigInvalid(f"no token is saved for {url}", hint="where each token is: syncd auth status")
    if as_json:
        print_document({"url": removed.url, "storage": removed.storage, "removed": True})
        return
    where = "the keyring" if removed.storage == "keyring" else str(register.find_path(url))
    print_text(f"Deleted from {escape(where)}. On the platform the token is valid until you revoke it there.")


def _choose_platform(options: LoginOptions) -> PlatformConfig:
    if options.url:
        return build_named_platform(options.url, options.config, insecure=options.insecure)
    platform = find_configured_platform(options.config)
    if platform is not None:
        return platform.model_copy(update={"insecure": platform.insecure or options.insecure})
    if not sys.stdin.isatty():
        raise typer.BadParameter("name the platform, because none is configured here: syncd auth login URL")
    url = typer.prompt("Address of the platform", default=PUBLIC_PLATFORM, err=True)
    return build_named_platform(url, options.config, insecure=options.insecure)


def _read_stdin() -> str:
    """The token on stdin. Raises: BadParameter for a terminal, which would show it, and for what is not one token."""
    if sys.stdin.isatty():
        what = "--with-token reads a pipe or a file, and here is a terminal, which would show the token"
        raise typer.BadParameter(f"{what}: leave it out to be asked, or add {_FROM_FILE}")
    try:
        text = sys.stdin.read(TOKEN_BYTES_MAX + 1)
    except OSError as error:
        raise typer.BadParameter(f"stdin cannot be read: {error.strerror}; give the token as {_FROM_FILE}") from None
    words = text.split()
    if not words:
        raise typer.BadParameter(f"stdin is empty: give the token as {_FROM_FILE}, or from a pipe")
    if len(words) > 1 or len(text) > TOKEN_BYTES_MAX:
        held = f"{len(words)} words" if len(words) > 1 else f"more than {TOKEN_BYTES_MAX} characters"
        raise typer.BadParameter(f"stdin does not hold one token, but {held}: a token is one word")
    return words[0]


def _prompt_token(url: str) -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is here to ask for the token: pass it on stdin, and add --with-token")
    print_text(f"Create a token in the developer settings of {escape(url)}, and paste it here.", sys.stderr)
    token: str = typer.prompt("Token (it is not shown)", hide_input=True, err=True)
    return token.strip()


def _format_login(platform: PlatformConfig, saved: SavedToken, user: User) -> list[str]:
    register = TokenRegister(os.environ)
    where = "the keyring of this system" if saved.storage == "keyring" else str(register.find_path(saved.url))
    lines = [
        f"Logged in to {escape(saved.url)} as {escape(user.display_name or user.id)}.",
        f"The token is in {escape(where)}.",
    ]
    first = find_token_source(platform, os.environ)
    if first is not None and first.saved is None:
        lines.append(f"It is not used here, because {escape(first.place)} comes before it.")
    return lines
