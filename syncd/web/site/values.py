"""What the files beside the pages of a site are made from: its pages, and its sections in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SitePage:
    """A page as the files of a site list it.

    Shape: `address`, and `markdown`, that of the page as Markdown, are whole addresses, or paths of the site where its
    own address is not known. `changed` is a date or a time of ISO 8601, "" where it is not known; `alternates` has the
    addresses of the same page by language.
    """

    address: str
    title: str
    description: str = ""
    markdown: str = ""
    changed: str = ""
    alternates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteChapter:
    """A section, variant or space of a site with its pages in reading order; the title of a single one may be ""."""

    title: str
    pages: tuple[SitePage, ...]
