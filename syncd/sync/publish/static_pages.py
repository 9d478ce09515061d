"""The pages of a static site, each as HTML, as Markdown, and with a feed where it has updates."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from syncd.layout.evaluation.visible import (
    CLOSED_TO_ROBOTS,
    CLOSED_TO_SEARCH,
    NOBODY,
    depends_on_reader,
    select_visible_text,
)
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.page.includes import IncludesTooMuch, expand_includes
from syncd.layout.page.links import rewrite_addresses
from syncd.layout.richtext.reading import to_document
from syncd.model.document import Document
from syncd.sync.publish.assets import Place, StaticContent
from syncd.sync.publish.content import READ_ERRORS
from syncd.sync.publish.frames import build_frame, is_in_navigation
from syncd.sync.publish.links import PageLinks, read_variables
from syncd.sync.publish.places import FEED, LISTING, SitePlaces
from syncd.sync.publish.render import PageRenderer
from syncd.web.pages.diagrams import has_diagrams
from syncd.web.pages.search_index import SearchablePage, find_body_length, read_page_with_words
from syncd.web.pages.shell import PageView, SiteFrame, render_page
from syncd.web.site import (
    STATIC_POLICY,
    FeedItem,
    PageHead,
    SitePage,
    list_updates,
    render_feed,
    render_head,
    render_llms_page,
    render_markdown_page,
)

_NOWHERE = "#"


@dataclass(frozen=True)
class ListedText:
    """What files of the whole site have of one page: its part of `llms-full.txt`, and what is searched of it.

    Shape: `searched` is None for a page that the search passes over.
    """

    full: bytes = b""
    searched: SearchablePage | None = None


@dataclass(frozen=True)
class BuiltPage:
    """What became of one page: its files by path, what they were made of, and the files of spaces that they link to."""

    place: Place
    files: Mapping[str, bytes]
    text: ListedText
    read: tuple[Place, ...]
    linked: tuple[Place, ...]
    title: str
    description: str = ""
    has_diagrams: bool = False


@dataclass
class PageBuilder:
    """Builds the pages of one site; `names` has those of the site's own files that differ, `base` its address or ""."""

    site: StaticContent
    places: SitePlaces
    names: Mapping[str, str]
    base: str = ""
    is_indexed: bool = True
    renderer: PageRenderer = field(default_factory=lambda: PageRenderer(loads_foreign_pictures=True, claims=NOBODY))
    _frames: dict[str, SiteFrame] = field(default_factory=dict)

    @property
    def has_sitemap(self) -> bool:
        """Whether search engines are to know the pages of the site, and their addresses are known."""
        return bool(self.base) and self.is_indexed

    def is_open(self, name: str, file: str) -> bool:
        """Return whether search engines may list a page, as far as the page decides that."""
        return not self.site.spaces[name].is_closed(file, CLOSED_TO_ROBOTS)

    def is_listed(self, name: str, file: str) -> bool:
        """Return whether lists of the site may name a page."""
        return is_in_navigation(self.site, name) and self.site.find_entry(name, file) is not None

    def list_paths(self, name: str, file: str) -> tuple[str, str, str]:
        """Return where the page, its Markdown and its feed lie. Raises: PathRefused."""
        return self.places.list_page_paths(self.site.find_page_address(name, file))

    def make_frame(self, name: str, root: str) -> SiteFrame:
        """Return the frame around the pages of a space that lie `root` below the top of the site."""
        if name not in self._frames:
            theme = f"{self.site.find_scope(name)}/{self.names.get('theme.css', 'theme.css')}"
            self._frames[name] = replace(
                build_frame(self.site, name, ""), theme=theme, listing=LISTING, names=self.names, has_words=True
            )
        return replace(self._frames[name], root=root, relate=partial(self.places.relate, root=root))

    def build_page(self, name: str, file: str) -> BuiltPage:
        """Return the files of a page.

        Raises: FileNotFoundError when the file is gone; PathRefused when it is a link, or lies nowhere; OSError.
        """
        notes = self.site.notes
        notes.take()
        text = self.site.spaces[name].files.items[file].read().decode(errors="replace")
        address = self.site.find_page_address(name, file)
        frame = self.make_frame(name, self.places.find_root(address))
        links = PageLinks(self.site, name, file, frame.relate)
        view, document = self.renderer.build_view(links, text, locale=frame.locale)
        page, markdown, feed = self.list_paths(name, file)
        # The Markdown of a page lies beside its directory, one level higher.
        root, body = frame.root.removeprefix("../"), self.read_visible_body(name, file, text)
        updates = self._list_updates(text, body, document, view)
        title, files = view.title, {}
        known = self.make_entry(name, file, title, view.description)
        if updates:
            whole = f"{known.address.rstrip('/')}/{FEED}" if self.base else ""
            files[feed] = render_feed(known, updates, feed=whole, language=frame.locale)
        is_open = self.is_open(name, file)
        files[page] = self.render_view(frame, view, known, feed=FEED if updates else "", is_open=is_open)
        files[markdown] = render_markdown_page(title, view.description, self.relate_markdown(name, file, body, root))
        read, linked = notes.take()
        listed = self.make_listed_text(known, name, file, text, body)
        encoded = {path: written.encode(errors="replace") for path, written in files.items()}
        has_drawing = has_diagrams(view.body)
        return BuiltPage(
            (name, file), encoded, listed, tuple(read), tuple(linked), title, view.description, has_drawing
        )

    def _list_updates(self, text: str, body: str, document: Document, view: PageView) -> Sequence[FeedItem]:
        """The updates on a page that everybody may read."""
        if "update" not in body:
            return ()
        return list_updates(to_document(body) if depends_on_reader(text) else document, view.outline)

    def read_listed_text(self, page: SitePage | None, name: str, file: str) -> ListedText:
        """Return what files of the whole site have of a page that is not built, with its entry in their lists.

        Raises: FileNotFoundError when the file is gone; PathRefused; OSError.
        """
        text = self.site.spaces[name].files.items[file].read().decode(errors="replace")
        return self.make_listed_text(page, name, file, text, self.read_visible_body(name, file, text))

    def make_listed_text(self, page: SitePage | None, name: str, file: str, text: str, body: str) -> ListedText:
        """Return what files of the whole site have of a page with this text, and this Markdown below its title."""
        full, searched = b"", None
        if page is not None and self.is_listed(name, file):
            root = f"{self.base}/" if self.base else ""
            full = render_llms_page(page, self.relate_markdown(name, file, body, root)).encode(errors="replace")
        if not self.site.spaces[name].is_closed(file, CLOSED_TO_SEARCH):
            most = find_body_length(len(self.site.read_contents(name).page_numbers))
            searched = read_page_with_words(split_after_title(text)[0] + body, most)
        return ListedText(full, searched)

    def render_view(
        self, frame: SiteFrame, view: PageView, page: SitePage | None, *, feed: str = "", is_open: bool = True
    ) -> str:
        """Return a page with all that its head says; one that is None is no page that others link to.

        Shape: one that is not `is_open` asks search engines to stay away.
        """
        is_indexed = self.is_indexed and page is not None and is_open
        head = PageHead(
            view.title,
            frame.title,
            view.description,
            canonical=page.address if self.base and page is not None else "",
            language=frame.locale,
            markdown=self.places.relate(page.markdown, frame.root) if page is not None and not self.base else "",
            feed=feed,
            policy=STATIC_POLICY,
        )
        if page is not None and self.base:
            head = replace(head, markdown=frame.root + page.markdown.removeprefix(self.base).lstrip("/"))
        return render_page(frame, replace(view, head=render_head(head), is_indexed=is_indexed))

    def read_visible_body(self, name: str, file: str, text: str) -> str:
        """Return the Markdown of a page's text below its title, with what it includes, as everybody may read it."""
        space = self.site.spaces[name]
        variables = read_variables(space, text, at=file, claims=NOBODY)

        def find(path: str) -> tuple[str, str] | None:
            if path in space.draft.includes:
                with suppress(*READ_ERRORS):
                    return path, space.files.items[path].read().decode(errors="replace")
            return None

        with suppress(IncludesTooMuch):
            text = expand_includes(text, file, find)
        return select_visible_text(split_after_title(text)[1], variables)

    def make_entry(self, name: str, file: str, title: str, description: str) -> SitePage:
        """Return a page as the files of the site list it."""
        address = self.site.find_page_address(name, file)
        markdown = self.places.find_markdown(address)
        return SitePage(f"{self.base}{address.rstrip('/')}/", title, description, f"{self.base}{markdown}")

    def relate_markdown(self, name: str, file: str, body: str, root: str) -> str:
        """Return the Markdown of a page with links to the Markdown of other pages, and to files of the site.

        Shape: `root` leads from where the text stands to the top of the site. A link to a page that is not for
        everybody leads nowhere; one to what does not exist stays as it was written.
        """

        def relate(to: str) -> str:
            path, sign, anchor = to.partition("#")
            if path.rstrip("/") in self.places.directories:
                path = self.places.find_markdown(path)
            return self.places.relate(path, root) + sign + anchor

        links = PageLinks(self.site, name, file, relate)

        def replace_address(to: str) -> str | None:
            target = links.resolve({"kind": "url", "url": to})
            if target is None:
                return None
            if target.address:
                return target.address
            # The name of a page that is not for everybody says too much; a mistake stays as it was written.
            return _NOWHERE if links.is_withheld(to) else None

        return rewrite_addresses(body, replace_address)
