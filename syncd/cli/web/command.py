"""`web`: print, or open, a link to the status page of the running service."""

from dataclasses import dataclass
from pathlib import Path

from syncd.cli.service.control import ASK_SECONDS, find_service
from syncd.cli.terminal.browser import open_in_browser
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_error, print_text
from syncd.daemon.control.control_socket import ControlRequest, ask_service
from syncd.net.listening import UNIX


@dataclass(frozen=True)
class WebOptions:
    """What a person typed behind `web`."""

    config: Path | None = None
    should_open: bool = False
    as_json: bool = False


def show_link(options: WebOptions) -> int:
    """Ask the running service for a link that works once, print or open it, and return the exit code.

    Raises: BadParameter; ServiceUnavailable when no service answers; ConfigInvalid where this user may not ask.
    """
    service = find_service(options.config)
    answer = ask_service(service.socket, ControlRequest(command="link"), seconds=ASK_SECONDS)
    if answer.exit_code:
        print_error("; ".join(answer.messages), answer.hint, answer.exit_code, as_json=options.as_json)
        return answer.exit_code
    if options.as_json:
        print_document({"link": answer.link, "page": answer.page, "seconds": answer.link_seconds})
        return 0
    if options.should_open and not answer.page.startswith(UNIX) and open_in_browser(answer.link):
        print_text("The status page opens in your browser.")
        return 0
    print_text(escape(answer.link))
    print_text(f"It works once, within {answer.link_seconds:g} seconds.")
    if answer.page.startswith(UNIX):
        path = answer.page.removeprefix(UNIX)
        print_text(f"On a Unix socket: ssh -L 9471:{path} HOST, then http://127.0.0.1:9471 before the path.")
    return 0
