"""`syncd platform login` and `logout`: who gets to the platform's pages in a browser."""

import sys
from pathlib import Path

from syncd.cli.platform.command import ADDRESS_FILE, PlatformOptions
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape
from syncd.model.wording import format_count

_USUAL = "http://127.0.0.1:8470"


def print_link(options: PlatformOptions, *, user: str, url: str, as_json: bool) -> None:
    """Print a link that signs a person in, alone on stdout. Raises: NotFound, ConfigInvalid for a wrong URL."""
    from syncd.platform.app_pages.sessions import LINK_SECONDS, make_link
    from syncd.platform.http.addresses import parse_public_origin

    origin = parse_public_origin(url or _read_address(options.data), option="--url")
    with options.find_data_dir().open_for_command() as storage:
        secret, person = make_link(storage, user or None)
    link = f"{origin}/app/sign-in?link={secret}"
    if as_json:
        print_document({"link": link, "person": person, "seconds": LINK_SECONDS})
        return
    print(link, flush=True)
    minutes = LINK_SECONDS // 60
    print(f"It signs in {escape(person)}, once, within {minutes} minutes. Give it to nobody else.", file=sys.stderr)


def end_person_sessions(options: PlatformOptions, *, user: str) -> None:
    """End all sessions of a person, and print how many there were. Raises: NotFound."""
    from syncd.platform.app_pages.sessions import end_sessions

    with options.find_data_dir().open_for_command() as storage:
        person, ended = end_sessions(storage, user or None)
    print(f"{format_count(ended, 'session')} of {escape(person)} ended.")


def _read_address(data: Path) -> str:
    try:
        return (data / ADDRESS_FILE).read_text(encoding="utf-8").strip() or _USUAL
    except FileNotFoundError:
        return _USUAL
