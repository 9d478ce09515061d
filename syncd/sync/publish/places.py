"""Where the pages of a static site lie: a directory for each page, so that any file server shows it, below any path."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import unquote

from syncd.errors import PathRefused
from syncd.sync.publish.content import FILES, SiteContent

INDEX = "index.html"
LISTING = "contents.html"
FEED = "rss.xml"
HOME_MARKDOWN = ("index.md", "index.html.md")
"""The Markdown of the page at the top of a site, and where it is when a page is named `index`. Source: llmstxt.org."""
_NAMED_INDEX = "/index"
_OWN_FILES = frozenset({"llms.txt", "llms-full.txt", "robots.txt", "404.html", "_redirects", "CNAME"})
_SITEMAP = re.compile(r"sitemap(?:-[0-9]+)?\.xml")
_END = re.compile(r"[?#]")
_NAME_BYTES_MAX = 255
_REFUSED = re.compile(r"[\x00-\x1f\x7f/\\]")


@dataclass(frozen=True)
class SitePlaces:
    """The addresses of a static site that are directories, each as it stands in a link, without a slash at its end."""

    directories: Collection[str]
    home_markdown: str = HOME_MARKDOWN[0]

    def find_markdown(self, address: str) -> str:
        """Return the address of the Markdown of the page at an address: beside its directory, one level higher."""
        directory = address.rstrip("/")
        return f"{directory}.md" if directory else f"/{self.home_markdown}"

    def list_page_paths(self, address: str) -> tuple[str, str, str]:
        """Return where the page at an address, its Markdown and its feed lie. Raises: PathRefused."""
        directory = make_directory(address)
        markdown = f"{directory.rstrip('/')}.md" if directory else self.home_markdown
        return directory + INDEX, markdown, directory + FEED

    def relate(self, address: str, root: str) -> str:
        """Return an address as a page has it; `root` leads from there to the top of the site, as `../../` does.

        Shape: what is no address of the site stays as it is.
        """
        if not address.startswith("/") or address.startswith("//"):
            return address
        end = _END.search(address)
        path, suffix = (address[: end.start()], address[end.start() :]) if end is not None else (address, "")
        path = path.rstrip("/")
        if path in self.directories:
            path += "/"
        inner = path.removeprefix("/")
        return (f"{root}{inner}" or "./") + suffix

    def find_root(self, address: str) -> str:
        """Return what leads from the page at an address to the top of the site; "" from the top itself."""
        return "../" * len(address.strip("/").split("/")) if address.strip("/") else ""


def make_directory(address: str) -> str:
    """Return the directory of the page at an address, with a slash at its end, "" for the top of the site.

    Raises: PathRefused when the address can be no directory below it.
    """
    parts = [unquote(part, errors="strict") if "%" in part else part for part in address.strip("/").split("/")]
    if parts == [""]:
        return ""
    for part in parts:
        if part in ("", ".", "..") or _REFUSED.search(part) or len(part.encode()) > _NAME_BYTES_MAX:
            raise PathRefused(f"the address {address[:200]!r} can be no directory of a site")
    if f"/{parts[0]}" == FILES or parts[0].startswith(".syncd"):
        raise PathRefused(f"the address {address[:200]!r} is where the site's own files are")
    return "/".join(parts) + "/"


def find_file_above(directory: str, files: Collection[str]) -> str:
    """Return the file, one of these or of the site's own, at which a directory is or that is above it; "" for none."""
    parts = directory.rstrip("/").split("/")
    if parts[0] in _OWN_FILES or _SITEMAP.fullmatch(parts[0]):
        return parts[0]
    above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((path for path in above if path in files), "")


def can_be_directory(address: str) -> bool:
    """Return whether the page at an address can have a directory."""
    try:
        make_directory(address)
    except (PathRefused, UnicodeDecodeError):
        return False
    return True


def find_home_markdown(addresses: Collection[str]) -> str:
    """Return the name of the Markdown of the page at the top of a site with pages at these addresses."""
    return HOME_MARKDOWN[any(address.rstrip("/") == _NAMED_INDEX for address in addresses)]


def select_placed(site: SiteContent) -> tuple[SiteContent, dict[str, str]]:
    """Return a site without the pages that have no place of their own, and these with the reason."""
    pages = [(name, file) for name, space in site.spaces.items() for file in space.draft.documents]
    found = {place: site.find_page_address(*place) for place in pages}
    places = SitePlaces((), find_home_markdown(found.values()))
    made = {path for one in found.values() if can_be_directory(one) for path in places.list_page_paths(one)}
    left_out: dict[tuple[str, str], str] = {}
    seen: set[str] = set()
    for place, address in found.items():
        if not address or address in seen:
            left_out[place] = "another page has its address"
        elif not can_be_directory(address):
            left_out[place] = f"its address {address} can be no directory"
        elif taken := find_file_above(make_directory(address), made):
            left_out[place] = f"its address {address} is that of the file {taken}"
        seen.add(address)
    spaces = {}
    for name, space in site.spaces.items():
        kept = {path: file for path, file in space.addresses.items() if (name, file) not in left_out}
        spaces[name] = replace(space, addresses=kept)
    seen_map = replace(site.site, pages={name: space.addresses for name, space in spaces.items()})
    named = {site.spaces[name].locate(file): reason for (name, file), reason in left_out.items()}
    return replace(site, site=seen_map, spaces=spaces, _contents={}), named
