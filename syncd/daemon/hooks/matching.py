"""Which repositories of the service a webhook means: by the address of their upstream, or by a space of theirs."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from syncd.daemon.hooks.payloads import WebhookSubject
from syncd.sync.branches import match_branches

_SCP = re.compile(r"(?:[^@/:\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^@/:\s]+):(?!//)/?(.+)")


@dataclass(frozen=True)
class WakeableRepository:
    """A repository that webhooks may wake: its path, its spaces, its tracked branches, and where its upstream is.

    Units: `interval` is the seconds that two runs for webhooks are apart at least. Shape: `find_address` asks Git where
    the configuration does not say it; "" is nowhere.
    """

    name: str
    path: Path
    spaces: frozenset[str]
    branches: tuple[str, ...]
    patterns: tuple[str, ...]
    find_address: Callable[[], str]
    interval: float = 0.0


def find_named_repositories(
    named: WebhookSubject, repositories: Sequence[WakeableRepository]
) -> Iterator[WakeableRepository]:
    """Yield the repositories that a webhook means; a push to a branch that none tracks means none."""
    addresses = {place for address in named.addresses if (place := normalize_address(address)) is not None}
    for repository in repositories:
        if named.space in repository.spaces or _is_pushed(named.branch, addresses, repository):
            yield repository


def _is_pushed(branch: str, addresses: Set[tuple[str, str]], repository: WakeableRepository) -> bool:
    """Whether a push to a branch at one of these addresses is one to the repository's upstream."""
    # To find the address may take Git, so the branch is looked at first.
    return _is_tracked(branch, repository) and normalize_address(repository.find_address()) in addresses


def normalize_address(url: str) -> tuple[str, str] | None:
    """Return the host and the path of a Git address, whatever its protocol, port and user; None when it has no host."""
    try:
        if "://" in url:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
        else:
            found = _SCP.fullmatch(url)
            host, path = (found[1].strip("[]"), found[2]) if found else ("", "")
    except ValueError:
        return None
    path = path.strip("/").removesuffix(".git")
    # Hosts tell no repositories apart by the case of letters.
    return (host.lower(), path.casefold()) if host and path else None


def _is_tracked(branch: str, repository: WakeableRepository) -> bool:
    return branch in repository.branches or bool(list(match_branches([branch], repository.patterns)))
