"""`auth status`: who the token of each platform belongs to, and where it is looked for; never the token itself."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from syncd.api.client import Client
from syncd.cli.auth.platforms import build_named_platform, find_configured_platform
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import make_client_options
from syncd.cli.terminal.text import escape, format_time, hide_credentials, print_text, style_text
from syncd.config import PlatformConfig, is_same_address, load_token
from syncd.config.saved_tokens import TokenRegister
from syncd.config.tokens import SOURCE_NAMES, TokenSource, list_token_sources
from syncd.daemon.health import combine_codes
from syncd.errors import ConfigInvalid, SyncdError
from syncd.model.organization import Organization
from syncd.model.user import User

ORGANIZATIONS_SHOWN = 50
_NOTHING_TEXT = "No platform is configured here, and no token is saved.\n  syncd auth login URL   save a token"


@dataclass(frozen=True)
class AuthStatus:
    """What is known of the token of one platform.

    Shape: `error` is why nobody could be asked, or what the platform said; then `user` is None.
    """

    platform: PlatformConfig
    sources: Sequence[TokenSource] = ()
    user: User | None = None
    organizations: Sequence[Organization] = ()
    error: SyncdError | None = None

    @property
    def used_source(self) -> TokenSource | None:
        """The place whose token is used."""
        return next((source for source in self.sources if source.is_set), None)


def show_auth_status(url: str, config_file: Path | None, *, as_json: bool) -> int:
    """Print who the token of a platform belongs to, or of all that are known here; return the exit code.

    Raises: BadParameter; ConfigInvalid.
    """
    platforms = [build_named_platform(url, config_file)] if url else _list_platforms(config_file)
    found = [check_auth(platform) for platform in platforms]
    codes = [status.error.exit_code for status in found if status.error is not None]
    code = combine_codes(codes) if found else ConfigInvalid.exit_code
    if as_json:
        print_document({"platforms": [_build_document(status) for status in found], "exit_code": code})
        return code
    print_text("\n\n".join("\n".join(_format_status(status)) for status in found) or _NOTHING_TEXT)
    return code


def check_auth(platform: PlatformConfig) -> AuthStatus:
    """Return whose token is used for a platform; what goes wrong is part of it."""
    sources: Sequence[TokenSource] = ()
    try:
        sources = tuple(list_token_sources(platform, os.environ))
        secret = load_token(
            platform, os.environ, hint=f"syncd auth login {hide_credentials(platform.url)}"
        ).get_secret_value()
        with Client(platform.url, secret, make_client_options(platform)) as client:
            user = client.users.get_current()
            organizations = tuple(client.organizations.list())
    except SyncdError as error:
        return AuthStatus(platform, sources, error=error)
    return AuthStatus(platform, sources, user, organizations)


def build_user_document(user: User) -> dict[str, object]:
    """Return the JSON object of a user."""
    return {"id": user.id, "display_name": user.display_name, "email": user.email}


def _list_platforms(config_file: Path | None) -> list[PlatformConfig]:
    """The platform that counts here, then all others for which a token is saved."""
    configured = find_configured_platform(config_file)
    platforms = [configured] if configured is not None else []
    for saved in TokenRegister(os.environ).list_saved():
        if not any(is_same_address(saved.url, platform.url) for platform in platforms):
            platforms.append(PlatformConfig(url=saved.url, insecure=saved.is_insecure))
    return platforms


def _format_status(status: AuthStatus) -> Iterator[str]:
    yield style_text(escape(hide_credentials(status.platform.url)), 1, sys.stdout)
    if status.error is not None:
        yield f"  {style_text('! error:', 31, sys.stdout)} {escape(status.error.what)}"
        yield from (f"    {escape(line)}" for line in status.error.hint.split("\n") if line)
    if status.user is not None:
        email = f" <{status.user.email}>" if status.user.email else ""
        yield f"  user: {escape((status.user.display_name or status.user.id) + email)}"
        names = [f"{one.title} ({one.id})" for one in status.organizations[:ORGANIZATIONS_SHOWN]]
        left = len(status.organizations) - len(names)
        yield f"  organizations: {escape(', '.join(names) or 'none')}{f', and {left} more' if left else ''}"
    yield "  token, in the order in which it is looked for:"
    for source in status.sources:
        yield f"    {_describe_source(source, is_used=source is status.used_source)}"


def _describe_source(source: TokenSource, *, is_used: bool) -> str:
    name = SOURCE_NAMES[source.kind]
    if not source.is_set:
        return f"- {name}: none"
    place = f": {escape(source.place)}" if source.kind in ("token_file", "token_command", "credential", "file") else ""
    since = f", since {format_time(source.saved.at)}" if source.saved is not None else ""
    word = (
        style_text("used", 32, sys.stdout) if is_used else style_text("not used: another comes first", 33, sys.stdout)
    )
    return f"{'*' if is_used else '-'} {name}{place}{since} ({word})"


def _build_document(status: AuthStatus) -> dict[str, object]:
    user, error = status.user, status.error
    sources = [
        {
            "kind": source.kind,
            "place": source.place,
            "is_set": source.is_set,
            "is_used": source is status.used_source,
            "since": source.saved.at if source.saved is not None else None,
        }
        for source in status.sources
    ]
    return {
        "url": hide_credentials(status.platform.url),
        "user": None if user is None else build_user_document(user),
        "organizations": [{"id": one.id, "title": one.title} for one in status.organizations],
        "sources": sources,
        "error": None if error is None else {"what": error.what, "hint": error.hint, "exit_code": error.exit_code},
    }
