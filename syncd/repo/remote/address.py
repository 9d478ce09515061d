"""Addresses of Git remotes: which may be spoken to, how, and never with a credential in them."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from syncd.errors import ConfigInvalid

_PLAIN = re.compile(r"[\x21-\x7e]+|/[^\x00-\x1f\x7f]+|file:///[^\x00-\x1f\x7f]+")
_HOST = r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*"
_WHERE = re.compile(rf"(?P<host>{_HOST})(?::(?P<port>\d{{1,5}}))?")
_SCP = re.compile(rf"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?(?P<host>{_HOST}):(?!:|//)(?P<path>[^\s-][^\s]*)")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_LOOPBACK = {"127.0.0.1", "[::1]", "localhost"}


@dataclass(frozen=True)
class Address:
    """A remote's address; `protocol` is git's name for the one transport that it needs, `host` has the port with it."""

    url: str
    protocol: str
    host: str = ""


def parse_address(url: str) -> Address:
    """Return the parsed address of a remote to which syncd may connect.

    Shape: https; ssh, also as `user@host:path`; a path or file:// of this machine; http to this machine only.
    Raises: ConfigInvalid, which never repeats a credential. Source: git-fetch(1), "Git URLs".
    """
    if not _PLAIN.fullmatch(url):
        raise ConfigInvalid("the address of the Git remote is empty or holds a space or a control character")
    if url.startswith("/"):
        return Address(url, "file")
    if "://" not in url:
        found = _SCP.fullmatch(url)
        if found is None:
            raise _build_refusal("it is no https or ssh address and no absolute path")
        return Address(url, "ssh", found["host"])
    return _parse_url(url)


def _parse_url(url: str) -> Address:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _build_refusal("it is no URL") from None
    scheme = parts.scheme
    login, _, where = parts.netloc.rpartition("@")
    if scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return Address(url, "file")
    if scheme not in ("https", "http", "ssh"):
        raise _build_refusal(f"{scheme}:// is not spoken; https, ssh and absolute paths are")
    found = _WHERE.fullmatch(where)
    if found is None:
        raise _build_refusal("it has no host")
    if login and not (scheme == "ssh" and _USER.fullmatch(login)):
        raise ConfigInvalid(
            f"the address of the Git remote at {found['host']} holds a credential",
            hint="take it out of the address: username and token_file of [repository.upstream] hold it",
        )
    if scheme == "http" and found["host"] not in _LOOPBACK:
        raise _build_refusal(f"plain http to {found['host']} would show the token to everyone on the way")
    if parts.query or parts.fragment:
        raise _build_refusal("it has a query or a fragment")
    return Address(url, scheme, where)


def _build_refusal(why: str) -> ConfigInvalid:
    return ConfigInvalid(f"the Git remote's address cannot be used: {why}", hint="see url of [repository.upstream]")


_STEERING = re.compile(r"[\x00-\x1f\x7f\"'\\%$~\s]")


def ssh_path(path: Path, key: str) -> str:
    """Return the path of a file that ssh is to read, when ssh takes it literally; `key` names its configuration key.

    Raises: ConfigInvalid. Source: ssh_config(5): quotes, `%` and `~` are expanded, a space begins another file.
    """
    if _STEERING.search(str(path)):
        raise ConfigInvalid(f"{key} cannot be {path}: ssh reads spaces, quotes, %, $ and ~ in it in its own way")
    return str(path)
