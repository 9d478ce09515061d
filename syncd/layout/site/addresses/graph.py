"""Where redirects lead: from one to the next on the site's own addresses, in a circle, or to an end.

Wildcards do not exist and a source leads to one place only, so what is found here is exact.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.follow import find_address
from syncd.layout.site.read.declared import Item, SiteFile

Host = tuple[str, str]
"""An address under which visitors read a site: host, and base path or ""."""


@dataclass(frozen=True)
class Trails:
    """What comes of following every redirect.

    Shape: `ends` has the last redirect of each that leads to another; `loops` has each circle once, from the redirect
    on that was met first; `lost` has the redirects outside of a circle that lead into one, with the first in it.
    """

    ends: Mapping[str, str]
    loops: tuple[tuple[str, ...], ...]
    lost: Mapping[str, str]


def list_own_hosts(file: SiteFile, hosts: Iterable[Host] = ()) -> tuple[Host, ...]:
    """Return all addresses under which visitors read a site: those in `hosts`, and those that its file declares."""
    proxies = (item.fields.get("proxy") for item in file.of("site"))
    mounts = (str(proxy).partition("/")[::2] for proxy in proxies if proxy)
    return tuple(dict.fromkeys((*hosts, *file.hosts, *((host.lower(), base) for host, base in mounts))))


def find_hops(site: SiteMap) -> dict[str, str]:
    """Return the key of the redirect that each redirect leads to, by key, where it leads to one."""
    found = {}
    for key, rule in site.rules.items():
        path = find_own_path(site, rule)
        if path is not None and (there := f"/{path}") in site.rules:
            found[key] = there
    return found


def find_own_path(site: SiteMap, rule: Item) -> str | None:
    """Return the path on the site's own addresses that a redirect leads to, as `fold_address` spells it; else None."""
    to = rule.fields.get("to")
    url = find_address(to) if isinstance(to, Mapping) and len(to) == 1 else ""
    if "//" not in url:
        return None
    lowered = url.lower()
    if not any(host in lowered for host, _ in site.hosts):  # most lead elsewhere, and need no parsing
        return None
    return site.inner(url)


def follow_hops(steps: Mapping[str, str]) -> Trails:
    """Return where all redirects end; `steps` says which redirect each one leads to.

    Shape: linear time; every redirect is walked over once, however long the chain.
    """
    ends: dict[str, str] = {}
    lost: dict[str, str] = {}
    loops: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in steps:
        trail: dict[str, int] = {}
        at = start
        while at in steps and at not in done and at not in trail:
            trail[at] = len(trail)
            at = steps[at]
        way = list(trail)
        done.update(way)
        if at in trail:
            loops.append(tuple(way[trail[at] :]))
            lost.update(dict.fromkeys(way, at))
        elif at in lost:
            lost.update(dict.fromkeys(way, lost[at]))
        else:
            ends.update(dict.fromkeys(way, ends.get(at, at)))
    circling = {key for loop in loops for key in loop}
    return Trails(ends, tuple(loops), {key: first for key, first in lost.items() if key not in circling})
