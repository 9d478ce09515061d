"""What machines read of a site: pages as Markdown, and the lists of pages.

All of it is made from what the visit may see: what is hidden from the visitor is in none of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import sqlalchemy as sa

from syncd.layout.page.links import rewrite_addresses
from syncd.platform.content.visible_text import read_visible_body
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import HOME_NAMES, open_space_outline
from syncd.platform.visitors.frames import read_contents
from syncd.platform.visitors.page_links import VisitorLinks
from syncd.platform.visitors.pages import is_indexed
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.site.crawlers import render_robots, render_sitemaps
from syncd.web.site.llms import render_llms, render_llms_page, render_markdown_page
from syncd.web.site.values import SiteChapter, SitePage

FULL_CHARACTERS_MAX = 10_000_000
"""Of `llms-full.txt`; what is beyond is left out, and said so."""


@dataclass(frozen=True)
class SiteTexts:
    """The texts of one visit; `origin` is the scheme and host that its addresses begin with."""

    storage: Storage
    visit: SiteVisit
    origin: str

    def render_markdown(self, site_space: sa.Row[object], outline: Outline, entry: TreeEntry) -> str:
        """Return a page as Markdown for the visitor, with addresses that work on the site."""
        description = str(entry.node.fields.get("description") or "")
        return render_markdown_page(entry.node.title, description, self._read_body(site_space, outline, entry))

    def render_llms(self) -> str:
        """Return `llms.txt`: the pages of all site-spaces that the visitor sees."""
        settings = self.visit.site.settings
        return render_llms(settings.get("title") or self.visit.site.row.title, "", self._list_chapters())

    def render_llms_full(self) -> str:
        """Return `llms-full.txt`: the words of all pages that the visitor sees, up to a limit."""
        parts: list[str] = []
        left = FULL_CHARACTERS_MAX
        for site_space, outline, entry, page in self._list_pages():
            text = render_llms_page(page, self._read_body(site_space, outline, entry))
            left -= len(text)
            if left < 0:
                parts.append("More pages are listed in llms.txt.\n")
                break
            parts.append(text)
        return "".join(parts)

    def render_sitemap(self, name: str) -> str | None:
        """Return a file of the sitemap: the pages that search engines may list; None when there is no such file."""
        pages = [page for _, outline, entry, page in self._list_pages() if is_indexed(self.visit, outline, entry)]
        return render_sitemaps(pages, f"{self.origin}{self.visit.base}").get(name)

    def render_robots(self) -> str:
        """Return `robots.txt` of the site."""
        return render_robots(f"{self.origin}{self.visit.base}/sitemap.xml", is_indexed=self.visit.may_be_indexed)

    def _read_body(self, site_space: sa.Row[object], outline: Outline, entry: TreeEntry) -> str:
        links = VisitorLinks(self.storage, self.visit, site_space, outline, entry)
        body = read_visible_body(outline, entry, self.storage.blobs.get, self.visit.claims)
        return rewrite_addresses(body, links.rewrite_address)

    def _list_chapters(self) -> Iterator[SiteChapter]:
        found: dict[str, list[SitePage]] = {}
        for site_space, _, _, page in self._list_pages():
            section = self.visit.structure.find_section(site_space.section)
            title = site_space.title or self.visit.require_space(site_space).title
            name = title if section is None or section.title == title else f"{section.title}: {title}"
            found.setdefault(name, []).append(page)
        for name, pages in found.items():
            yield SiteChapter(name, tuple(pages))

    def _list_pages(self) -> Iterator[tuple[sa.Row[object], Outline, TreeEntry, SitePage]]:
        """The pages of all site-spaces in the site's order; hidden ones are not listed."""
        for site_space in self.visit.visible_site_spaces:
            if site_space.hidden:
                continue
            with self.storage.read() as connection:
                outline = open_space_outline(connection, self.visit, site_space)
            contents = read_contents(self.visit, site_space, outline)
            for number in contents.page_numbers:
                entry = outline.entries[contents.entries[number].path]
                yield (
                    site_space,
                    outline,
                    entry,
                    self._find_description(site_space, outline, entry, contents.entries[number].address),
                )

    def _find_description(
        self, site_space: sa.Row[object], outline: Outline, entry: TreeEntry, address: str
    ) -> SitePage:
        fields = entry.node.fields
        path = quote(entry.path) or HOME_NAMES["index" in outline.by_path]
        return SitePage(
            self.origin + address,
            entry.node.title,
            str(fields.get("description") or ""),
            f"{self.origin}{self.visit.build_path(site_space, path)}.md",
            str(fields.get("updatedAt") or ""),
        )
