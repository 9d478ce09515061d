"""The tools of a site: its visitor searches it and reads its pages, and sees nothing else by them than on the pages."""

from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from syncd.model.search import QUERY_MAX
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import PageFound, Redirected, find_destination, find_markdown_page
from syncd.platform.visitors.search import list_results, search_site
from syncd.platform.visitors.texts import SiteTexts
from syncd.platform.visitors.visits import SiteVisit

RESULTS_MAX = 10
ADDRESS_MAX = 4096
_LEADS_MAX = 3


@dataclass(frozen=True)
class SiteTools:
    """The tools for one visit of a site; `origin` is the scheme and host of the platform."""

    storage: Storage
    visit: SiteVisit
    origin: str

    def search_pages(self, query: str) -> str:
        """Return the pages that have all words of a query as Markdown: title, address, and where the words stand."""
        searched = query[:QUERY_MAX].replace("\0", "")
        listed = [row for row in self.visit.visible_site_spaces if not row.hidden]
        found = search_site(self.storage, self.visit, listed, searched, most=RESULTS_MAX)
        lines = [
            f"* [{one.title}]({self.origin}{one.address})\n  {''.join(one.excerpt)}".rstrip()
            for one in list_results(self.visit, found, searched)
        ]
        return "\n".join(lines) or "No page has all of these words."

    def read_page(self, address: str) -> str | None:
        """Return the Markdown of the page at an address, whole or below the site; None when there is none."""
        for _ in range(_LEADS_MAX):
            parts = self._find_parts(address[:ADDRESS_MAX])
            if parts is None:
                return None
            with self.storage.read() as connection:
                is_markdown = bool(parts) and parts[-1].endswith(".md")
                find = find_markdown_page if is_markdown else find_destination
                found = find(connection, self.visit, parts)
            if isinstance(found, PageFound):
                texts = SiteTexts(self.storage, self.visit, self.origin)
                return texts.render_markdown(found.place.site_space, found.outline, found.entry)
            if not isinstance(found, Redirected) or found.is_external:
                return None
            address = quote(found.address)
        return None

    def _find_parts(self, address: str) -> list[str] | None:
        """The segments of an address below the site; None for one of elsewhere."""
        try:
            split = urlsplit(address)
        except ValueError:
            return None
        if split.netloc and f"{split.scheme}://{split.netloc}" != self.origin:
            return None
        path, base = unquote(split.path), unquote(self.visit.base)
        if f"{path}/".startswith(f"{base}/"):
            path = path.removeprefix(base)
        elif split.netloc:
            return None
        return [part for part in path.split("/") if part]
