"""`fleet web`: the status page of a fleet in the foreground, on the machine of whoever looks.

It is a process of its own and no part of a worker: it is looked at when workers are in trouble, and whoever may look
has the database's URL already.
"""

import signal
import sys
import threading
from types import FrameType

from syncd.cli.fleet.connect import open_database
from syncd.cli.terminal.browser import open_in_browser
from syncd.cli.terminal.text import escape, print_text
from syncd.daemon.page.listener import PageListener
from syncd.daemon.page.sessions import Sessions
from syncd.errors import ConfigInvalid
from syncd.net.listening import UNIX
from syncd.net.page_values import Handler


def serve_fleet_page(url: str, listen: str, *, should_open: bool) -> None:
    """Serve the status page of a fleet until SIGTERM or Ctrl-C; print a link, and another for each line of stdin.

    Raises: ConfigInvalid for an address that others can reach or that is taken; FleetUnreachable.
    """
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    with open_database(url) as database:
        from syncd.cli.fleet.page import FleetPage, make_versions

        database.read_settings()

        def make_handler(sessions: Sessions) -> Handler:
            return FleetPage(sessions, database, make_versions(database)).answer

        with PageListener(listen, make_handler, lambda trace: print(escape(trace), file=sys.stderr)) as page:
            _show_link(page, should_open=should_open)
            before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
            # It waits for a line as long as there is somebody who could type one.
            threading.Thread(target=_show_more_links, args=(page,), name="links", daemon=True).start()
            ended.wait()
            for number, handler in before.items():
                signal.signal(number, handler)


def _show_more_links(page: PageListener) -> None:
    for _ in sys.stdin:
        _show_link(page, should_open=False)


def _show_link(page: PageListener, *, should_open: bool) -> None:
    answer = page.make_link()
    if answer.exit_code:
        raise ConfigInvalid("; ".join(answer.messages), hint="--listen 127.0.0.1:0 takes any free port")
    if should_open and not answer.page.startswith(UNIX) and open_in_browser(answer.link):
        print_text("The status page opens in your browser. Enter shows a link, Ctrl-C ends it.")
    else:
        print_text(escape(answer.link))
        print_text(f"It works once, within {answer.link_seconds:g} seconds. Enter shows another one, Ctrl-C ends it.")
    sys.stdout.flush()
