"""Where a server for this machine listens: addresses as people type them, and why nothing can listen at one."""

import errno
from ipaddress import ip_address

from syncd.errors import ConfigInvalid

UNIX = "unix:"
PORT_MAX = 65535
_HINT = f"write ADDRESS:PORT, such as 127.0.0.1:9470, or {UNIX}/path/of/a/socket"
_HINTS = {
    errno.EADDRINUSE: "another program listens there, such as another syncd; end that one, or choose another port",
    errno.EACCES: "ports below 1024 are for root; choose a higher one, or for a socket a directory of your own",
    errno.EADDRNOTAVAIL: "this machine does not have the address; 127.0.0.1 is for itself, 0.0.0.0 for all of its own",
    errno.ENOENT: "make the directory of the socket first",
}


def split_port(address: str) -> tuple[str, int]:
    """Return what stands before the port of `ADDRESS:PORT`, and the port. Raises: ConfigInvalid."""
    name, colon, port = address.rpartition(":")
    if not colon or not name:
        what = "a port alone" if address.removeprefix(":").isdecimal() else "no port"
        raise ConfigInvalid(f"nothing can listen at {address!r}: it has {what}", hint=_HINT)
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX):
        raise ConfigInvalid(f"nothing can listen at {address!r}: a port is a number to {PORT_MAX}", hint=_HINT)
    return name, int(port)


def parse_listen_address(address: str) -> tuple[str, int]:
    """Return the IP address and the port of `ADDRESS:PORT`; `localhost` is 127.0.0.1. Raises: ConfigInvalid."""
    name, port = split_port(address)
    host = name.removeprefix("[").removesuffix("]")
    try:
        return "127.0.0.1" if host == "localhost" else str(ip_address(host)), port
    except ValueError:
        what = f"nothing can listen at {address!r}: {host} is no IP address"
        raise ConfigInvalid(what, hint=_HINT) from None


def check_listen_address(address: str) -> None:
    """Check how an address is written; a socket may have any path. Raises: ConfigInvalid."""
    if not address.startswith(UNIX):
        parse_listen_address(address)


def describe_refusal(address: str, refusal: OSError | ValueError) -> ConfigInvalid:
    """Return the error for an address at which the system lets nothing listen."""
    number, why = (refusal.errno, refusal.strerror) if isinstance(refusal, OSError) else (None, None)
    return ConfigInvalid(f"nothing can listen at {address!r}: {why or refusal}", hint=_HINTS.get(number or 0, _HINT))
