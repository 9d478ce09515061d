"""Resolve names to IP addresses once, before a deadline; every address is checked before any is connected to."""

import socket
import threading
from collections.abc import Callable
from time import monotonic

from syncd.net.addresses import is_allowed, is_ip_address
from syncd.net.failures import ConnectTimedOut, NotConnected, Refused

ADDRESSES_MAX = 8
"""Addresses of one name that are tried."""

Resolve = Callable[[str, int], list[str]]


def look_up_addresses(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host that the system's resolver knows.

    Raises: OSError, UnicodeError.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [str(entry[4][0]) for entry in found]


def resolve_host(host: str, port: int, *, deadline: float, resolve: Resolve = look_up_addresses) -> list[str]:
    """Return the first IP addresses of a host; an IP address is its own.

    Units: `deadline` in monotonic seconds. Raises: NotConnected, ConnectTimedOut.
    """
    if is_ip_address(host):
        return [host]
    # The resolver has no limit of its own that could be given: it is waited for from outside.
    found: list[list[str] | Exception] = []

    def look() -> None:
        try:
            found.append(resolve(host, port))
        except (OSError, UnicodeError) as error:
            found.append(error)

    thread = threading.Thread(target=look, name="syncd-resolve", daemon=True)
    thread.start()
    thread.join(max(deadline - monotonic(), 0.0))
    if not found:
        raise ConnectTimedOut("The host's name was not resolved in time.")
    if isinstance(found[0], Exception):
        raise NotConnected("The host has no address.", reason=str(found[0]))
    if not found[0]:
        raise NotConnected("The host has no address.")
    return found[0]


def resolve_allowed(
    host: str, port: int, *, deadline: float, private: bool = False, resolve: Resolve = look_up_addresses
) -> list[str]:
    """Return the IP addresses of a host, all of which may be reached.

    Units: `deadline` in monotonic seconds. Shape: `private` as for `is_allowed`. Raises: Refused, NotConnected,
    ConnectTimedOut.
    """
    addresses = resolve_host(host, port, deadline=deadline, resolve=resolve)
    # All of them: a name that has a private address among public ones was made so to get past this check.
    if not all(is_allowed(address, private=private) for address in addresses):
        raise Refused("The address is not a public one.")
    return addresses[:ADDRESSES_MAX]
