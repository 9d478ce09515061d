"""The files that the pages of a static site share: looks, script, tables of contents, search, what crawlers read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from posixpath import splitext
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from syncd.layout.site.addresses.follow import follow_address
from syncd.layout.site.write.exports import render_redirects_file
from syncd.model.redirect import make_source_key
from syncd.sync.publish.assets import StaticContent, compute_digest
from syncd.sync.publish.content import FILES
from syncd.sync.publish.frames import (
    find_redirect_address,
    find_space_title,
    find_spot_address,
    is_in_navigation,
    read_space_settings,
)
from syncd.sync.publish.places import INDEX, LISTING, make_directory
from syncd.web.pages.contents import Contents, format_contents_json, select_lines
from syncd.web.pages.diagrams import DIAGRAM_FILES, DIAGRAM_FRAME, DIAGRAM_SCRIPTS
from syncd.web.pages.icon import render_icon
from syncd.web.pages.lists import render_all_pages, render_missing
from syncd.web.pages.search_index import (
    SearchableSpace,
    format_search_index,
    format_site_search,
    format_word_files,
)
from syncd.web.pages.shell import PageView
from syncd.web.pages.style_sheet import render_style_sheet
from syncd.web.pages.wording import find_words
from syncd.web.rendering import Html
from syncd.web.site import (
    SiteChapter,
    SitePage,
    SiteRedirection,
    render_llms,
    render_nginx_map,
    render_redirect_page,
    render_robots,
    render_sitemaps,
    select_safe,
)
from syncd.web.site.spelling import spell_address

if TYPE_CHECKING:
    from syncd.sync.publish.static_pages import ListedText, PageBuilder

_TOP = FILES.strip("/")
_STATIC = ("blocks.css", "more_blocks.css", "site.css", "site.js", "index_search.js")


@cache
def read_static(file: str) -> bytes:
    """Return one of the files that pages of every site load."""
    return files("syncd.web").joinpath("static").joinpath(file).read_bytes()


def name_file(file: str, data: bytes) -> str:
    """Return the name of a file with what is in it, so that a browser may keep it for ever."""
    stem, ending = splitext(file)
    return f"{stem}.{compute_digest(data)[:12]}{ending}"


_INDENTATION = re.compile(rb"^ +", re.MULTILINE)
"""What lines of our own script and style sheets begin with; none of these lines is inside of a text."""


def build_style_files(site: StaticContent) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the names of the site's own files, and the files: script, style sheets, icon."""
    made = {file: _INDENTATION.sub(b"", read_static(file)) for file in _STATIC}
    first = next(iter(site.spaces))
    made["icon.svg"] = render_icon(site.title, read_space_settings(site, first)).encode()
    names = {file: name_file(file, data) for file, data in made.items()}
    return names, {f"{_TOP}/{names[file]}": data for file, data in made.items()}


def build_diagram_files() -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the names of the files that draw diagrams, and the files; only a site with a diagram has them."""
    made = {file: read_static(file) for file in DIAGRAM_FILES}
    names = {file: name_file(file, made[file]) for file in DIAGRAM_SCRIPTS}
    frame = made[DIAGRAM_FRAME].decode()
    for file, name in names.items():
        frame = frame.replace(f'"{file}"', f'"{name}"')
    made[DIAGRAM_FRAME] = frame.encode()
    names = {file: name_file(file, data) for file, data in made.items()}
    return names, {f"{_TOP}/{names[file]}": data for file, data in made.items()}


def build_scopes(builder: "PageBuilder", listed: Mapping[tuple[str, str], "ListedText"]) -> Iterator[tuple[str, str]]:
    """Yield the files of each space: its colours, table of contents, index for the search, and list of all pages.

    Shape: the index of the whole site is behind them where there are several.
    """
    spaces = []
    for name in builder.site.spaces:
        scope = builder.site.find_scope(name).strip("/")
        contents = relate_contents(builder, name, "")
        frame = builder.make_frame(name, "../../../")
        words = find_words(frame.locale)
        yield f"{scope}/theme.css", render_style_sheet(frame.settings)
        yield f"{scope}/contents.json", format_contents_json(contents)
        rows = [
            (entry.title, entry.address, " / ".join(one.title for one in contents.find_ancestors(entry.number)), page)
            for entry in map(contents.entries.__getitem__, contents.page_numbers)
            if (page := listed[name, entry.path].searched) is not None
        ]
        yield f"{scope}/search.json", format_search_index(rows)
        yield from ((f"{scope}/{file}", text) for file, text in format_word_files([row[3] for row in rows]))
        if is_in_navigation(builder.site, name):
            spaces.append(SearchableSpace(builder.site.numbers[name], find_space_title(builder.site, name), rows))
        listing = render_all_pages(relate_contents(builder, name, frame.root))
        yield f"{scope}/{LISTING}", _render_own(builder, name, frame.root, words.all_pages, listing)
    if len(builder.site.spaces) > 1:
        yield from ((f"{_TOP}/search/{file}", text) for file, text in format_site_search(spaces))


def relate_contents(builder: "PageBuilder", name: str, root: str) -> Contents:
    """Return the table of contents of a space as a page has it that lies `root` below the top of the site."""
    contents = builder.site.read_contents(name)
    relate = partial(builder.places.relate, root=root)
    entries = tuple(
        replace(entry, address=relate(entry.address) if entry.address else "") for entry in contents.entries
    )
    return Contents(entries, contents.tops, contents.find_signs)


def build_not_found(builder: "PageBuilder", top: str) -> str:
    """Return the page for addresses that lead nowhere; `top` is the path of the site on its host.

    Shape: a server shows it at any address, so that nothing in it is relative.
    """
    name = next(iter(builder.site.spaces))
    frame = builder.make_frame(name, top)
    words = find_words(frame.locale)
    listing = frame.relate(f"{builder.site.find_scope(name)}/{LISTING}")
    body = render_missing(words, frame.relate(frame.home), listing=listing)
    return _render_own(builder, name, top, words.not_found, body)


def list_chapters(builder: "PageBuilder", pages: Mapping[tuple[str, str], SitePage]) -> list[SiteChapter]:
    """Return the pages of the site in reading order, a chapter for each space."""
    found = []
    for name in builder.site.spaces:
        contents = builder.site.read_contents(name)
        files = dict.fromkeys(contents.entries[number].path for number in contents.page_numbers)
        listed = tuple(page for file in files if (page := pages.get((name, file))) is not None)
        title = _find_chapter(builder.site, name) if len(builder.site.spaces) > 1 else ""
        found.append(SiteChapter(title, listed))
    return found


def build_lists(
    builder: "PageBuilder", chapters: Sequence[SiteChapter], entries: Mapping[tuple[str, str], SitePage]
) -> Iterator[tuple[str, str]]:
    """Yield what crawlers and agents read of the site, whose chapters have these entries."""
    yield "llms.txt", render_llms(builder.site.title, "", chapters)
    base = builder.base
    yield "robots.txt", render_robots(f"{base}/sitemap.xml" if base else "", is_indexed=builder.is_indexed)
    if builder.has_sitemap:
        closed = {page.address for place, page in entries.items() if not builder.is_open(*place)}
        pages = [page for chapter in chapters for page in chapter.pages if page.address not in closed]
        yield from render_sitemaps(pages, base).items()


def list_redirections(site: StaticContent) -> tuple[SiteRedirection, ...]:
    """Return the redirects of the site file and of the spaces, as far as no page is at their address."""
    found = [_resolve_rule(site, str(item.fields.get("source")), item) for item in site.site.file.of("redirect")]
    for name, space in site.spaces.items():
        prefix = site.find_page_address(name, space.first_file).rstrip("/")
        for source, target in space.draft.settings.redirects.items():
            found.append(SiteRedirection(f"{prefix}/{source.strip('/')}", find_redirect_address(site, name, target)))
    addresses = [site.find_page_address(name, space.first_file) for name, space in site.spaces.items()]
    if "/" not in addresses:  # what visitors see first is for others
        found.append(SiteRedirection("/", next(filter(None, addresses), "")))
    kept = []
    for one in select_safe([one for one in found if one is not None and one.target]):
        fate = follow_address(site.site, one.source)
        is_page = fate.end == "page" and not fate.hops and fate.spot is not None and fate.spot.is_known
        if not is_page:
            kept.append(one)
    return tuple(kept)


def build_redirects(builder: "PageBuilder", redirects: Sequence[SiteRedirection]) -> Iterator[tuple[str, str]]:
    """Yield redirects for file servers (a page each), for hosts that read `_redirects`, and for nginx."""
    if not redirects:
        return
    top = spell_address(f"{urlsplit(builder.base).path}/")
    related = [
        replace(one, source=top + one.source[1:], target=builder.places.relate(one.target, top)) for one in redirects
    ]
    yield "_redirects", render_redirects_file((one.source, one.target, one.note) for one in related)
    yield f"{_TOP}/redirects.map", render_nginx_map(related)
    for one in redirects:
        target = builder.places.relate(one.target, builder.places.find_root(one.source))
        yield make_directory(one.source) + INDEX, render_redirect_page(target)


def _resolve_rule(site: StaticContent, source: str, item: object) -> SiteRedirection | None:
    """A redirect with where it leads in the end; None for one that leads nowhere."""
    fate = follow_address(site.site, make_source_key(source))
    address = find_spot_address(site, fate.spot) if fate.spot is not None else ""
    if not address and fate.end == "elsewhere":
        address = fate.at if "://" in fate.at else ""
    note = str(getattr(item, "note", ""))
    return SiteRedirection(source, address, note) if address else None


def _find_chapter(site: StaticContent, name: str) -> str:
    variant = site.variants.get(name)
    section = site.site.file.items.get(variant.parent) if variant is not None else None
    titles = [str(item.fields.get("title") or item.fields.get("path") or "") for item in (section, variant) if item]
    return " / ".join(dict.fromkeys(filter(None, titles))) or name


def _render_own(builder: "PageBuilder", name: str, root: str, title: str, body: Html) -> str:
    contents = builder.site.read_contents(name)
    view = PageView(title, body, contents=select_lines(contents), scope=builder.site.find_scope(name))
    return builder.render_view(builder.make_frame(name, root), view, None)
