"""When the status page listens: from the first link on that somebody asks for, so that nobody's page costs nothing."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock
from typing import Self

from syncd.daemon.control.control_socket import ControlAnswer
from syncd.daemon.page.sessions import LINK_SECONDS, Sessions
from syncd.errors import ConfigInvalid, SyncdError
from syncd.net.listening import UNIX, split_port
from syncd.net.page_server import PageServer, check_address, serve_pages
from syncd.net.page_values import LOOPBACK_NAMES, Handler

ADDRESS = "127.0.0.1:9471"
"""Where the page is, unless the operator says otherwise."""
OFF = "off"


class PageListener:
    """Makes links to the status page, and serves it from the first one on until the block ends."""

    def __init__(
        self,
        address: str,
        make_handler: Callable[[Sessions], Handler],
        notice: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to listen at `ADDRESS:PORT` of this machine, at `unix:PATH`, with `off` nowhere, or with "" as usual.

        Shape: `make_handler` is called with the first link.
        Units: `clock` in seconds. Raises: ConfigInvalid for an address that is none, or that others can reach.
        """
        self._is_chosen, address = bool(address), address or ADDRESS
        is_tcp = address != OFF and not address.startswith(UNIX)
        if is_tcp and split_port(address)[0].lower() not in LOOPBACK_NAMES:
            hint = f"--web {ADDRESS}; from elsewhere: ssh -L 9471:{ADDRESS} HOST"
            raise ConfigInvalid(f"the status page is for this machine only, not at {address!r}", hint=hint)
        self._address, self._make_handler, self._notice = address, make_handler, notice
        self._sessions = Sessions(clock)
        self._stack, self._lock = ExitStack(), Lock()
        self._server: PageServer | None = None

    def __enter__(self) -> Self:
        """Find out before anybody needs the page whether it can listen at an address that somebody chose.

        The usual one may be that of another service, and nobody may need this page. Raises: ConfigInvalid.
        """
        if self._is_chosen and self._address != OFF:
            check_address(self._address)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def make_link(self) -> ControlAnswer:
        """Return a new link as the answer to the one who asked over the control socket; safe in any thread."""
        if self._address == OFF:
            hint = f"start it as syncd run --web {ADDRESS}"
            return ControlAnswer(exit_code=78, messages=("the service has no status page",), hint=hint)
        try:
            with self._lock:
                if self._server is None:
                    self._server = self._stack.enter_context(
                        serve_pages(self._address, self._make_handler(self._sessions), self._notice, name="syncd-page")
                    )
                server = self._server
        except SyncdError as error:
            hint = "another service may have it: syncd run --web 127.0.0.1:0 takes any free port"
            return ControlAnswer(exit_code=error.exit_code, messages=(error.what,), hint=hint)
        path = f"/sign-in?link={self._sessions.make_link_secret()}"
        return ControlAnswer(link=f"{server.url}{path}", page=server.address, link_seconds=LINK_SECONDS)
