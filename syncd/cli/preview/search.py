"""The index of a preview's search: made when somebody searches; a page is read anew when its size has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncd.net.page_values import RefusedRequest
from syncd.sync.publish.content import READ_ERRORS, SiteContent
from syncd.web.pages.search_index import (
    LARGE,
    SearchablePage,
    format_search_index,
    format_word_files,
    read_page_with_words,
    read_searchable_page,
)


def has_word_files(site: SiteContent, name: str) -> bool:
    """Return whether all words of a space are searched: of a large one, reading them would take too long."""
    return len(site.read_contents(name).page_numbers) < LARGE


@dataclass
class PreviewSearch:
    """Makes the files of the index, and keeps what it read of pages."""

    _pages: dict[tuple[str, str, int, bool], SearchablePage] = field(default_factory=dict)
    _word_files: tuple[SiteContent, str, Mapping[str, str]] | None = None

    def format_index(self, site: SiteContent, name: str) -> str:
        """Return `search.json` of a space."""
        contents = site.read_contents(name)
        rows = []
        for number in contents.page_numbers:
            entry = contents.entries[number]
            above = " / ".join(one.title for one in contents.find_ancestors(number))
            rows.append((entry.title, entry.address, above, self._read_page(site, name, entry.path)))
        return format_search_index(rows)

    def format_words(self, site: SiteContent, name: str, file: str) -> str:
        """Return a file of all words of a space, `words.json` or one that it counts.

        Raises: RefusedRequest when there is none.
        """
        kept = self._word_files
        if kept is None or kept[0] is not site or kept[1] != name:
            contents = site.read_contents(name)
            paths = [contents.entries[number].path for number in contents.page_numbers]
            pages = [self._read_page(site, name, path) for path in paths] if has_word_files(site, name) else []
            kept = self._word_files = site, name, dict(format_word_files(pages))
        if file not in kept[2]:
            raise RefusedRequest(404, "there is no such file")
        return kept[2][file]

    def _read_page(self, site: SiteContent, name: str, path: str) -> SearchablePage:
        item = site.spaces[name].files.items[path]
        # Of a page that keeps its size, an older state may be searched: what is found is there all the same.
        is_whole = has_word_files(site, name)
        key = (name, path, item.size, is_whole)
        if key not in self._pages:
            try:
                text = item.read().decode(errors="replace")
            except READ_ERRORS:
                return SearchablePage()
            self._pages[key] = read_page_with_words(text) if is_whole else read_searchable_page(text)
        return self._pages[key]
