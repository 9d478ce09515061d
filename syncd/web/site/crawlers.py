"""What search engines ask a site for: `sitemap.xml` and `robots.txt`."""

from collections.abc import Iterable, Iterator, Sequence

from syncd.web.site.spelling import spell_address, spell_xml
from syncd.web.site.values import SitePage

SITEMAP_PAGES_MAX = 50_000
"""Addresses in one sitemap. Source: sitemaps.org."""
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_ALTERNATES = ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'


def render_sitemaps(pages: Iterable[SitePage], base: str) -> dict[str, str]:
    """Return the files of a sitemap by name: `sitemap.xml`, and those that it lists where one cannot hold all pages.

    Shape: addresses are whole ones, of pages below `base`, the address of the site.
    """
    parts = [render_sitemap(part) for part in _divide(list(pages))]
    if len(parts) == 1:
        return {"sitemap.xml": parts[0]}
    named = {f"sitemap-{number}.xml": text for number, text in enumerate(parts, 1)}
    below = base.rstrip("/")
    listed = "".join(f"<sitemap><loc>{_spell(f'{below}/{name}')}</loc></sitemap>\n" for name in named)
    return {"sitemap.xml": f"{_DECLARATION}<sitemapindex {_NAMESPACE}>\n{listed}</sitemapindex>\n", **named}


def render_sitemap(pages: Sequence[SitePage]) -> str:
    """Return one sitemap of at most `SITEMAP_PAGES_MAX` pages."""
    more = _ALTERNATES if any(page.alternates for page in pages) else ""
    return f"{_DECLARATION}<urlset {_NAMESPACE}{more}>\n{''.join(map(_write_page, pages))}</urlset>\n"


def render_robots(sitemap: str = "", *, is_indexed: bool = True) -> str:
    """Return `robots.txt`: whether a site may be indexed, and where its sitemap is, as a whole address or ""."""
    rule = "Allow: /" if is_indexed else "Disallow: /"
    listed = f"\nSitemap: {spell_address(sitemap)}\n" if sitemap and is_indexed else ""
    return f"User-agent: *\n{rule}\n{listed}"


def _divide(pages: list[SitePage]) -> Iterator[Sequence[SitePage]]:
    yield from (pages[at : at + SITEMAP_PAGES_MAX] for at in range(0, max(len(pages), 1), SITEMAP_PAGES_MAX))


def _write_page(page: SitePage) -> str:
    changed = f"<lastmod>{spell_xml(page.changed)}</lastmod>" if page.changed else ""
    others = "".join(
        f'<xhtml:link rel="alternate" hreflang="{spell_xml(language)}" href="{_spell(address)}"/>'
        for language, address in page.alternates.items()
    )
    return f"<url><loc>{_spell(page.address)}</loc>{changed}{others}</url>\n"


def _spell(address: str) -> str:
    return spell_xml(spell_address(address))
