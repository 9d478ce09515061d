"""A customization as CSS custom properties; every value is one of ours or a checked colour, so no text gets through."""

from collections.abc import Iterator, Mapping
from typing import Any

from syncd.model.customization import SiteCustomizationSettings, Styling, ThemedColor
from syncd.web.pages.code_theme import render_code_themes
from syncd.web.pages.colours import (
    Colour,
    choose_text_colour,
    compute_contrast,
    make_readable,
    mix_colours,
    parse_colour,
)

PRIMARY = ThemedColor(light="#346ddb", dark="#7aa5f5")
_PAPER = {"light": Colour(255, 255, 255), "dark": Colour(22, 24, 29)}
_INK = {"light": Colour(28, 32, 38), "dark": Colour(226, 229, 235)}
_STATES = {
    "info": {"light": "#2563eb", "dark": "#7aa5f5"},
    "success": {"light": "#15803d", "dark": "#4ade80"},
    "warning": {"light": "#b45309", "dark": "#fbbf24"},
    "danger": {"light": "#dc2626", "dark": "#f87171"},
}
_CORNERS = {"straight": ("0", "0"), "rounded": ("0.5rem", "0.375rem"), "circular": ("1rem", "1.25rem")}
_SANS = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif'
_SERIF = 'ui-serif, Georgia, Cambria, "Noto Serif", "Liberation Serif", serif'
_MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'
# No font is fetched: one that a reader has installed is used, else the system's of the same kind.
_FONTS: Mapping[str, str] = {
    "ABCFavorit": f'"ABC Favorit", {_SANS}',
    "DMSans": f'"DM Sans", {_SANS}',
    "FiraSans": f'"Fira Sans", {_SANS}',
    "IBMPlexSerif": f'"IBM Plex Serif", {_SERIF}',
    "IBMPlexSans": f'"IBM Plex Sans", {_SANS}',
    "Inter": f"Inter, {_SANS}",
    "Lato": f"Lato, {_SANS}",
    "Merriweather": f"Merriweather, {_SERIF}",
    "NotoSans": f'"Noto Sans", {_SANS}',
    "OpenSans": f'"Open Sans", {_SANS}',
    "Overpass": f"Overpass, {_SANS}",
    "Poppins": f"Poppins, {_SANS}",
    "Raleway": f"Raleway, {_SANS}",
    "Roboto": f"Roboto, {_SANS}",
    "RobotoSlab": f'"Roboto Slab", {_SERIF}',
    "SourceSansPro": f'"Source Sans 3", "Source Sans Pro", {_SANS}',
    "Ubuntu": f"Ubuntu, {_SANS}",
    "SpaceMono": f'"Space Mono", {_MONO}',
    "SourceCodePro": f'"Source Code Pro", {_MONO}',
    "UbuntuMono": f'"Ubuntu Mono", {_MONO}',
    "RobotoMono": f'"Roboto Mono", {_MONO}',
    "NotoMono": f'"Noto Sans Mono", {_MONO}',
    "FiraMono": f'"Fira Mono", {_MONO}',
    "FiraCode": f'"Fira Code", {_MONO}',
    "JetBrainsMono": f'"JetBrains Mono", {_MONO}',
    "DMMono": f'"DM Mono", {_MONO}',
    "ABCFavoritMono": f'"ABC Favorit Mono", {_MONO}',
    "IBMPlexMono": f'"IBM Plex Mono", {_MONO}',
    "DejaVuSansMono": f'"DejaVu Sans Mono", {_MONO}',
    "Inconsolata": f"Inconsolata, {_MONO}",
}


def render_style_sheet(settings: SiteCustomizationSettings) -> str:
    """Return the CSS custom properties of a site: shapes and fonts, and the colours of its light and dark theme."""
    light, dark = (_format_properties(_list_colours(settings, mode)) for mode in ("light", "dark"))
    return (
        f":root{{color-scheme:light dark;{_format_properties(_list_shapes(settings.styling))}{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
        f"{render_code_themes(settings.styling.code_theme if settings.styling is not None else None)}"
    )


def _format_properties(properties: Iterator[tuple[str, object]]) -> str:
    return "".join(f"--{name}:{value};" for name, value in properties)


def _list_shapes(styling: Styling | None) -> Iterator[tuple[str, str]]:
    large, small = _CORNERS.get(getattr(styling, "corners", None) or "", _CORNERS["rounded"])
    yield "corner", large
    yield "corner-small", small
    depth = "0 1px 2px rgb(0 0 0/.08), 0 2px 8px rgb(0 0 0/.06)"
    yield "shadow", "none" if styling is not None and styling.depth == "flat" else depth
    yield "font", _find_font(styling.font if styling is not None else None, _SANS)
    yield "font-code", _find_font(styling.monospace_font if styling is not None else None, _MONO)


def _find_font(font: str | dict[str, Any] | None, usual: str) -> str:
    """The stack of a font by its name; of a custom font only what kind it is could be known, and nobody says it."""
    return _FONTS.get(font, usual) if isinstance(font, str) else usual


def _read_colour(themed: ThemedColor | None, mode: str) -> Colour | None:
    return parse_colour(getattr(themed, mode)) if themed is not None else None


def _list_colours(settings: SiteCustomizationSettings, mode: str) -> Iterator[tuple[str, Colour]]:
    styling = settings.styling or Styling()
    primary = _read_colour(styling.primary_color, mode) or _read_colour(PRIMARY, mode) or _INK[mode]
    paper, ink = _PAPER[mode], _INK[mode]
    tint = _read_colour(styling.tint.color, mode) if styling.tint else None
    if tint is None and styling.theme in ("muted", "gradient", "bold"):
        tint = primary
    if tint is not None:
        paper = mix_colours(paper, tint, 0.06 if styling.theme == "muted" else 0.02)
    surface = mix_colours(paper, tint or ink, 0.04 if mode == "light" else 0.07)
    yield "paper", paper
    yield "surface", surface
    yield "raised", mix_colours(paper, ink, 0.02 if mode == "light" else 0.09)
    yield "border", mix_colours(paper, ink, 0.14 if mode == "light" else 0.2)
    yield "text", make_readable(ink, surface, contrast=7)
    backgrounds = (surface, paper, *(soft for _, _, soft in _list_states(styling, mode, paper)))
    yield "muted", make_readable(mix_colours(paper, ink, 0.62), *backgrounds)
    yield "primary", primary
    yield "on-primary", choose_text_colour(primary)
    yield "link", make_readable(primary, *backgrounds)
    yield "primary-soft", mix_colours(paper, primary, 0.12 if mode == "light" else 0.2)
    yield "on-primary-soft", make_readable(primary, mix_colours(paper, primary, 0.12 if mode == "light" else 0.2))
    for name, colour, soft in _list_states(styling, mode, paper):
        yield name, colour
        yield f"{name}-soft", soft
        yield f"{name}-text", make_readable(colour, *backgrounds)
    yield from _list_header_colours(settings, mode, paper, primary, ink)


def _list_states(styling: Styling, mode: str, paper: Colour) -> Iterator[tuple[str, Colour, Colour]]:
    """The name, the colour and the background of each kind of hint."""
    for name, usual in _STATES.items():
        colour = _read_colour(getattr(styling, f"{name}_color"), mode) or parse_colour(usual[mode]) or paper
        yield name, colour, mix_colours(paper, colour, 0.09 if mode == "light" else 0.16)


def _list_header_colours(
    settings: SiteCustomizationSettings, mode: str, paper: Colour, primary: Colour, ink: Colour
) -> Iterator[tuple[str, Colour]]:
    header, theme = settings.header, settings.styling.theme if settings.styling else None
    preset = header.preset if header is not None else None
    background, text = paper, ink
    if preset == "bold" or (theme == "bold" and preset in (None, "default")):
        background, text = primary, choose_text_colour(primary)
    elif preset == "contrast":
        background, text = ink, paper
    elif preset == "custom" and header is not None:
        background = _read_colour(header.background_color, mode) or paper
        text = _read_colour(header.link_color, mode) or ink
    yield "header", background
    yield "header-text", text if compute_contrast(text, background) >= 3 else choose_text_colour(background)
    yield "header-border", mix_colours(background, text, 0.16)
