"""Colours of a customization as CSS: read strictly, and with a contrast that can be read."""

import re
from dataclasses import dataclass

TEXT_CONTRAST = 4.5
"""Contrast of small text with what is behind it. Source: WCAG 2.2, 1.4.3."""
_HEX = re.compile(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_STEPS = 20


@dataclass(frozen=True)
class Colour:
    """A colour as red, green and blue from 0 to 255."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


BLACK, WHITE = Colour(0, 0, 0), Colour(255, 255, 255)


def parse_colour(text: str | None) -> Colour | None:
    """Return the colour that `#rgb` or `#rrggbb` names; None for any other text, so that none reaches a style sheet."""
    found = _HEX.fullmatch(text or "")
    if found is None:
        return None
    digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    return Colour(*(int(digits[at : at + 2], 16) for at in (0, 2, 4)))


def compute_contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, from 1 to 21. Source: WCAG 2.2, contrast ratio."""
    darker, lighter = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def choose_text_colour(background: Colour) -> Colour:
    """Return black or white, whichever can be read better on a background."""
    return max(BLACK, WHITE, key=lambda text: compute_contrast(text, background))


def mix_colours(one: Colour, other: Colour, share: float) -> Colour:
    """Return a mixture of two colours; `share` is how much of the second is in it, from 0 to 1."""
    pairs = ((one.red, other.red), (one.green, other.green), (one.blue, other.blue))
    return Colour(*(round(a + (b - a) * share) for a, b in pairs))


def make_readable(colour: Colour, *backgrounds: Colour, contrast: float = TEXT_CONTRAST) -> Colour:
    """Return a colour as it is, or darker or lighter until text in it can be read on each of some backgrounds.

    Shape: the backgrounds are all light or all dark; the first one decides.
    """
    goal = choose_text_colour(backgrounds[0])
    shades = (mix_colours(colour, goal, step / _STEPS) for step in range(_STEPS + 1))
    return next((one for one in shades if all(compute_contrast(one, back) >= contrast for back in backgrounds)), goal)


def _compute_luminance(colour: Colour) -> float:
    red, green, blue = (_make_linear(part / 255) for part in (colour.red, colour.green, colour.blue))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _make_linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
