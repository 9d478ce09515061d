"""The icon of a site: its emoji, or its first letter in its own colour; no picture is fetched."""

from markupsafe import Markup

from syncd.model.customization import SiteCustomizationSettings
from syncd.web.pages.colours import choose_text_colour, parse_colour
from syncd.web.pages.style_sheet import PRIMARY

_EMOJI = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<text x="16" y="25" font-size="26" text-anchor="middle">{}</text></svg>'
)
_LETTER = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="{}"/>'
    '<text x="16" y="23" font-size="20" font-weight="700" font-family="sans-serif" text-anchor="middle" fill="{}">'
    "{}</text></svg>"
)


def render_icon(title: str, settings: SiteCustomizationSettings) -> str:
    """Return the icon of a site as SVG."""
    if emoji := _decode_emoji(settings.favicon.emoji if settings.favicon is not None else None):
        return str(_EMOJI.format(emoji))
    themed = settings.styling.primary_color if settings.styling is not None else None
    colour = parse_colour((themed or PRIMARY).light) or parse_colour(PRIMARY.light)
    assert colour is not None
    letter = next((sign for sign in title if sign.isalnum()), "·").upper()
    return str(_LETTER.format(colour, choose_text_colour(colour), letter))


def _decode_emoji(code: str | None) -> str:
    """The emoji that code points such as `1f3e0` stand for; "" for anything else."""
    try:
        signs = "".join(chr(int(part, 16)) for part in (code or "").split("-") if part)
    except (ValueError, OverflowError):
        return ""
    return signs if signs.isprintable() else ""
