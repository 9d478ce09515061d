"""`redirects test`: what becomes of an address, hop by hop, by the file and, when asked, by the platform."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syncd.cli.sites.offline import place_of
from syncd.cli.sites.session import one_site
from syncd.cli.sites.sitemap import hosts_of, on_disk
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import print_text, safe
from syncd.errors import NotFound, Rejected
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.follow import Fate, follow
from syncd.model.wording import format_count
from syncd.sync.site.read.parts import Reader
from syncd.sync.workspace import Workspace

_ENDS = {"page": "content", "elsewhere": "elsewhere", "nothing": "nothing", "loop": "loop"}


@dataclass(frozen=True)
class Asked:
    """What is tested: addresses, in which file, at which hosts, and whether the platform is asked too."""

    urls: Sequence[str]
    config: Path | None = None
    file: Path | None = None
    at: Sequence[str] = ()
    online: bool = False


def run_test(asked: Asked, *, as_json: bool) -> int:
    """Given addresses, print what becomes of each; return 1 when one leads nowhere or goes round in circles."""
    site = on_disk(place_of(asked.config, asked.file), hosts_of(asked.at))
    live: dict[str, str] = {}
    if asked.online:
        with one_site(asked.config, asked.file, "redirects test").look() as workspace:
            site, live = _live(workspace, site, asked)
    fates = {url: follow(site, _address(url)) for url in dict.fromkeys(asked.urls)}
    if as_json:
        emit({"results": [_document(url, fate, live.get(url)) for url, fate in fates.items()]})
    else:
        print_text("\n\n".join("\n".join(_lines(url, fate, live.get(url))) for url, fate in fates.items()))
    return 1 if any(fate.end in ("nothing", "loop") for fate in fates.values()) else 0


def _address(word: str) -> str:
    return word if word.startswith("/") or "//" in word else f"/{word}"


def _live(workspace: Workspace, site: SiteMap, asked: Asked) -> tuple[SiteMap, dict[str, str]]:
    """What the platform itself says of each source, and the site with its own addresses."""
    reader = Reader(workspace.client, site.file.organization, site.file.site)
    site = SiteMap(site.file, site.pages, (*hosts_of(asked.at), *reader.settings().hosts))
    said = {}
    for url in dict.fromkeys(asked.urls):
        inner = site.inner(_address(url))
        said[url] = _said(workspace, site, f"/{inner}") if inner else "no redirect: this is the site's start page"
    return site, said


def _said(workspace: Workspace, site: SiteMap, source: str) -> str:
    try:
        found = workspace.client.redirects.get_by_source(site.file.organization, site.file.site, source)
    except NotFound:
        return "no redirect has this source"
    except Rejected as refused:
        return f"this is no source: {refused.what}"
    return f"redirects to {found.target}"


def _lines(url: str, fate: Fate, live: str | None) -> list[str]:
    steps = [f"redirect   {safe(hop.source)} -> {safe(hop.to)}   {safe(hop.where)}" for hop in fate.hops]
    steps.append(f"{_ENDS[fate.end]:<10} {safe(_end(fate))}")
    by = "result"
    if live is not None:
        steps.append(f"platform   {safe(live)}")
        by = "result by the file"
    return [safe(url), *(f"  {number}. {step}" for number, step in enumerate(steps, 1)), f"{by}: {_result(fate)}"]


def _end(fate: Fate) -> str:
    if fate.end == "nothing" and not fate.hops:
        return "no page and no redirect has this address"
    if fate.spot is None:
        return f"{fate.at} is not there" if fate.end == "nothing" else fate.at
    page = fate.spot.path or "start page"
    file = f" ({fate.spot.file})" if fate.spot.file else ""
    return f"{page} of {fate.spot.variant.words}{file}"


def _result(fate: Fate) -> str:
    hops = format_count(len(fate.hops), "hop") if fate.hops else "no redirect"
    match fate.end:
        case "nothing" if not fate.hops:
            return "nothing matches: visitors get a page that says so"
        case "nothing":
            return f"{hops}, to something that is not there"
        case "loop":
            return f"{hops}, and round again: visitors never arrive"
        case "elsewhere":
            return f"{hops}, to an address of another site" if fate.hops else "no address of this site"
        case "page" if fate.spot is not None and not fate.spot.known:
            return f"{hops}, to content that is not mirrored here: whether the page exists is not known"
        case _:
            return f"{hops}, and visitors arrive"


def _document(url: str, fate: Fate, live: str | None) -> dict[str, Any]:
    known = fate.spot.known if fate.spot is not None else None
    document = {"url": url, "end": fate.end, "at": fate.at, "known": known, "hops": [asdict(hop) for hop in fate.hops]}
    return document | ({"platform": live} if live is not None else {})
