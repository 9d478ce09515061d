"""The cover of a page: the picture above it, as its frontmatter or the platform describes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.web.blocks.context import Target
from syncd.web.blocks.elements import check_picture, is_foreign

HEIGHT, HEIGHT_MIN, HEIGHT_MAX = 240, 10, 700
"""Of the picture where nothing is said, and the bounds of what may be said. Units: pixels."""
SHIFT_MAX = 1000


@dataclass(frozen=True)
class PageCover:
    """A picture above a page.

    Shape: `dark` is the one of the dark theme, "" for the same; with `is_full` it spans the whole width, else that of
    the text. Units: `height` and `shift` in pixels; `shift` moves the picture down in its frame.
    """

    light: str
    dark: str = ""
    height: int = HEIGHT
    shift: int = 0
    is_full: bool = True

    @property
    def picture_height(self) -> int:
        """How high the picture is drawn: moved by `shift`, it still fills its frame."""
        return self.height + 2 * abs(self.shift)

    @property
    def picture_top(self) -> int:
        """Where the picture begins, from the upper edge of its frame."""
        return self.shift - abs(self.shift)


def build_cover(
    cover: Mapping[str, Any], layout: Mapping[str, Any], resolve: Callable[[Mapping[str, Any]], Target | None]
) -> PageCover | None:
    """Return the cover of a page; None where it has none, hides it, or has it on another host.

    Shape: `cover` and `layout` have the API's members, with values of any kind.
    """
    light = _find_address(cover.get("ref"), resolve)
    if not light or layout.get("cover") is False:
        return None
    height = _read_number(cover.get("height"), HEIGHT)
    shift = _read_number(cover.get("yPos"), 0)
    return PageCover(
        light,
        _find_address(cover.get("refDark"), resolve),
        max(HEIGHT_MIN, min(height, HEIGHT_MAX)),
        max(-SHIFT_MAX, min(shift, SHIFT_MAX)),
        layout.get("coverSize") != "hero",
    )


def _find_address(reference: Any, resolve: Callable[[Mapping[str, Any]], Target | None]) -> str:
    """The address of a picture of this site; a page loads nothing from another host."""
    target = resolve(reference) if isinstance(reference, Mapping) else None
    address = check_picture(target.address) if target is not None else None
    return "" if address is None or is_foreign(address) else address


def _read_number(value: Any, usual: int) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6
    return round(value) if is_number else usual
