"""The index of a preview's search: made when somebody searches; a page is read anew when its size has changed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from syncd.net.page_values import RefusedRequest
from syncd.sync.publish.content import READ_ERRORS, SiteContent
from syncd.sync.publish.frames import find_space_title, is_in_navigation
from syncd.web.pages.search_index import (
    LARGE,
    SearchablePage,
    SearchableSpace,
    SearchRow,
    find_body_length,
    format_search_index,
    format_site_search,
    format_word_files,
    read_page_with_words,
    read_searchable_page,
)

_WHOLE_SITE = ""


def has_word_files(site: SiteContent, name: str) -> bool:
    """Return whether all words of a space are searched: of a large one, reading them would take too long."""
    return len(site.read_contents(name).page_numbers) < LARGE


@dataclass
class PreviewSearch:
    """Makes the files of the index, and keeps what it read of pages."""

    _pages: dict[tuple[str, str, int, bool], SearchablePage] = field(default_factory=dict)
    _files: dict[str, tuple[SiteContent, Mapping[str, str]]] = field(default_factory=dict)

    def format_index(self, site: SiteContent, name: str) -> str:
        """Return `search.json` of a space."""
        return format_search_index(self._list_rows(site, name, is_whole=has_word_files(site, name)))

    def format_words(self, site: SiteContent, name: str, file: str) -> str:
        """Return a file of all words of a space, `words.json` or one that it counts.

        Raises: RefusedRequest when there is none.
        """

        def format_files() -> Iterable[tuple[str, str]]:
            is_whole = has_word_files(site, name)
            return format_word_files([row[3] for row in self._list_rows(site, name, is_whole=True)] if is_whole else [])

        return self._find_file(site, name, file, format_files)

    def format_site_file(self, site: SiteContent, file: str) -> str:
        """Return a file of the index of the whole site. Raises: RefusedRequest when there is none."""

        def format_files() -> Iterable[tuple[str, str]]:
            is_whole = sum(len(site.read_contents(name).page_numbers) for name in site.spaces) < LARGE
            shown = [name for name in site.spaces if is_in_navigation(site, name)]
            rows = {name: self._list_rows(site, name, is_whole=is_whole) for name in shown}
            return format_site_search(
                [SearchableSpace(site.numbers[name], find_space_title(site, name), rows[name]) for name in shown]
            )

        return self._find_file(site, _WHOLE_SITE, file, format_files)

    def _find_file(
        self, site: SiteContent, name: str, file: str, format_files: Callable[[], Iterable[tuple[str, str]]]
    ) -> str:
        """A file of an index, of which all are made at once for each state of the site."""
        kept = self._files.get(name)
        if kept is None or kept[0] is not site:
            kept = self._files[name] = site, dict(format_files())
        if file not in kept[1]:
            raise RefusedRequest(404, "there is no such file")
        return kept[1][file]

    def _list_rows(self, site: SiteContent, name: str, *, is_whole: bool) -> list[SearchRow]:
        contents, rows = site.read_contents(name), []
        most = find_body_length(len(contents.page_numbers))
        for number in contents.page_numbers:
            entry = contents.entries[number]
            above = " / ".join(one.title for one in contents.find_ancestors(number))
            page = self._read_page(site, name, entry.path, most, is_whole=is_whole)
            rows.append((entry.title, entry.address, above, page))
        return rows

    def _read_page(self, site: SiteContent, name: str, path: str, most: int, *, is_whole: bool) -> SearchablePage:
        item = site.spaces[name].files.items[path]
        # Of a page that keeps its size, an older state may be searched: what is found is there all the same.
        key = (name, path, item.size, is_whole)
        if key not in self._pages:
            try:
                text = item.read().decode(errors="replace")
            except READ_ERRORS:
                return SearchablePage()
            self._pages[key] = read_page_with_words(text, most) if is_whole else read_searchable_page(text, most)
        return self._pages[key]
