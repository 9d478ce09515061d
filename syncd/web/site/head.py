"""What the head of a page says to whoever links to it: canonical address, OpenGraph, alternates and feeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from syncd.web.blocks.elements import check_link, check_picture, join_markup, write_opening
from syncd.web.site.spelling import spell_address

STATIC_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data: https:; media-src 'self'; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'"
)
"""The Content-Security-Policy of a built page: scripts and styles of its own host alone, pictures from elsewhere too.

Source: a `meta` element cannot say `frame-ancestors`, `sandbox` and `report-uri`; CSP 3, 3.3.
"""


@dataclass(frozen=True)
class PageHead:
    """What a page says of itself.

    Shape: `canonical` and `picture` are whole addresses or ""; `markdown` and `feed` may be relative. `policy` is a
    Content-Security-Policy for a page that no header accompanies; `alternates` has addresses by language.
    """

    title: str
    site: str = ""
    description: str = ""
    canonical: str = ""
    picture: str = ""
    language: str = "en"
    changed: str = ""
    markdown: str = ""
    feed: str = ""
    policy: str = ""
    alternates: Mapping[str, str] = field(default_factory=dict)


def render_head(head: PageHead) -> Markup:
    """Return the elements of the head beside title and style; an address that no link may have is left out."""
    canonical, picture = _check(head.canonical), check_picture(spell_address(head.picture))
    rows = [
        _write_meta("http_equiv", "Content-Security-Policy", head.policy),
        _write_link("canonical", canonical),
        *(_write_link("alternate", _check(to), hreflang=language) for language, to in head.alternates.items()),
        _write_link("alternate", _check(head.markdown), type_="text/markdown"),
        _write_link("alternate", _check(head.feed), type_="application/rss+xml", title=head.title),
        _write_meta("property", "og:type", "article"),
        _write_meta("property", "og:title", head.title),
        _write_meta("property", "og:site_name", head.site),
        _write_meta("property", "og:description", head.description),
        _write_meta("property", "og:locale", head.language.replace("-", "_")),
        _write_meta("property", "og:url", canonical or ""),
        _write_meta("property", "og:image", picture or ""),
        _write_meta("property", "article:modified_time", head.changed),
        _write_meta("name_", "twitter:card", "summary_large_image" if picture else "summary"),
    ]
    return join_markup([Markup(f"{row}\n") for row in rows if row])  # noqa: S704


def _check(address: str) -> str | None:
    # Spelled first: no character that a browser passes over hides what is checked.
    return check_link(spell_address(address))


def _write_meta(kind: str, name: str, content: str) -> Markup:
    return write_opening("meta", **{kind: name}, content=content) if content else Markup()


def _write_link(rel: str, address: str | None, **attributes: str) -> Markup:
    return write_opening("link", rel=rel, **attributes, href=address) if address else Markup()
