"""The colours of code: the themes that a customization names, as far as Pygments has them, as CSS custom properties."""

from collections.abc import Iterator, Mapping
from functools import cache

from pygments.styles import STYLE_MAP, get_style_by_name
from pygments.token import Comment, Keyword, Name, Number, String, Token, _TokenType

from syncd.model.customization import CodeThemes, ThemedCodeTheme
from syncd.web.pages.colours import Colour, choose_text_colour, make_readable, parse_colour

_KINDS: Mapping[str, _TokenType] = {
    "word": Keyword,
    "name": Name.Function,
    "text": String,
    "number": Number,
    "quiet": Comment,
    "tag": Name.Variable,
}
"""What Pygments calls the kinds of words that blocks of code tell apart."""
_LIKE = {
    "dracula-soft": "dracula",
    "github-dark-default": "github-dark",
    "github-dark-dimmed": "github-dark",
    "gruvbox-dark-hard": "gruvbox-dark",
    "gruvbox-dark-medium": "gruvbox-dark",
    "gruvbox-dark-soft": "gruvbox-dark",
    "gruvbox-light-hard": "gruvbox-light",
    "gruvbox-light-medium": "gruvbox-light",
    "gruvbox-light-soft": "gruvbox-light",
    "light-plus": "vs",
    "material-theme": "material",
    "material-theme-darker": "material",
    "material-theme-ocean": "material",
    "material-theme-palenight": "material",
    "one-dark-pro": "one-dark",
}
"""Names that editors have for a theme, and the nearest one of Pygments."""


def render_code_themes(themes: CodeThemes | None) -> str:
    """Return the CSS of the themes of code, in text and in API references.

    Shape: a theme that nobody here knows, as the site's own colours, has no rules; all words keep a contrast that can
    be read.
    """
    if themes is None:
        return ""
    return _render_theme(themes.default, ".blocks.blocks pre") + _render_theme(
        themes.openapi, ".blocks.blocks .b-api pre"
    )


def _render_theme(theme: ThemedCodeTheme | None, place: str) -> str:
    light, dark = (_format_properties(getattr(theme, mode, None)) for mode in ("light", "dark"))
    rules = [
        f"{place}{{{light}}}\n",
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]) {place}{{{dark}}}}}\n",
        f":root[data-theme=light] {place}{{{light}}}\n",
        f"@media screen{{:root[data-theme=dark] {place}{{{dark}}}}}\n",
    ]
    return "".join(rule for rule, properties in zip(rules, (light, dark, light, dark), strict=True) if properties)


@cache
def _format_properties(name: str | None) -> str:
    known = _LIKE.get(name or "", name or "")
    if known not in STYLE_MAP or known == "default":
        return ""
    return "".join(f"{property}:{colour};" for property, colour in _list_colours(known))


def _list_colours(name: str) -> Iterator[tuple[str, Colour]]:
    style = get_style_by_name(name)
    paper = parse_colour(style.background_color) or Colour(255, 255, 255)

    def find_colour(kind: _TokenType) -> Colour | None:
        found = style.style_for_token(kind)["color"]
        return parse_colour(f"#{found}") if found else None

    text = find_colour(Token) or choose_text_colour(paper)
    yield "background", paper
    yield "color", make_readable(text, paper)
    for label, kind in _KINDS.items():
        yield f"--b-k-{label}", make_readable(find_colour(kind) or text, paper)
    yield "--b-muted", make_readable(find_colour(Comment) or text, paper)
