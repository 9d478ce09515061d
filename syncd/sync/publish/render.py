"""Render one page of a site: its file is read when somebody asks for it, and never before."""

import secrets
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.page.block_positions import find_top_lines
from syncd.layout.page.frontmatter import read_heading, split_after_title
from syncd.layout.page.signs import read_signs
from syncd.layout.richtext.reading import to_document
from syncd.model.content_write import TEXT_MAX
from syncd.model.document import Document
from syncd.sync.publish.content import SiteContent
from syncd.sync.publish.links import PageLinks, read_page_metadata, read_variables
from syncd.web.blocks import BlockContext, CodeMemory, RenderedDocument, render_document
from syncd.web.blocks.labels import find_block_labels
from syncd.web.pages.contents import select_lines
from syncd.web.pages.cover import build_cover
from syncd.web.pages.preview import mark_findings, place_findings, render_findings
from syncd.web.pages.shell import PageLayout, PageView, SiteFrame, render_page
from syncd.web.rendering import Html


@dataclass
class PageRenderer:
    """Renders pages, and remembers code that was coloured; safe to use from several threads.

    Shape: `loads_foreign_pictures` says whether pictures of other hosts are loaded, or a link stands for each. With
    `claims`, conditions are decided for a reader who has these; without, each is shown with what stands behind it.
    """

    loads_foreign_pictures: bool = False
    claims: Mapping[str, Any] | None = None
    highlighted: MutableMapping[str, str] = field(default_factory=CodeMemory)
    mark: str = field(default_factory=lambda: secrets.token_hex(12) + "-")

    def render_file(
        self, site: SiteContent, name: str, file: str, findings: Sequence[Finding], *, frame: SiteFrame, strip: Html
    ) -> str:
        """Return the page of a file of a space in a frame, with the findings about it where they are.

        Raises: FileNotFoundError when the file is gone; PathRefused when it is a link; OSError.
        """
        text = site.spaces[name].files.items[file].read().decode(errors="replace")
        view = self.build_view(PageLinks(site, name, file), text, findings, locale=frame.locale)[0]
        return render_page(frame, replace(view, strip=strip, is_indexed=False))

    def build_view(
        self, links: PageLinks, text: str, findings: Sequence[Finding] = (), *, locale: str = "en"
    ) -> tuple[PageView, Document]:
        """Return the page of a file with this text, whose blocks speak a language, and its document."""
        metadata = read_page_metadata(text, at=links.path)
        rendered, above, document = self._render_body(links, text, findings, locale)
        view = _place_page(links.site, links.name, links.path)
        layout = metadata.get("layout") or {}
        heading = read_heading(text) or ""
        title = links.space.titles.get(links.path) or heading or view.title
        emoji, icon = read_signs(text, title, at=links.path)
        view = replace(
            view,
            title=title,
            emoji=emoji,
            body=rendered.html,
            description=str(metadata.get("description") or ""),
            icon=icon,
            outline=rendered.outline,
            cover=build_cover(metadata.get("cover") or {}, layout, links.resolve),
            layout=_read_layout(layout),
            notices=render_findings(above),
        )
        return view, document

    def render_words(
        self, site: SiteContent, name: str, title: str, body: Html, *, frame: SiteFrame, strip: Html
    ) -> str:
        """Return a page of the site itself, in the frame of a space."""
        view = PageView(
            title,
            body,
            contents=select_lines(site.read_contents(name)),
            scope=site.find_scope(name),
            strip=strip,
            is_indexed=False,
        )
        return render_page(frame, view)

    def _render_body(
        self, links: PageLinks, text: str, findings: Sequence[Finding], locale: str
    ) -> tuple[RenderedDocument, Sequence[Finding], Document]:
        """The rendered document of a page, the findings that stand above all of it, and the document."""
        document = to_document(split_after_title(text)[1])
        context = BlockContext(
            labels=find_block_labels(locale),
            resolve=links.resolve,
            read_reusable=links.read_reusable,
            read_specification=links.read_specification,
            variables=read_variables(links.space, text, at=links.path, claims=self.claims),
            highlighted=self.highlighted,
            loads_foreign_pictures=self.loads_foreign_pictures,
        )
        if not findings:
            return render_document(document, context), (), document
        lines = find_top_lines(text, document) if len(text) <= TEXT_MAX else ()
        marked, places = mark_findings(document, lines, findings, self.mark)
        rendered = render_document(marked, context)
        html = place_findings(rendered.html, places, self.mark)
        return replace(rendered, html=html), places.get(-1, ()), document


def _place_page(site: SiteContent, name: str, file: str) -> PageView:
    """A page with its place in the table of contents, still without its content."""
    contents = site.read_contents(name)
    number = contents.numbers_by_path.get(file)
    scope = site.find_scope(name)
    if number is None:
        return PageView(file, Html(), contents=select_lines(contents), scope=scope)
    before, after = contents.find_neighbours(number)
    return PageView(
        contents.entries[number].title,
        Html(),
        contents=select_lines(contents, number),
        scope=scope,
        breadcrumbs=contents.find_ancestors(number),
        before=before,
        after=after,
    )


def _read_layout(given: Mapping[str, Any]) -> PageLayout:
    return PageLayout(
        title=given.get("title") is not False,
        description=given.get("description") is not False,
        table_of_contents=given.get("tableOfContents") is not False,
        outline=given.get("outline") is not False,
        pagination=given.get("pagination") is not False,
        metadata=given.get("metadata") is not False,
        is_wide=given.get("width") == "wide",
    )
