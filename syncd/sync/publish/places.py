"""Where the pages of a static site lie: a directory for each page, so that any file server shows it, below any path."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote

from syncd.errors import PathRefused
from syncd.sync.publish.content import FILES

INDEX = "index.html"
LISTING = "contents.html"
_END = re.compile(r"[?#]")
_NAME_BYTES_MAX = 255
_REFUSED = re.compile(r"[\x00-\x1f\x7f/\\]")


@dataclass(frozen=True)
class SitePlaces:
    """The addresses of a static site that are directories, each as it stands in a link, without a slash at its end."""

    directories: Collection[str]

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


def make_markdown_path(directory: str) -> str:
    """Return the path of a page's Markdown: beside its directory, named like it."""
    return f"{directory.rstrip('/')}.md" if directory else "index.md"
