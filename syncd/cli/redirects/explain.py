"""`site explain`: why a page, a redirect or nothing is at an address of a site, with the lines that decide it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from syncd.cli.redirects.test import add_slash, describe_result
from syncd.cli.sites.offline import SiteFileLocation, locate_site_file
from syncd.cli.sites.sitemap import parse_hosts, read_site_on_disk
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.errors import GitFailed, NotARepository
from syncd.layout.site.addresses.addresses import Spot
from syncd.layout.site.addresses.explain import Explanation, Reason, explain_address
from syncd.repo.repository import Repository
from syncd.sync.site.read.mirrored_pages import find_listing


@dataclass(frozen=True)
class ExplainOptions:
    """What a person typed behind `site explain`."""

    url: str
    config: Path | None = None
    file: Path | None = None
    at: Sequence[str] = ()
    as_json: bool = False


def run_explain(options: ExplainOptions) -> int:
    """Print why something is at an address, and return the exit code: 1 when nothing is, or visitors never arrive.

    Raises: FileInvalid, ConfigInvalid.
    """
    location = locate_site_file(options.config, options.file)
    site = read_site_on_disk(location, parse_hosts(options.at))
    explanation = explain_address(site, add_slash(options.url))
    reasons = [*explanation.reasons, *_explain_page(location, explanation.fate.spot)]
    hidden = [reason for reason in reasons if reason.kind == "hidden"]
    reasons = [reason for reason in reasons if reason.kind != "hidden"] + hidden
    code = 1 if explanation.fate.end in ("nothing", "loop") else 0
    if options.as_json:
        print_document(
            {
                "url": options.url,
                "end": explanation.fate.end,
                "at": explanation.fate.at,
                "reasons": [asdict(reason) for reason in reasons],
                "near": list(explanation.near),
                "exit_code": code,
            }
        )
    else:
        print_text("\n".join(_format_explanation(options.url, explanation, reasons)))
    return code


def _explain_page(location: SiteFileLocation, spot: Spot | None) -> list[Reason]:
    """Why a page is in its space: the line of the table of contents that lists it."""
    if spot is None:
        return []
    binding = next((one for one in location.bindings if one.space == spot.space), None)
    if binding is None or not spot.file:
        if not spot.path:
            return [Reason("page", "start page", "the first page of a space that is not mirrored here")]
        return [Reason("page", spot.path, "the space is not mirrored here, so whether it has this page is not known")]
    path = binding.path(spot.file)
    try:
        with Repository.open(location.top) as repository:
            listing = find_listing(repository, location.top, binding, spot.file)
    except (NotARepository, GitFailed):
        listing = None
    if listing is None:
        return [Reason("page", path, "no table of contents lists it: its folder and name decide", f"{path}:1:1")]
    return [Reason("page", path, f'listed as "{listing.title}"', f"{listing.file}:{listing.line}:1")]


def _format_explanation(url: str, explanation: Explanation, reasons: Sequence[Reason]) -> list[str]:
    lines = [escape(url)]
    for reason in reasons:
        kind = "redirect" if reason.kind == "hidden" else reason.kind
        lines.append(f"  {kind:<8} {escape(reason.name)}: {escape(reason.why)}")
        if reason.where:
            lines.append(f"           {escape(reason.where)}")
    lines.append(f"result: {describe_result(explanation.fate)}")
    if explanation.near:
        lines.append(f"like it: {escape(', '.join(explanation.near))}")
    return lines
