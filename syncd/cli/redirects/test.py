"""`redirects test`: follow an address hop by hop, by the site file and with `--online` by the platform."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syncd.cli.sites.offline import locate_site_file
from syncd.cli.sites.session import find_one_site
from syncd.cli.sites.sitemap import parse_hosts, read_site_on_disk
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.errors import NotFound, Rejected
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.follow import Fate, follow_address
from syncd.model.wording import format_count
from syncd.sync.site.read.parts import SiteReader
from syncd.sync.workspace import Workspace

_ENDS = {"page": "content", "elsewhere": "elsewhere", "nothing": "nothing", "loop": "loop"}


@dataclass(frozen=True)
class RedirectTestOptions:
    """What a person typed behind `redirects test`."""

    urls: Sequence[str]
    config: Path | None = None
    file: Path | None = None
    at: Sequence[str] = ()
    online: bool = False


def run_test(options: RedirectTestOptions, *, as_json: bool) -> int:
    """Print where each address leads; return 1 when one leads nowhere or into a loop."""
    site = read_site_on_disk(locate_site_file(options.config, options.file), parse_hosts(options.at))
    live: dict[str, str] = {}
    if options.online:
        with find_one_site(options.config, options.file, "redirects test").open_for_reading() as workspace:
            site, live = _ask_platform(workspace, site, options)
    fates = {url: follow_address(site, add_slash(url)) for url in dict.fromkeys(options.urls)}
    if as_json:
        print_document({"results": [_build_document(url, fate, live.get(url)) for url, fate in fates.items()]})
    else:
        print_text("\n\n".join("\n".join(_format_test(url, fate, live.get(url))) for url, fate in fates.items()))
    return 1 if any(fate.end in ("nothing", "loop") for fate in fates.values()) else 0


def add_slash(word: str) -> str:
    """Return a word as a path below the site, unless it is an address already."""
    return word if word.startswith("/") or "//" in word else f"/{word}"


def _ask_platform(workspace: Workspace, site: SiteMap, options: RedirectTestOptions) -> tuple[SiteMap, dict[str, str]]:
    """The site with the platform's own addresses, and what the platform answers for each source."""
    reader = SiteReader(workspace.client, site.file.organization, site.file.site)
    site = SiteMap(site.file, site.pages, (*parse_hosts(options.at), *reader.settings().hosts))
    answers = {}
    for url in dict.fromkeys(options.urls):
        inner = site.inner(add_slash(url))
        answers[url] = (
            _describe_live_redirect(workspace, site, f"/{inner}")
            if inner
            else "no redirect: this is the site's start page"
        )
    return site, answers


def _describe_live_redirect(workspace: Workspace, site: SiteMap, source: str) -> str:
    try:
        found = workspace.client.redirects.get_by_source(site.file.organization, site.file.site, source)
    except NotFound:
        return "no redirect has this source"
    except Rejected as refused:
        return f"this is no source: {refused.what}"
    return f"redirects to {found.target}"


def _format_test(url: str, fate: Fate, live: str | None) -> list[str]:
    steps = [f"redirect   {escape(hop.source)} -> {escape(hop.to)}   {escape(hop.where)}" for hop in fate.hops]
    steps.append(f"{_ENDS[fate.end]:<10} {escape(_describe_end(fate))}")
    label = "result"
    if live is not None:
        steps.append(f"platform   {escape(live)}")
        label = "result by the file"
    return [
        escape(url),
        *(f"  {number}. {step}" for number, step in enumerate(steps, 1)),
        f"{label}: {describe_result(fate)}",
    ]


def _describe_end(fate: Fate) -> str:
    if fate.end == "nothing" and not fate.hops:
        return "no page and no redirect has this address"
    if fate.spot is None:
        return f"{fate.at} is not there" if fate.end == "nothing" else fate.at
    page = fate.spot.path or "start page"
    file = f" ({fate.spot.file})" if fate.spot.file else ""
    return f"{page} of {fate.spot.variant.words}{file}"


def describe_result(fate: Fate) -> str:
    """Return in a few words whether visitors arrive."""
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
        case "page" if fate.spot is not None and not fate.spot.is_known:
            return f"{hops}, to content that is not mirrored here: whether the page exists is not known"
        case _:
            return f"{hops}, and visitors arrive"


def _build_document(url: str, fate: Fate, live: str | None) -> dict[str, Any]:
    known = fate.spot.is_known if fate.spot is not None else None
    document = {"url": url, "end": fate.end, "at": fate.at, "known": known, "hops": [asdict(hop) for hop in fate.hops]}
    return document | ({"platform": live} if live is not None else {})
