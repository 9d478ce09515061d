"""Pages for people who are not shown what they asked for: what is so, and what they can do.

Such a page loads nothing: what it would load may be as closed to its reader as the rest.
"""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from syncd.model.customization import SiteCustomizationSettings
from syncd.web.pages.shell import find_theme
from syncd.web.pages.style_sheet import render_style_sheet
from syncd.web.pages.wording import is_right_to_left
from syncd.web.rendering import Html, render_template

_LOOKS = (
    "*{box-sizing:border-box}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;font-family:var(--font);"
    "line-height:1.6;color:var(--text);background:var(--paper);overflow-wrap:anywhere}"
    "main{width:100%;max-width:34rem;padding:2rem;border:1px solid var(--border);"
    "border-block-start:4px solid var(--primary);border-radius:var(--corner);background:var(--raised)}"
    "h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.3}"
    "p{margin:.5rem 0 0}"
    ".site{margin:0 0 1rem;font-weight:650;color:var(--muted)}"
)
_POLICY = "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class RefusalPage:
    """A whole page of HTML, and the content security policy under which it looks as it should."""

    html: str
    policy: str


def render_refusal(
    title: str, *sentences: str, locale: str, site: str = "", settings: SiteCustomizationSettings | None = None
) -> RefusalPage:
    """Return a page that says what is so, in the looks of a site whose title is `site`; without one, in neutral looks.

    Shape: `locale` is the language of the title and the sentences.
    """
    settings = settings or SiteCustomizationSettings()
    style = render_style_sheet(settings) + _LOOKS
    html = render_template(
        "pages/refusal.html",
        title=title,
        sentences=sentences,
        locale=locale,
        direction="rtl" if is_right_to_left(locale) else "ltr",
        site=site,
        style=Html(style),
        theme=find_theme(settings),
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return RefusalPage(html, _POLICY.format(digest=digest))
